//! A session's own facts and rules, laid over a snapshot: nobody else sees them.

use std::sync::Arc;

use super::change::ChangeSet;
use super::snapshot::Snapshot;
use crate::catalog::{Catalog, RelationDefinition};
use crate::data::Run;
use crate::exec::Relations;

/// Ephemeral facts and rules. It is a small graph of its own, whose codes are those of the graph it is laid over.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    own: Snapshot,
}

impl Overlay {
    /// Whether there is nothing in it.
    pub fn is_clean(&self) -> bool {
        self.fact_count() == 0 && self.rule_count() == 0
    }

    /// Number of facts.
    pub fn fact_count(&self) -> usize {
        self.own.relations().map(|(_, relation)| relation.len()).sum()
    }

    /// Number of clauses.
    pub fn rule_count(&self) -> usize {
        self.own.catalog().derived().map(|(_, clauses)| clauses.len()).sum()
    }

    /// The overlay with changes applied, and what each changed.
    pub fn apply(&self, changes: &ChangeSet) -> (Overlay, Vec<usize>) {
        let (own, counts) = self.own.apply(changes);
        (Overlay { own }, counts)
    }
}

/// What one session sees: a snapshot and its overlay.
#[derive(Debug, Clone)]
pub struct SessionView {
    snapshot: Arc<Snapshot>,
    overlay: Overlay,
    /// The merged catalog, unless the snapshot's own serves.
    merged: Option<Catalog>,
}

impl SessionView {
    /// Lays an overlay on a snapshot.
    pub fn new(snapshot: Arc<Snapshot>, overlay: Overlay) -> SessionView {
        let merged = (!overlay.is_clean() || overlay.own.catalog().relations().next().is_some())
            .then(|| merge(snapshot.catalog(), overlay.own.catalog()));
        SessionView { snapshot, overlay, merged }
    }

    /// The definitions that the session sees.
    pub fn catalog(&self) -> &Catalog {
        self.merged.as_ref().unwrap_or_else(|| self.snapshot.catalog())
    }

    /// The graph's part.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }
}

/// Session rules add clauses; a relation known to both has the graph's names and a type that fits both.
fn merge(graph: &Catalog, session: &Catalog) -> Catalog {
    let mut merged = graph.clone();
    for own in session.relations() {
        let definition = match graph.relation(&own.name) {
            None => RelationDefinition::clone(own),
            Some(stored) => {
                let types = stored.column_types.iter().zip(&own.column_types);
                RelationDefinition {
                    schema: stored.schema.clone().or_else(|| own.schema.clone()),
                    column_types: types.map(|(a, b)| a.join(*b)).collect(),
                    ..RelationDefinition::clone(stored)
                }
            }
        };
        merged.set_relation(definition);
    }
    for (_, clauses) in session.derived() {
        for clause in clauses {
            merged.add_rule(Arc::clone(clause));
        }
    }
    merged
}

impl Relations for SessionView {
    fn runs(&self, name: &str) -> Vec<Run> {
        let mut runs = self.snapshot.runs(name);
        if let Some(own) = self.overlay.own.relation(name) {
            let stored = self.snapshot.relation(name);
            for run in own.runs() {
                let rows = run.live_rows();
                // A row that the graph holds too counts once.
                let rows = match stored {
                    Some(stored) if stored.arity() == own.arity() => stored.absent(&rows),
                    _ => rows,
                };
                runs.push(Run::new(rows.columns, rows.len));
            }
        }
        runs
    }
}
