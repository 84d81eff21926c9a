//! A semijoin or an antijoin: keeps the bindings that have a match, or none.
//!
//! A negated literal reads what earlier strata have made, so its rows are complete before the first look-up.

use super::lookup::{Lookup, LookupKey, key_columns, key_of};
use super::merge::Merge;
use crate::data::{Code, RelationId, VariableId};
use crate::exec::error::ExecError;
use crate::exec::known::KnownRows;
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
    Index(Lookup<'a>),
    Merge(Merge),
    /// The set of a relation, with what its columns must hold.
    Set(RelationId, Vec<LookupKey>),
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
            LookupBy::Merge if in_order => Found::Merge(Merge::open(plan, tables)?),
            LookupBy::Set => Found::Set(plan.access.relation, key_of(plan, tables)?),
            LookupBy::Merge
            | LookupBy::Order
            | LookupBy::Index
            | LookupBy::Range
            | LookupBy::Best
            | LookupBy::Adjacency
            | LookupBy::Mapping => Found::Index(Lookup::open(plan, tables)?),
        };
        Ok(Semijoin { matches, equal: &plan.equal, negated, keep })
    }

    pub(super) fn run(
        &self,
        known: Option<&KnownRows>,
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let found = match &self.matches {
            Found::Index(lookup) => lookup.exists(self.equal, input)?,
            Found::Merge(merge) => merge.exists(input),
            Found::Set(relation, key) => {
                let mut found = vec![false; input.len];
                if let Some(known) = known.and_then(|known| known.get(relation)) {
                    let columns = key_columns(key, input);
                    let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
                    known.mark(&columns, input.len, &mut found);
                }
                found
            }
        };
        output.keep_where(input, self.keep, |row| found[row] != self.negated);
        emit(output)
    }
}
