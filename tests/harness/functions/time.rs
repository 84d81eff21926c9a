//! Functions of points in time: integers and timestamps.

use super::{Function, Kind, entry, rounded};
use crate::value::Value;

const TWO: &[Kind] = &[Kind::Time, Kind::Time];
const THREE: &[Kind] = &[Kind::Time, Kind::Time, Kind::Time];
const FOUR: &[Kind] = &[Kind::Time, Kind::Time, Kind::Time, Kind::Time];

pub(super) const FUNCTIONS: &[Function] = &[
    entry("time_add", TWO, Kind::Time, |a| of(a, |[t, more]| Value::Timestamp(t.saturating_add(more)))),
    entry("time_sub", TWO, Kind::Time, |a| of(a, |[t, less]| Value::Timestamp(t.saturating_sub(less)))),
    entry("time_diff", TWO, Kind::Number, |a| of(a, |[a, b]| Value::Int(a.saturating_sub(b)))),
    entry("interval_duration", TWO, Kind::Number, |a| of(a, |[a, b]| Value::Int(b.saturating_sub(a)))),
    entry("time_before", TWO, Kind::Bool, |a| of(a, |[a, b]| Value::Bool(a < b))),
    entry("time_after", TWO, Kind::Bool, |a| of(a, |[a, b]| Value::Bool(a > b))),
    entry("time_between", THREE, Kind::Bool, |a| {
        of(a, |[t, from, to]| Value::Bool((from..=to).contains(&t)))
    }),
    entry("point_in_interval", THREE, Kind::Bool, |a| {
        of(a, |[t, from, to]| Value::Bool((from..=to).contains(&t)))
    }),
    entry("within_last", THREE, Kind::Bool, |a| {
        of(a, |[t, now, most]| {
            Value::Bool((0..=i128::from(most)).contains(&(i128::from(now) - i128::from(t))))
        })
    }),
    entry("intervals_overlap", FOUR, Kind::Bool, |a| of(a, |[s, e, t, f]| Value::Bool(s <= f && t <= e))),
    entry("interval_contains", FOUR, Kind::Bool, |a| of(a, |[s, e, t, f]| Value::Bool(s <= t && f <= e))),
    rounded("time_decay", THREE, Kind::Number, |a| of(a, |times| decay(times, |age| 0.5_f64.powf(age)))),
    rounded("time_decay_linear", THREE, Kind::Number, |a| {
        of(a, |times| decay(times, |age| (1.0 - age).max(0.0)))
    }),
];

/// A function of points in time.
fn of<const N: usize>(arguments: &[Value], function: fn([i64; N]) -> Value) -> Value {
    let times: Option<Vec<i64>> = arguments
        .iter()
        .map(|argument| match argument {
            Value::Int(n) | Value::Timestamp(n) => Some(*n),
            _ => None,
        })
        .collect();
    times.and_then(|times| <[i64; N]>::try_from(times).ok()).map_or(Value::Null, function)
}

/// The weight of what is so old, measured in the third argument.
fn decay([time, now, unit]: [i64; 3], weight: fn(f64) -> f64) -> Value {
    Value::Float(if time >= now {
        1.0
    } else if unit <= 0 {
        0.0
    } else {
        weight((i128::from(now) - i128::from(time)) as f64 / unit as f64)
    })
}
