//! The nearest vectors by an index.
//!
//! An index knows vectors and nothing of rows. So whatever it finds is looked up in the rows that this evaluation sees,
//! rows with vectors that it does not know are looked at one by one, and it is asked for more until there are enough
//! rows that fulfil the conditions. Where that does not come to an end soon, all rows are looked at.

use super::{Candidate, fulfilling, put_in_order};
use crate::data::{Code, Codec, Metric, Probe, Run, ValueRef};
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::index::{Measure, Reader};
use crate::plan::{Access, SearchPlan, Version};

/// So many rows with vectors that an index does not know are looked at beside it.
const MOST_STRANGERS: usize = 50_000;
/// Where conditions leave a smaller share of rows than this, to look at all of them is no quicker.
const LEAST_SHARE: f64 = 0.1;

/// The nearest rows, as far as the index finds them; nothing if it is better to look at all rows.
pub(super) fn nearest(
    tables: &Tables<'_>,
    search: &SearchPlan,
    query: ValueRef<'_>,
    reader: &Reader<'_>,
    ef: usize,
) -> Result<Option<Vec<Candidate>>, ExecError> {
    let Measure::Distance(metric) = search.by else { return Ok(None) };
    let runs = tables.runs(Access::of(search.relation, Version::All))?;
    let probe = Probe::new(metric, query);
    let Some(strangers) = strangers(tables, search, &runs, reader, &probe)? else { return Ok(None) };
    let strangers = fulfilling(tables, search, strangers)?;
    // Of so many candidates one is among the nearest for certain enough: the number of candidates that an index has
    // of its own accord is measured for ten rows.
    let margin = search.margin(ef);
    let mut want = search.candidates(ef).min(reader.len());
    loop {
        tables.budget.check()?;
        let Some(codes) = reader.search(query, want) else { return Ok(None) };
        // Parts of the graph may not be reached from where a search starts.
        let is_all = codes.len() >= reader.len();
        if codes.len() < want && !is_all {
            return Ok(None);
        }
        let radius = if is_all { f64::INFINITY } else { radius(tables, &probe, &codes, margin) };
        let mut near = fulfilling(tables, search, rows_with(tables, search, &runs, &codes, &probe)?)?;
        let share = near.len().max(1) as f64 / codes.len().max(1) as f64;
        near.extend_from_slice(&strangers);
        put_in_order(tables, search, &mut near);
        near.truncate(search.count);
        let is_enough = near.len() == search.count && near.last().is_some_and(|last| last.measure <= radius);
        if is_all || is_enough {
            return Ok(Some(near));
        }
        let expected = 1.25 * (margin * search.count) as f64 / share;
        want = (2 * want).max(expected as usize).min(reader.len());
        let by_index = want.saturating_mul(tables.thresholds.candidate_rows) as f64;
        if by_index > share.max(LEAST_SHARE) * reader.len() as f64 {
            return Ok(None);
        }
    }
}

/// How far the nearest of so many candidates are for certain.
fn radius(tables: &Tables<'_>, probe: &Probe<'_>, codes: &[Code], margin: usize) -> f64 {
    let mut distances: Vec<f64> =
        codes.iter().filter_map(|code| distance(tables.codec, probe, *code)).collect();
    distances.sort_by(f64::total_cmp);
    let certain = (distances.len() / margin).saturating_sub(1);
    distances.get(certain).copied().unwrap_or(f64::NEG_INFINITY)
}

/// Rows whose vectors the index does not know, and those that it keeps aside; nothing if they are many.
fn strangers(
    tables: &Tables<'_>,
    search: &SearchPlan,
    runs: &[Run],
    reader: &Reader<'_>,
    probe: &Probe<'_>,
) -> Result<Option<Vec<Candidate>>, ExecError> {
    let mut found = rows_with(tables, search, runs, reader.aside(), probe)?;
    for run in runs.iter().filter(|run| !reader.covers(run)) {
        let codes = run.column(search.column);
        for row in (0..run.stored_len()).filter(|row| run.is_live(*row) && !reader.knows(codes[*row])) {
            if found.len() == MOST_STRANGERS {
                return Ok(None);
            }
            if let Some(measure) = distance(tables.codec, probe, codes[row]) {
                found.push(Candidate { measure, id: run.column(0)[row] });
            }
        }
    }
    Ok(Some(found))
}

/// The rows that hold these vectors.
fn rows_with(
    tables: &Tables<'_>,
    search: &SearchPlan,
    runs: &[Run],
    codes: &[Code],
    probe: &Probe<'_>,
) -> Result<Vec<Candidate>, ExecError> {
    let mut found = Vec::new();
    let distances: Vec<Option<f64>> = codes.iter().map(|code| distance(tables.codec, probe, *code)).collect();
    for run in runs.iter().filter(|_| !codes.is_empty()) {
        let ids = run.column(0);
        let index = tables.budget.index(run, &[search.column])?;
        index.probe(&[codes], 0, codes.len(), |position, rows| {
            if let Some(measure) = distances[position] {
                let live = rows.iter().filter(|row| run.is_live(**row as usize));
                found.extend(live.map(|row| Candidate { measure, id: ids[*row as usize] }));
            }
            true
        });
    }
    Ok(found)
}

/// As the rule computes it; vectors of another length are nowhere.
fn distance(codec: &Codec, probe: &Probe<'_>, code: Code) -> Option<f64> {
    let value = codec.value(code);
    let is_comparable = match (value, probe.query()) {
        (ValueRef::Vector(a), ValueRef::Vector(b)) => a.len() == b.len(),
        (ValueRef::VectorInt8(a), ValueRef::VectorInt8(b)) => a.len() == b.len(),
        _ => false,
    };
    let distance = probe.distance(value).filter(|_| is_comparable)?;
    Some(if probe.metric() == Metric::Dot { 0.0 - distance } else { distance })
}
