//! `Costs`: how long questions take that differ in constants only, by themselves and as one.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::Jointly;

/// To evaluate fewer questions than this as one is not worth it.
const FEW: usize = 4;

/// How long the questions of a template take, as far as is known.
#[derive(Debug, Default)]
pub(super) struct Costs {
    /// How long it took to bring all of them to the last version.
    took_micros: AtomicU64,
    /// How long one took by itself, as far as is known.
    alone_micros: AtomicU64,
    /// How often it was slower to evaluate them as one, without a time between when it was not.
    slower: AtomicUsize,
    /// So many were evaluated as one when that was slower too often; not more are until there are twice as many.
    too_few: AtomicUsize,
}

impl Costs {
    /// How long it took to bring all questions to the last version.
    pub(super) fn took(&self) -> Duration {
        Duration::from_micros(self.took_micros.load(Ordering::Relaxed))
    }

    /// Takes note of how long that took.
    pub(super) fn note_step(&self, took: Duration) {
        self.took_micros.store(micros(took), Ordering::Relaxed);
    }

    /// Takes note of how long one question took by itself.
    pub(super) fn note_alone(&self, took: Duration) {
        let before = self.alone_micros.load(Ordering::Relaxed);
        let now = if before == 0 { micros(took) } else { (7 * before + micros(took)) / 8 };
        self.alone_micros.store(now.max(1), Ordering::Relaxed);
        self.took_micros.fetch_max(micros(took), Ordering::Relaxed);
    }

    /// Whether so many may be evaluated as one.
    pub(super) fn allow(&self, count: usize, jointly: Jointly) -> bool {
        match jointly {
            Jointly::WhereFaster => count >= FEW && count >= 2 * self.too_few.load(Ordering::Relaxed),
            Jointly::Always => true,
            Jointly::Never => false,
        }
    }

    /// How long it may take to evaluate so many as one, before that is given up.
    pub(super) fn patience(&self, count: usize) -> Duration {
        const LEAST: Duration = Duration::from_millis(20);
        LEAST + 2 * self.by_themselves(count)
    }

    /// How long so many take one by one.
    fn by_themselves(&self, count: usize) -> Duration {
        Duration::from_micros(self.alone_micros.load(Ordering::Relaxed).saturating_mul(count as u64))
    }

    /// Takes note of how long it took to evaluate so many as one; none if that came to nothing.
    pub(super) fn note_together(&self, count: usize, took: Option<Duration>) {
        /// What is kept for the next time makes the first few slower.
        const TRIES: usize = 3;
        if took.is_some_and(|took| took <= self.by_themselves(count)) {
            self.slower.store(0, Ordering::Relaxed);
        } else if took.is_none() || self.slower.fetch_add(1, Ordering::Relaxed) + 1 >= TRIES {
            self.slower.store(0, Ordering::Relaxed);
            self.too_few.store(count, Ordering::Relaxed);
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
