//! Steps that nobody needs, made while nobody waits: rows of a relation go, and come again while others go. What they make that lasts,
//! as rows in order and indexes, is there when the first step is needed.

use std::time::Duration;

use super::Named;
use crate::budget::{Budget, BudgetError};
use crate::data::{Rows, Run};
use crate::exec::ExecError;

/// So many rows go at once: few rows are joined in other ways than one.
const SIZES: [usize; 2] = [1, 16];
/// So many times it is tried with others: much may depend on one of them.
const TRIES: usize = 2;
/// So many different lots of rows there are.
const LOTS: usize = 2 * TRIES;

/// All of it may take so many times as long as a few steps.
const MOST: u32 = 8;

/// Makes steps with rows of each of these relations, of which a few may take this time, but for what lasts. `step` makes one from a
/// state, or else the present one, to that with other relations; none if there is no way.
pub(crate) fn rehearse<S>(
    present: &Named,
    time: Duration,
    budget: &Budget,
    step: impl Fn(Option<&S>, &Named, &Budget) -> Result<Option<S>, ExecError>,
) -> Result<(), ExecError> {
    // What is not reached within that time is made by the first steps.
    budget
        .in_turn(time.saturating_mul(MOST), |budget| rehearse_each(present, time, budget, step))
        .unwrap_or(Ok(()))
}

fn rehearse_each<S>(
    present: &Named,
    time: Duration,
    budget: &Budget,
    step: impl Fn(Option<&S>, &Named, &Budget) -> Result<Option<S>, ExecError>,
) -> Result<(), ExecError> {
    for (name, relation) in present {
        let Some(run) = relation.runs().iter().max_by_key(|run| run.len()) else { continue };
        for size in SIZES.into_iter().take_while(|size| size * LOTS <= run.len()) {
            let without = |lot| {
                let rest = relation.delete(&rows_of(run, size, lot)).0;
                let others = present.iter().map(|(other, rows)| (other.clone(), rows.clone()));
                others.chain([(name.clone(), rest)]).collect::<Named>()
            };
            for lot in (0..LOTS).step_by(2) {
                let ways = [without(lot), without(lot + 1), present.clone()];
                let go = |budget: &Budget| {
                    let mut at = None;
                    for way in &ways {
                        at = step(at.as_ref(), way, budget)?;
                        if at.is_none() {
                            break;
                        }
                    }
                    Ok(())
                };
                match budget.in_turn(time, go) {
                    Some(Ok(())) => break,
                    Some(Err(error @ ExecError::Budget(BudgetError::Cancelled))) => return Err(error),
                    // What fails here fails where somebody needs it, or is derived anew.
                    Some(Err(_)) | None => {}
                }
            }
        }
    }
    Ok(())
}

/// A lot of so many rows of a run, far from each other.
fn rows_of(run: &Run, size: usize, lot: usize) -> Rows {
    let near = |number: usize| {
        let place = (number * LOTS + lot) * run.stored_len() / (size * LOTS);
        (place..run.stored_len()).find(|row| run.is_live(*row))
    };
    let mut rows: Vec<usize> = (0..size).filter_map(near).collect();
    rows.dedup();
    let columns = run.columns().iter().map(|column| rows.iter().map(|row| column[*row]).collect()).collect();
    Rows { columns, len: rows.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lots_have_no_row_in_common() {
        let run = Run::new(vec![(0..1_000).collect()], 1_000).without(&[0, 1, 2, 500]);
        let lots: Vec<Rows> = (0..LOTS).map(|lot| rows_of(&run, 16, lot)).collect();
        assert!(lots.iter().all(|lot| lot.len == 16));
        let mut all: Vec<u32> = lots.iter().flat_map(|lot| lot.columns[0].clone()).collect();
        assert!(all.iter().all(|row| *row > 2 && *row != 500));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 16 * LOTS);
    }
}
