//! Look-ups: which rows of a relation match a batch of bindings, by an index or by the order of rows.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::data::{Code, GoOn, RowIndex, Run, VariableId};
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::exec::values::batch::{BATCH, Bindings};
use crate::plan::{KeyPart, Lookup as Plan, LookupBy};

/// The runs of a probe, and how they are looked up.
pub(super) struct Lookup {
    /// One part a key column, in the order of the index.
    pub(super) key: Vec<LookupKey>,
    pub(super) runs: Vec<(Run, Matching)>,
}

/// Which rows of a run match.
pub(super) enum Matching {
    /// The same for every binding.
    Rows(Range<u32>),
    ByIndex(Arc<RowIndex>),
}

pub(super) enum LookupKey {
    Variable(VariableId),
    Constant(Code),
}

impl Lookup {
    /// What a step looks up. An index that is not there yet is built here, unless constants stand in the first columns and
    /// rows in their order: then those that match lie side by side.
    pub(super) fn open(plan: &Plan, tables: &Tables<'_>) -> Result<Lookup, ExecError> {
        let columns: Vec<usize> = plan.key.iter().map(|(column, _)| *column).collect();
        let key = key_of(plan, tables)?;
        let first: Vec<Code> = key.iter().filter_map(LookupKey::constant).collect();
        let runs = tables.runs(plan.access).into_iter().map(|run| {
            let in_order = if plan.by == LookupBy::Order { run.beginning_with(&first) } else { None };
            let matching = match in_order {
                Some(rows) => Matching::Rows(rows),
                None => {
                    let build = |go_on: GoOn<'_>| run.index(&columns, go_on);
                    Matching::ByIndex(tables.budget.build(run.index_cost(&columns), build)?)
                }
            };
            Ok((run, matching))
        });
        let runs = runs.collect::<Result<_, ExecError>>()?;
        Ok(Lookup { key, runs })
    }
}

/// What key columns must hold, in their order.
pub(super) fn key_of(plan: &Plan, tables: &Tables<'_>) -> Result<Vec<LookupKey>, ExecError> {
    let part = |(_, part): &(usize, KeyPart)| {
        Ok(match part {
            KeyPart::Variable(variable) => LookupKey::Variable(*variable),
            KeyPart::Constant(value) => LookupKey::Constant(tables.codec.encode(value.as_ref())?),
        })
    };
    plan.key.iter().map(part).collect()
}

impl LookupKey {
    fn constant(&self) -> Option<Code> {
        match self {
            LookupKey::Constant(code) => Some(*code),
            LookupKey::Variable(_) => None,
        }
    }
}

/// Pairs of an input row and a row of the run that match.
#[derive(Default)]
pub(super) struct Matches {
    pub(super) positions: Vec<u32>,
    pub(super) rows: Vec<u32>,
}

impl Matches {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn clear(&mut self) {
        self.positions.clear();
        self.rows.clear();
    }

    /// Adds rows that match one input row.
    pub(super) fn extend(&mut self, position: usize, rows: &[u32]) {
        self.rows.extend_from_slice(rows);
        self.positions.extend(std::iter::repeat_n(position as u32, rows.len()));
    }

    /// Drops deleted rows, and those in which columns that must agree do not.
    pub(super) fn retain(&mut self, run: &Run, equal: &[(usize, usize)]) {
        if run.live().is_none() && equal.is_empty() {
            return;
        }
        let mut kept = 0;
        for i in 0..self.rows.len() {
            if matches_row(run, equal, self.rows[i]) {
                self.rows[kept] = self.rows[i];
                self.positions[kept] = self.positions[i];
                kept += 1;
            }
        }
        self.rows.truncate(kept);
        self.positions.truncate(kept);
    }
}

fn matches_row(run: &Run, equal: &[(usize, usize)], row: u32) -> bool {
    let row = row as usize;
    run.is_live(row) && equal.iter().all(|(a, b)| run.column(*a)[row] == run.column(*b)[row])
}

/// Collects the matches of all input rows, and calls `emit` whenever there are enough for a batch.
pub(super) fn find(
    matching: &Matching,
    key: &[LookupKey],
    input: &Bindings,
    matches: &mut Matches,
    emit: &mut dyn FnMut(&mut Matches) -> Result<(), ExecError>,
) -> Result<(), ExecError> {
    let index = match matching {
        Matching::ByIndex(index) => index,
        Matching::Rows(rows) => {
            for position in 0..input.len as u32 {
                for start in rows.clone().step_by(BATCH) {
                    let end = rows.end.min(start + BATCH as u32);
                    matches.rows.extend(start..end);
                    matches.positions.extend(std::iter::repeat_n(position, (end - start) as usize));
                    if matches.len() >= BATCH {
                        emit(matches)?;
                    }
                }
            }
            return Ok(());
        }
    };
    let columns = key_columns(key, input);
    let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
    if let [codes] = columns.as_slice()
        && index.probe_unique(&codes[..input.len], &mut matches.positions, &mut matches.rows)
    {
        return Ok(());
    }
    let mut outcome = Ok(());
    index.probe(&columns, 0, input.len, |position, rows| {
        for chunk in rows.chunks(BATCH) {
            matches.extend(position, chunk);
            if matches.len() >= BATCH {
                outcome = emit(matches);
                if outcome.is_err() {
                    return false;
                }
            }
        }
        true
    });
    outcome
}

/// Which input rows have a match.
pub(super) fn exists(lookup: &Lookup, equal: &[(usize, usize)], input: &Bindings) -> Vec<bool> {
    let mut found = vec![false; input.len];
    let columns = key_columns(&lookup.key, input);
    let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
    for (run, matching) in &lookup.runs {
        match matching {
            Matching::Rows(rows) => {
                if rows.clone().any(|row| matches_row(run, equal, row)) {
                    found.fill(true);
                }
            }
            Matching::ByIndex(index) => index.probe(&columns, 0, input.len, |position, rows| {
                if !found[position] {
                    found[position] = rows.iter().any(|row| matches_row(run, equal, *row));
                }
                true
            }),
        }
    }
    found
}

pub(super) fn key_columns<'b>(key: &[LookupKey], input: &'b Bindings) -> Vec<Cow<'b, [Code]>> {
    key.iter()
        .map(|part| match part {
            LookupKey::Variable(variable) => Cow::Borrowed(input.column(*variable)),
            LookupKey::Constant(code) => Cow::Owned(vec![*code; input.len]),
        })
        .collect()
}
