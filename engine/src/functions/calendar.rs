//! Functions of the calendar and the clock, in UTC. What has no date (years beyond 262,000) gives Null.

use std::fmt::Write;

use chrono::format::{Item, Parsed, StrftimeItems, parse};
use chrono::{
    DateTime, Datelike, Months, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeDelta, TimeZone, Timelike,
};
use chrono_tz::Tz;

use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use crate::data::{Value, ValueRef, time};

type Results = Result<Column, FunctionError>;

/// The date and the clock of a point in time.
fn date_of(value: ValueRef<'_>) -> Option<NaiveDateTime> {
    match value {
        ValueRef::Int(time) | ValueRef::Timestamp(time) => {
            DateTime::from_timestamp_millis(time).map(|time| time.naive_utc())
        }
        _ => None,
    }
}

fn value_of(date: Option<NaiveDateTime>) -> Value {
    date.map_or(Value::Null, |date| Value::Timestamp(date.and_utc().timestamp_millis()))
}

fn part(arguments: &Arguments<'_>, part: impl Fn(NaiveDateTime) -> i64) -> Results {
    arguments.ints(|row| date_of(arguments.at(0, row)).map(&part))
}

pub(super) fn year(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    part(arguments, |date| date.year().into())
}

pub(super) fn quarter(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    part(arguments, |date| date.quarter().into())
}

pub(super) fn month(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    part(arguments, |date| date.month().into())
}

pub(super) fn week(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    part(arguments, |date| date.iso_week().week().into())
}

pub(super) fn day(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    part(arguments, |date| date.day().into())
}

pub(super) fn day_of_year(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    part(arguments, |date| date.ordinal().into())
}

pub(super) fn weekday(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    part(arguments, |date| date.weekday().number_from_monday().into())
}

pub(super) fn hour(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    part(arguments, |date| date.hour().into())
}

pub(super) fn minute(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    part(arguments, |date| date.minute().into())
}

pub(super) fn second(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    part(arguments, |date| date.second().into())
}

pub(super) fn millisecond(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    part(arguments, |date| (date.nanosecond() / 1_000_000).into())
}

/// So many milliseconds a unit.
fn duration(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>, unit: i64) -> Results {
    arguments.ints(|row| match arguments.at(0, row) {
        ValueRef::Int(n) => {
            Some(n.checked_mul(unit).unwrap_or_else(|| circumstances.saturate(n.saturating_mul(unit))))
        }
        ValueRef::Float(x) => Some(circumstances.whole((x * unit as f64).round())),
        _ => None,
    })
}

pub(super) fn weeks(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    duration(arguments, circumstances, 7 * 86_400_000)
}

pub(super) fn days(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    duration(arguments, circumstances, 86_400_000)
}

pub(super) fn hours(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    duration(arguments, circumstances, 3_600_000)
}

pub(super) fn minutes(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    duration(arguments, circumstances, 60_000)
}

pub(super) fn seconds(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    duration(arguments, circumstances, 1_000)
}

pub(super) fn add_months(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    Ok(Column::Values(arguments.each(|row| {
        let (Some(date), ValueRef::Int(months)) = (date_of(arguments.at(0, row)), arguments.at(1, row))
        else {
            return Value::Null;
        };
        let Ok(count) = u32::try_from(months.unsigned_abs()) else { return Value::Null };
        let count = Months::new(count);
        value_of(if months < 0 { date.checked_sub_months(count) } else { date.checked_add_months(count) })
    })))
}

pub(super) fn date_trunc(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    Ok(Column::Values(arguments.each(|row| match (arguments.at(0, row), date_of(arguments.at(1, row))) {
        (ValueRef::Text(unit), Some(date)) => value_of(beginning(unit, date)),
        _ => Value::Null,
    })))
}

/// The beginning of the unit in which a time lies. Weeks begin on Mondays.
fn beginning(unit: &str, time: NaiveDateTime) -> Option<NaiveDateTime> {
    let date = time.date();
    let midnight = |date: NaiveDate| date.and_time(NaiveTime::MIN);
    let first_of = |month| NaiveDate::from_ymd_opt(date.year(), month, 1).map(midnight);
    match unit.to_ascii_lowercase().as_str() {
        "year" => first_of(1),
        "quarter" => first_of(date.month0() / 3 * 3 + 1),
        "month" => first_of(date.month()),
        "week" => {
            let past = TimeDelta::days(date.weekday().num_days_from_monday().into());
            date.checked_sub_signed(past).map(midnight)
        }
        "day" => Some(midnight(date)),
        "hour" => date.and_hms_opt(time.hour(), 0, 0),
        "minute" => date.and_hms_opt(time.hour(), time.minute(), 0),
        "second" => date.and_hms_opt(time.hour(), time.minute(), time.second()),
        _ => None,
    }
}

