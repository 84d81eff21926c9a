//! Two strata of which one is enough, searches from either end of what is asked for.
//!
//! Where all that matters is whether the two ends of one row are connected, along edges that are stored, both are searched from at
//! once. Otherwise both are tried in turn, for longer and longer, until one of them is complete.
//!
//! Nobody knows beforehand which of the two has less to do, and one may have a thousand times as much as the other. What was tried
//! in vain is begun anew with [`LONGER`] times the time, so both together take two to five times what the better one takes alone,
//! as it is the first or the second in its turn, and eleven times at worst.

use std::time::{Duration, Instant};

use super::error::ExecError;
use super::growing::runs_of;
use super::profile::Notes;
use super::strategy::walk::do_meet;
use super::stratum::{begin, evaluate};
use super::tables::Tables;
use crate::analysis::program::{Alternative, Stratum};
use crate::data::Rows;
use crate::plan::{EdgeSource, Edges, RulesPlan, Strategy, StrategyNote, StratumPlan, Walk, plan_stratum};

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
    // From one start along stored edges it is walked from the first row on, unless nothing is.
    if is_sooner
        && tables.thresholds.lone_walk_rows <= 1
        && let Some(notes) = search_from_both(tables, strata, is_measured)?
    {
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

/// Searches from both ends of the one row that is asked for, if one is, and answers what is to be noted of it. What is reached is
/// that row then, if there is a way, and of what lies before nothing need be known.
fn search_from_both(
    tables: &mut Tables<'_>,
    [before, reached]: [&Stratum; 2],
    is_measured: bool,
) -> Result<Option<Option<Notes>>, ExecError> {
    let mut notes = is_measured.then(Notes::start);
    let Some((back, asked)) = begin_walk(tables, before)? else { return Ok(None) };
    if asked.len != 1 {
        return Ok(None);
    }
    let Some((forth, starts)) = begin_walk(tables, reached)? else { return Ok(None) };
    let started = Instant::now();
    let ends = [&asked.columns[back.node], &starts.columns[forth.node]];
    let is_found = do_meet(tables, [&back, &forth], ends.map(Vec::as_slice))?;
    if let Some(notes) = &mut notes {
        (notes.strategy, notes.switched) = (Some(StrategyNote::BothEnds), Some(started.elapsed()));
    }
    tables.complete.insert(back.relation, Vec::new());
    tables.complete.insert(forth.relation, if is_found { runs_of(asked)? } else { Vec::new() });
    Ok(Some(notes))
}

/// The walk that a stratum is, if it is one along stored edges, and the rows from which it starts.
fn begin_walk(tables: &Tables<'_>, stratum: &Stratum) -> Result<Option<(Walk, Rows)>, ExecError> {
    let plan = plan_stratum(stratum, tables.program, tables, &tables.thresholds, tables.budget)?;
    let StratumPlan::Rules(RulesPlan { distinct, once, recursion: Some(recursion) }) = plan else {
        return Ok(None);
    };
    let Strategy::Walk(walk) = recursion.strategy else { return Ok(None) };
    let is_stored = |edges: &Edges| edges.guard.is_none() && matches!(edges.source, EdgeSource::Relation(_));
    if walk.is_own || !walk.edges.iter().all(is_stored) {
        return Ok(None);
    }
    let (_, mut fresh) = begin(&mut tables.apart(), stratum, once, &distinct, None)?;
    let rows = fresh.remove(&walk.relation).unwrap_or_default().gather(tables.arity(walk.relation));
    Ok(Some((walk, rows)))
}
