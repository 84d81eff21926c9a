//! Look-ups: which rows of a relation match a batch of bindings, by an index or by the order of rows.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::budget::{Budget, BudgetError};
use crate::data::{Code, RowIndex, Run, VariableId};
use crate::exec::error::ExecError;
use crate::exec::growing::Growing;
use crate::exec::growing_index::{GrowingIndex, IndexKey};
use crate::exec::tables::Tables;
use crate::exec::values::batch::{BATCH, Bindings};
use crate::plan::{Access, KeyPart, Lookup as Plan, LookupBy, Version};

/// The rows of a probe, and how they are looked up.
pub(super) struct Lookup<'a> {
    /// One part a key column, in the order of the index.
    key: Vec<LookupKey>,
    pub(super) places: Vec<Place<'a>>,
}

/// Rows that lie together.
pub(super) enum Place<'a> {
    /// A run, of which these rows match every binding.
    Rows(Run, Range<u32>),
    /// A run with an index.
    Run(RunPlace<'a>),
    /// Rows of a relation that grows.
    Growing(GrowingPlace<'a>),
}

/// A run with an index of the key's columns. It is made when the first binding comes: in many rounds none does, and threads
/// that come to different indexes make them side by side.
pub(super) struct RunPlace<'a> {
    run: Run,
    columns: Vec<usize>,
    index: OnceLock<Arc<RowIndex>>,
    /// So many keys were looked up.
    keys: AtomicUsize,
    budget: &'a Budget,
}

impl RunPlace<'_> {
    fn index(&self) -> Result<&RowIndex, BudgetError> {
        got_or_made(&self.index, || self.budget.index(&self.run, &self.columns))
    }

    /// Whether so many keys are found without an index: as long as they are so few that an index, if it has to be made after
    /// all, comes hardly later.
    fn bisects(&self, keys: usize) -> bool {
        const FEW: usize = 1 << 10;
        if self.index.get().is_some() {
            return false;
        }
        let so_far = self.keys.fetch_add(keys, Ordering::Relaxed) + keys;
        FEW * so_far <= self.run.stored_len() && self.run.bisects(&self.columns, keys)
    }

    /// Calls `visit` with each key that has rows, by their order.
    fn bisect(
        &self,
        columns: &[&[Code]],
        keys: usize,
        mut visit: impl FnMut(usize, &[u32]) -> bool,
    ) -> Result<(), BudgetError> {
        let (mut key, mut rows) = (Vec::with_capacity(columns.len()), Vec::new());
        self.budget.check()?;
        for position in 0..keys {
            key.clear();
            key.extend(columns.iter().map(|column| column[position]));
            rows.clear();
            rows.extend(self.run.beginning_with(&key).into_iter().flatten());
            if !rows.is_empty() && !visit(position, &rows) {
                break;
            }
        }
        Ok(())
    }
}

/// Rows of a relation that grows, up to one of them, with an index of the variables of the key, which is made, or grows, when
/// the first binding comes, too.
pub(super) struct GrowingPlace<'a> {
    growing: &'a Growing,
    key: IndexKey,
    version: Version,
    end: u32,
    index: OnceLock<Arc<GrowingIndex>>,
    budget: &'a Budget,
}

impl GrowingPlace<'_> {
    fn index(&self) -> Result<&GrowingIndex, BudgetError> {
        got_or_made(&self.index, || match self.version {
            Version::All | Version::Old => self.growing.index(self.key.clone(), self.budget),
            Version::Delta => self.growing.delta_index(self.key.clone(), self.budget),
        })
    }
}

/// An index that was got before, or is made now.
fn got_or_made<T>(
    got: &OnceLock<Arc<T>>,
    make: impl FnOnce() -> Result<Arc<T>, BudgetError>,
) -> Result<&T, BudgetError> {
    if let Some(index) = got.get() {
        return Ok(index);
    }
    let index = make()?;
    Ok(got.get_or_init(|| index))
}

