//! The edges of a relaxation, as they are stored.

use std::sync::Arc;

use crate::data::{Code, INLINE_END, Run};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::{derived, distinct_codes, edge_runs};
use crate::exec::tables::Tables;
use crate::plan::{Columns, Made, Weight, Weighted};

/// Which values may take certain edges, by the columns that carry them.
pub(super) type Guards = Arc<[(usize, Vec<Code>)]>;

/// Edges as they are stored.
pub(super) struct Edges {
    pub(super) run: Run,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) weight: Option<(Made, Weight)>,
    pub(super) guards: Guards,
    pub(super) allowed: Option<Columns>,
}

impl Edges {
    /// Whether all weights, if there are any, are small integers.
    pub(super) fn have_small_weights(&self) -> bool {
        match self.weight {
            None => true,
            Some((_, Weight::Constant(weight))) => weight < INLINE_END,
            Some((_, Weight::Column(column))) => {
                self.run.bounds(column).is_none_or(|(_, last)| last < INLINE_END)
            }
        }
    }

    /// One of the weights.
    pub(super) fn weight(&self) -> Option<Code> {
        match self.weight? {
            (_, Weight::Constant(weight)) => Some(weight),
            (_, Weight::Column(column)) => self.run.column(column).first().copied(),
        }
    }
}

/// The edges of a rule, as they are stored.
pub(super) fn edges_of(weighted: &Weighted, tables: &Tables<'_>) -> Result<Vec<Edges>, ExecError> {
    let (runs, [from, to]) = edge_runs(&weighted.source, tables)?;
    let guards = weighted
        .guards
        .iter()
        .map(|(column, rule)| Ok((*column, distinct_codes(std::iter::once(&derived(rule, tables)?), 0))));
    let guards: Arc<[_]> = guards.collect::<Result<_, ExecError>>()?;
    let of_run = |run: Run| {
        let run = match run.live() {
            None => run,
            Some(_) => {
                let rows = run.live_rows();
                Run::new(rows.columns, rows.len)
            }
        };
        let (weight, allowed) = (weighted.weight, weighted.allowed);
        Edges { run, from, to, weight, guards: Arc::clone(&guards), allowed }
    };
    Ok(runs.into_iter().filter(|run| !run.is_empty()).map(of_run).collect())
}
