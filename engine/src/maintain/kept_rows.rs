//! `KeptRows`: rows that are kept from one state to another.

use std::time::Duration;

use parking_lot::RwLock;

use crate::data::{Relation, Rows, Run, sorted_run};

/// Rows in the runs in which they were found, until somebody wants them in order.
#[derive(Debug)]
pub(crate) struct KeptRows {
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
    pub(crate) fn found(arity: usize, runs: Vec<Run>) -> KeptRows {
        KeptRows { arity, form: RwLock::new(Form::Found(runs)) }
    }

    /// As they were brought forward.
    pub(crate) fn ordered(relation: Relation) -> KeptRows {
        KeptRows { arity: relation.arity(), form: RwLock::new(Form::Ordered(relation)) }
    }

    /// The runs.
    pub(crate) fn runs(&self) -> Vec<Run> {
        match &*self.form.read() {
            Form::Found(runs) => runs.clone(),
            Form::Ordered(relation) => relation.runs().to_vec(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match &*self.form.read() {
            Form::Found(runs) => runs.iter().map(Run::len).sum(),
            Form::Ordered(relation) => relation.len(),
        }
    }

    /// The rows as a relation, of which others are made that share what stays.
    pub(crate) fn relation(&self) -> Relation {
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

    /// About how long it takes to put so many rows in order, and to compare them with others.
    pub(crate) fn time_of_ordering(rows: usize) -> Duration {
        /// Of one.
        const TIME: Duration = Duration::from_nanos(60);
        TIME * u32::try_from(rows).unwrap_or(u32::MAX)
    }

    /// About how long it takes to put them in order, where they are not.
    pub(crate) fn ordering(&self) -> Duration {
        match &*self.form.read() {
            Form::Found(runs) if !are_ordered(runs) => {
                KeptRows::time_of_ordering(runs.iter().map(Run::len).sum())
            }
            Form::Found(_) | Form::Ordered(_) => Duration::ZERO,
        }
    }

    /// Bytes that nobody else holds.
    pub(crate) fn own_memory_bytes(&self) -> usize {
        match &*self.form.read() {
            Form::Found(runs) => runs.iter().map(Run::own_memory_bytes).sum(),
            Form::Ordered(relation) => relation.runs().iter().map(Run::own_memory_bytes).sum(),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
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
