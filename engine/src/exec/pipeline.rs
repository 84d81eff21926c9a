//! A rule's plan at work: batches of bindings flow from the source through the steps into a sink.
//!
//! Everything that steps look up is fetched when the pipeline is made, indexes among it; lanes then share it freely.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::batch::Bindings;
use super::error::ExecError;
use super::expression::Evaluator;
use super::intersect::Edges;
use super::profile::{Meter, time};
use super::stratum::View;
use crate::data::{Code, RowIndex, Run, VariableId};
use crate::plan::{Access, KeyPart, RulePlan, Scan, Source, Step};

/// Rows a batch grows to before it is handed on.
const BATCH: usize = 4_096;

/// A plan with everything it reads.
pub(super) struct Pipeline<'a> {
    plan: &'a RulePlan,
    meter: Option<&'a Meter>,
    view: &'a View<'a>,
    evaluator: Evaluator<'a>,
    source: Option<Reading<'a>>,
    targets: Vec<Target>,
}

/// What a step looks up.
enum Target {
    Nothing,
    Rows(Lookup),
    /// The edges of both sides of an intersection.
    Edges([Vec<Edges>; 2]),
}

/// The runs of a scan.
struct Reading<'a> {
    scan: &'a Scan,
    constants: Vec<(usize, Code)>,
    runs: Vec<Run>,
}

/// The runs of a probe, with their indexes.
struct Lookup {
    /// One part a key column, in the order of the index.
    key: Vec<LookupKey>,
    /// No index means that every row matches.
    runs: Vec<(Run, Option<Arc<RowIndex>>)>,
}

enum LookupKey {
    Variable(VariableId),
    Constant(Code),
}

/// Takes the bindings that reach the end.
pub(super) type Sink<'s> = dyn FnMut(&Bindings) -> Result<(), ExecError> + 's;

