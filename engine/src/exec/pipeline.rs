//! A rule's plan at work: batches of bindings flow from the source through the steps into a sink.
//!
//! Everything that steps look up is fetched when the pipeline is made, indexes among it; lanes then share it freely.

use std::ops::Range;

use super::batch::Bindings;
use super::beside::Beside;
use super::error::ExecError;
use super::expression::{Column, Evaluator};
use super::intersect::Edges;
use super::lookup::{Lookup, Matches, exists, find, lookup};
use super::merge::Merge;
use super::profile::{Meter, time};
use super::ranking::Bar;
use super::reading::Reading;
use super::stratum::View;
use crate::aggregates::Aggregate;
use crate::analysis::program::{HeadTerm, Ranking};
use crate::data::{Code, VariableId};
use crate::functions::lists::distinct_elements;
use crate::plan::{Access, KeyPart, RulePlan, Source, Step};

/// Rows a batch grows to before it is handed on.
pub(super) const BATCH: usize = 4_096;

/// A plan with everything it reads.
pub(super) struct Pipeline<'a> {
    plan: &'a RulePlan,
    meter: Option<&'a Meter>,
    view: &'a View<'a>,
    evaluator: Evaluator<'a>,
    source: Option<Reading<'a>>,
    targets: Vec<Target>,
    bar: Option<Bar>,
    /// Whether what is computed may stay numbers where nothing looks it up.
    keeps_numbers: bool,
}

/// What a step looks up.
enum Target {
    Nothing,
    Rows(Lookup),
    /// What stands beside codes.
    Beside(Beside),
    /// Rows that come in the order of the bindings.
    Merge(Merge),
    /// The edges of both sides of an intersection.
    Edges([Vec<Edges>; 2]),
}

/// Takes the bindings that reach the end.
pub(super) type Sink<'s> = dyn FnMut(&Bindings) -> Result<(), ExecError> + 's;

