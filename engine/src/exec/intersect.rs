//! What two relations of two columns have in common beside two codes: a step towards triangles and other cycles.

use std::sync::Arc;

use super::error::ExecError;
use super::stratum::View;
use crate::data::{Code, OrderedNeighbours, Run, intersect};
use crate::plan::Side;

/// Two columns of a run.
pub(super) struct Edges {
    run: Run,
    neighbours: Arc<OrderedNeighbours>,
}

impl Edges {
    /// The edges of one side, run by run.
    pub(super) fn of(side: &Side, view: &View<'_>) -> Vec<Edges> {
        let runs = view.runs(side.access).into_iter().filter(|run| !run.is_empty());
        runs.map(|run| Edges { neighbours: run.ordered_neighbours(side.from, side.to), run }).collect()
    }

    /// Calls `emit` with positions in both columns of codes, and the code in which edges from the two end together;
    /// about `batch` at a time.
    pub(super) fn intersect(
        &self,
        other: &Edges,
        [from, other_from]: [&[Code]; 2],
        batch: usize,
        mut emit: impl FnMut(&[u32], &[Code]) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        let (mut positions, mut codes) = (Vec::new(), Vec::new());
        for (position, (from, other_from)) in from.iter().zip(other_from).enumerate() {
            let (ends, rows) = self.neighbours.of(*from);
            let (others, other_rows) = other.neighbours.of(*other_from);
            intersect(ends, others, |a, b| {
                if self.run.is_live(rows[a] as usize) && other.run.is_live(other_rows[b] as usize) {
                    positions.push(position as u32);
                    codes.push(ends[a]);
                }
            });
            if codes.len() >= batch {
                emit(&positions, &codes)?;
                positions.clear();
                codes.clear();
            }
        }
        if codes.is_empty() { Ok(()) } else { emit(&positions, &codes) }
    }
}
