//! Functions of the calendar, counted from days since 1970 by the rules of leap years alone.

use super::{Function, Kind, entry};
use crate::value::Value;

const TIME: &[Kind] = &[Kind::Time];
const NUMBER: &[Kind] = &[Kind::Number];
const DAY: i64 = 86_400_000;
/// Others have no date.
const YEARS: std::ops::RangeInclusive<i64> = -262_143..=262_142;

pub(super) const FUNCTIONS: &[Function] = &[
    entry("year", TIME, Kind::Number, |a| part(a, |date| date.year)),
    entry("quarter", TIME, Kind::Number, |a| part(a, |date| (date.month + 2) / 3)),
    entry("month", TIME, Kind::Number, |a| part(a, |date| date.month)),
    entry("week", TIME, Kind::Number, |a| part(a, week)),
    entry("day", TIME, Kind::Number, |a| part(a, |date| date.day)),
    entry("day_of_year", TIME, Kind::Number, |a| part(a, |date| date.days - days(date.year, 1, 1) + 1)),
    entry("weekday", TIME, Kind::Number, |a| part(a, |date| weekday(date.days))),
    entry("hour", TIME, Kind::Number, |a| part(a, |date| date.clock / 3_600_000)),
    entry("minute", TIME, Kind::Number, |a| part(a, |date| date.clock / 60_000 % 60)),
    entry("second", TIME, Kind::Number, |a| part(a, |date| date.clock / 1_000 % 60)),
    entry("millisecond", TIME, Kind::Number, |a| part(a, |date| date.clock % 1_000)),
    entry("weeks", NUMBER, Kind::Number, |a| many(a, 7 * DAY)),
    entry("days", NUMBER, Kind::Number, |a| many(a, DAY)),
    entry("hours", NUMBER, Kind::Number, |a| many(a, 3_600_000)),
    entry("minutes", NUMBER, Kind::Number, |a| many(a, 60_000)),
    entry("seconds", NUMBER, Kind::Number, |a| many(a, 1_000)),
    entry("add_months", &[Kind::Time, Kind::Small], Kind::Time, |a| match (date(&a[0]), &a[1]) {
        (Some(date), Value::Int(months)) => add_months(&date, *months),
        _ => Value::Null,
    }),
];

struct Date {
    year: i64,
    month: i64,
    day: i64,
    /// Since 1970.
    days: i64,
    /// Milliseconds since midnight.
    clock: i64,
}

fn is_leap(year: i64) -> bool {
    year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
}

fn length(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap(year)),
        _ => 31,
    }
}

/// Days from 1970 to a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let leaps = |year: i64| year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let of_years = 365 * (before - 1969) + leaps(before) - leaps(1969);
    of_years + (1..month).map(|month| length(year, month)).sum::<i64>() + day - 1
}

fn date(value: &Value) -> Option<Date> {
    let (Value::Int(time) | Value::Timestamp(time)) = value else { return None };
    let (since, clock) = (time.div_euclid(DAY), time.rem_euclid(DAY));
    // A guess that is at most one year off.
    let mut year = 1970 + (i128::from(since) * 400).div_euclid(146_097) as i64;
    while days(year, 1, 1) > since {
        year -= 1;
    }
    while days(year + 1, 1, 1) <= since {
        year += 1;
    }
    let month = (1..=12).rfind(|month| days(year, *month, 1) <= since)?;
    let day = since - days(year, month, 1) + 1;
    YEARS.contains(&year).then_some(Date { year, month, day, days: since, clock })
}

fn part(arguments: &[Value], part: fn(&Date) -> i64) -> Value {
    date(&arguments[0]).map_or(Value::Null, |date| Value::Int(part(&date)))
}

/// 1970 began on a Thursday.
fn weekday(days: i64) -> i64 {
    (days + 3).rem_euclid(7) + 1
}

/// The number of its Thursday among those of its year.
fn week(date: &Date) -> i64 {
    let thursday = date.days + 4 - weekday(date.days);
    let year =
        (date.year - 1..=date.year + 1).rfind(|year| days(*year, 1, 1) <= thursday).unwrap_or(date.year);
    (thursday - days(year, 1, 1)) / 7 + 1
}

fn many(arguments: &[Value], unit: i64) -> Value {
    match &arguments[0] {
        Value::Int(n) => Value::Int(n.saturating_mul(unit)),
        Value::Float(x) => Value::Int((x * unit as f64).round() as i64),
        _ => Value::Null,
    }
}

fn add_months(date: &Date, months: i64) -> Value {
    let Some(month) = (date.year * 12 + date.month - 1).checked_add(months) else { return Value::Null };
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
    if !YEARS.contains(&year) {
        return Value::Null;
    }
    Value::Timestamp(days(year, month, date.day.min(length(year, month))) * DAY + date.clock)
}
