//! Rows of bits, in blocks of 64: a block that has no bit set takes no room.

use std::ops::Range;

use crate::budget::{Budget, BudgetError};
use crate::data::parallel;

/// Bits that a block holds.
pub(super) const BLOCK: usize = 64;
/// Bytes of a block with its number.
const BLOCK_BYTES: usize = size_of::<u32>() + size_of::<u64>();
/// Rows between two looks at the budget.
const CHECK_ROWS: usize = 1_024;

/// One row.
#[derive(Clone, Copy)]
pub(super) struct RowRef<'r> {
    /// The numbers of the blocks, ascending; none if all blocks from the first one on are there.
    blocks: &'r [u32],
    masks: &'r [u64],
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

/// Rows that do not change, one after the other; those without bits are left out.
#[derive(Default)]
pub(super) struct BlockRows {
    rows: Vec<u32>,
    /// The blocks of the row at position `p` are `starts[p]..starts[p + 1]`; `starts` is empty if there are no rows.
    starts: Vec<usize>,
    blocks: Vec<u32>,
    masks: Vec<u64>,
}

impl BlockRows {
    /// A bit for each pair of a row and a column.
    pub(super) fn of_pairs(mut pairs: Vec<(u32, u32)>) -> BlockRows {
        parallel::sort_by_key(&mut pairs, |pair| *pair);
        pairs.dedup();
        let mut found = BlockRows::default();
        for (row, column) in pairs {
            found.set_last(row, column);
        }
        found
    }

    /// Sets a bit that comes after all others.
    #[inline]
    fn set_last(&mut self, row: u32, column: u32) {
        let (block, bit) = (column / BLOCK as u32, 1 << (column % BLOCK as u32));
        let is_new_row = self.rows.last() != Some(&row);
        match self.masks.last_mut() {
            Some(mask) if !is_new_row && self.blocks.last() == Some(&block) => *mask |= bit,
            Some(_) | None => self.push(row, block, bit),
        }
    }

    /// Adds a block that comes after all others.
    #[inline]
    pub(super) fn push(&mut self, row: u32, block: u32, mask: u64) {
        if self.rows.last() != Some(&row) {
            self.rows.push(row);
            if self.starts.is_empty() {
                self.starts.push(0);
            }
            self.starts.push(self.blocks.len());
        }
        self.blocks.push(block);
        self.masks.push(mask);
        if let Some(end) = self.starts.last_mut() {
            *end = self.blocks.len();
        }
    }

    /// Rows that all come after those that are here.
    pub(super) fn append(&mut self, mut other: BlockRows) {
        if self.rows.is_empty() {
            *self = other;
            return;
        }
        let offset = self.blocks.len();
        self.rows.append(&mut other.rows);
        self.starts.extend(other.starts.iter().skip(1).map(|start| start + offset));
        self.blocks.append(&mut other.blocks);
        self.masks.append(&mut other.masks);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The numbers of the rows, ascending.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The row at a position.
    #[inline]
    pub(super) fn at(&self, position: usize) -> RowRef<'_> {
        let blocks = self.starts[position]..self.starts[position + 1];
        RowRef { blocks: &self.blocks[blocks.clone()], masks: &self.masks[blocks] }
    }

    /// Number of bits set.
    pub(super) fn count(&self) -> usize {
        self.masks.iter().map(|mask| mask.count_ones() as usize).sum()
    }

    /// Number of blocks.
    pub(super) fn blocks_len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.blocks.len() * BLOCK_BYTES + self.rows.len() * (size_of::<u32>() + size_of::<usize>())
    }

    /// Rows for columns, of which there are `columns`.
    pub(super) fn transpose(&self, columns: usize, budget: &Budget) -> Result<BlockRows, BudgetError> {
        let count = self.count();
        let _held = budget.hold(2 * count * size_of::<u32>())?;
        if count < columns / 4 {
            let mut pairs = Vec::with_capacity(count);
            for (position, row) in self.rows.iter().enumerate() {
                self.at(position).for_each(|column| pairs.push((column, *row)));
            }
            return Ok(BlockRows::of_pairs(pairs));
        }
        let lanes = lanes_of_blocks(columns, count.div_ceil(1 << 18));
        let parts = parallel::map(lanes, |lane| self.transpose_some(&lane, budget));
        let mut all = BlockRows::default();
        for part in parts {
            all.append(part?);
        }
        Ok(all)
    }

    /// Some of the columns as rows.
    fn transpose_some(&self, columns: &Range<usize>, budget: &Budget) -> Result<BlockRows, BudgetError> {
        let mut starts = vec![0_usize; columns.len() + 1];
        for position in 0..self.rows.len() {
            if position % CHECK_ROWS == 0 {
                budget.check()?;
            }
            let part = self.at(position).between(columns);
            part.for_each(|column| starts[column as usize - columns.start + 1] += 1);
        }
        for column in 0..columns.len() {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut rows = vec![0_u32; starts[columns.len()]];
        for (position, row) in self.rows.iter().enumerate() {
            self.at(position).between(columns).for_each(|column| {
                let place = &mut next[column as usize - columns.start];
                rows[*place] = *row;
                *place += 1;
            });
        }
        let mut turned = BlockRows::default();
        for column in columns.clone() {
            let of_column = starts[column - columns.start]..starts[column - columns.start + 1];
            rows[of_column].iter().for_each(|row| turned.set_last(column as u32, *row));
        }
        Ok(turned)
    }
}

