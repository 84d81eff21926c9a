//! Rows that are looked up in the order in which they are sorted: without an index, as when two lists are merged.

use super::batch::Bindings;
use super::stratum::View;
use crate::data::{Run, VariableId};
use crate::plan::{Access, KeyPart, Source};

/// Sorted rows, and the variables that come in the same order.
pub(super) struct Merge {
    variables: Vec<VariableId>,
    runs: Vec<Run>,
}

impl Merge {
    /// Sorted runs whose whole rows are looked up by what a scan of sorted runs binds, if that is how it is. Bindings stay
    /// in the order of the scan from step to step.
    pub(super) fn of(
        source: &Source,
        access: Access,
        key: &[(usize, KeyPart)],
        view: &View<'_>,
    ) -> Option<Merge> {
        let Source::Scan(scan) = source else { return None };
        let is_complete = |access: Access| !view.growing.contains_key(&access.relation);
        if key.is_empty()
            || key.len() != view.arity(access.relation)
            || !is_complete(access)
            || !is_complete(scan.access)
        {
            return None;
        }
        let mut variables = Vec::with_capacity(key.len());
        for (place, (column, part)) in key.iter().enumerate() {
            let KeyPart::Variable(variable) = part else { return None };
            if *column != place || !scan.outputs.contains(&(place, *variable)) {
                return None;
            }
            variables.push(*variable);
        }
        let (runs, read) = (view.runs(access), view.runs(scan.access));
        let is_sorted = runs.iter().chain(&read).all(Run::is_sorted);
        is_sorted.then_some(Merge { variables, runs })
    }

    /// Which bindings have a row.
    pub(super) fn exists(&self, input: &Bindings) -> Vec<bool> {
        let columns: Vec<&[_]> = self.variables.iter().map(|variable| input.column(*variable)).collect();
        let mut found = vec![false; input.len];
        self.runs.iter().for_each(|run| run.find_sorted(&columns, &mut found));
        found
    }
}
