//! What is kept of a relation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use parking_lot::RwLock;

use super::cost::Cost;
use super::meaning::{Fingerprint, numbers};
use crate::catalog::Clauses;
use crate::data::{Relation, Rows, Run, Value, sorted_run};
use crate::graph::{GraphId, Snapshot};

/// The rows of one relation, and what they follow from.
#[derive(Debug)]
pub(super) struct View {
    pub(super) graph: GraphId,
    /// The number of the dictionary of its codes.
    pub(super) dictionary: u64,
    /// What its rows follow from, stored rows included.
    pub(super) state: Fingerprint,
    /// The version of the graph at which they were found.
    pub(super) version: u64,
    pub(super) rows: Arc<KeptRows>,
    /// The values behind codes of a query's own: of the lowest such code first.
    pub(super) values: Vec<Value>,
    /// The rules that it follows from, and the numbers of the stored runs.
    pub(super) below: BTreeMap<String, Below>,
    /// What the relations of its stratum were derived from; none if that is not kept.
    pub(super) inputs: Option<Arc<Inputs>>,
    pub(super) cost: Cost,
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

/// Rows in the runs in which they were found, until somebody wants them in order.
#[derive(Debug)]
pub(super) struct KeptRows {
    arity: usize,
    form: RwLock<Form>,
}

#[derive(Debug)]
enum Form {
    Found(Vec<Run>),
    Ordered(Relation),
}

impl KeptRows {
    /// As they were found: disjoint runs.
    pub(super) fn found(arity: usize, runs: Vec<Run>) -> KeptRows {
        KeptRows { arity, form: RwLock::new(Form::Found(runs)) }
    }

    /// As they were brought forward.
    pub(super) fn ordered(relation: Relation) -> KeptRows {
        KeptRows { arity: relation.arity(), form: RwLock::new(Form::Ordered(relation)) }
    }

    /// The runs.
    pub(super) fn runs(&self) -> Vec<Run> {
        match &*self.form.read() {
            Form::Found(runs) => runs.clone(),
            Form::Ordered(relation) => relation.runs().to_vec(),
        }
    }

    /// The rows as a relation, of which others are made that share what stays.
    pub(super) fn relation(&self) -> Relation {
        let found = match &*self.form.read() {
            Form::Ordered(relation) => return relation.clone(),
            Form::Found(runs) => runs.clone(),
        };
        // Nobody who reads waits for that.
        let relation = in_order(found, self.arity);
        let mut form = self.form.write();
        if let Form::Ordered(first) = &*form {
            // Somebody else has put them in order: all that follows shares one set of runs.
            return first.clone();
        }
        *form = Form::Ordered(relation.clone());
        relation
    }

    /// About how long it takes to put them in order, where they are not.
    pub(super) fn ordering(&self) -> Duration {
        /// Of a row.
        const TIME: Duration = Duration::from_nanos(25);
        match &*self.form.read() {
            Form::Found(runs) if !are_ordered(runs) => {
                let rows: usize = runs.iter().map(Run::len).sum();
                TIME * u32::try_from(rows).unwrap_or(u32::MAX)
            }
            Form::Found(_) | Form::Ordered(_) => Duration::ZERO,
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        match &*self.form.read() {
            Form::Found(runs) => runs.iter().map(Run::memory_bytes).sum(),
            Form::Ordered(relation) => relation.memory_bytes(),
        }
    }
}

/// Whether runs are a relation as they are.
fn are_ordered(runs: &[Run]) -> bool {
    runs.len() <= 1 && runs.iter().all(Run::is_sorted)
}

fn in_order(runs: Vec<Run>, arity: usize) -> Relation {
    let ordered = if are_ordered(&runs) { runs } else { vec![sorted_run(Rows::of_runs(arity, &runs)).0] };
    Relation::of_runs(arity, ordered)
}

impl Input {
    pub(super) fn relation(&self) -> Relation {
        match self {
            Input::Stored(relation) => relation.clone(),
            Input::Derived(rows) => rows.relation(),
        }
    }
}

impl View {
    /// Bytes that only it holds.
    pub(super) fn memory_bytes(&self) -> usize {
        self.rows.memory_bytes() + self.inputs.as_ref().map_or(0, |inputs| inputs.rows_held())
    }

    /// Whether it is of use in this state: it is right there, or it can be brought there, and what it holds of stored rows
    /// that are gone is no more than what it has of its own.
    pub(super) fn is_of_use(&self, snapshot: &Snapshot) -> bool {
        const LITTLE: usize = 1 << 16;
        let mut below = self.below.iter();
        self.dictionary == snapshot.dictionary().number()
            && below.all(|(name, below)| snapshot.catalog().rules(name).is_same(&below.rules))
            && (self.is_right(snapshot)
                || self
                    .inputs
                    .as_ref()
                    .is_some_and(|inputs| inputs.left_behind(snapshot) <= self.rows.memory_bytes() + LITTLE))
    }

    /// Whether the stored rows below are those of this state.
    fn is_right(&self, snapshot: &Snapshot) -> bool {
        self.below.iter().all(|(name, below)| below.runs == numbers(snapshot, name))
    }
}

impl Inputs {
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
            Input::Derived(rows) if Arc::strong_count(rows) == 1 => Some(rows.memory_bytes()),
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
