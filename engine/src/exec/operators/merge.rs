//! Rows that are looked up in the order in which they are sorted: without an index, as when two lists are merged.

use crate::budget::BudgetError;
use crate::data::{Run, VariableId};
use crate::exec::tables::Tables;
use crate::exec::values::batch::Bindings;
use crate::plan::{KeyPart, Lookup};

/// Sorted rows, and the variables that come in the same order.
pub(super) struct Merge {
    variables: Vec<VariableId>,
    runs: Vec<Run>,
}

impl Merge {
    pub(super) fn open(plan: &Lookup, tables: &Tables<'_>) -> Result<Merge, BudgetError> {
        let variables = plan.key.iter().filter_map(|(_, part)| match part {
            KeyPart::Variable(variable) => Some(*variable),
            KeyPart::Constant(_) => None,
        });
        Ok(Merge { variables: variables.collect(), runs: tables.runs(plan.access)? })
    }

    /// Which bindings have a row.
    pub(super) fn exists(&self, input: &Bindings) -> Vec<bool> {
        let columns: Vec<&[_]> = self.variables.iter().map(|variable| input.column(*variable)).collect();
        let mut found = vec![false; input.len];
        self.runs.iter().for_each(|run| run.find_sorted(&columns, &mut found));
        found
    }
}
