//! A semijoin or an antijoin: keeps the bindings that have a match, or none.
//!
//! A negated literal reads what earlier strata have made, so its rows are complete before the first look-up.

use super::lookup::Lookup;
use super::merge::Merge;
use crate::data::VariableId;
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::exec::values::batch::{Bindings, Emit};
use crate::plan::{Lookup as Plan, LookupBy};

/// What is looked up, and which bindings stay.
pub(super) struct Semijoin<'a> {
    matches: Found<'a>,
    equal: &'a [(usize, usize)],
    negated: bool,
    keep: &'a [VariableId],
}

enum Found<'a> {
    ByIndex(Lookup<'a>),
    ByMerge(Merge),
}

impl<'a> Semijoin<'a> {
    /// `in_order` where bindings come in the order of the source's rows.
    pub(super) fn open(
        plan: &'a Plan,
        negated: bool,
        keep: &'a [VariableId],
        in_order: bool,
        tables: &'a Tables<'_>,
    ) -> Result<Semijoin<'a>, ExecError> {
        let matches = match plan.by {
            LookupBy::Merge if in_order => Found::ByMerge(Merge::open(plan, tables)?),
            LookupBy::Merge
            | LookupBy::Order
            | LookupBy::Index
            | LookupBy::Range
            | LookupBy::Adjacency
            | LookupBy::Mapping => Found::ByIndex(Lookup::open(plan, tables)?),
        };
        Ok(Semijoin { matches, equal: &plan.equal, negated, keep })
    }

    pub(super) fn run(
        &self,
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let found = match &self.matches {
            Found::ByIndex(lookup) => lookup.exists(self.equal, input),
            Found::ByMerge(merge) => merge.exists(input),
        };
        output.keep_where(input, self.keep, |row| found[row] != self.negated);
        emit(output)
    }
}