impl<'a> Pipeline<'a> {
    pub(super) fn new(
        plan: &'a RulePlan,
        meter: Option<&'a Meter>,
        view: &'a View<'a>,
    ) -> Result<Pipeline<'a>, ExecError> {
        let source = match &plan.source {
            Source::One => None,
            Source::Scan(scan) => Some(Reading {
                scan,
                constants: scan
                    .constants
                    .iter()
                    .map(|(column, value)| Ok((*column, view.codec.encode(value.as_ref())?)))
                    .collect::<Result<_, ExecError>>()?,
                runs: view.runs(scan.access),
            }),
        };
        let targets = plan
            .steps
            .iter()
            .enumerate()
            .map(|(depth, step)| match step {
                Step::Probe { access, key, .. } | Step::Exists { access, key, .. } => {
                    // An index that is not there yet is built here.
                    time(meter, depth + 1, || lookup(*access, key, view)).map(Target::Rows)
                }
                Step::Intersect { sides, .. } => Ok(time(meter, depth + 1, || {
                    Target::Edges(sides.each_ref().map(|side| Edges::of(side, view)))
                })),
                Step::Filter { .. } | Step::Compute { .. } => Ok(Target::Nothing),
            })
            .collect::<Result<_, ExecError>>()?;
        Ok(Pipeline { plan, meter, view, evaluator: view.evaluator(), source, targets })
    }

    /// Number of rows that the source will read: what lanes divide.
    pub(super) fn source_rows(&self) -> usize {
        match &self.source {
            None => 1,
            Some(reading) => reading.runs.iter().map(Run::stored_len).sum(),
        }
    }

    /// Sends the bindings that start from these source rows into the sink.
    pub(super) fn run(&self, rows: Range<usize>, sink: &mut Sink<'_>) -> Result<(), ExecError> {
        time(self.meter, 0, || self.scan(rows, sink))
    }

    fn scan(&self, rows: Range<usize>, sink: &mut Sink<'_>) -> Result<(), ExecError> {
        // With many steps over many variables even empty batches are large.
        let batches = self.plan.steps.len() + 1;
        let bytes = batches * self.plan.variables * size_of::<Vec<Code>>();
        let _charge = self.view.budget.hold(bytes)?;
        let mut buffers: Vec<Bindings> = (0..batches).map(|_| Bindings::new(self.plan.variables)).collect();
        let Some(reading) = &self.source else {
            return self.step(0, &Bindings::one(self.plan.variables), &mut buffers[1..], sink);
        };
        let (first, rest) = buffers.split_at_mut(1);
        let mut offset = 0;
        for run in &reading.runs {
            let start = rows.start.clamp(offset, offset + run.stored_len()) - offset;
            let end = rows.end.clamp(offset, offset + run.stored_len()) - offset;
            for from in (start..end).step_by(BATCH) {
                reading.read(run, from..end.min(from + BATCH), &mut first[0]);
                self.step(0, &first[0], rest, sink)?;
            }
            offset += run.stored_len();
        }
        Ok(())
    }

    /// Takes what has left the source or the step before.
    fn step(
        &self,
        depth: usize,
        input: &Bindings,
        buffers: &mut [Bindings],
        sink: &mut Sink<'_>,
    ) -> Result<(), ExecError> {
        if input.len == 0 {
            return Ok(());
        }
        match self.meter {
            None => self.apply(depth, input, buffers, sink),
            Some(meter) => {
                meter.rows(depth, input.len);
                meter.time_within(depth + 1, || self.apply(depth, input, buffers, sink))
            }
        }
    }

    fn apply(
        &self,
        depth: usize,
        input: &Bindings,
        buffers: &mut [Bindings],
        sink: &mut Sink<'_>,
    ) -> Result<(), ExecError> {
        let (Some(step), Some((output, rest))) = (self.plan.steps.get(depth), buffers.split_first_mut())
        else {
            self.view.budget.check()?;
            return sink(input);
        };
        match step {
            Step::Probe { equal, outputs, keep, .. } => {
                let Target::Rows(lookup) = &self.targets[depth] else { return Ok(()) };
                let mut matches = Matches::default();
                for (run, index) in &lookup.runs {
                    let mut emit = |matches: &mut Matches| {
                        matches.retain(run, equal);
                        output.clear();
                        output.gather(input, keep, &matches.positions);
                        for (column, variable) in outputs {
                            let codes = run.column(*column);
                            output
                                .column_mut(*variable)
                                .extend(matches.rows.iter().map(|row| codes[*row as usize]));
                        }
                        matches.clear();
                        self.view.budget.check()?;
                        self.step(depth + 1, output, rest, sink)
                    };
                    find(run, index.as_deref(), &lookup.key, input, &mut matches, &mut emit)?;
                    if matches.len() > 0 {
                        emit(&mut matches)?;
                    }
                }
                Ok(())
            }
            Step::Exists { equal, negated, keep, .. } => {
                let Target::Rows(lookup) = &self.targets[depth] else { return Ok(()) };
                let found = exists(lookup, equal, input);
                self.hand_on(depth, input, output, rest, keep, |row| found[row] != *negated, sink)
            }
            Step::Intersect { variable, sides, keep } => {
                let Target::Edges([first, second]) = &self.targets[depth] else { return Ok(()) };
                let bound = sides.each_ref().map(|side| input.column(side.bound));
                for (left, right) in
                    first.iter().flat_map(|left| second.iter().map(move |right| (left, right)))
                {
                    left.intersect(right, bound, BATCH, |positions, codes| {
                        output.clear();
                        output.gather(input, keep, positions);
                        output.column_mut(*variable).extend_from_slice(codes);
                        self.view.budget.check()?;
                        self.step(depth + 1, output, rest, sink)
                    })?;
                }
                Ok(())
            }
            Step::Filter { operator, left, right, keep } => {
                let mask = self.evaluator.compare(*operator, left, right, input)?;
                self.hand_on(depth, input, output, rest, keep, |row| mask[row], sink)
            }
            Step::Compute { variable, expression, keep } => {
                let computed = self.evaluator.codes(expression, input)?;
                output.clear();
                for kept in keep {
                    output.column_mut(*kept).extend_from_slice(input.column(*kept));
                }
                output.column_mut(*variable).extend_from_slice(&computed);
                output.len = input.len;
                self.step(depth + 1, output, rest, sink)
            }
        }
    }

    /// Hands on the rows that pass.
    #[allow(clippy::too_many_arguments, reason = "the state of one step, taken apart for the borrow checker")]
    fn hand_on(
        &self,
        depth: usize,
        input: &Bindings,
        output: &mut Bindings,
        rest: &mut [Bindings],
        keep: &[VariableId],
        passes: impl Fn(usize) -> bool,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExecError> {
        let positions: Vec<u32> = (0..input.len).filter(|row| passes(*row)).map(|row| row as u32).collect();
        output.clear();
        output.gather(input, keep, &positions);
        self.step(depth + 1, output, rest, sink)
    }

    /// Does what the head has to do beside taking bindings.
    pub(super) fn head<T>(&self, work: impl FnOnce() -> T) -> T {
        time(self.meter, self.plan.steps.len() + 1, work)
    }

    /// So many rows of the head were new.
    pub(super) fn found(&self, rows: usize) {
        if let Some(meter) = self.meter {
            meter.rows(self.plan.steps.len() + 1, rows);
        }
    }

    /// The codes of an expression over bindings that reached the end.
    pub(super) fn evaluator(&self) -> &Evaluator<'a> {
        &self.evaluator
    }
}

