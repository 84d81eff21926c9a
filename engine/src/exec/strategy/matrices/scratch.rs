//! A row in the making, in a buffer that stays in the cache.

use std::ops::Range;

use super::row_ref::{BLOCK, RowRef};

/// No word is touched: any range that is united with this one stays as it is.
const NOTHING: Range<usize> = Range { start: usize::MAX, end: 0 };

/// One row in the making: what is united here, less what is known, is new.
pub(super) struct Scratch {
    masks: Vec<u64>,
    /// A bit for each block that was touched.
    touched: Vec<u64>,
    /// The words of `touched` that are not zero lie in here.
    range: Range<usize>,
}

impl Scratch {
    pub(super) fn new(bits: usize) -> Scratch {
        let blocks = bits.div_ceil(BLOCK);
        Scratch { masks: vec![0; blocks], touched: vec![0; blocks.div_ceil(BLOCK)], range: NOTHING }
    }

    /// Bytes that a scratch of so many bits takes.
    pub(super) fn bytes(bits: usize) -> usize {
        bits / 8 + bits / 512
    }

    #[inline]
    pub(super) fn unite(&mut self, row: RowRef<'_>) {
        if row.blocks.is_empty() && !row.masks.is_empty() {
            self.masks.iter_mut().zip(row.masks).for_each(|(mask, more)| *mask |= more);
            self.touched.fill(u64::MAX);
            self.range = 0..self.touched.len();
            return;
        }
        if let (Some(first), Some(last)) = (row.blocks.first(), row.blocks.last()) {
            let (first, last) = (*first as usize / BLOCK, *last as usize / BLOCK);
            self.range = self.range.start.min(first)..self.range.end.max(last + 1);
        }
        for (block, mask) in row.blocks.iter().zip(row.masks) {
            self.masks[*block as usize] |= mask;
            self.touched[*block as usize / BLOCK] |= 1 << (block % BLOCK as u32);
        }
    }

    pub(super) fn has(&self, bit: usize) -> bool {
        self.masks[bit / BLOCK] & (1 << (bit % BLOCK)) != 0
    }

    pub(super) fn clear(&mut self, bit: usize) {
        self.masks[bit / BLOCK] &= !(1 << (bit % BLOCK));
    }

    /// Hands out what is not known, block by block, and is empty afterwards.
    pub(super) fn take_new(&mut self, known: RowRef<'_>, mut visit: impl FnMut(u32, u64)) {
        let mut at = 0;
        let range = std::mem::replace(&mut self.range, NOTHING);
        let words = range.start.min(range.end)..range.end;
        for (word, touched) in words.clone().zip(&mut self.touched[words]) {
            while *touched != 0 {
                let block = word * BLOCK + touched.trailing_zeros() as usize;
                *touched &= *touched - 1;
                let Some(mask) = self.masks.get_mut(block) else { continue };
                let mut new = std::mem::take(mask);
                if known.blocks.is_empty() {
                    new &= !known.masks.get(block).copied().unwrap_or_default();
                } else {
                    at = advance(known.blocks, at, block as u32);
                    if known.blocks.get(at) == Some(&(block as u32)) {
                        new &= !known.masks[at];
                    }
                }
                if new != 0 {
                    visit(block as u32, new);
                }
            }
        }
    }
}

/// The first position from `at` on whose block is not before this one. It is looked for near by first.
#[inline]
fn advance(blocks: &[u32], mut at: usize, block: u32) -> usize {
    for _ in 0..4 {
        match blocks.get(at) {
            Some(other) if *other < block => at += 1,
            Some(_) | None => return at,
        }
    }
    at + blocks[at..].partition_point(|other| *other < block)
}