/// `0..bits` in about so many lanes, each of whole blocks.
pub(super) fn lanes_of_blocks(bits: usize, lanes: usize) -> Vec<Range<usize>> {
    let blocks = bits.div_ceil(BLOCK);
    parallel::lanes(blocks, blocks.div_ceil(lanes.max(1)))
        .into_iter()
        .map(|lane| lane.start * BLOCK..(lane.end * BLOCK).min(bits))
        .filter(|lane| !lane.is_empty())
        .collect()
}

/// Rows of which any can be found at once.
pub(super) struct CompleteRows {
    rows: BlockRows,
    /// One more than the position of each row, and 0 for those without bits.
    places: Vec<u32>,
}

impl CompleteRows {
    pub(super) fn new(rows: BlockRows, number: usize) -> CompleteRows {
        let mut places = vec![0; number];
        for (position, row) in rows.rows.iter().enumerate() {
            places[*row as usize] = position as u32 + 1;
        }
        CompleteRows { rows, places }
    }

    #[inline]
    pub(super) fn row(&self, row: u32) -> RowRef<'_> {
        match self.places[row as usize] {
            0 => RowRef::EMPTY,
            place => self.rows.at(place as usize - 1),
        }
    }

    pub(super) fn rows(&self) -> &BlockRows {
        &self.rows
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.rows.memory_bytes() + self.places.len() * size_of::<u32>()
    }
}

/// A row that grows.
#[derive(Default, Clone)]
pub(super) struct Row {
    /// As in [`RowRef`].
    blocks: Vec<u32>,
    masks: Vec<u64>,
    count: usize,
}

impl Row {
    #[inline]
    pub(super) fn as_ref(&self) -> RowRef<'_> {
        RowRef { blocks: &self.blocks, masks: &self.masks }
    }

    /// Number of bits set.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    fn memory_bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<u32>() + self.masks.capacity() * size_of::<u64>()
    }

    /// Adds bits that are not set yet; answers by how many bytes it has grown.
    pub(super) fn add(&mut self, new: RowRef<'_>, all_blocks: usize) -> usize {
        let before = self.memory_bytes();
        self.count += new.count();
        if !self.masks.is_empty() && self.blocks.is_empty() {
            new.for_each_block(|block, mask| self.masks[block as usize] |= mask);
            return 0;
        }
        self.insert(new);
        if self.blocks.len() * 2 > all_blocks {
            let mut masks = vec![0; all_blocks];
            self.as_ref().for_each_block(|block, mask| masks[block as usize] = mask);
            *self = Row { blocks: Vec::new(), masks, count: self.count };
        }
        self.memory_bytes().saturating_sub(before)
    }

    fn insert(&mut self, new: RowRef<'_>) {
        let old = self.blocks.len();
        let mut at = 0;
        let mut missing = 0;
        for block in new.blocks {
            at += self.blocks[at..].partition_point(|other| other < block);
            missing += usize::from(self.blocks.get(at) != Some(block));
        }
        self.blocks.resize(old + missing, 0);
        self.masks.resize(old + missing, 0);
        // From the end, so that nothing is moved twice.
        let (mut from, mut to) = (old, old + missing);
        for (block, mask) in new.blocks.iter().zip(new.masks).rev() {
            while from > 0 && self.blocks[from - 1] > *block {
                (from, to) = (from - 1, to - 1);
                self.blocks[to] = self.blocks[from];
                self.masks[to] = self.masks[from];
            }
            to -= 1;
            let mut mask = *mask;
            if from > 0 && self.blocks[from - 1] == *block {
                from -= 1;
                mask |= self.masks[from];
            }
            self.blocks[to] = *block;
            self.masks[to] = mask;
        }
    }
}

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
        Scratch { masks: vec![0; blocks], touched: vec![0; blocks.div_ceil(BLOCK)], range: usize::MAX..0 }
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
        let range = std::mem::replace(&mut self.range, usize::MAX..0);
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