impl Place<'_> {
    /// The codes of a column.
    pub(super) fn column(&self, column: usize) -> &[Code] {
        match self {
            Place::Rows(run, _) | Place::Run(RunPlace { run, .. }) => run.column(column),
            Place::Growing(place) => place.growing.column(column),
        }
    }

    /// The run, if it is one.
    pub(super) fn run(&self) -> Option<&Run> {
        match self {
            Place::Rows(run, _) | Place::Run(RunPlace { run, .. }) => Some(run),
            Place::Growing(_) => None,
        }
    }
}

pub(super) enum LookupKey {
    Variable(VariableId),
    Constant(Code),
}

impl<'a> Lookup<'a> {
    /// What a step looks up: by an index, unless constants stand in the first columns and rows in their order: then those that
    /// match lie side by side.
    pub(super) fn open(plan: &Plan, tables: &'a Tables<'_>) -> Result<Lookup<'a>, ExecError> {
        let columns: Vec<usize> = plan.key.iter().map(|(column, _)| *column).collect();
        let key = key_of(plan, tables)?;
        if plan.by != LookupBy::Order
            && let Some(growing) = tables.growing.get(&plan.access.relation)
        {
            let place = place_in(growing, plan.access, &columns, &key, tables);
            return Ok(Lookup { key, places: vec![place] });
        }
        let first: Vec<Code> = key.iter().filter_map(LookupKey::constant).collect();
        let place = |run: Run| {
            let in_order = if plan.by == LookupBy::Order { run.beginning_with(&first) } else { None };
            match in_order {
                Some(rows) => Place::Rows(run, rows),
                None => {
                    let (columns, index) = (columns.clone(), OnceLock::new());
                    let (keys, budget) = (AtomicUsize::new(0), tables.budget);
                    Place::Run(RunPlace { run, columns, index, keys, budget })
                }
            }
        };
        let places = tables.runs(plan.access)?.into_iter().map(place).collect();
        Ok(Lookup { key, places })
    }

    /// What is looked up in a place, a column each.
    fn columns<'b>(&self, place: &Place<'_>, input: &'b Bindings) -> Vec<Cow<'b, [Code]>> {
        match place {
            Place::Rows(..) | Place::Run(_) => key_columns(&self.key, input),
            Place::Growing(_) => {
                let variable = |part: &LookupKey| match part {
                    LookupKey::Variable(variable) => Some(Cow::Borrowed(input.column(*variable))),
                    LookupKey::Constant(_) => None,
                };
                self.key.iter().filter_map(variable).collect()
            }
        }
    }
}

/// Rows that grow. Constants of the key are no part of it: only rows that have them are in the index.
fn place_in<'a>(
    growing: &'a Growing,
    access: Access,
    columns: &[usize],
    key: &[LookupKey],
    tables: &'a Tables<'_>,
) -> Place<'a> {
    let mut index = IndexKey { columns: Vec::new(), constants: Vec::new(), generators: access.generators };
    for (column, part) in columns.iter().zip(key) {
        match part {
            LookupKey::Variable(_) => index.columns.push(*column),
            LookupKey::Constant(code) => index.constants.push((*column, *code)),
        }
    }
    let end = if access.version == Version::Old { growing.old_rows() } else { growing.rows() };
    Place::Growing(GrowingPlace {
        growing,
        key: index,
        version: access.version,
        end: end as u32,
        index: OnceLock::new(),
        budget: tables.budget,
    })
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

    /// Becomes bindings: columns of the input that are kept, and those of the rows that are bound. None are left.
    pub(super) fn bind<'r>(
        &mut self,
        column: impl Fn(usize) -> &'r [Code],
        outputs: &[(usize, VariableId)],
        input: &Bindings,
        keep: &[VariableId],
        output: &mut Bindings,
    ) {
        output.clear();
        output.gather(input, keep, &self.positions);
        for (number, variable) in outputs {
            let codes = column(*number);
            output.column_mut(*variable).extend(self.rows.iter().map(|row| codes[*row as usize]));
        }
        self.clear();
    }

    /// Drops deleted rows.
    pub(super) fn retain_live(&mut self, run: &Run) {
        if run.live().is_some() {
            self.keep(|row| run.is_live(row as usize));
        }
    }

    /// Drops deleted rows, and those in which columns that must agree do not.
    pub(super) fn retain(&mut self, place: &Place<'_>, equal: &[(usize, usize)]) {
        if place.run().is_none_or(|run| run.live().is_none()) && equal.is_empty() {
            return;
        }
        self.keep(|row| matches_row(place, equal, row));
    }

    fn keep(&mut self, passes: impl Fn(u32) -> bool) {
        let mut kept = 0;
        for i in 0..self.rows.len() {
            if passes(self.rows[i]) {
                self.rows[kept] = self.rows[i];
                self.positions[kept] = self.positions[i];
                kept += 1;
            }
        }
        self.rows.truncate(kept);
        self.positions.truncate(kept);
    }
}

