//! The states at which rows of a relation are kept, and which of them is the nearest to that of a question.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::kept::{Input, Inputs, View};
use super::meaning::Origin;
use super::{Reading, Views, stored_rows};
use crate::analysis::program::Stratum;
use crate::data::{Difference, RelationId};
use crate::graph::SessionView;
use crate::maintain::KeptRows;

/// A view that stands at an older state, as far as a step needs to know it.
pub(super) struct Older {
    pub(super) inputs: Arc<Inputs>,
    pub(super) rows: Arc<KeptRows>,
}

/// Derived relations at the state of a question, by their names.
pub(super) type Current<'a> = BTreeMap<&'a str, Arc<KeptRows>>;

impl Views {
    /// The rows of a view that stands at the state of a question.
    pub(super) fn current(&self, reading: &Reading, relation: RelationId) -> Option<Arc<KeptRows>> {
        let origin = reading.origin(relation)?;
        let kept = self.kept.read();
        let Some(view) = kept.get(&origin.meaning).filter(|view| view.state == origin.state) else {
            return self.own_rows(&origin.state).filter(|_| reading.is_own(&origin));
        };
        view.last_read.store(self.now(), Ordering::Relaxed);
        Some(Arc::clone(&view.rows))
    }

    /// The rows of a relation at other states.
    pub(super) fn older(&self, reading: &Reading, relation: RelationId, asked: &SessionView) -> Vec<Older> {
        let Some(origin) = reading.origin(relation) else { return Vec::new() };
        let is_own = reading.is_own(&origin);
        self.each_state(reading, &origin, |view| {
            let is_older = view.version <= asked.snapshot().version() || is_own;
            let inputs = view.inputs.as_ref().filter(|_| is_older && view.state != origin.state)?;
            Some(Older { inputs: Arc::clone(inputs), rows: Arc::clone(&view.rows) })
        })
    }

    /// Whether there are rows of a relation at other states, and none at that of a question.
    pub(super) fn is_behind(&self, reading: &Reading, relation: RelationId, asked: &SessionView) -> bool {
        self.current(reading, relation).is_none() && !self.older(reading, relation, asked).is_empty()
    }

    /// Forgets what all see of a relation if it stands at an earlier state than a question.
    pub(crate) fn forget_older(&self, reading: &Reading, relation: RelationId, asked: &SessionView) {
        let Some(origin) = reading.origin(relation) else { return };
        let version = asked.snapshot().version();
        let is_older = |view: &View| view.state != origin.state && view.version <= version;
        self.kept.write().retain(|meaning, view| *meaning != origin.meaning || !is_older(view));
    }

    /// The rows of all relations of a stratum at the nearest state, and what they follow from now; none if they are not there.
    pub(super) fn nearest(
        &self,
        reading: &Reading,
        stratum: &Stratum,
        current: &Current<'_>,
        view: &SessionView,
    ) -> Option<(Vec<(RelationId, Older)>, Inputs)> {
        let (first, others) = stratum.relations.split_first()?;
        let older = self.older(reading, *first, view);
        let now = inputs_now(&older.first()?.inputs, current, view)?;
        let nearest = older.into_iter().min_by_key(|older| older.inputs.distance(&now))?;
        let inputs = Arc::clone(&nearest.inputs);
        let mut all = vec![(*first, nearest)];
        for other in others {
            let mut older = self.older(reading, *other, view).into_iter();
            all.push((*other, older.find(|older| Arc::ptr_eq(&older.inputs, &inputs))?));
        }
        Some((all, now))
    }

    /// Something of each state from which rows may be brought to this one.
    fn each_state<T>(&self, reading: &Reading, origin: &Origin, what: impl Fn(&View) -> Option<T>) -> Vec<T> {
        let of_all = self.kept.read().get(&origin.meaning).and_then(&what);
        if !reading.is_own(origin) {
            return of_all.into_iter().collect();
        }
        let own = self.own.read();
        let own = own.values().filter(|own| own.meaning == origin.meaning);
        of_all.into_iter().chain(own.filter_map(|own| what(&own.view))).collect()
    }

    /// The same of one of them, whichever.
    pub(super) fn any_state<T>(
        &self,
        reading: &Reading,
        origin: &Origin,
        what: impl Fn(&View) -> T,
    ) -> Option<T> {
        let kept = self.kept.read();
        if let Some(of_all) = kept.get(&origin.meaning) {
            return Some(what(of_all));
        }
        let own = self.own.read();
        let own = own.values().find(|own| own.meaning == origin.meaning && reading.is_own(origin));
        own.map(|own| what(&own.view))
    }
}

impl Inputs {
    /// About how many rows are there now and were not before, or the reverse.
    pub(super) fn distance(&self, now: &Inputs) -> usize {
        let pairs = self.0.iter().filter_map(|(name, before)| Some((before.runs(), now.0.get(name)?.runs())));
        pairs.map(|(before, now)| Difference::at_most(&before, &now)).sum()
    }
}

/// The same relations as they are now; none if some of them are not there.
fn inputs_now(inputs: &Inputs, current: &Current<'_>, view: &SessionView) -> Option<Inputs> {
    let now = inputs.0.iter().map(|(name, input)| {
        let now = match input {
            Input::Stored(relation) => Input::Stored(stored_rows(view, name, relation.arity())),
            Input::Derived(_) => Input::Derived(Arc::clone(current.get(name.as_str())?)),
        };
        Some((name.clone(), now))
    });
    Some(Inputs(now.collect::<Option<_>>()?))
}
