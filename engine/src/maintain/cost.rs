//! Whether to bring rows forward or to derive them anew.
//!
//! A step may take half of what derivation from scratch took; if it takes longer it is given up, and nothing is lost but
//! that time. The first steps may take as long, unless one was given up. To put rows in order and to make indexes, which the steps after
//! it find, may take three times as long besides (`budget/attempt.rs`).
//! Soufflé's elastic evaluation decides so between two strategies (Zhao, Subotić, Raghothaman, Scholz, PPDP 2021).

use std::time::Duration;

/// What is known of what it costs to have some rows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// How long it took to derive it from scratch.
    pub(crate) anew: Duration,
    /// How long the last step took,
    pub(crate) last_step: Option<Duration>,
    /// how many there were,
    pub(crate) steps: u64,
    /// and how many came to nothing.
    pub(crate) failures: u64,
    /// So many steps may still take as long as that.
    first_steps: u32,
    /// How many steps were given up since one was worth it,
    given_up: u32,
    /// how often none is tried from now on,
    rests: u32,
    /// and with at least how many changed rows: with half as many as there were in the smallest that was given up.
    from_rows: usize,
}

impl Cost {
    /// A question that takes no longer from scratch brings nothing forward: to plan a step takes as long. What is below another
    /// view may always take so long.
    pub(crate) const LEAST: Duration = Duration::from_micros(300);
    /// After so many that were given up, it is not tried more seldom.
    const MOST: u32 = 8;
    /// Rows that come and rows that go need different indexes, of the rules' relations and of those below.
    const FIRST_STEPS: u32 = 4;

    /// How many values may be learnt for rows that took so long to derive: to learn them takes about as long again.
    pub(crate) fn values_worth(took: Duration) -> usize {
        /// Nobody waits for so many.
        const FEW: usize = 1 << 16;
        /// Of one: measured.
        const LEARNING: Duration = Duration::from_nanos(300);
        FEW.max((took.as_nanos() / LEARNING.as_nanos()) as usize)
    }

    /// It was derived from scratch, after what is known of it from before. Whoever had to wait for a processor takes longer.
    pub(crate) fn of(anew: Duration, before: Option<Cost>) -> Cost {
        let anew = before.map_or(anew, |before| anew.min(2 * before.anew.max(Cost::LEAST)));
        Cost { anew, first_steps: Cost::FIRST_STEPS, ..before.unwrap_or_default() }
    }

    /// How long a step may take below which so many rows have changed, about; none if it is not to be tried.
    pub(crate) fn allowed(&mut self, changed: usize) -> Option<Duration> {
        if self.rests > 0 && changed >= self.from_rows {
            self.rests -= 1;
            return None;
        }
        let is_first = self.first_steps > 0 && !self.is_in_doubt(changed);
        Some(if is_first { self.worth().max(self.anew) } else { self.worth() })
    }

    /// Whether the last step with as many changed rows was given up.
    fn is_in_doubt(&self, changed: usize) -> bool {
        self.given_up > 0 && changed >= self.from_rows
    }

    /// How long the next step may take, if so many rows change; none if it will not be tried.
    pub(crate) fn allows(&self, changed: usize) -> Option<Duration> {
        Cost { ..*self }.allowed(changed)
    }

    /// A step was made in this time.
    pub(crate) fn made(&mut self, took: Duration, changed: usize) {
        (self.last_step, self.steps) = (Some(took), self.steps + 1);
        self.first_steps = self.first_steps.saturating_sub(1);
        if took <= self.worth() {
            self.first_steps = 0;
            // A small one says nothing of those that were given up.
            if changed >= self.from_rows {
                (self.given_up, self.rests, self.from_rows) = (0, 0, 0);
            }
        }
    }

    /// What the first steps would make is there.
    pub(crate) fn be_prepared(&mut self) {
        self.first_steps = 0;
    }

    /// What a step may take to be worth it.
    pub(crate) fn worth(&self) -> Duration {
        (self.anew / 2).max(Cost::LEAST)
    }

    /// A step was given up after this time: twice as many times as last time one of its size is not even tried, unless that was
    /// found out at once.
    pub(crate) fn give_up(&mut self, took: Duration, changed: usize) {
        /// Of what a step may take.
        const AT_ONCE: u32 = 8;
        self.failures += 1;
        if took <= self.worth() / AT_ONCE {
            return;
        }
        let half = changed / 2;
        self.from_rows = if self.given_up == 0 { half } else { self.from_rows.min(half) };
        self.given_up = (self.given_up + 1).min(Cost::MOST);
        self.rests = (1 << self.given_up) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_up_is_tried_more_and_more_seldom() {
        const ANEW: Duration = Duration::from_millis(10);
        let mut cost = Cost::of(ANEW, None);
        for _ in 0..4 {
            assert_eq!(cost.allowed(100), Some(ANEW));
            cost.made(2 * ANEW, 100);
        }
        assert_eq!(cost.allowed(100), Some(ANEW / 2));
        let mut rests = Vec::new();
        for _ in 0..10 {
            cost.give_up(ANEW / 2, 100);
            cost = Cost::of(ANEW, Some(cost));
            let mut rested = 0;
            while cost.allowed(100).is_none() {
                rested += 1;
            }
            rests.push(rested);
        }
        assert_eq!(rests, [1, 3, 7, 15, 31, 63, 127, 255, 255, 255]);
        cost.made(2 * ANEW, 100);
        cost.give_up(ANEW / 2, 100);
        assert_eq!(cost.rests, 255, "a step that was not worth it changes nothing");
        assert!(cost.is_in_doubt(50));
        assert!(!cost.is_in_doubt(49));
        assert_eq!(cost.allowed(49), Some(ANEW), "a small one is tried");
        cost.made(ANEW / 2, 49);
        assert_eq!((cost.rests, cost.allows(50)), (255, None), "and says nothing of others");
        cost.made(ANEW / 2, 50);
        assert_eq!(cost.allowed(100), Some(ANEW / 2), "one that was worth it does");
        cost.give_up(ANEW / 16, 50);
        assert_eq!(
            (cost.rests, cost.is_in_doubt(50)),
            (0, false),
            "what was found out at once costs nothing"
        );
        assert_eq!(Cost::of(100 * ANEW, Some(cost)).anew, 2 * ANEW, "once is not enough to be believed");
        assert_eq!(Cost::of(Duration::ZERO, None).allowed(1), Some(Cost::LEAST));
    }
}
