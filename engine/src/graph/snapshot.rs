//! `Snapshot`: a graph at one version. It never changes once published.

use std::ops::Deref;
use std::sync::Arc;

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use super::change::{Change, ChangeSet};
use crate::attached::read_only;
use crate::catalog::Catalog;
use crate::data::{Dictionary, MAX_ROWS, Relation, Run};
use crate::diagnostic::{Code, Diagnostic};
use crate::exec::Relations;
use crate::index::Index;

/// A state of a graph, with the dictionary of its codes.
#[derive(Debug, Clone)]
pub struct Snapshot {
    state: State,
    dictionary: Arc<Dictionary>,
}

impl Snapshot {
    /// A graph without anything.
    pub(super) fn empty() -> Snapshot {
        Snapshot { state: State::default(), dictionary: Arc::new(Dictionary::shared()) }
    }

    /// A state whose codes are of this dictionary.
    pub(super) fn of(state: State, dictionary: Arc<Dictionary>) -> Snapshot {
        Snapshot { state, dictionary }
    }

    /// The rows that an index is over.
    pub fn runs_of(&self, index: &Index) -> &[Run] {
        self.relation(&index.definition.relation).map_or(&[], |relation| relation.runs())
    }

    /// The same state with another dictionary, in which all of its codes mean the same.
    pub(super) fn with_dictionary(&self, dictionary: Arc<Dictionary>) -> Snapshot {
        Snapshot::of(self.state.clone(), dictionary)
    }

    /// The values of its codes.
    pub fn dictionary(&self) -> &Arc<Dictionary> {
        &self.dictionary
    }

    /// Bytes of memory that its facts take, with the values that the graph knows of them.
    pub(super) fn stored_bytes(&self) -> u64 {
        (self.row_bytes + self.dictionary.bytes_of_facts()) as u64
    }

    /// The state with changes, of this version, and how many rows, clauses or definitions each really changed.
    pub fn apply(&self, changes: &ChangeSet, version: u64) -> (Snapshot, Vec<usize>) {
        let (state, counts) = self.state.apply(changes, version);
        (Snapshot::of(state, Arc::clone(&self.dictionary)), counts)
    }

    /// The same rows as another version, each relation in one run without the rows that were deleted.
    pub fn compacted(&self, version: u64) -> Snapshot {
        let relations = self.relations.iter().map(|(name, relation)| (name.clone(), relation.compacted()));
        let state = State::stored(version, self.catalog.clone(), relations.collect());
        Snapshot::of(state.with_changed(self.changed.clone()), Arc::clone(&self.dictionary))
    }
}

impl Deref for Snapshot {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

/// Definitions and rows at one version. Versions share all runs that did not change.
#[derive(Debug, Clone, Default)]
pub struct State {
    version: u64,
    catalog: Catalog,
    relations: OrdMap<String, Relation>,
    /// Bytes of the codes of all rows.
    row_bytes: usize,
    changed: Changed,
}

/// The versions at which something was changed last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Changed {
    /// Rows, by their relation.
    rows: OrdMap<String, u64>,
    /// Rules and columns, by their relation.
    definitions: OrdMap<String, u64>,
    /// What concerns all relations; nothing is known of what was changed before.
    everything: u64,
    /// The relations that the latest version has changed.
    #[serde(skip)]
    latest: Vec<String>,
}

impl State {
    /// Counts the commits.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A state as it was stored.
    pub(super) fn stored(version: u64, catalog: Catalog, relations: OrdMap<String, Relation>) -> State {
        let row_bytes = relations.values().map(Relation::row_bytes).sum();
        let changed = Changed { everything: version, ..Changed::default() };
        State { version, catalog, relations, row_bytes, changed }
    }

    /// The same state, of which it is known when what was changed last.
    pub(super) fn with_changed(self, changed: Changed) -> State {
        State { changed, ..self }
    }

    /// When what was changed last.
    pub(super) fn changed(&self) -> &Changed {
        &self.changed
    }

    /// Since when a relation has the rules and columns that it has, as far as that is known.
    pub fn defined_since(&self, relation: &str) -> u64 {
        self.changed.since(&self.changed.definitions, relation)
    }

    /// Since when it has the stored rows that it has.
    pub fn rows_since(&self, relation: &str) -> u64 {
        self.changed.since(&self.changed.rows, relation)
    }

    /// The relations whose rows or rules this very version has changed; none where it concerns all of them.
    pub fn changed_here(&self) -> Option<&[String]> {
        (self.changed.everything < self.version).then_some(&self.changed.latest)
    }

    /// Bytes of the codes of all rows, deleted ones among them.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// What is defined.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The stored rows of a relation.
    pub fn relation(&self, name: &str) -> Option<&Relation> {
        self.relations.get(name)
    }

    /// All stored relations with their rows.
    pub fn relations(&self) -> impl Iterator<Item = (&str, &Relation)> {
        self.relations.iter().map(|(name, relation)| (name.as_str(), relation))
    }

    /// The state with changes, of this version, and how many rows, clauses or definitions each really changed.
    pub fn apply(&self, changes: &ChangeSet, version: u64) -> (State, Vec<usize>) {
        let mut next = self.clone();
        // A transaction takes several of these to its one version.
        if version != self.version {
            next.changed.latest.clear();
        }
        next.version = version;
        let apply = |change: &Change| {
            let count = next.apply_one(change);
            if count > 0 || change.may_forget_a_name() {
                next.changed.note(change, version);
            }
            count
        };
        let counts = changes.iter().map(apply).collect();
        (next, counts)
    }

