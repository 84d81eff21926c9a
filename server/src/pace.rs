//! `Pace`: how often a subscriber is told, so that those who ask and commit have the processors.
//!
//! When a thousand have subscribed to what every commit changes, telling each of each version takes all the time there
//! is. So what is told has a share of the processors: the half of what requests leave, and a little in any case. With it
//! goes how long a subscription rests after it was told; what has happened by then is told as one.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// What is known of one window decides how it goes on in the next.
const WINDOW: Duration = Duration::from_secs(1);
/// Nobody rests longer.
const LONGEST: Duration = Duration::from_secs(1);
/// Processor time to tell one subscriber of a few rows, about, with that of a client on the same machine.
const COST: Duration = Duration::from_micros(60);
/// The share of the processors that is there in any case.
const LEAST_SHARE: f64 = 0.05;

/// How long subscriptions rest.
#[derive(Debug)]
pub(crate) struct Pace {
    processors: f64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    window: u64,
    began: Instant,
    /// What all requests had taken then.
    requests: Duration,
    /// So many subscriptions were told something since.
    told: u32,
    rest: Duration,
}

impl Pace {
    /// For this machine.
    pub(crate) fn new() -> Pace {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Pace::of(processors, Instant::now())
    }

    fn of(processors: usize, now: Instant) -> Pace {
        let (window, requests, told, rest) = (1, Duration::ZERO, 0, Duration::ZERO);
        Pace {
            processors: processors as f64,
            state: Mutex::new(State { window, began: now, requests, told, rest }),
        }
    }

    /// How long a subscription that has been told rests. `last` is the window in which it was told last; `requests` is
    /// the time that all requests have taken.
    pub(crate) fn rest(&self, last: &mut u64, requests: impl FnOnce() -> Duration) -> Duration {
        self.rest_at(Instant::now(), last, requests)
    }

    fn rest_at(&self, now: Instant, last: &mut u64, requests: impl FnOnce() -> Duration) -> Duration {
        let mut state = self.state.lock();
        let passed = now.saturating_duration_since(state.began);
        if passed >= WINDOW {
            let requests = requests();
            let busy = requests.saturating_sub(state.requests).as_secs_f64() / passed.as_secs_f64();
            // One that runs all the time is as much as many: its turn is what it waits for.
            let share = ((1.0 - busy) / 2.0).max(LEAST_SHARE);
            let rest = COST.mul_f64(f64::from(state.told) / (share * self.processors));
            let (window, rest) = (state.window + 1, rest.min(LONGEST));
            *state = State { window, began: now, requests, told: 0, rest };
        }
        if *last != state.window {
            *last = state.window;
            state.told += 1;
        }
        state.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rest in the second of two windows, in which so many subscriptions are told.
    fn rest(subscriptions: usize, busy: f64) -> Duration {
        let start = Instant::now();
        let pace = Pace::of(2, start);
        let mut last = vec![0; subscriptions];
        for _ in 0..3 {
            for last in &mut last {
                assert_eq!(pace.rest_at(start, last, || panic!("the window is not over")), Duration::ZERO);
            }
        }
        pace.rest_at(start + WINDOW, &mut last[0], || WINDOW.mul_f64(busy))
    }

    #[test]
    fn many_rest_longer_than_few_and_longest_while_others_work() {
        assert!(rest(1, 1.0) < Duration::from_millis(1));
        assert_eq!(rest(1_000, 0.0), Duration::from_millis(60));
        assert_eq!(rest(1_000, 0.5), Duration::from_millis(120));
        assert_eq!(rest(1_000, 3.0), Duration::from_millis(600));
        assert_eq!(rest(9_000, 1.0), LONGEST);
    }
}
