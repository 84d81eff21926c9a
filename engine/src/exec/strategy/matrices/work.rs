//! One product in one round.

use std::ops::Range;

use super::blocks::BlockRows;
use super::kept::Known;
use super::pairs::Pair;
use super::row_ref::RowRef;
use super::scratch::Scratch;
use crate::budget::{Budget, BudgetError};

/// Blocks that are united between two looks at the budget.
const CHECK_BLOCKS: usize = 1 << 20;

/// A step in a round: what is new on the left times all that is known on the right, and what is known on the left times
/// what is new on the right.
pub(super) struct Work<'s> {
    pub(super) off_diagonal: bool,
    /// By rows of the head.
    pub(super) left: &'s BlockRows,
    /// The right factor; without one, the left one is added as it is.
    pub(super) times: Option<&'s Known>,
    /// The left factor by its columns, and what is new on the right.
    pub(super) scattered: Option<(&'s Known, &'s BlockRows)>,
}

/// How far a lane has come in a step.
pub(super) struct Pending {
    /// Positions in the left rows.
    pub(super) left: Range<usize>,
    /// By rows of the head, ascending.
    pub(super) scattered: Vec<Pair>,
    pub(super) at: usize,
    /// A buffer for the bits of one left row.
    pub(super) middles: Vec<u32>,
}

impl Work<'_> {
    /// About how many rows it will unite.
    pub(super) fn unions(&self) -> usize {
        let scattered = self
            .scattered
            .map_or(0, |(left, new)| new.rows().iter().map(|row| left.row(*row).blocks_len()).sum());
        scattered + if self.times.is_some() { self.left.blocks_len() } else { self.left.rows().len() }
    }

    /// Unites everything that belongs to a row of the head.
    pub(super) fn unite(
        &self,
        row: u32,
        pending: &mut Pending,
        scratch: &mut Scratch,
        patience: &mut Patience<'_>,
    ) -> Result<(), BudgetError> {
        if self.left.rows()[pending.left.clone()].first() == Some(&row) {
            let left = self.left.at(pending.left.start);
            pending.left.start += 1;
            match self.times {
                None => scratch.unite(left),
                Some(right) => {
                    pending.middles.clear();
                    left.for_each(|middle| pending.middles.push(middle));
                    let rows = pending.middles.iter().map(|middle| right.row(*middle));
                    unite_all(rows, scratch, patience)?;
                }
            }
        }
        if let Some((_, new)) = self.scattered {
            let rest = &pending.scattered[pending.at..];
            let of_row = rest.iter().take_while(|(other, _)| *other == row).count();
            pending.at += of_row;
            let rows = rest[..of_row].iter().map(|(_, position)| new.at(*position as usize));
            unite_all(rows, scratch, patience)?;
        }
        Ok(())
    }
}

/// Looks at the budget now and then.
pub(super) struct Patience<'b> {
    budget: &'b Budget,
    blocks: usize,
}

impl<'b> Patience<'b> {
    pub(super) fn new(budget: &'b Budget) -> Patience<'b> {
        Patience { budget, blocks: 0 }
    }

    fn spend(&mut self, blocks: usize) -> Result<(), BudgetError> {
        self.blocks += blocks;
        if self.blocks < CHECK_BLOCKS {
            return Ok(());
        }
        self.blocks = 0;
        self.budget.check()
    }
}

/// Unites rows. They are looked up side by side, not one after the other: who waits for memory then waits for all at
/// once.
fn unite_all<'r>(
    mut rows: impl Iterator<Item = RowRef<'r>>,
    scratch: &mut Scratch,
    patience: &mut Patience<'_>,
) -> Result<(), BudgetError> {
    const FEW: usize = 16;
    let mut few = [RowRef::EMPTY; FEW];
    loop {
        let mut count = 0;
        for (place, row) in few.iter_mut().zip(&mut rows) {
            *place = row;
            count += 1;
        }
        let few = &few[..count];
        let first = |row: &RowRef<'_>| row.masks.first().copied().unwrap_or_default();
        std::hint::black_box(few.iter().map(first).fold(0, std::ops::BitOr::bitor));
        few.iter().for_each(|row| scratch.unite(*row));
        patience.spend(few.iter().map(|row| row.blocks_len()).sum())?;
        if count < FEW {
            return Ok(());
        }
    }
}
