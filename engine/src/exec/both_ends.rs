//! Rows of a recursion, searched for from both of their ends at once, where nothing matters but whether there is a way.
//!
//! That is so where rows are just their two ends, and steps are edges that are stored. It is done for a few rows, one after the other;
//! what many have in common is found out once by searches from either end (`either.rs`).

use std::time::Instant;

use foldhash::HashMap;

use super::error::ExecError;
use super::growing::runs_of;
use super::profile::Notes;
use super::strategy::walk::{EACH_PAIR, FEW_PAIRS, connected};
use super::stratum::begin;
use super::tables::Tables;
use crate::analysis::program::Stratum;
use crate::data::{Code, Rows};
use crate::plan::{EdgeSource, Edges, RulesPlan, Strategy, StrategyNote, StratumPlan, Walk, plan_stratum};

/// Searches for the rows of one stratum, what is reached, that are asked for by the other one, what lies before. Answers what is to be
/// noted of it, unless it is nothing to be done in this way.
pub(super) fn search_from_both(
    tables: &mut Tables<'_>,
    [before, reached]: [&Stratum; 2],
    is_measured: bool,
) -> Result<Option<Option<Notes>>, ExecError> {
    // Along stored edges a walk from one start begins with the first row, unless none ever does.
    if tables.thresholds.lone_walk_rows > 1 {
        return Ok(None);
    }
    let mut notes = is_measured.then(Notes::start);
    let Some((back, asked)) = begin_walk(tables, before)? else { return Ok(None) };
    if !(1..=FEW_PAIRS).contains(&asked.len) {
        return Ok(None);
    }
    let Some((forth, starts)) = begin_walk(tables, reached)? else { return Ok(None) };
    let Some(pairs) = pairs(&asked, &starts, &forth) else { return Ok(None) };
    let started = Instant::now();
    let is_connected = match asked.len {
        1 => connected(tables, [&forth, &back], &pairs)?,
        rows => {
            let tried = tables.budget.in_turn(EACH_PAIR * rows as u32, |budget| {
                connected(&Tables { budget, ..tables.apart() }, [&forth, &back], &pairs)
            });
            let Some(is_connected) = tried.transpose()? else { return Ok(None) };
            is_connected
        }
    };
    if let Some(notes) = &mut notes {
        (notes.strategy, notes.switched) = (Some(StrategyNote::BothEnds), Some(started.elapsed()));
    }
    let places: Vec<usize> = (0..asked.len).filter(|row| is_connected[*row]).collect();
    let columns = asked.columns.iter().map(|codes| places.iter().map(|row| codes[*row]).collect());
    let found = Rows { columns: columns.collect(), len: places.len() };
    tables.complete.insert(back.relation, Vec::new());
    tables.complete.insert(forth.relation, runs_of(found)?);
    Ok(Some(notes))
}

/// The nodes from which each of the rows that are asked for is searched for, forwards and backwards.
fn pairs(asked: &Rows, starts: &Rows, forth: &Walk) -> Option<Vec<[Vec<Code>; 2]>> {
    // Both searches carry the same column along.
    let carried = forth.carried?;
    let mut starts_of: HashMap<Code, Vec<Code>> = HashMap::default();
    for (from, start) in starts.columns[carried].iter().zip(&starts.columns[forth.node]) {
        starts_of.entry(*from).or_default().push(*start);
    }
    let ends = asked.columns[carried].iter().zip(&asked.columns[forth.node]);
    Some(ends.map(|(from, end)| [starts_of.get(from).cloned().unwrap_or_default(), vec![*end]]).collect())
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
