//! A rule's plan at work: batches of bindings flow from the source through the operators into a sink.
//!
//! Everything that operators look up is fetched when the pipeline is made, indexes among it; lanes then share it freely.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bar::Bar;
use super::operator::{Circumstances, Operator};
use super::scan::Reading;
use crate::analysis::program::Ranking;
use crate::data::Code;
use crate::exec::error::ExecError;
use crate::exec::known::KnownRows;
use crate::exec::profile::{Meter, time};
use crate::exec::tables::Tables;
use crate::exec::values::batch::Bindings;
use crate::exec::values::expression::Evaluator;
use crate::plan::{RulePlan, Source, Step, Version, rows_in};

/// A plan with everything it reads.
pub(crate) struct Pipeline<'a> {
    plan: &'a RulePlan,
    meter: Option<&'a Meter>,
    tables: &'a Tables<'a>,
    source: Option<Reading<'a>>,
    operators: Vec<Operator<'a>>,
    circumstances: Circumstances<'a>,
    /// Bindings that reached each operator, and the end.
    reached: Vec<AtomicU64>,
    /// Bindings that it may still have.
    left: Option<AtomicU64>,
}

/// Takes the bindings that reach the end.
pub(crate) type Sink<'s> = dyn FnMut(&Bindings) -> Result<(), ExecError> + 's;