impl<'a> Pipeline<'a> {
    /// A pipeline that reads its source in the order in which it stands.
    pub(super) fn new(
        plan: &'a RulePlan,
        meter: Option<&'a Meter>,
        view: &'a View<'a>,
    ) -> Result<Pipeline<'a>, ExecError> {
        let merge = |access, key: &_| Merge::of(&plan.source, access, key, view);
        Pipeline::with(plan, meter, view, merge)
    }

    /// A pipeline whose source is read in parts of about so many rows, none of which ends between two rows with the same
    /// code in this column; and these parts.
    pub(super) fn in_parts(
        plan: &'a RulePlan,
        meter: Option<&'a Meter>,
        view: &'a View<'a>,
        column: usize,
        part_rows: usize,
    ) -> Result<(Pipeline<'a>, Vec<Range<usize>>), ExecError> {
        let mut pipeline = Pipeline::with(plan, meter, view, |_, _| None)?;
        let source = pipeline.source.as_mut().filter(|source| source.rows() > 0);
        let parts = source.map(|source| source.divide(column, part_rows, view.budget)).transpose()?;
        Ok((pipeline, parts.unwrap_or_default()))
    }

    /// A pipeline that merges where `merge` says that it can.
    fn with(
        plan: &'a RulePlan,
        meter: Option<&'a Meter>,
        view: &'a View<'a>,
        merge: impl Fn(Access, &[(usize, KeyPart)]) -> Option<Merge>,
    ) -> Result<Pipeline<'a>, ExecError> {
        let source = match &plan.source {
            Source::One => None,
            Source::Scan(scan) => Some(Reading::of(scan, view)?),
        };
        let targets = plan
            .steps
            .iter()
            .enumerate()
            .map(|(depth, step)| match step {
                Step::Exists { access, key, .. } => time(meter, depth + 1, || match merge(*access, key) {
                    Some(merge) => Ok(Target::Merge(merge)),
                    None => lookup(*access, key, view).map(Target::Rows),
                }),
                Step::Probe { access, key, equal, outputs, .. } => {
                    time(meter, depth + 1, || match Beside::of(*access, key, equal, outputs, view)? {
                        Some(beside) => Ok(Target::Beside(beside)),
                        None => lookup(*access, key, view).map(Target::Rows),
                    })
                }
                Step::Intersect { sides: [first, second], .. } => time(meter, depth + 1, || {
                    Ok(Target::Edges([Edges::of(first, view)?, Edges::of(second, view)?]))
                }),
                Step::Filter { .. } | Step::Compute { .. } | Step::Unnest { .. } => Ok(Target::Nothing),
            })
            .collect::<Result<_, ExecError>>()?;
        let evaluator = view.evaluator();
        Ok(Pipeline { plan, meter, view, evaluator, source, targets, bar: None, keeps_numbers: false })
    }

    /// Drops solutions that the ranking of the head cannot want as soon as their value is computed.
    pub(super) fn below(mut self, ranking: &Ranking, is_one_group: bool) -> Pipeline<'a> {
        self.bar = Bar::new(&self.plan.head_terms, ranking, is_one_group);
        self
    }

    /// Leaves computed numbers without codes where nothing looks them up. Who takes the solutions has to expect that.
    pub(super) fn keeping_numbers(self) -> Pipeline<'a> {
        Pipeline { keeps_numbers: true, ..self }
    }

    /// What solutions have to reach.
    pub(super) fn bar(&self) -> Option<&Bar> {
        self.bar.as_ref()
    }

    /// Number of rows that the source will read: what lanes divide.
    pub(super) fn source_rows(&self) -> usize {
        match &self.source {
            None => 1,
            Some(reading) => reading.rows(),
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
        reading.batches(rows, &mut first[0], |batch| self.step(0, batch, rest, sink))
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
                let lookup = match &self.targets[depth] {
                    Target::Rows(lookup) => lookup,
                    Target::Beside(beside) => {
                        return beside.join(input, keep, output, |output| {
                            self.view.budget.check()?;
                            self.step(depth + 1, output, rest, sink)
                        });
                    }
                    Target::Nothing | Target::Merge(_) | Target::Edges(_) => return Ok(()),
                };
                let mut matches = Matches::default();
                for (run, matching) in &lookup.runs {
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
                    find(matching, &lookup.key, input, &mut matches, &mut emit)?;
                    if matches.len() > 0 {
                        emit(&mut matches)?;
                    }
                }
                Ok(())
            }
            Step::Exists { equal, negated, keep, .. } => {
                let found = match &self.targets[depth] {
                    Target::Rows(lookup) => exists(lookup, equal, input),
                    Target::Merge(merge) => merge.exists(input),
                    Target::Nothing | Target::Beside(_) | Target::Edges(_) => return Ok(()),
                };
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
                if let Some(bar) = self.bar.as_ref().filter(|bar| bar.variable == *variable) {
                    let computed = self.evaluator.evaluate(expression, input)?;
                    if depth + 1 == self.plan.steps.len() {
                        bar.raise_by(computed.floats());
                    }
                    let worst = bar.worst();
                    let admits = |value| bar.admits(worst, value);
                    let (positions, computed) = self.evaluator.codes_where(computed, input.len, admits)?;
                    output.clear();
                    output.gather(input, keep, &positions);
                    output.column_mut(*variable).extend_from_slice(&computed);
                    return self.step(depth + 1, output, rest, sink);
                }
                output.clear();
                output.copy(input, keep);
                match self.evaluator.evaluate(expression, input)? {
                    Column::Numbers(numbers) if self.keeps_numbers && !self.needs_codes(depth, *variable) => {
                        output.bind_numbers(*variable, numbers);
                    }
                    column => {
                        let codes = self.evaluator.to_codes(column, input.len)?;
                        output.column_mut(*variable).extend_from_slice(&codes);
                    }
                }
                self.step(depth + 1, output, rest, sink)
            }
            Step::Unnest { variable, list, keep } => {
                let lists = self.evaluator.evaluate(list, input)?;
                let lists = self.evaluator.to_codes(lists, input.len)?;
                let (mut positions, mut codes) = (Vec::new(), Vec::new());
                for (row, list) in lists.iter().enumerate() {
                    for element in distinct_elements(self.view.codec.value(*list)) {
                        positions.push(row as u32);
                        codes.push(self.view.codec.encode(element.as_ref())?);
                    }
                    if positions.len() >= BATCH || row + 1 == input.len {
                        output.clear();
                        output.gather(input, keep, &positions);
                        output.column_mut(*variable).extend_from_slice(&codes);
                        positions.clear();
                        codes.clear();
                        self.view.budget.check()?;
                        self.step(depth + 1, output, rest, sink)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether a variable that this step computes has to have codes: a later step looks rows up by it, or makes more rows
    /// with it than there are now and the head gives each of them a code.
    fn needs_codes(&self, depth: usize, variable: VariableId) -> bool {
        let later = &self.plan.steps[depth + 1..];
        let is_looked_up = later.iter().any(|step| match step {
            Step::Probe { key, .. } | Step::Exists { key, .. } => {
                key.iter().any(|(_, part)| matches!(part, KeyPart::Variable(other) if *other == variable))
            }
            Step::Intersect { sides, .. } => sides.iter().any(|side| side.bound == variable),
            Step::Filter { .. } | Step::Compute { .. } | Step::Unnest { .. } => false,
        });
        let multiplies =
            |step: &Step| matches!(step, Step::Probe { .. } | Step::Intersect { .. } | Step::Unnest { .. });
        is_looked_up
            || later.iter().any(multiplies)
                && self.plan.head_terms.iter().any(|term| match term {
                    HeadTerm::Expression(expression) => {
                        let mut is_read = false;
                        expression.for_each_variable(&mut |other| is_read |= other == variable);
                        is_read
                    }
                    HeadTerm::Aggregate { function, argument, .. } => {
                        *function == Aggregate::CountDistinct && *argument == variable
                    }
                })
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
