//! Two strata of which one is enough: both are tried in turn, for longer and longer, until one of them is complete.

use std::time::Duration;

use super::both_ends::search_from_both;
use super::error::ExecError;
use super::profile::Notes;
use super::stratum::evaluate;
use super::tables::Tables;
use crate::analysis::program::{Alternative, Stratum};
use crate::budget::Budget;

/// The first try may take so long.
const FIRST: Duration = Duration::from_micros(200);

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
    let in_order = is_sooner == tables.thresholds.swaps_turns;
    let [first, second] = if in_order { strata } else { [strata[1], strata[0]] };
    let apart = |stratum: &'s Stratum, budget: &Budget| {
        let mut apart = Tables { budget, ..tables.apart() };
        let mut notes = is_measured.then(Notes::start);
        evaluate(&mut apart, stratum, notes.as_mut())?;
        let Tables { complete, found_in, remarks, .. } = apart;
        Ok::<_, ExecError>((stratum, complete, found_in, remarks, notes))
    };
    let (mut first, mut second) =
        (|budget: &Budget| apart(first, budget), |budget: &Budget| apart(second, budget));
    let (stratum, complete, found_in, remarks, notes) =
        tables.budget.either(FIRST, [&mut first, &mut second])?;
    if remarks.is_saturated() {
        tables.remarks.saturate();
    }
    (tables.complete, tables.found_in) = (complete, found_in);
    Ok((stratum, notes))
}
