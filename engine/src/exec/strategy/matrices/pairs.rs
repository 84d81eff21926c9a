//! The bits of rows as pairs, put in the order of the bits.
//!
//! That is done in two steps, so that memory is met in order: pairs are dealt to lanes, each of which is sorted for itself.

use std::ops::Range;

use super::row_ref::{BLOCK, RowRef};
use crate::budget::{Budget, BudgetError};

/// A bit, and what it belongs to.
pub(super) type Pair = (u32, u32);

/// So many pairs are held at once.
pub(super) const WAVE_PAIRS: usize = 1 << 23;
/// Rows whose bits one thread deals.
pub(super) const DEALT_ROWS: usize = 1 << 14;

/// Some bits, in lanes of equally many.
pub(super) struct Lanes {
    bits: Range<usize>,
    /// Bits of a lane, of which the number is this power of two; a lane has whole blocks.
    power: u32,
}

impl Lanes {
    /// About so many lanes, at least one.
    pub(super) fn new(bits: Range<usize>, lanes: usize) -> Lanes {
        let of_lane = bits.len().div_ceil(lanes.max(1)).next_power_of_two().max(BLOCK);
        Lanes { bits, power: of_lane.trailing_zeros() }
    }

    pub(super) fn len(&self) -> usize {
        self.bits.len().div_ceil(1 << self.power)
    }

    /// The bits of each lane.
    pub(super) fn each(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let starts = self.bits.clone().step_by(1 << self.power);
        starts.map(|start| start..(start + (1 << self.power)).min(self.bits.end))
    }

    /// Deals the bits of rows, each with what it belongs to, to the lanes.
    pub(super) fn deal<'r>(
        &self,
        rows: impl Iterator<Item = (RowRef<'r>, u32)>,
        budget: &Budget,
    ) -> Result<Vec<Vec<Pair>>, BudgetError> {
        /// Rows between two looks at the budget.
        const CHECK_ROWS: usize = 1_024;
        let mut dealt = vec![Vec::new(); self.len()];
        for (number, (row, of)) in rows.enumerate() {
            if number % CHECK_ROWS == 0 {
                budget.check()?;
            }
            let lane = |bit: u32| (bit as usize - self.bits.start) >> self.power;
            row.between(&self.bits).for_each(|bit| dealt[lane(bit)].push((bit, of)));
        }
        Ok(dealt)
    }
}

/// The pairs of a lane in the order of their bits, and of those with the same bit in the order in which they come.
pub(super) fn ordered(parts: &[Vec<Pair>], lane: &Range<usize>) -> Vec<Pair> {
    let len = parts.iter().map(Vec::len).sum();
    if len < lane.len() / 4 {
        let mut pairs = parts.concat();
        pairs.sort_unstable();
        return pairs;
    }
    let mut next = vec![0_usize; lane.len() + 1];
    for (bit, _) in parts.iter().flatten() {
        next[*bit as usize - lane.start + 1] += 1;
    }
    for bit in 0..lane.len() {
        next[bit + 1] += next[bit];
    }
    let mut ordered = vec![(0, 0); len];
    for pair in parts.iter().flatten() {
        let place = &mut next[pair.0 as usize - lane.start];
        ordered[*place] = *pair;
        *place += 1;
    }
    ordered
}
