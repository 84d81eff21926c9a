//! Rows of bits, in blocks of 64: a block that has no bit set takes no room.

use std::ops::Range;

use super::pairs::{DEALT_ROWS, Lanes, Pair, WAVE_PAIRS, ordered};
use super::row_ref::{BLOCK, RowRef};
use crate::budget::{Budget, BudgetError};
use crate::data::parallel;

/// Bytes of a block with its number.
const BLOCK_BYTES: usize = size_of::<u32>() + size_of::<u64>();

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
        /// Pairs of one lane.
        const LANE_PAIRS: usize = 1 << 16;
        let count = self.count();
        if count < columns / 4 {
            let _held = budget.hold(count * size_of::<Pair>())?;
            let mut pairs = Vec::with_capacity(count);
            for (position, row) in self.rows.iter().enumerate() {
                self.at(position).for_each(|column| pairs.push((column, *row)));
            }
            return Ok(BlockRows::of_pairs(pairs));
        }
        let mut all = BlockRows::default();
        let waves = lanes_of_blocks(columns, count.div_ceil(WAVE_PAIRS));
        for wave in &waves {
            let _held = budget.hold(2 * count.min(WAVE_PAIRS) * size_of::<Pair>())?;
            let lanes = Lanes::new(wave.clone(), count / waves.len() / LANE_PAIRS);
            let dealt = parallel::map(parallel::lanes(self.rows.len(), DEALT_ROWS), |positions| {
                let rows = positions.map(|position| (self.at(position), self.rows[position]));
                lanes.deal(rows, budget)
            });
            let mut of_lanes = vec![Vec::new(); lanes.len()];
            for part in dealt {
                of_lanes.iter_mut().zip(part?).for_each(|(lane, pairs): (&mut Vec<_>, _)| lane.push(pairs));
            }
            let turned = parallel::map(lanes.each().zip(of_lanes).collect(), |(lane, pairs)| {
                budget.check()?;
                let mut turned = BlockRows::default();
                ordered(&pairs, &lane).into_iter().for_each(|(column, row)| turned.set_last(column, row));
                Ok(turned)
            });
            for rows in turned {
                let rows: Result<_, BudgetError> = rows;
                all.append(rows?);
            }
        }
        Ok(all)
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
    /// One more than the position of each row, and 0 for those without bits; those that came later have none.
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
        match self.places.get(row as usize) {
            Some(0) | None => RowRef::EMPTY,
            Some(place) => self.rows.at(*place as usize - 1),
        }
    }

    pub(super) fn rows(&self) -> &BlockRows {
        &self.rows
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.rows.memory_bytes() + self.places.len() * size_of::<u32>()
    }
}
