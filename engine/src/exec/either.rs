//! Two strata of which one is enough: both are tried in turn, for longer and longer, until one of them is complete.
//!
//! Nobody knows beforehand which of the two has less to do, and one may have a thousand times as much as the other. What was tried
//! in vain is begun anew with [`LONGER`] times the time, so both together take two to five times what the better one takes alone,
//! as it is the first or the second in its turn, and eleven times at worst.

use std::time::Duration;

use super::both_ends::search_from_both;
use super::error::ExecError;
use super::profile::Notes;
use super::stratum::evaluate;
use super::tables::Tables;
use crate::analysis::program::{Alternative, Stratum};

/// The first try may take so long,
const FIRST: Duration = Duration::from_micros(200);
/// and the next ones so many times as long as those before.
const LONGER: u32 = 8;

/// Evaluates one of two strata; the relations of the other have no rows then. Answers which, with what happened.
pub(super) fn evaluate_either<'s>(
    tables: &mut Tables<'_>,
    strata: [&'s Stratum; 2],
    is_measured: bool,
) -> Result<(&'s Stratum, Option<Notes>), ExecError> {
    let is_sooner = strata[1].alternative == Some(Alternative::Sooner);
    if is_sooner && let Some(notes) = search_from_both(tables, strata, is_measured)? {
        return Ok((strata[1], notes));
    }
    let mut open = Vec::from(strata);
    if is_sooner != tables.thresholds.swaps_turns {
        open.reverse();
    }
    let (mut time, mut failed) = (FIRST, None);
    loop {
        for stratum in std::mem::take(&mut open) {
            tables.budget.check()?;
            let tried = tables.budget.in_turn(time, |budget| {
                let mut apart = Tables { budget, ..tables.apart() };
                let mut notes = is_measured.then(Notes::start);
                evaluate(&mut apart, stratum, notes.as_mut())?;
                let Tables { complete, found_in, remarks, .. } = apart;
                Ok::<_, ExecError>((complete, found_in, remarks, notes))
            });
            let (complete, found_in, remarks, notes) = match tried {
                Some(Ok(done)) => done,
                // What goes wrong on one way says nothing of the other.
                Some(Err(error)) => {
                    failed = failed.or(Some(error));
                    continue;
                }
                None => {
                    open.push(stratum);
                    continue;
                }
            };
            if remarks.is_saturated() {
                tables.remarks.saturate();
            }
            (tables.complete, tables.found_in) = (complete, found_in);
            return Ok((stratum, notes));
        }
        if let Some(error) = failed.take_if(|_| open.is_empty()) {
            return Err(error);
        }
        time = time.saturating_mul(LONGER);
    }
}
