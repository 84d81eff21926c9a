//! How long the single steps of something take: a mean hides the few that take long.

use std::time::Duration;

use stratalog_tests::load::per_mille;

/// What each step took.
#[derive(Debug, Default)]
pub struct Steps {
    micros: Vec<u32>,
}

impl Steps {
    /// One more.
    pub fn took(&mut self, time: Duration) {
        self.micros.push(u32::try_from(time.as_micros()).unwrap_or(u32::MAX));
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.micros.len()
    }

    /// Milliseconds that these shares of them, in a thousand, took at most.
    pub fn ms<const N: usize>(&self, shares: [usize; N]) -> [f64; N] {
        let mut sorted = self.micros.clone();
        sorted.sort_unstable();
        shares.map(|share| f64::from(per_mille(&sorted, share)) / 1e3)
    }
}
