//! Numbers as times: of which unit, since 1970.
//!
//! Times are kept in milliseconds. A number of nine or ten digits is one of 1970 then, and almost always meant in seconds;
//! so nobody guesses, and the unit has to be named.

use std::str::FromStr;

/// The unit of times that are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epoch {
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl FromStr for Epoch {
    type Err = String;

    fn from_str(text: &str) -> Result<Epoch, String> {
        Ok(match text {
            "s" => Epoch::Seconds,
            "ms" => Epoch::Milliseconds,
            "us" | "µs" => Epoch::Microseconds,
            "ns" => Epoch::Nanoseconds,
            other => return Err(format!("`{other}` is no unit of time: expected s, ms, us or ns")),
        })
    }
}

/// Nine or ten digits.
const UNCLEAR: std::ops::Range<u64> = 100_000_000..10_000_000_000;

/// The milliseconds of a number; where no unit is named, it has to be one that can only be in milliseconds.
pub(super) fn milliseconds(number: i64, epoch: Option<Epoch>) -> Result<i64, String> {
    let whole = |unit: i64| match number % unit {
        0 => Ok(number / unit),
        _ => Err(format!("`{number}` is finer than milliseconds, which is what times are kept in")),
    };
    match epoch {
        None if UNCLEAR.contains(&number.unsigned_abs()) => Err(format!(
            "`{number}` is a time of 1970 in milliseconds, and another one in seconds: say which by --epoch s, ms, us or ns"
        )),
        None | Some(Epoch::Milliseconds) => Ok(number),
        Some(Epoch::Seconds) => {
            number.checked_mul(1_000).ok_or_else(|| format!("`{number}` seconds are beyond all times"))
        }
        Some(Epoch::Microseconds) => whole(1_000),
        Some(Epoch::Nanoseconds) => whole(1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_time_where_its_unit_is_clear() {
        assert_eq!(milliseconds(1_763_722_625_250, None), Ok(1_763_722_625_250));
        assert_eq!(milliseconds(-5, None), Ok(-5));
        for number in [1_763_722_625, 946_684_800, -946_684_800] {
            assert!(milliseconds(number, None).unwrap_err().contains("--epoch"), "{number}");
        }
        assert_eq!(milliseconds(1_763_722_625, "s".parse().ok()), Ok(1_763_722_625_000));
        assert_eq!(milliseconds(1_763_722_625, "ms".parse().ok()), Ok(1_763_722_625));
        assert_eq!(milliseconds(1_763_722_625_250_000, "us".parse().ok()), Ok(1_763_722_625_250));
        assert!(milliseconds(1_763_722_625_250_001, "us".parse().ok()).unwrap_err().contains("finer"));
        assert_eq!(milliseconds(1_763_722_625_250_000_000, "ns".parse().ok()), Ok(1_763_722_625_250));
        assert!(milliseconds(i64::MAX, "s".parse().ok()).is_err());
        assert!("h".parse::<Epoch>().is_err());
    }
}
