//! Moments: when something was stored. They tell the order of changes in different files.
//!
//! Whoever stores something takes its moment while nobody else can write to the same file. So what was stored before
//! something else began has the smaller moment, whichever files they are in.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use arrow::array::{ArrayRef, TimestampMicrosecondArray};
use arrow::util::display::array_value_to_string;
use serde::{Deserialize, Serialize};

/// Microseconds since 1970, as the server's clock had them. No two moments of one data folder are the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(pub u64);

impl Moment {
    /// Reads a time such as `2026-11-22T23:53:41.5Z`; without a zone it is UTC.
    pub fn parse(text: &str) -> Option<Moment> {
        let nanoseconds = arrow::compute::kernels::cast_utils::string_to_timestamp_nanos(text).ok()?;
        Some(Moment(u64::try_from(nanoseconds / 1000).ok()?))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = i64::try_from(self.0).unwrap_or(i64::MAX);
        let column: ArrayRef =
            std::sync::Arc::new(TimestampMicrosecondArray::from(vec![micros]).with_timezone("+00:00"));
        f.write_str(&array_value_to_string(&column, 0).map_err(|_| fmt::Error)?)
    }
}

/// Gives moments, each later than all before.
#[derive(Debug, Default)]
pub struct Clock(AtomicU64);

impl Clock {
    /// The moment of something that is being stored.
    pub fn next(&self) -> Moment {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros());
        let now = u64::try_from(now).unwrap_or(u64::MAX);
        // A clock that was set back stands still until it has caught up.
        let last = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |last| Some(now.max(last + 1)));
        Moment(now.max(last.unwrap_or(0) + 1))
    }

    /// All moments to come are later than this one.
    pub fn pass(&self, moment: Moment) {
        self.0.fetch_max(moment.0, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Moment};

    #[test]
    fn moments_only_grow_even_where_the_clock_is_set_back() {
        let clock = Clock::default();
        let first = clock.next();
        assert!(first < clock.next());
        let far = Moment(first.0 + 3_600_000_000);
        clock.pass(far);
        assert_eq!(clock.next(), Moment(far.0 + 1));
        clock.pass(first);
        assert_eq!(clock.next(), Moment(far.0 + 2));
    }

    #[test]
    fn moments_are_read_as_they_are_written() {
        let moment = Moment(1_795_391_621_500_001);
        assert_eq!(moment.to_string(), "2026-11-22T23:53:41.500001Z");
        for text in
            ["2026-11-22T23:53:41.500001Z", "2026-11-23 00:53:41.500001+01:00", "2026-11-22T23:53:41.500001"]
        {
            assert_eq!(Moment::parse(text), Some(moment), "{text}");
        }
        for text in ["", "yesterday", "1969-01-01T00:00:00Z", "2026-13-01"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