/// What [`date_trunc`] knows.
pub(crate) const UNITS: &str = "units are year, quarter, month, week, day, hour, minute and second";

/// Whether it knows this one.
pub(crate) fn is_unit(name: &str) -> bool {
    beginning(name, DateTime::UNIX_EPOCH.naive_utc()).is_some()
}

/// Whether a text reads as so many of a unit: `3 days`.
pub(crate) fn is_duration(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    rest.len() < text.len() && is_unit(rest.trim().trim_end_matches('s'))
}

/// A format that was read. The error names what is wrong with it.
pub(crate) fn read_format(format: &str) -> Result<Vec<Item<'_>>, String> {
    let items: Vec<Item<'_>> = StrftimeItems::new(format).collect();
    if items.contains(&Item::Error) {
        return Err("it has a `%` that means nothing".to_owned());
    }
    if items.iter().all(|item| matches!(item, Item::Literal(_) | Item::Space(_))) {
        return Err("no `%` says which part of a time stands where".to_owned());
    }
    Ok(items)
}

pub(super) fn format_time(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| {
        let (Some(date), ValueRef::Text(format)) = (date_of(arguments.at(0, row)), arguments.at(1, row))
        else {
            return Ok(Value::Null);
        };
        circumstances.work(format.len())?;
        let Ok(items) = read_format(format) else { return Ok(Value::Null) };
        let mut text = String::new();
        match write!(text, "{}", date.and_utc().format_with_items(items.iter())) {
            Ok(()) => circumstances.text(text),
            Err(_) => Ok(Value::Null),
        }
    })
}

pub(super) fn to_time(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    Ok(Column::Values(arguments.each(|row| match arguments.at(0, row) {
        ValueRef::Text(text) => time::read_whole(text.trim()).map_or(Value::Null, Value::Timestamp),
        ValueRef::Int(time) | ValueRef::Timestamp(time) => Value::Timestamp(time),
        _ => Value::Null,
    })))
}

pub(super) fn parse_time(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row)) {
        (ValueRef::Text(text), ValueRef::Text(format)) => {
            circumstances.work(text.len() + format.len())?;
            Ok(parsed(text, format).map_or(Value::Null, Value::Timestamp))
        }
        _ => Ok(Value::Null),
    })
}

/// A time without a zone is one in UTC, and a date its midnight.
fn parsed(text: &str, format: &str) -> Option<i64> {
    let items = read_format(format).ok()?;
    let mut found = Parsed::new();
    parse(&mut found, text, items.iter()).ok()?;
    if let Ok(time) = found.to_datetime() {
        return Some(time.timestamp_millis());
    }
    let date = found.to_naive_datetime_with_offset(0).or_else(|_| {
        let clock = found.to_naive_time().unwrap_or(NaiveTime::MIN);
        found.to_naive_date().map(|date| date.and_time(clock))
    });
    date.ok().map(|date| date.and_utc().timestamp_millis())
}

pub(super) fn local_time(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    in_zone(arguments, |date, zone| {
        date.checked_add_signed(TimeDelta::seconds(
            zone.offset_from_utc_datetime(&date).fix().local_minus_utc().into(),
        ))
    })
}

/// Of a clock that shows a time twice, the first is meant; one that is never shown is none.
pub(super) fn utc_time(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    in_zone(arguments, |date, zone| zone.from_local_datetime(&date).earliest().map(|time| time.naive_utc()))
}

fn in_zone(
    arguments: &Arguments<'_>,
    result: impl Fn(NaiveDateTime, Tz) -> Option<NaiveDateTime>,
) -> Results {
    let zone_of = |value| match value {
        ValueRef::Text(name) => zone(name),
        _ => None,
    };
    // Most often, it is the same in all rows.
    let same = arguments.constant(1).map(zone_of);
    Ok(Column::Values(arguments.each(|row| {
        let zone = same.unwrap_or_else(|| zone_of(arguments.at(1, row)));
        let date = date_of(arguments.at(0, row)).zip(zone);
        value_of(date.and_then(|(date, zone)| result(date, zone)))
    })))
}

/// A zone of the IANA database.
pub(crate) fn zone(name: &str) -> Option<Tz> {
    name.parse().ok()
}
