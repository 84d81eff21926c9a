//! When something may be tried again, and after how long: with pauses that grow and vary, until the time is over.

use crate::errors::ClientError;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};
use stratalog_protocol::Code;

/// The first pause is at most so long, and each further one at most twice as long as the one before.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);

/// Attempts at one thing.
#[derive(Debug)]
pub(crate) struct Retry {
    /// `None` is never.
    until: Option<Instant>,
    longest: Duration,
}

impl Retry {
    /// Attempts for so long.
    pub(crate) fn within(time: Duration) -> Retry {
        Retry { until: Instant::now().checked_add(time), longest: FIRST }
    }

    /// Attempts without end.
    pub(crate) fn forever() -> Retry {
        Retry::within(Duration::MAX)
    }

    /// Waits before another attempt at what only reads, where there is to be one.
    pub(crate) async fn wait(&mut self, error: ClientError) -> Result<(), ClientError> {
        let at_least = match &error {
            error if error.is_disconnect() => Duration::ZERO,
            ClientError::Refused(failure) => match (failure.code, failure.retry_after_ms) {
                (Code::Overloaded | Code::LimitExceeded, Some(wait)) => Duration::from_millis(wait),
                _ => return Err(error),
            },
            _ => return Err(error),
        };
        match self.pause(at_least) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return Err(error),
        }
        Ok(())
    }

    /// How long to wait before the next attempt; `None` if there is to be none.
    fn pause(&mut self, at_least: Duration) -> Option<Duration> {
        let pause = at_least.saturating_add(self.longest.mul_f64(random()));
        self.longest = (self.longest * 2).min(LONGEST);
        let in_time = match (Instant::now().checked_add(pause), self.until) {
            (_, None) => true,
            (next, Some(until)) => next.is_some_and(|next| next < until),
        };
        in_time.then_some(pause)
    }
}

/// Between 0 and 1: clients that were cut off together do not come back together.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(0_u8) >> 11; // seeded anew each time
    bits as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_vary_and_end() {
        let long = Duration::from_secs(1000);
        let mut retry = Retry::within(long);
        let pauses: Vec<Duration> = (0..30).filter_map(|_| retry.pause(Duration::ZERO)).collect();
        assert_eq!(pauses.len(), 30);
        assert!(pauses[0] <= FIRST && pauses.iter().max().unwrap() > &Duration::from_secs(1));
        assert!(pauses.iter().all(|pause| *pause <= LONGEST));
        let firsts: Vec<_> = (0..20).map(|_| Retry::within(long).pause(Duration::ZERO)).collect();
        assert!(firsts.iter().any(|pause| pause != &firsts[0]));
        assert_eq!(Retry::within(Duration::ZERO).pause(Duration::ZERO), None);
    }

    #[test]
    fn no_time_is_too_long() {
        assert!(Retry::forever().pause(Duration::ZERO).is_some());
        assert_eq!(Retry::within(FIRST).pause(Duration::MAX), None);
        assert_eq!(Retry::forever().pause(Duration::MAX), Some(Duration::MAX));
    }
}
