//! One matrix between two rounds.

use super::blocks::{BlockRows, CompleteRows};
use super::row::Row;
use super::row_ref::{BLOCK, RowRef};
use super::steps::Forms;
use crate::budget::{Budget, BudgetError};
use crate::data::parallel;

/// A matrix, by rows and by columns.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) grows: bool,
    pub(super) known: [Option<Known>; 2],
    pub(super) new: [BlockRows; 2],
    /// What was new before, round by round, in the form in which it came; none if nobody wants to know.
    pub(super) found: Option<Vec<BlockRows>>,
}

impl Kept {
    /// Adds what is new, and accounted for, to what is known; answers by how many bytes the matrix has grown.
    pub(super) fn take_in(
        &mut self,
        new: BlockRows,
        main: usize,
        forms: Forms,
        size: usize,
        budget: &Budget,
    ) -> Result<isize, BudgetError> {
        let other = 1 - main;
        let turned = if forms.known[other] || forms.new[other] {
            new.transpose(size, budget)?
        } else {
            BlockRows::default()
        };
        let mut grown = turned.memory_bytes();
        budget.charge(grown)?;
        grown += new.memory_bytes();
        let mut old = 0;
        for (by, new) in [(main, new), (other, turned)] {
            if let Some(Known::Growing(rows)) = &mut self.known[by] {
                let more = merge(rows, &new, size.div_ceil(BLOCK));
                budget.charge(more)?;
                grown += more;
            }
            let before = std::mem::replace(&mut self.new[by], new);
            match &mut self.found {
                Some(found) if by == main => found.push(before),
                Some(_) | None => old += before.memory_bytes(),
            }
        }
        budget.release(old);
        Ok(grown as isize - old as isize)
    }
}

pub(super) enum Known {
    Growing(Vec<Row>),
    Complete(CompleteRows),
}

impl Known {
    #[inline]
    pub(super) fn row(&self, row: u32) -> RowRef<'_> {
        match self {
            Known::Growing(rows) => rows[row as usize].as_ref(),
            Known::Complete(rows) => rows.row(row),
        }
    }
}

/// Adds new rows to known ones; answers by how many bytes these have grown.
fn merge(known: &mut [Row], new: &BlockRows, all_blocks: usize) -> usize {
    /// New rows of one lane.
    const LANE_ROWS: usize = 2_048;
    let mut work = Vec::new();
    let mut rest = known;
    let mut first = 0;
    for lane in parallel::lanes(new.rows().len(), LANE_ROWS).into_iter().filter(|lane| !lane.is_empty()) {
        let end = new.rows()[lane.end - 1] as usize + 1;
        let (rows, others) = std::mem::take(&mut rest).split_at_mut(end - first);
        work.push((lane, rows, first));
        (rest, first) = (others, end);
    }
    let grown = parallel::map(work, |(lane, rows, first)| {
        let grow = |position: usize| {
            let row = new.rows()[position] as usize - first;
            rows[row].add(new.at(position), all_blocks)
        };
        lane.map(grow).sum::<usize>()
    });
    grown.into_iter().sum()
}
