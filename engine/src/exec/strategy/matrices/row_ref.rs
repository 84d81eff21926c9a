//! `RowRef`: one row of bits, in blocks of 64, and the bits that it has set.

use std::ops::Range;

/// Bits that a block holds.
pub(super) const BLOCK: usize = 64;

/// One row.
#[derive(Clone, Copy)]
pub(super) struct RowRef<'r> {
    /// The numbers of the blocks, ascending; none if all blocks from the first one on are there.
    pub(super) blocks: &'r [u32],
    pub(super) masks: &'r [u64],
}

impl<'r> RowRef<'r> {
    pub(super) const EMPTY: RowRef<'static> = RowRef { blocks: &[], masks: &[] };

    /// The blocks that have bits set.
    #[inline]
    pub(super) fn for_each_block(self, mut visit: impl FnMut(u32, u64)) {
        if self.blocks.is_empty() {
            let masks = self.masks.iter().enumerate().filter(|(_, mask)| **mask != 0);
            masks.for_each(|(block, mask)| visit(block as u32, *mask));
        } else {
            self.blocks.iter().zip(self.masks).for_each(|(block, mask)| visit(*block, *mask));
        }
    }

    /// The bits that are set.
    #[inline]
    pub(super) fn for_each(self, mut visit: impl FnMut(u32)) {
        self.for_each_block(|block, mask| for_each_bit(block, mask, &mut visit));
    }

    /// The part of the row that has these bits. They begin and end with a block.
    #[inline]
    pub(super) fn between(self, bits: &Range<usize>) -> Part<'r> {
        let (from, to) = (bits.start / BLOCK, bits.end.div_ceil(BLOCK));
        if self.blocks.is_empty() {
            let (from, to) = (from.min(self.masks.len()), to.min(self.masks.len()));
            return Part { first: from as u32, row: RowRef { blocks: &[], masks: &self.masks[from..to] } };
        }
        let from = self.blocks.partition_point(|block| (*block as usize) < from);
        let to = from + self.blocks[from..].partition_point(|block| (*block as usize) < to);
        let row = RowRef { blocks: &self.blocks[from..to], masks: &self.masks[from..to] };
        Part { first: 0, row }
    }

    /// Number of bits set.
    pub(super) fn count(self) -> usize {
        self.masks.iter().map(|mask| mask.count_ones() as usize).sum()
    }

    /// Number of blocks.
    pub(super) fn blocks_len(self) -> usize {
        self.masks.len()
    }
}

/// Some blocks of a row.
pub(super) struct Part<'r> {
    /// What a block without a number begins to count from.
    first: u32,
    row: RowRef<'r>,
}

impl Part<'_> {
    #[inline]
    pub(super) fn for_each(&self, mut visit: impl FnMut(u32)) {
        self.row.for_each_block(|block, mask| for_each_bit(self.first + block, mask, &mut visit));
    }
}

#[inline]
fn for_each_bit(block: u32, mut mask: u64, visit: &mut impl FnMut(u32)) {
    while mask != 0 {
        visit(block * BLOCK as u32 + mask.trailing_zeros());
        mask &= mask - 1;
    }
}
