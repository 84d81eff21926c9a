//! What is kept of a relation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::meaning::{Fingerprint, numbers};
use crate::catalog::Clauses;
use crate::data::{Computed, Relation, Run};
use crate::graph::{GraphId, Snapshot};
use crate::maintain::{Cost, KeptRows, Named};

/// The rows of one relation, and what they follow from.
#[derive(Debug)]
pub(super) struct View {
    pub(super) graph: GraphId,
    /// The relation's name.
    pub(super) name: Arc<str>,
    /// Whether its graph says that it is to be kept.
    pub(super) is_pinned: bool,
    /// What its rows follow from, stored rows included.
    pub(super) state: Fingerprint,
    /// The version of the graph at which they were found.
    pub(super) version: u64,
    pub(super) rows: Arc<KeptRows>,
    /// The values that are learnt as long as it is kept, by the dictionary of its codes.
    pub(super) computed: Arc<Computed>,
    /// The rules that it follows from, and the numbers of the stored runs.
    pub(super) below: BTreeMap<String, Below>,
    /// What the relations of its stratum were derived from; none if that is not kept.
    pub(super) inputs: Option<Arc<Inputs>>,
    pub(super) cost: Cost,
    /// Whether steps have made what the next ones need that lasts.
    pub(super) is_rehearsed: bool,
    /// Bytes that only it holds, when they were counted last.
    pub(super) bytes: usize,
    pub(super) last_read: AtomicU64,
}

/// What is known of a relation that a view follows from.
#[derive(Debug, Clone)]
pub(super) struct Below {
    pub(super) rules: Clauses,
    /// The numbers of its stored runs.
    pub(super) runs: Vec<u64>,
}

/// What the relations of a stratum were derived from: relations by their names.
#[derive(Debug, Default)]
pub(super) struct Inputs(pub(super) BTreeMap<String, Input>);

/// The rows of a relation below.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// The stored ones.
    Stored(Relation),
    /// Those that rules derive.
    Derived(Arc<KeptRows>),
}

impl Input {
    pub(super) fn runs(&self) -> Vec<Run> {
        match self {
            Input::Stored(relation) => relation.runs().to_vec(),
            Input::Derived(rows) => rows.runs(),
        }
    }

    pub(super) fn relation(&self) -> Relation {
        match self {
            Input::Stored(relation) => relation.clone(),
            Input::Derived(rows) => rows.relation(),
        }
    }
}

impl View {
    /// The same relation with these rows, at another state of what it follows from.
    pub(super) fn at(
        &self,
        state: Fingerprint,
        snapshot: &Snapshot,
        rows: Arc<KeptRows>,
        inputs: Arc<Inputs>,
    ) -> View {
        let below = self.below.iter().map(|(name, below)| {
            (name.clone(), Below { rules: below.rules.clone(), runs: numbers(snapshot, name) })
        });
        View {
            name: Arc::clone(&self.name),
            graph: self.graph,
            is_pinned: false,
            state,
            version: snapshot.version(),
            bytes: rows.memory_bytes() + self.computed.bytes(),
            rows,
            computed: Arc::clone(&self.computed),
            below: below.collect(),
            inputs: Some(inputs),
            cost: self.cost,
            is_rehearsed: self.is_rehearsed,
            last_read: AtomicU64::default(),
        }
    }

    /// Bytes that only it holds.
    pub(super) fn memory_bytes(&self) -> usize {
        let inputs = self.inputs.as_ref().map_or(0, |inputs| inputs.rows_held());
        self.rows.memory_bytes() + self.computed.bytes() + inputs
    }

    /// Whether it is of use in this state: it is right there, or it can be brought there, and what it holds of stored rows
    /// that are gone is no more than what it has of its own.
    pub(super) fn is_of_use(&self, snapshot: &Snapshot) -> bool {
        self.is_of_rules(snapshot) && self.is_right(snapshot) || self.can_go_on(snapshot)
    }

    /// Whether it can be brought there at no loss.
    pub(super) fn can_go_on(&self, snapshot: &Snapshot) -> bool {
        const LITTLE: usize = 1 << 16;
        let is_little =
            |inputs: &Arc<Inputs>| inputs.left_behind(snapshot) <= self.rows.memory_bytes() + LITTLE;
        self.is_of_rules(snapshot) && self.inputs.as_ref().is_some_and(is_little)
    }

    /// Whether it is of the rules and codes of this state.
    fn is_of_rules(&self, snapshot: &Snapshot) -> bool {
        let mut below = self.below.iter();
        self.computed.are_of(snapshot.dictionary())
            && below.all(|(name, below)| snapshot.catalog().rules(name).is_same(&below.rules))
    }

    /// Whether the stored rows below are those of this state.
    pub(super) fn is_right(&self, snapshot: &Snapshot) -> bool {
        self.below.iter().all(|(name, below)| below.runs == numbers(snapshot, name))
    }
}

impl Inputs {
    /// The relations.
    pub(super) fn relations(&self) -> Named {
        self.0.iter().map(|(name, input)| (name.clone(), input.relation())).collect()
    }

    /// About how long it takes to put derived rows in order.
    pub(super) fn ordering(&self) -> Duration {
        let derived = self.0.values().map(|input| match input {
            Input::Derived(rows) => rows.ordering(),
            Input::Stored(_) => Duration::ZERO,
        });
        derived.sum()
    }

    /// Bytes of derived rows that nobody else holds: there are newer ones.
    fn rows_held(&self) -> usize {
        let derived = self.0.values().filter_map(|input| match input {
            Input::Derived(rows) if Arc::strong_count(rows) == 1 => Some(rows.own_memory_bytes()),
            Input::Derived(_) | Input::Stored(_) => None,
        });
        derived.sum()
    }

    /// Bytes of stored rows that are there no longer.
    fn left_behind(&self, snapshot: &Snapshot) -> usize {
        let stored = self.0.iter().filter_map(|(name, input)| match input {
            Input::Stored(relation) => Some((name, relation)),
            Input::Derived(_) => None,
        });
        let bytes = |(name, relation): (&String, &Relation)| {
            let now = snapshot.relation(name).map_or(&[][..], Relation::runs);
            let is_gone = |run: &&Run| now.iter().all(|other| other.id() != run.id());
            let gone = relation.runs().iter().filter(is_gone);
            gone.map(Run::memory_bytes).sum::<usize>()
        };
        stored.map(bytes).sum()
    }
}
