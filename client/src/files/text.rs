//! Times as text: RFC 3339, in UTC.

use arrow::array::temporal_conversions::timestamp_ms_to_datetime;
use arrow::array::timezone::Tz;
use arrow::compute::kernels::cast_utils::string_to_datetime;
use std::ops::RangeInclusive;

/// The years that RFC 3339 can write, in milliseconds since 1970.
const YEARS: RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// `2026-11-21T18:30:00Z`, with a fraction where there is one; `None` in a year that has not four digits.
pub(super) fn of_time(milliseconds: i64) -> Option<String> {
    let time = timestamp_ms_to_datetime(milliseconds).filter(|_| YEARS.contains(&milliseconds))?;
    Some(time.format("%Y-%m-%dT%H:%M:%S%.fZ").to_string())
}

/// Milliseconds since 1970 of a date or a time; one without a zone counts as UTC, and one that is finer is none.
pub(super) fn to_time(text: &str) -> Option<i64> {
    if is_finer(text) {
        return None;
    }
    let utc: Tz = "+00:00".parse().ok()?;
    string_to_datetime(&utc, text).ok().map(|time| time.timestamp_millis())
}

/// Whether digits other than zero come after those of the milliseconds.
pub(super) fn is_finer(text: &str) -> bool {
    let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
    fraction.bytes().take_while(u8::is_ascii_digit).skip(3).any(|digit| digit != b'0')
}

/// Whether text is a time for who guesses.
pub(super) fn is_time(text: &str) -> bool {
    looks_like_time(text) && to_time(text).is_some()
}

/// Whether text is a time exactly as one is written here. In JSON, other text that could be one stays text.
pub(super) fn is_written_time(text: &str) -> bool {
    looks_like_time(text) && text.ends_with('Z') && to_time(text).and_then(of_time).as_deref() == Some(text)
}

/// Whether text begins as a date does: years have four digits.
pub(super) fn looks_like_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 10
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && [0, 1, 2, 3, 5, 6, 8, 9].iter().all(|&at| bytes[at].is_ascii_digit())
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
        ] {
            assert_eq!(of_time(milliseconds).as_deref(), Some(text));
            assert_eq!(to_time(text), Some(milliseconds));
        }
        for (milliseconds, text) in
            [(*YEARS.start(), "0000-01-01T00:00:00Z"), (*YEARS.end(), "9999-12-31T23:59:59.999Z")]
        {
            assert_eq!((of_time(milliseconds).as_deref(), to_time(text)), (Some(text), Some(milliseconds)));
        }
        for milliseconds in [i64::MIN, YEARS.start() - 1, YEARS.end() + 1, i64::MAX] {
            assert_eq!(of_time(milliseconds), None);
        }
    }

    #[test]
    fn dates_and_zones_are_read() {
        assert_eq!(to_time("1970-01-02"), Some(86_400_000));
        assert_eq!(to_time("1970-01-01T02:00:00+02:00"), Some(0));
        assert_eq!(to_time("1970-01-01 00:00:01"), Some(1000));
        assert_eq!(to_time("1970-01-01T00:00:00.0010000Z"), Some(1));
        for text in ["yesterday", "12", "1970-13-01", "1970-01-01T00:00:00.0011Z", ""] {
            assert_eq!(to_time(text), None, "{text}");
        }
        assert!(
            looks_like_time("2025-11-21") && !looks_like_time("20251121") && !looks_like_time("é025-11-21")
        );
    }
}
