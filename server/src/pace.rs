//! `Pace`: how often live queries are looked at, so that those who ask and commit have the processors.
//!
//! When a thousand have subscribed to what every commit changes, telling each of each version takes all the time there
//! is. So live queries have a share of the processors: the half of what requests leave, and a little in any case. What that
//! comes to for a family is how long it rests after it was told; what has happened by then is told as one.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use stratalog_engine::{self as engine, Work};

use crate::metrics::Metrics;

/// What is known of one window decides how it goes on in the next.
const WINDOW: Duration = Duration::from_secs(1);
/// Nobody rests longer.
const LONGEST: Duration = Duration::from_secs(2);
/// Processor time to tell one subscriber something, about, and for each row of it, with that of a client on the same
/// machine; measured.
const COST: Duration = Duration::from_micros(150);
const COST_OF_ROW: Duration = Duration::from_micros(2);
/// The share of the processors that is there in any case.
const LEAST_SHARE: f64 = 0.08;

/// How long families of live queries rest.
#[derive(Debug)]
pub(crate) struct Pace {
    processors: f64,
    metrics: Arc<Metrics>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    began: Instant,
    /// What all requests had taken then.
    requests: Duration,
    /// The families that were looked at since.
    active: HashSet<u64>,
    /// So much longer than its work takes each of them rests.
    stretch: f64,
}

impl Pace {
    /// For this machine, whose requests these metrics count.
    pub(crate) fn new(metrics: Arc<Metrics>) -> Pace {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Pace::of(processors, metrics, Instant::now())
    }

    fn of(processors: usize, metrics: Arc<Metrics>, now: Instant) -> Pace {
        let (processors, requests) = (processors as f64, metrics.whole.sum());
        let state =
            State { began: now, requests, active: HashSet::new(), stretch: stretch(1, 0.0, processors) };
        Pace { processors, metrics, state: Mutex::new(state) }
    }

    fn rest_at(&self, now: Instant, work: &Work) -> Duration {
        let mut state = self.state.lock();
        let passed = now.saturating_duration_since(state.began);
        if passed >= WINDOW {
            let requests = self.metrics.whole.sum();
            let busy = requests.saturating_sub(state.requests).as_secs_f64() / passed.as_secs_f64();
            let stretch = stretch(state.active.len().max(1), busy, self.processors);
            *state = State { began: now, requests, active: HashSet::new(), stretch };
        }
        state.active.insert(work.family);
        let rows = u32::try_from(work.rows).unwrap_or(u32::MAX);
        let told = u32::try_from(work.told).unwrap_or(u32::MAX);
        let cost = work.took + COST.saturating_mul(told) + COST_OF_ROW.saturating_mul(rows);
        LONGEST.min(Duration::try_from_secs_f64(cost.as_secs_f64() * state.stretch).unwrap_or(LONGEST))
    }
}

/// How much longer than its work takes each of some families rests, while requests run for such a part of the time. One that
/// runs all the time is as much as many: its turn is what it waits for.
fn stretch(families: usize, busy: f64, processors: f64) -> f64 {
    let share = ((1.0 - busy) / 2.0).max(LEAST_SHARE);
    families as f64 / (share * processors)
}

impl engine::Pace for Pace {
    fn rest(&self, work: &Work) -> Duration {
        self.rest_at(Instant::now(), work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rest in the second of two windows, in which so many families are looked at.
    fn rest(families: u64, told: usize, busy: f64) -> Duration {
        let (start, metrics) = (Instant::now(), Arc::<Metrics>::default());
        let pace = Pace::of(2, Arc::clone(&metrics), start);
        let work = |family| Work { family, told, ..Work::default() };
        for family in (0..families).chain(0..families) {
            let told = u32::try_from(told).unwrap();
            assert_eq!(
                pace.rest_at(start, &work(family)),
                COST.saturating_mul(told).min(LONGEST),
                "at first"
            );
        }
        metrics.whole.observe(WINDOW.mul_f64(busy));
        pace.rest_at(start + WINDOW, &work(0))
    }

    #[test]
    fn many_rest_longer_than_few_and_longest_while_others_work() {
        assert_eq!(rest(1, 1, 1.0), Duration::from_nanos(937_500));
        assert_eq!(rest(1, 1_000, 0.0), Duration::from_millis(150));
        assert_eq!(rest(1_000, 1, 0.0), Duration::from_millis(150));
        assert_eq!(rest(1, 1_000, 0.5), Duration::from_millis(300));
        assert_eq!(rest(1, 1_000, 3.0), Duration::from_micros(937_500));
        assert_eq!(rest(1, 9_000, 0.9), LONGEST);
        assert_eq!(rest(1, 0, 1.0), Duration::ZERO);
    }
}