impl<'a> Pipeline<'a> {
    /// A pipeline that reads its source in the order in which it stands.
    pub(crate) fn new(
        plan: &'a RulePlan,
        meter: Option<&'a Meter>,
        tables: &'a Tables<'a>,
    ) -> Result<Pipeline<'a>, ExecError> {
        Pipeline::open(plan, meter, true, tables)
    }

    /// A pipeline whose source is read in parts of about so many rows, none of which ends between two rows with the same
    /// code in this column; and these parts.
    pub(crate) fn in_parts(
        plan: &'a RulePlan,
        meter: Option<&'a Meter>,
        tables: &'a Tables<'a>,
        column: usize,
        part_rows: usize,
    ) -> Result<(Pipeline<'a>, Vec<Range<usize>>), ExecError> {
        let mut pipeline = Pipeline::open(plan, meter, false, tables)?;
        let source = pipeline.source.as_mut().filter(|source| source.rows() > 0);
        let parts = source.map(|source| source.divide(column, part_rows, tables.budget)).transpose()?;
        Ok((pipeline, parts.unwrap_or_default()))
    }

    fn open(
        plan: &'a RulePlan,
        meter: Option<&'a Meter>,
        in_order: bool,
        tables: &'a Tables<'a>,
    ) -> Result<Pipeline<'a>, ExecError> {
        let source = match &plan.source {
            Source::One => None,
            Source::Scan(scan) => Some(Reading::of(scan, tables)?),
        };
        let operator = |depth| time(meter, depth + 1, || Operator::open(plan, depth, in_order, tables));
        let operators = (0..plan.steps.len()).map(operator).collect::<Result<_, _>>()?;
        let evaluator = tables.evaluator();
        let circumstances = Circumstances { evaluator, bar: None, keeps_numbers: false };
        let reached = (0..=plan.steps.len()).map(|_| AtomicU64::new(0)).collect();
        Ok(Pipeline { plan, meter, tables, source, operators, circumstances, reached, left: None })
    }

    /// Drops solutions that the ranking of the head cannot want as soon as their value is computed.
    pub(crate) fn below(mut self, ranking: &Ranking, is_one_group: bool) -> Pipeline<'a> {
        self.circumstances.bar = Bar::new(&self.plan.head_terms, ranking, is_one_group);
        self
    }

    /// Leaves computed numbers without codes where nothing looks them up. Who takes the solutions has to expect that.
    pub(crate) fn keeping_numbers(mut self) -> Pipeline<'a> {
        self.circumstances.keeps_numbers = true;
        self
    }

    /// Stops with [`ExecError::NotWorth`] where it has more bindings.
    pub(crate) fn at_most(mut self, bindings: u64) -> Pipeline<'a> {
        self.left = Some(AtomicU64::new(bindings));
        self
    }

    /// What solutions have to reach.
    pub(crate) fn bar(&self) -> Option<&Bar> {
        self.circumstances.bar.as_ref()
    }

    /// Number of rows that the source will read: what lanes divide.
    pub(crate) fn source_rows(&self) -> usize {
        match &self.source {
            None => 1,
            Some(reading) => reading.rows(),
        }
    }

    /// Sends the bindings that start from these source rows into the sink.
    pub(crate) fn run(&self, rows: Range<usize>, sink: &mut Sink<'_>) -> Result<(), ExecError> {
        time(self.meter, 0, || self.scan(rows, None, sink))
    }

    /// The same while this is known in a recursion.
    pub(crate) fn run_beside(
        &self,
        known: &KnownRows,
        rows: Range<usize>,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExecError> {
        time(self.meter, 0, || self.scan(rows, Some(known), sink))
    }

    fn scan(
        &self,
        rows: Range<usize>,
        known: Option<&KnownRows>,
        sink: &mut Sink<'_>,
    ) -> Result<(), ExecError> {
        // With many steps over many variables even empty batches are large.
        let batches = self.operators.len() + 1;
        let bytes = batches * self.plan.variables * size_of::<Vec<Code>>();
        let _charge = self.tables.budget.hold(bytes)?;
        let mut buffers: Vec<Bindings> = (0..batches).map(|_| Bindings::new(self.plan.variables)).collect();
        let Some(reading) = &self.source else {
            return self.step(0, &Bindings::one(self.plan.variables), known, &mut buffers[1..], sink);
        };
        let (first, rest) = buffers.split_at_mut(1);
        reading.batches(rows, &mut first[0], |batch| self.step(0, batch, known, rest, sink))
    }

    /// Takes what has left the source or the operator before.
    fn step(
        &self,
        depth: usize,
        input: &Bindings,
        known: Option<&KnownRows>,
        buffers: &mut [Bindings],
        sink: &mut Sink<'_>,
    ) -> Result<(), ExecError> {
        if input.len == 0 {
            return Ok(());
        }
        self.reached[depth].fetch_add(input.len as u64, Ordering::Relaxed);
        if let Some(left) = &self.left {
            let more = |left: u64| left.checked_sub(input.len as u64);
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).map_err(|_| ExecError::NotWorth)?;
        }
        match self.meter {
            None => self.apply(depth, input, known, buffers, sink),
            Some(meter) => {
                meter.rows(depth, input.len);
                meter.time_within(depth + 1, || self.apply(depth, input, known, buffers, sink))
            }
        }
    }

    fn apply(
        &self,
        depth: usize,
        input: &Bindings,
        known: Option<&KnownRows>,
        buffers: &mut [Bindings],
        sink: &mut Sink<'_>,
    ) -> Result<(), ExecError> {
        self.tables.budget.check()?;
        let Some(operator) = self.operators.get(depth) else { return sink(input) };
        // `scan` makes one for each.
        let (output, rest) = buffers.split_first_mut().expect("a batch for each operator");
        operator.run(&self.circumstances, known, input, output, &mut |output| {
            self.step(depth + 1, output, known, rest, sink)
        })
    }

    /// Tells what a plan of a round has found, so that the next rounds can be planned with it.
    pub(crate) fn tell_measured(&self) {
        if !self.plan.reads_delta() {
            return;
        }
        let reached: Vec<u64> =
            self.reached.iter().map(|bindings| bindings.load(Ordering::Relaxed)).collect();
        for (step, counts) in self.plan.steps.iter().zip(reached.windows(2)) {
            let lookup = match step {
                // Of a range it is not known how many rows the key has.
                Step::Probe { lookup, between: None, best: None, .. } => lookup,
                // A row has one match at most where all of its columns are looked up.
                Step::Exists { lookup, negated: false, .. }
                    if lookup.key.len() == self.tables.arity(lookup.access.relation) =>
                {
                    lookup
                }
                _ => continue,
            };
            if lookup.access.version != Version::Delta {
                let columns = lookup.columns();
                let rows = rows_in(lookup.access, self.tables);
                self.tables.measured.add(lookup.access, columns, counts[0], counts[1], rows);
            }
        }
        self.tables.measured.add_bindings(reached.iter().sum());
        if let Some((auxiliary, steps)) = &self.plan.spares {
            let bindings = reached.get(steps.clone()).map_or(0, |bindings| bindings.iter().sum());
            self.tables.measured.spare(*auxiliary, bindings);
        }
    }

    /// Bindings so far, at all operators and at the end.
    pub(crate) fn bindings(&self) -> u64 {
        self.reached.iter().map(|bindings| bindings.load(Ordering::Relaxed)).sum()
    }

    /// Bindings that its operators have found so far, beside those that they began with.
    pub(crate) fn found_bindings(&self) -> u64 {
        self.reached.iter().skip(1).map(|bindings| bindings.load(Ordering::Relaxed)).sum()
    }

    /// Does what the head has to do beside taking bindings.
    pub(crate) fn head<T>(&self, work: impl FnOnce() -> T) -> T {
        time(self.meter, self.plan.steps.len() + 1, work)
    }

    /// So many rows of the head were new.
    pub(crate) fn found(&self, rows: usize) {
        if let Some(meter) = self.meter {
            meter.rows(self.plan.steps.len() + 1, rows);
        }
    }

    /// The codes of an expression over bindings that reached the end.
    pub(crate) fn evaluator(&self) -> &Evaluator<'a> {
        &self.circumstances.evaluator
    }
}
