//! The operators as one list: a step of a plan with the state that it runs on.

use super::adjacency::Adjacency;
use super::bar::Bar;
use super::compute::Compute;
use super::filter::Filter;
use super::intersect::Intersect;
use super::probe::Probe;
use super::range_probe::RangeProbe;
use super::semijoin::Semijoin;
use super::unnest::Unnest;
use crate::exec::error::ExecError;
use crate::exec::known::KnownRows;
use crate::exec::tables::Tables;
use crate::exec::values::batch::{Bindings, Emit};
use crate::exec::values::expression::Evaluator;
use crate::plan::{LookupBy, RulePlan, Step};

/// A step that is ready to run.
pub(super) enum Operator<'a> {
    Probe(Probe<'a>),
    RangeProbe(RangeProbe<'a>),
    Adjacency(Adjacency<'a>),
    Semijoin(Semijoin<'a>),
    Intersect(Intersect<'a>),
    Filter(Filter<'a>),
    Compute(Compute<'a>),
    Unnest(Unnest<'a>),
}

/// What operators share while a pipeline runs.
pub(super) struct Circumstances<'a> {
    pub(super) evaluator: Evaluator<'a>,
    /// What solutions have to reach.
    pub(super) bar: Option<Bar>,
    /// Whether what is computed may stay numbers where nothing looks it up.
    pub(super) keeps_numbers: bool,
}

impl<'a> Operator<'a> {
    /// Opens a step of a plan: fetches what it looks up, and builds the indexes that are not there yet. `in_order` where
    /// bindings come in the order of the source's rows.
    pub(super) fn open(
        plan: &'a RulePlan,
        depth: usize,
        in_order: bool,
        tables: &'a Tables<'_>,
    ) -> Result<Operator<'a>, ExecError> {
        Ok(match &plan.steps[depth] {
            Step::Probe { lookup, between, best, outputs, keep } => {
                if let Some(between) = between
                    && let Some(probe) = RangeProbe::open(lookup, between, *best, outputs, keep, tables)?
                {
                    return Ok(Operator::RangeProbe(probe));
                }
                let by_adjacency = match lookup.by {
                    LookupBy::Adjacency | LookupBy::Mapping => {
                        Adjacency::open(lookup, outputs, keep, tables)?
                    }
                    LookupBy::Order
                    | LookupBy::Merge
                    | LookupBy::Index
                    | LookupBy::Set
                    | LookupBy::Range
                    | LookupBy::Best => None,
                };
                match by_adjacency {
                    Some(adjacency) => Operator::Adjacency(adjacency),
                    None => Operator::Probe(Probe::open(lookup, outputs, keep, tables)?),
                }
            }
            Step::Exists { lookup, negated, keep } => {
                Operator::Semijoin(Semijoin::open(lookup, *negated, keep, in_order, tables)?)
            }
            Step::Intersect { variable, sides, keep } => {
                Operator::Intersect(Intersect::open(*variable, sides, keep, tables)?)
            }
            Step::Filter { operator, left, right, keep } => {
                Operator::Filter(Filter { operator: *operator, left, right, keep })
            }
            Step::Compute { variable, expression, keep } => {
                Operator::Compute(Compute::open(*variable, expression, keep, depth, plan))
            }
            Step::Unnest { variable, list, keep } => {
                Operator::Unnest(Unnest { variable: *variable, list, keep })
            }
        })
    }

    /// Takes a batch and emits what becomes of it, which is in `output`. `known` has what is known while a stratum is evaluated.
    pub(super) fn run(
        &self,
        circumstances: &Circumstances<'_>,
        known: Option<&KnownRows>,
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let Circumstances { evaluator, bar, keeps_numbers } = circumstances;
        match self {
            Operator::Probe(probe) => probe.run(input, output, emit),
            Operator::RangeProbe(probe) => probe.run(evaluator, input, output, emit),
            Operator::Adjacency(adjacency) => adjacency.run(input, output, emit),
            Operator::Semijoin(semijoin) => semijoin.run(known, input, output, emit),
            Operator::Intersect(intersect) => intersect.run(input, output, emit),
            Operator::Filter(filter) => filter.run(evaluator, input, output, emit),
            Operator::Compute(compute) => {
                compute.run(evaluator, bar.as_ref(), *keeps_numbers, input, output, emit)
            }
            Operator::Unnest(unnest) => unnest.run(evaluator, input, output, emit),
        }
    }
}
