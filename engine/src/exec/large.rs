//! A recursion that has become large goes on in another way than in rounds.

use std::collections::HashMap;

use super::error::ExecError;
use super::growing::Growing;
use super::stratum::{Known, Planned, View};
use crate::data::{RelationId, Run};
use crate::plan::{Access, EdgeSource, Large, Version};

impl View<'_> {
    /// Whether there is enough to do to go on in another way.
    pub(super) fn is_worth(&self, large: &Large, sets: &HashMap<RelationId, Known>) -> bool {
        let growing = |relation| self.growing.get(relation).map(|growing| (growing.rows(), &growing.delta));
        match large {
            Large::Walk(traversal) => {
                growing(&traversal.relation).is_some_and(|(known, _)| self.is_worth_walking(traversal, known))
            }
            Large::Matrices(chains) => {
                let known = self.growing.values().map(Growing::rows).sum();
                self.is_worth_multiplying(chains, known)
            }
            Large::Relax(relaxation) => match sets.get(&relaxation.relation) {
                Some(Known::Best(best)) => self.is_worth_relaxing(relaxation, best.len()),
                Some(Known::All(_) | Known::Nothing) | None => false,
            },
            Large::Parts(relation, _) => growing(relation).is_some_and(|(known, delta)| {
                known >= self.thresholds.part_rows
                    && delta.as_ref().is_some_and(|delta| delta.len() >= self.thresholds.part_new_rows)
            }),
        }
    }

    /// Rows that it reads if it can be brief, as a search from one node; any number otherwise.
    pub(super) fn rows_read(&self, large: &Large) -> usize {
        match large {
            Large::Walk(traversal) if self.is_from_one_source(traversal) => {
                traversal.edges.iter().map(|edges| self.edges_to_index(&edges.source)).sum()
            }
            Large::Walk(_) | Large::Matrices(_) | Large::Relax(_) | Large::Parts(..) => usize::MAX,
        }
    }

    /// Edges to be read before a search can begin.
    fn edges_to_index(&self, source: &EdgeSource) -> usize {
        let EdgeSource::Relation { relation, from, to } = source else { return self.edges_read(source) };
        let runs = self.runs(Access { relation: *relation, version: Version::All });
        let is_ready = |run: &Run| run.live().is_none() && run.has_neighbours(*from, *to);
        runs.iter().filter(|run| !is_ready(run)).map(Run::len).sum()
    }

    /// Goes on in another way, to the end; answers how many rounds that were. Nothing if the values do not allow it.
    pub(super) fn go_large(
        &mut self,
        large: &Large,
        variants: &[Planned],
        sets: &mut HashMap<RelationId, Known>,
    ) -> Result<Option<usize>, ExecError> {
        let complete = |run| Growing { stable: vec![run], delta: None };
        let rounds = match large {
            Large::Parts(relation, column) => {
                sets.clear();
                self.evaluate_in_parts(*relation, *column, variants)?
            }
            Large::Walk(traversal) => {
                sets.clear();
                let rows = |version| self.runs(Access { relation: traversal.relation, version });
                let run = if traversal.is_own {
                    self.traverse(traversal, &[], &rows(Version::All))?
                } else {
                    self.traverse(traversal, &rows(Version::Old), &rows(Version::Delta))?
                };
                self.growing.insert(traversal.relation, complete(run));
                0
            }
            Large::Matrices(chains) => {
                sets.clear();
                let rows = |relation| self.runs(Access { relation, version: Version::All });
                let (found, rounds) = self.multiply(chains, rows)?;
                self.growing = found.into_iter().map(|(relation, run)| (relation, complete(run))).collect();
                rounds
            }
            Large::Relax(relaxation) => {
                let Some(Known::Best(best)) = sets.get_mut(&relaxation.relation) else { return Ok(None) };
                let Some((run, sweeps)) = self.relax(relaxation, best)? else { return Ok(None) };
                sets.clear();
                self.growing.insert(relaxation.relation, complete(run));
                sweeps
            }
        };
        Ok(Some(rounds))
    }
}
