//! Functions of points in time, in milliseconds since 1970 (UTC). Timestamps and integers are points in time.

use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use crate::data::{Value, ValueRef};

type Results = Result<Column, FunctionError>;

pub(super) fn time_now(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    let now = circumstances.budget.started_at_ms();
    Ok(Column::Values(arguments.each(|_| Value::Timestamp(now))))
}

/// `time_diff` and, with its arguments the other way round, `interval_duration`.
pub(super) fn time_diff(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.ints(|row| {
        let [a, b] = times(arguments, row)?;
        Some(subtract(a, b, circumstances))
    })
}

pub(super) fn interval_duration(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.ints(|row| {
        let [start, end] = times(arguments, row)?;
        Some(subtract(end, start, circumstances))
    })
}

pub(super) fn time_add(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    Ok(Column::Values(arguments.each(|row| match times(arguments, row) {
        Some([time, more]) => Value::Timestamp(
            time.checked_add(more).unwrap_or_else(|| circumstances.saturate(time.saturating_add(more))),
        ),
        None => Value::Null,
    })))
}

pub(super) fn time_sub(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    Ok(Column::Values(arguments.each(|row| match times(arguments, row) {
        Some([time, less]) => Value::Timestamp(subtract(time, less, circumstances)),
        None => Value::Null,
    })))
}

fn subtract(a: i64, b: i64, circumstances: &Circumstances<'_>) -> i64 {
    a.checked_sub(b).unwrap_or_else(|| circumstances.saturate(a.saturating_sub(b)))
}

pub(super) fn time_decay(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    decay(arguments, |age| 0.5_f64.powf(age))
}

pub(super) fn time_decay_linear(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    decay(arguments, |age| (1.0 - age).max(0.0))
}

/// The weight of what has some age, measured in the third argument.
fn decay(arguments: &Arguments<'_>, weight: impl Fn(f64) -> f64) -> Results {
    arguments.floats(|row| {
        let [time, now, unit] = times(arguments, row)?;
        Some(if time >= now {
            1.0
        } else if unit <= 0 {
            0.0
        } else {
            weight((i128::from(now) - i128::from(time)) as f64 / unit as f64)
        })
    })
}

pub(super) fn time_before(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    holds(arguments, |[a, b]| a < b)
}

pub(super) fn time_after(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    holds(arguments, |[a, b]| a > b)
}

pub(super) fn time_between(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    holds(arguments, |[time, start, end]| start <= time && time <= end)
}

pub(super) fn within_last(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    holds(arguments, |[time, now, duration]| {
        let age = i128::from(now) - i128::from(time);
        0 <= age && age <= i128::from(duration)
    })
}

pub(super) fn intervals_overlap(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    holds(arguments, |[start1, end1, start2, end2]| start1 <= end2 && start2 <= end1)
}

pub(super) fn interval_contains(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    holds(arguments, |[start1, end1, start2, end2]| start1 <= start2 && end2 <= end1)
}

fn holds<const N: usize>(arguments: &Arguments<'_>, condition: impl Fn([i64; N]) -> bool) -> Results {
    arguments.bools(|row| times(arguments, row).map(&condition))
}

/// The first arguments of a row, if all of them are points in time.
fn times<const N: usize>(arguments: &Arguments<'_>, row: usize) -> Option<[i64; N]> {
    let mut found = [0; N];
    for (column, time) in found.iter_mut().enumerate() {
        *time = match arguments.at(column, row) {
            ValueRef::Int(n) | ValueRef::Timestamp(n) => n,
            _ => return None,
        };
    }
    Some(found)
}