    /// Refuses what cannot be.
    pub(super) fn check(&self, changes: &ChangeSet) -> Result<(), Diagnostic> {
        self.check_attached(changes)?;
        self.check_row_counts(changes)
    }

    /// What has its rows in files has none beside them.
    fn check_attached(&self, changes: &ChangeSet) -> Result<(), Diagnostic> {
        for change in changes {
            let written = match change {
                Change::Insert { relation, .. } | Change::Delete { relation, .. } => relation,
                Change::AddRule(rule) => &rule.head.relation.text,
                Change::AddIndex(index) => &index.relation,
                Change::Define(definition) if definition.attached.is_none() => &definition.name,
                _ => continue,
            };
            if self.catalog.attached(written).is_some() {
                return Err(read_only(written));
            }
        }
        Ok(())
    }

    /// Rows have numbers of 32 bits: a relation with more of them is refused before there is one.
    fn check_row_counts(&self, changes: &ChangeSet) -> Result<(), Diagnostic> {
        for change in changes {
            let Change::Insert { relation, rows } = change else { continue };
            let stored =
                self.relation(relation).map_or(0, |stored| stored.runs().iter().map(Run::stored_len).sum());
            if stored + rows.len > MAX_ROWS {
                let message = format!("{relation} would have more than {MAX_ROWS} rows");
                return Err(Diagnostic::error(Code::LimitExceeded, message)
                    .help("split the facts over several relations")
                    .limit("rows_of_a_relation", MAX_ROWS as u64));
            }
        }
        Ok(())
    }

    fn apply_one(&mut self, change: &Change) -> usize {
        match change {
            Change::Define(definition) => {
                let known = self.relations.get(&definition.name);
                if known.is_none_or(|known| known.arity() != definition.arity) {
                    let empty = Relation::empty(definition.arity);
                    let known = self.relations.insert(definition.name.clone(), empty);
                    self.row_bytes -= known.map_or(0, |known| known.row_bytes());
                }
                usize::from(self.catalog.set_relation(definition.clone()))
            }
            Change::Insert { relation, rows } => self.replace(relation, |stored| stored.insert(rows)),
            Change::Delete { relation, rows } => self.replace(relation, |stored| stored.delete(rows)),
            Change::DropRelation(relation) => {
                self.catalog.remove_relation(relation);
                self.catalog.remove_indexes_of(relation);
                let dropped = self.relations.remove(relation);
                self.row_bytes -= dropped.as_ref().map_or(0, Relation::row_bytes);
                dropped.map_or(0, |rows| rows.len())
            }
            Change::AddRule(rule) => usize::from(self.catalog.add_rule(rule.clone())),
            Change::RemoveRules(head) => self.catalog.remove_rules(head),
            Change::ClearRules(head) => self.catalog.clear_rules(head),
            Change::DefineType(name, data_type) => {
                usize::from(self.catalog.set_type(name.clone(), *data_type))
            }
            Change::AddIndex(definition) => {
                usize::from(self.catalog.add_index(Arc::new(Index::new(definition.clone()))))
            }
            Change::RemoveIndex(name) => usize::from(self.catalog.remove_index(name)),
            Change::KeepView(name) => usize::from(self.catalog.keep(name)),
            Change::DropView(name) => usize::from(self.catalog.keep_no_more(name)),
            Change::UseCluster(cluster) => usize::from(self.catalog.set_cluster_use(*cluster)),
        }
    }

    fn replace(&mut self, name: &str, change: impl FnOnce(&Relation) -> (Relation, usize)) -> usize {
        let Some(relation) = self.relations.get_mut(name) else { return 0 };
        let (next, count) = change(relation);
        self.row_bytes = self.row_bytes + next.row_bytes() - relation.row_bytes();
        *relation = next;
        count
    }
}

/// So many names of relations are remembered.
const MOST_NAMES: usize = 10_000;

impl Changed {
    fn since(&self, names: &OrdMap<String, u64>, relation: &str) -> u64 {
        names.get(relation).map_or(self.everything, |version| self.everything.max(*version))
    }

    fn note(&mut self, change: &Change, version: u64) {
        let (names, name) = match change {
            Change::Insert { relation, .. } | Change::Delete { relation, .. } => (&mut self.rows, relation),
            Change::Define(definition) => (&mut self.definitions, &definition.name),
            Change::AddRule(rule) => (&mut self.definitions, &rule.head.relation.text),
            Change::DropRelation(name) | Change::RemoveRules(name) | Change::ClearRules(name) => {
                (&mut self.definitions, name)
            }
            Change::DefineType(..) | Change::AddIndex(_) | Change::RemoveIndex(_) => {
                self.everything = version;
                return;
            }
            // No answer is another one.
            Change::KeepView(_) | Change::DropView(_) | Change::UseCluster(_) => return,
        };
        names.insert(name.clone(), version);
        if self.latest.last() != Some(name) {
            self.latest.push(name.clone());
        }
        if names.len() > MOST_NAMES {
            *self = Changed { everything: version, ..Changed::default() };
        }
    }
}

impl Relations for State {
    fn runs(&self, relation: &str) -> Vec<Run> {
        self.relation(relation).map(|relation| relation.runs().to_vec()).unwrap_or_default()
    }
}
