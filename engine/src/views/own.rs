//! Rows of rules as only some see them: a session with facts of its own, or a transaction before it is committed.
//!
//! They are found by their state, as nobody else has it, and are brought there from the nearest state at which rows of the
//! same rules are kept: that of the graph, or another one of these. They are the first to be forgotten.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use super::Views;
use super::kept::View;
use super::meaning::{Fingerprint, Origin};
use crate::graph::{GraphId, Snapshot, State};
use crate::maintain::KeptRows;

/// No more are kept, however small.
const MOST: usize = 256;
/// So many are kept of those who see other facts by now: what they see next is near.
const MOST_OF_THE_PAST: usize = 64;

/// Those of all graphs, by their state.
pub(super) type OwnViews = HashMap<Fingerprint, OwnView>;

/// The rows of one relation, as some see it.
#[derive(Debug)]
pub(super) struct OwnView {
    pub(super) meaning: Fingerprint,
    /// Whoever sees it.
    seen_by: Weak<State>,
    pub(super) view: View,
}

impl Views {
    /// The rows at a state that only some see.
    pub(super) fn own_rows(&self, state: &Fingerprint) -> Option<Arc<KeptRows>> {
        let own = self.own.read();
        let view = &own.get(state)?.view;
        view.last_read.store(self.now(), Ordering::Relaxed);
        Some(Arc::clone(&view.rows))
    }

    /// Keeps what only some see, as long as they do.
    pub(super) fn insert_own(&self, origin: Origin, seen_by: Weak<State>, mut view: View) {
        let most = self.memory.saturating_sub(self.kept.read().values().map(|view| view.bytes).sum());
        view.bytes = view.memory_bytes();
        let mut own = self.own.write();
        own.insert(origin.state, OwnView { meaning: origin.meaning, seen_by, view });
        let mut by_use: Vec<(Reverse<u64>, Fingerprint)> = own
            .iter()
            .map(|(state, own)| (Reverse(own.view.last_read.load(Ordering::Relaxed)), *state))
            .collect();
        by_use.sort_unstable();
        let (mut bytes, mut views, mut past) = (0, 0, 0);
        for (_, state) in by_use {
            let Some(view) = own.get(&state) else { continue };
            let is_past = view.seen_by.strong_count() == 0;
            (bytes, views, past) = (bytes + view.view.bytes, views + 1, past + usize::from(is_past));
            if bytes > most || views > MOST || is_past && past > MOST_OF_THE_PAST {
                bytes -= view.view.bytes;
                own.remove(&state);
            }
        }
    }

    /// Forgets everything about a graph.
    pub(super) fn forget_own(&self, graph: GraphId) {
        self.own.write().retain(|_, own| own.view.graph != graph);
    }

    /// Forgets what cannot be of use any more beside a graph's latest state.
    pub(super) fn refresh_own(&self, graph: GraphId, snapshot: &Snapshot) {
        self.own.write().retain(|_, own| own.view.graph != graph || own.view.can_go_on(snapshot));
    }

    /// Forgets all of it if there is no memory for it beside what all see.
    pub(super) fn make_room_of_own(&self, bytes_of_all: usize) {
        let mut own = self.own.write();
        if bytes_of_all + own.values().map(|own| own.view.bytes).sum::<usize>() > self.memory {
            own.clear();
        }
    }
}
