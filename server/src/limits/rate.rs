//! How many messages or requests come within a second.

use std::time::{Duration, Instant};

/// Messages of one connection or address, counted in windows of one second.
#[derive(Debug)]
pub(crate) struct Rate {
    limit: u64,
    window: Instant,
    count: u64,
}

impl Rate {
    /// At most so many a second; 0 means no limit.
    pub(crate) fn new(limit: u64) -> Rate {
        Rate { limit: if limit == 0 { u64::MAX } else { limit }, window: Instant::now(), count: 0 }
    }

    /// Whether a new second has begun.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.window) >= Duration::from_secs(1)
    }

    /// Counts one message; `Err` is the time until the next window.
    pub(crate) fn count(&mut self, now: Instant) -> Result<(), Duration> {
        let second = Duration::from_secs(1);
        let elapsed = now.saturating_duration_since(self.window);
        if elapsed >= second {
            self.window = now;
            self.count = 0;
        }
        if self.count >= self.limit {
            return Err(second.saturating_sub(elapsed));
        }
        self.count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Rate;

    #[test]
    fn the_rate_starts_again_each_second() {
        let start = Instant::now();
        let mut rate = Rate { limit: 2, window: start, count: 0 };
        assert_eq!(rate.count(start), Ok(()));
        assert_eq!(rate.count(start), Ok(()));
        assert_eq!(rate.count(start + Duration::from_millis(400)), Err(Duration::from_millis(600)));
        assert_eq!(rate.count(start + Duration::from_secs(1)), Ok(()));
    }
}
