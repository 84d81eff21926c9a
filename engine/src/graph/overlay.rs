//! A session's own facts and rules, laid over a snapshot: nobody else sees them.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use super::change::{Change, ChangeSet};
use super::snapshot::{Snapshot, State};
use crate::catalog::{Catalog, RelationDefinition};
use crate::data::{Dictionary, Relation, Run};
use crate::exec::Relations;

/// Ephemeral facts and rules. It is a small graph of its own, whose codes are those of the graph it is laid over.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    own: Arc<State>,
    rule_bytes: usize,
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

    /// The relations with facts, sorted.
    pub fn sources(&self) -> Vec<String> {
        let filled = self.own.relations().filter(|(_, relation)| !relation.is_empty());
        filled.map(|(name, _)| name.to_owned()).collect()
    }

    /// The facts and rules by themselves, as if they were a graph.
    pub fn own(&self) -> &State {
        &self.own
    }

    /// The overlay with changes applied, and what each changed.
    pub fn apply(&self, changes: &ChangeSet) -> (Overlay, Vec<usize>) {
        let (own, counts) = self.own.apply(changes, self.own.version() + 1);
        let added = |(change, count): (&Change, &usize)| match change {
            Change::AddRule(rule) if *count > 0 => rule.memory_bytes(),
            _ => 0,
        };
        let rule_bytes = match changes.iter().any(|change| matches!(change, Change::RemoveRules(_))) {
            true => {
                own.catalog().derived().flat_map(|(_, clauses)| clauses).map(|rule| rule.memory_bytes()).sum()
            }
            false => self.rule_bytes + changes.iter().zip(&counts).map(added).sum::<usize>(),
        };
        (Overlay { own: Arc::new(own), rule_bytes }, counts)
    }

    /// Its facts, as long as somebody has them.
    pub(super) fn weak(&self) -> Weak<State> {
        Arc::downgrade(&self.own)
    }

    /// Counts the changes.
    pub fn version(&self) -> u64 {
        self.own.version()
    }

    /// The bytes that it takes: rules, rows, and the values in them, which the graph's dictionary holds.
    pub fn bytes(&self, dictionary: &Dictionary) -> usize {
        let defined = self.own.catalog().relations().map(|known| known.memory_bytes());
        let facts = self.own.relations().map(|(_, relation)| {
            let values: usize = relation.runs().iter().map(|run| run.value_bytes(dictionary)).sum();
            relation.memory_bytes() + values
        });
        self.rule_bytes + defined.sum::<usize>() + facts.sum::<usize>()
    }
}

/// What one session sees: a snapshot and its overlay.
#[derive(Debug, Clone)]
pub struct SessionView {
    snapshot: Arc<Snapshot>,
    overlay: Overlay,
    /// The merged catalog, unless the snapshot's own serves.
    merged: Option<Catalog>,
    /// What has another number of columns in the graph by now: the session's part is left out.
    left_out: BTreeSet<String>,
}

impl SessionView {
    /// Lays an overlay on a snapshot.
    pub fn new(snapshot: Arc<Snapshot>, overlay: Overlay) -> SessionView {
        let mut left_out = BTreeSet::new();
        let merged = (!overlay.is_clean() || overlay.own.catalog().relations().next().is_some())
            .then(|| merge(snapshot.catalog(), overlay.own.catalog(), &mut left_out));
        SessionView { snapshot, overlay, merged, left_out }
    }

    /// The definitions that the session sees.
    pub fn catalog(&self) -> &Catalog {
        self.merged.as_ref().unwrap_or_else(|| self.snapshot.catalog())
    }

    /// The graph's own definitions, if the session adds nothing to them.
    pub fn graph_catalog(&self) -> Option<&Catalog> {
        self.merged.is_none().then(|| self.snapshot.catalog())
    }

    /// Whether the session has facts or rules of its own.
    pub fn is_dirty(&self) -> bool {
        !self.overlay.is_clean()
    }

    /// Whether the session has facts or rules of this name.
    pub fn is_own(&self, name: &str) -> bool {
        let own = &self.overlay.own;
        own.relation(name).is_some_and(|facts| !facts.is_empty()) || own.catalog().has_rule(name)
    }

    /// Whether the session has rules of its own of this name.
    pub(crate) fn has_own_rules(&self, name: &str) -> bool {
        self.overlay.own.catalog().has_rule(name)
    }

    /// The session's own facts of this name, some of which the graph may have too; none if they are left out.
    pub(crate) fn own_facts(&self, name: &str) -> Option<&Relation> {
        self.overlay.own.relation(name).filter(|_| !self.left_out.contains(name))
    }

    /// Whoever has these facts and rules, as long as somebody has.
    pub(crate) fn seen_by(&self) -> Weak<State> {
        self.overlay.weak()
    }

    /// The session's relations that are left out, because the graph's have another number of columns by now.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        self.left_out.iter().map(String::as_str)
    }

    /// What a session without facts and rules of its own sees.
    pub fn without_session(&self) -> SessionView {
        SessionView::new(Arc::clone(&self.snapshot), Overlay::default())
    }

    /// The graph's part.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }
}

/// Session rules add clauses; a relation known to both has the graph's names and a type that fits both. The graph may
/// have changed since the session's part was checked: what no longer fits is left out.
fn merge(graph: &Catalog, session: &Catalog, left_out: &mut BTreeSet<String>) -> Catalog {
    let mut merged = graph.clone();
    for own in session.relations() {
        if graph.arity(&own.name).is_some_and(|arity| arity != own.arity) {
            left_out.insert(own.name.clone());
            continue;
        }
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
    for (name, clauses) in session.derived() {
        for clause in clauses {
            if merged.arity(name).is_some_and(|arity| arity != clause.head.head_columns()) {
                left_out.insert(name.to_owned());
            } else {
                merged.add_rule(Arc::clone(clause));
            }
        }
    }
    merged
}

impl Relations for SessionView {
    fn runs(&self, name: &str) -> Vec<Run> {
        let mut runs = self.snapshot.runs(name);
        if let Some(own) = self.own_facts(name) {
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
