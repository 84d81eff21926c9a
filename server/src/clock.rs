//! The time of day, as it is kept and as it is written.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat};

/// The time, in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
    i64::try_from(now).unwrap_or(i64::MAX)
}

/// A time as people and programs read it.
pub(crate) fn written(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms)
        .map_or_else(|| ms.to_string(), |time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// A moment as it is given: a date and time as in RFC 3339, or how long from now: `90s`, `15m`, `12h`, `30d`, `8w`.
pub(crate) fn parse(text: &str, now: i64) -> Option<i64> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.timestamp_millis());
    }
    let seconds = match text.chars().last()?.to_ascii_lowercase() {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        _ => return None,
    };
    let digits = &text[..text.len() - 1];
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let length = digits.parse::<i64>().ok()?.checked_mul(seconds)?.checked_mul(1000)?;
    // What no calendar has cannot be shown either.
    now.checked_add(length).filter(|ms| DateTime::from_timestamp_millis(*ms).is_some())
}

#[cfg(test)]
mod tests {
    use super::{parse, written};

    #[test]
    fn times_are_dates_or_lengths() {
        let read = |text| parse(text, 1_000_000);
        assert_eq!(read("1970-01-01T00:00:01Z"), Some(1000));
        assert_eq!(read("1970-01-01T02:00:01.5+02:00"), Some(1500));
        assert_eq!(
            [read("90s"), read("2m"), read("1H")],
            [Some(1_090_000), Some(1_120_000), Some(4_600_000)]
        );
        assert_eq!([read("30d"), read("1w")], [Some(2_593_000_000), Some(605_800_000)]);
        let overflowing = ["9223372036854775807w", "99999999999999d"];
        let wrong = ["", "d", "30", "-1d", "+1d", "1.5d", "30é", "tomorrow", "2027-01-01"];
        for wrong in wrong.into_iter().chain(overflowing) {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(written(1500), "1970-01-01T00:00:01.500Z");
    }
}
