//! Points in time as text: RFC 3339, in UTC. The one place that reads and writes them.
//!
//! ```
//! use stratalog_engine::data::time;
//!
//! assert_eq!(time::read("1970-01-02"), Ok(86_400_000));
//! assert_eq!(time::write(86_400_000).as_deref(), Some("1970-01-02T00:00:00Z"));
//! ```

use std::fmt;
use std::ops::RangeInclusive;

use arrow::compute::kernels::cast_utils::string_to_datetime;
use chrono::{DateTime, Utc};

/// The years that RFC 3339 can write, in milliseconds since 1970.
const YEARS: RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// What to do about text that is no time.
pub(crate) const HOW_TO_WRITE: &str = "write times as `t\"2024-01-05\"`, `t\"2024-01-05T10:00:00\"` (UTC) or \
    `t\"2024-01-05T10:00:00+02:00\"`; of columns of text, `to_time` and `parse_time` make times";

/// Text that is no point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTime {
    /// It is something else.
    #[error("no time")]
    Other,
    /// Times are whole milliseconds.
    #[error("finer than milliseconds, which is what times are kept in")]
    Finer,
}

/// Milliseconds since 1970 of a date or a time; one without a zone counts as UTC.
pub fn read(text: &str) -> Result<i64, NoTime> {
    let whole = read_whole(text).ok_or(NoTime::Other)?;
    if is_finer(text) { Err(NoTime::Finer) } else { Ok(whole) }
}

/// The same, cut to the whole millisecond before it.
pub fn read_whole(text: &str) -> Option<i64> {
    if !looks_like_one(text) {
        return None;
    }
    let time = string_to_datetime(&Utc, text).or_else(|other| {
        // A clock without seconds.
        let (minutes, rest) = text.split_at_checked(16).ok_or(other)?;
        string_to_datetime(&Utc, &format!("{minutes}:00{rest}"))
    });
    Some(time.ok()?.timestamp_millis())
}

/// Whether digits other than zero come after those of the milliseconds.
pub fn is_finer(text: &str) -> bool {
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    fraction.bytes().take_while(u8::is_ascii_digit).skip(3).any(|digit| digit != b'0')
}

/// Whether text begins as a date does: years have four digits.
pub fn looks_like_one(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 10
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && [0, 1, 2, 3, 5, 6, 8, 9].iter().all(|&at| bytes[at].is_ascii_digit())
}

/// `2026-11-21T18:30:00Z`, with a fraction where there is one; `None` in a year that has not four digits.
pub fn write(milliseconds: i64) -> Option<String> {
    let time = DateTime::from_timestamp_millis(milliseconds).filter(|_| YEARS.contains(&milliseconds))?;
    Some(time.format("%Y-%m-%dT%H:%M:%S%.fZ").to_string())
}

/// What stands between the quotes of `t".."`: a time, or `@` and milliseconds since 1970 where years have not four digits.
pub(crate) fn read_literal(text: &str) -> Result<i64, NoTime> {
    match text.strip_prefix('@') {
        Some(milliseconds) => milliseconds.parse().map_err(|_| NoTime::Other),
        None => read(text),
    }
}

/// The literal of a time.
pub(crate) fn write_literal(milliseconds: i64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match write(milliseconds) {
        Some(text) => write!(f, "t\"{text}\""),
        None => write!(f, "t\"@{milliseconds}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back() {
        for (text, milliseconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2025-11-21T10:57:05.250Z", 1_763_722_625_250),
            ("1815-12-10T00:00:00Z", -4_861_728_000_000),
            ("1969-12-31T23:59:59.999Z", -1),
            ("0000-01-01T00:00:00Z", *YEARS.start()),
            ("9999-12-31T23:59:59.999Z", *YEARS.end()),
        ] {
            assert_eq!(write(milliseconds).as_deref(), Some(text));
            assert_eq!(read(text), Ok(milliseconds));
        }
        for milliseconds in [i64::MIN, YEARS.start() - 1, YEARS.end() + 1, i64::MAX] {
            assert_eq!(write(milliseconds), None);
        }
    }

    #[test]
    fn dates_and_zones_are_read() {
        for (text, milliseconds) in [
            ("1970-01-02", 86_400_000),
            ("1970-01-01T02:00:00+02:00", 0),
            ("1970-01-01 02:00:00 +0200", 0),
            ("1970-01-01t02:00:00+02", 0),
            ("1969-12-31T22:30:00-01:30", 0),
            ("1970-01-01 00:00:01", 1000),
            ("1970-01-01 00:01", 60_000),
            ("1970-01-01T00:00:00.0010000Z", 1),
            ("1970-01-01T00:00:00.5z", 500),
            ("2024-02-29", 1_709_164_800_000),
        ] {
            assert_eq!(read(text), Ok(milliseconds), "{text}");
        }
        for text in [
            "yesterday",
            "12",
            "1970-13-01",
            "",
            "2023-02-29",
            "1970-01-01T",
            "1970-01-01T25:00:00",
            "1970-01-01T00:00:00+",
            "1970-01-01T00:00:00+2:00",
            "1970-01-01T00:00:00+25:00",
            "1970-01-01x",
            "1970-01-01T00:00:00+0a:00",
            "1970-01-01T00:00:00é",
            "é970-01-01",
            "20250101",
            "1970-01-01T00:00:00+02:0",
        ] {
            assert_eq!(read(text), Err(NoTime::Other), "{text}");
        }
        assert_eq!(read("1970-01-01T00:00:00.0011Z"), Err(NoTime::Finer));
        assert_eq!(read_whole("1969-12-31T23:59:59.9999Z"), Some(-1));
        assert_eq!(read_whole("1970-01-01T00:00:00.0019Z"), Some(1));
    }

    #[test]
    fn literals_come_back_in_all_years() {
        for milliseconds in [0, -1, 1_763_722_625_250, i64::MIN, i64::MAX] {
            let literal = crate::data::Value::Timestamp(milliseconds).to_string();
            let inner =
                literal.strip_prefix("t\"").and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
            assert_eq!(read_literal(inner), Ok(milliseconds), "{literal}");
        }
        assert_eq!(read_literal("@x"), Err(NoTime::Other));
    }
}