fn matches_row(place: &Place<'_>, equal: &[(usize, usize)], row: u32) -> bool {
    let row = row as usize;
    place.run().is_none_or(|run| run.is_live(row))
        && equal.iter().all(|(a, b)| place.column(*a)[row] == place.column(*b)[row])
}

impl Lookup<'_> {
    /// Collects the matches of all input rows in a place, and calls `emit` whenever there are enough for a batch.
    pub(super) fn find(
        &self,
        place: &Place<'_>,
        input: &Bindings,
        matches: &mut Matches,
        emit: &mut dyn FnMut(&mut Matches) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        let columns = self.columns(place, input);
        let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
        let bisects = matches!(place, Place::Run(place) if place.bisects(input.len));
        if let (Place::Run(place), [codes], false) = (place, columns.as_slice(), bisects)
            && place.index()?.probe_unique(&codes[..input.len], &mut matches.positions, &mut matches.rows)
        {
            return Ok(());
        }
        let mut outcome = Ok(());
        let mut visit = |position: usize, rows: &[u32]| {
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
        };
        match place {
            Place::Rows(_, rows) => {
                let rows: Vec<u32> = rows.clone().collect();
                (0..input.len).all(|position| visit(position, &rows));
            }
            Place::Run(place) if bisects => place.bisect(&columns, input.len, visit)?,
            Place::Run(place) => place.index()?.probe(&columns, 0, input.len, visit),
            Place::Growing(place) => place.index()?.probe(&columns, input.len, place.end, &mut visit),
        }
        outcome
    }

    /// Which input rows have a match.
    pub(super) fn exists(&self, equal: &[(usize, usize)], input: &Bindings) -> Result<Vec<bool>, ExecError> {
        let mut found = vec![false; input.len];
        for place in &self.places {
            let columns = self.columns(place, input);
            let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
            let mut visit = |position: usize, rows: &[u32]| {
                if !found[position] {
                    found[position] = rows.iter().any(|row| matches_row(place, equal, *row));
                }
                true
            };
            match place {
                Place::Run(place) if place.bisects(input.len) => {
                    place.bisect(&columns, input.len, &mut visit)?;
                }
                Place::Run(place) if equal.is_empty() && place.run.live().is_none() => {
                    place.index()?.mark(&columns, input.len, &mut found);
                }
                Place::Growing(place) if equal.is_empty() => {
                    place.index()?.mark(&columns, input.len, place.end, &mut found);
                }
                Place::Rows(_, rows) => {
                    if rows.clone().any(|row| matches_row(place, equal, row)) {
                        found.fill(true);
                    }
                }
                Place::Run(place) => place.index()?.probe(&columns, 0, input.len, &mut visit),
                Place::Growing(place) => {
                    place.index()?.probe(&columns, input.len, place.end, &mut visit);
                }
            }
        }
        Ok(found)
    }
}

pub(super) fn key_columns<'b>(key: &[LookupKey], input: &'b Bindings) -> Vec<Cow<'b, [Code]>> {
    key.iter()
        .map(|part| match part {
            LookupKey::Variable(variable) => Cow::Borrowed(input.column(*variable)),
            LookupKey::Constant(code) => Cow::Owned(vec![*code; input.len]),
        })
        .collect()
}