impl Reading<'_> {
    fn read(&self, run: &Run, rows: Range<usize>, out: &mut Bindings) {
        out.clear();
        if run.live().is_none() && self.constants.is_empty() && self.scan.equal.is_empty() {
            for (column, variable) in &self.scan.outputs {
                out.column_mut(*variable).extend_from_slice(&run.column(*column)[rows.clone()]);
            }
            out.len = rows.len();
            return;
        }
        let passes = |row: &usize| {
            run.is_live(*row)
                && self.constants.iter().all(|(column, code)| run.column(*column)[*row] == *code)
                && self.scan.equal.iter().all(|(a, b)| run.column(*a)[*row] == run.column(*b)[*row])
        };
        let selected: Vec<usize> = rows.filter(passes).collect();
        for (column, variable) in &self.scan.outputs {
            let codes = run.column(*column);
            out.column_mut(*variable).extend(selected.iter().map(|row| codes[*row]));
        }
        out.len = selected.len();
    }
}

fn lookup(access: Access, key: &[(usize, KeyPart)], view: &View<'_>) -> Result<Lookup, ExecError> {
    let columns: Vec<usize> = key.iter().map(|(column, _)| *column).collect();
    let key = key
        .iter()
        .map(|(_, part)| {
            Ok(match part {
                KeyPart::Variable(variable) => LookupKey::Variable(*variable),
                KeyPart::Constant(value) => LookupKey::Constant(view.codec.encode(value.as_ref())?),
            })
        })
        .collect::<Result<_, ExecError>>()?;
    let runs = view.runs(access);
    let runs = runs.into_iter().map(|run| {
        let index = (!columns.is_empty()).then(|| run.index(&columns));
        (run, index)
    });
    Ok(Lookup { key, runs: runs.collect() })
}

/// Pairs of an input row and a row of the run that match.
#[derive(Default)]
struct Matches {
    positions: Vec<u32>,
    rows: Vec<u32>,
}

impl Matches {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn clear(&mut self) {
        self.positions.clear();
        self.rows.clear();
    }

    /// Drops deleted rows, and those in which columns that must agree do not.
    fn retain(&mut self, run: &Run, equal: &[(usize, usize)]) {
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
fn find(
    run: &Run,
    index: Option<&RowIndex>,
    key: &[LookupKey],
    input: &Bindings,
    matches: &mut Matches,
    emit: &mut dyn FnMut(&mut Matches) -> Result<(), ExecError>,
) -> Result<(), ExecError> {
    let Some(index) = index else {
        let all = run.stored_len() as u32;
        for position in 0..input.len as u32 {
            for start in (0..all).step_by(BATCH) {
                let end = all.min(start + BATCH as u32);
                matches.rows.extend(start..end);
                matches.positions.extend(std::iter::repeat_n(position, (end - start) as usize));
                if matches.len() >= BATCH {
                    emit(matches)?;
                }
            }
        }
        return Ok(());
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
            matches.rows.extend_from_slice(chunk);
            matches.positions.extend(std::iter::repeat_n(position as u32, chunk.len()));
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

fn exists(lookup: &Lookup, equal: &[(usize, usize)], input: &Bindings) -> Vec<bool> {
    let mut found = vec![false; input.len];
    let columns = key_columns(&lookup.key, input);
    let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
    for (run, index) in &lookup.runs {
        match index {
            None => {
                if (0..run.stored_len() as u32).any(|row| matches_row(run, equal, row)) {
                    found.fill(true);
                }
            }
            Some(index) => index.probe(&columns, 0, input.len, |position, rows| {
                if !found[position] {
                    found[position] = rows.iter().any(|row| matches_row(run, equal, *row));
                }
                true
            }),
        }
    }
    found
}

fn key_columns<'b>(key: &[LookupKey], input: &'b Bindings) -> Vec<Cow<'b, [Code]>> {
    key.iter()
        .map(|part| match part {
            LookupKey::Variable(variable) => Cow::Borrowed(input.column(*variable)),
            LookupKey::Constant(code) => Cow::Owned(vec![*code; input.len]),
        })
        .collect()
}
