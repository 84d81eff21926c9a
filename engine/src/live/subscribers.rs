//! `Subscribers`: who is woken when there is something to tell of a live query.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Waker;
use super::course::Course;

/// Those who have subscribed to a live query.
#[derive(Debug)]
pub(super) struct Subscribers {
    state: Mutex<State>,
    /// That of its family.
    course: Arc<Course>,
}

/// Who is told of a change at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearers {
    All,
    /// Those who are told each version, and those who have just come. The others rest.
    Awake,
}

#[derive(Debug, Default)]
struct State {
    all: Vec<Subscriber>,
    last_number: u64,
    /// Since when there are none.
    none_since: Option<Instant>,
    /// Whether those who rest have not heard of the last change.
    is_late: bool,
}

#[derive(Debug)]
struct Subscriber {
    number: u64,
    waker: Waker,
    /// Whether it was not woken yet.
    is_new: bool,
}

impl Subscribers {
    /// Nobody so far.
    pub(super) fn of(course: Arc<Course>) -> Subscribers {
        Subscribers { state: Mutex::default(), course }
    }

    /// Answers the number under which somebody is woken from now on.
    pub(super) fn join(&self, waker: Waker) -> u64 {
        let mut state = self.state.lock();
        state.last_number += 1;
        state.none_since = None;
        let number = state.last_number;
        if waker.of_each_version {
            self.course.add_of_each_version();
        }
        state.all.push(Subscriber { number, waker, is_new: true });
        number
    }

    pub(super) fn leave(&self, number: u64) {
        let mut state = self.state.lock();
        let place = state.all.iter().position(|other| other.number == number);
        let left = place.map(|place| state.all.swap_remove(place));
        if left.is_some_and(|left| left.waker.of_each_version) {
            self.course.remove_of_each_version();
        }
        if state.all.is_empty() {
            state.none_since = Some(Instant::now());
        }
    }

    pub(super) fn count(&self) -> usize {
        self.state.lock().all.len()
    }

    /// Whether nobody has subscribed to it for so long.
    pub(super) fn is_left_for(&self, time: Duration) -> bool {
        self.state.lock().none_since.is_some_and(|since| since.elapsed() >= time)
    }

    /// Wakes whoever is told of a change at once; how many these are.
    pub(super) fn wake(&self, hearers: Hearers) -> usize {
        let mut state = self.state.lock();
        state.is_late = hearers == Hearers::Awake;
        let hears = |subscriber: &&mut Subscriber| {
            hearers == Hearers::All || subscriber.waker.of_each_version || subscriber.is_new
        };
        // Whoever is woken may leave at once.
        let waking = state.all.iter_mut().filter(hears).map(|subscriber| {
            subscriber.is_new = false;
            subscriber.waker.clone()
        });
        let waking: Vec<Waker> = waking.collect();
        drop(state);
        waking.iter().for_each(Waker::wake);
        waking.len()
    }

    /// Wakes all if some have not heard of the last change.
    pub(super) fn wake_late(&self) {
        let is_late = self.state.lock().is_late;
        if is_late {
            self.wake(Hearers::All);
        }
    }
}
