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

/// How times are read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reading {
    /// Numbers that become times are of this unit.
    pub epoch: Option<Epoch>,
    /// What is finer than milliseconds is refused, and not cut.
    pub exact: bool,
}

/// What a number is as a time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NumberOfTime {
    pub milliseconds: i64,
    /// It was finer.
    pub is_cut: bool,
}

/// Nine or ten digits.
const UNCLEAR: std::ops::Range<u64> = 100_000_000..10_000_000_000;

/// The milliseconds of a number; where no unit is named, it has to be one that can only be in milliseconds.
pub(super) fn milliseconds(number: i64, epoch: Option<Epoch>) -> Result<NumberOfTime, String> {
    let in_one = |unit: i64| {
        Ok(NumberOfTime { milliseconds: number.div_euclid(unit), is_cut: number.rem_euclid(unit) != 0 })
    };
    match epoch {
        None if UNCLEAR.contains(&number.unsigned_abs()) => Err(format!(
            "`{number}` is a time of 1970 in milliseconds, and another one in seconds: say which by --epoch s, ms, us or ns"
        )),
        None | Some(Epoch::Milliseconds) => in_one(1),
        Some(Epoch::Seconds) => match number.checked_mul(1_000) {
            Some(milliseconds) => Ok(NumberOfTime { milliseconds, is_cut: false }),
            None => Err(format!("`{number}` seconds are beyond all times")),
        },
        Some(Epoch::Microseconds) => in_one(1_000),
        Some(Epoch::Nanoseconds) => in_one(1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(milliseconds: i64) -> Result<NumberOfTime, String> {
        Ok(NumberOfTime { milliseconds, is_cut: false })
    }

    #[test]
    fn a_number_is_a_time_where_its_unit_is_clear() {
        assert_eq!(milliseconds(1_763_722_625_250, None), whole(1_763_722_625_250));
        assert_eq!(milliseconds(-5, None), whole(-5));
        for number in [1_763_722_625, 946_684_800, -946_684_800] {
            assert!(milliseconds(number, None).unwrap_err().contains("--epoch"), "{number}");
        }
        assert_eq!(milliseconds(1_763_722_625, "s".parse().ok()), whole(1_763_722_625_000));
        assert_eq!(milliseconds(1_763_722_625, "ms".parse().ok()), whole(1_763_722_625));
        assert_eq!(milliseconds(1_763_722_625_250_000, "us".parse().ok()), whole(1_763_722_625_250));
        let cut = NumberOfTime { milliseconds: -1, is_cut: true };
        assert_eq!(milliseconds(-1, "us".parse().ok()), Ok(cut));
        assert_eq!(milliseconds(1_763_722_625_250_000_000, "ns".parse().ok()), whole(1_763_722_625_250));
        assert!(milliseconds(i64::MAX, "s".parse().ok()).is_err());
        assert!("h".parse::<Epoch>().is_err());
    }
}
