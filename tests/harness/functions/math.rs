//! Functions of numbers.

use super::{Function, Kind, entry, float, rounded};
use crate::value::Value;

const ONE: &[Kind] = &[Kind::Number];
const TWO: &[Kind] = &[Kind::Number, Kind::Number];

pub(super) const FUNCTIONS: &[Function] = &[
    entry("abs", ONE, Kind::Number, |a| match a {
        [Value::Int(n)] => Value::Int(n.saturating_abs()),
        [Value::Float(x)] => Value::Float(x.abs()),
        _ => Value::Null,
    }),
    entry("abs_int64", ONE, Kind::Number, |a| match a {
        [Value::Int(n)] => Value::Int(n.saturating_abs()),
        _ => Value::Null,
    }),
    entry("abs_float64", ONE, Kind::Number, |a| of_float(a, f64::abs)),
    rounded("sqrt", ONE, Kind::Number, |a| of_float(a, f64::sqrt)),
    rounded("log", ONE, Kind::Number, |a| of_float(a, f64::ln)),
    rounded("exp", ONE, Kind::Number, |a| of_float(a, f64::exp)),
    rounded("sin", ONE, Kind::Number, |a| of_float(a, f64::sin)),
    rounded("pow", TWO, Kind::Number, |a| match a {
        [base, exponent] => match (number(base), number(exponent)) {
            (Some(base), Some(exponent)) => float(base.powf(exponent)),
            _ => Value::Null,
        },
        _ => Value::Null,
    }),
    entry("floor", ONE, Kind::Number, |a| whole(a, f64::floor)),
    entry("ceil", ONE, Kind::Number, |a| whole(a, f64::ceil)),
    entry("round", ONE, Kind::Number, |a| whole(a, f64::round)),
    entry("round_to", &[Kind::Number, Kind::Small], Kind::Number, |a| match a {
        [x, Value::Int(digits)] => match (number(x), 10_f64.powi(digits.unsigned_abs() as i32)) {
            (None, _) => Value::Null,
            (Some(x), power) if *digits < 0 => float((x / power).round() * power),
            (Some(x), power) if (x * power).abs() < 9e15 => float((x * power).round() / power),
            (Some(x), _) => float(x),
        },
        _ => Value::Null,
    }),
    entry("coalesce", TWO, Kind::Number, |a| {
        a.iter().find(|value| !matches!(value, Value::Null)).cloned().unwrap_or(Value::Null)
    }),
    entry("to_int", ONE, Kind::Number, |a| whole(&spelled(a), f64::trunc)),
    entry("to_float", ONE, Kind::Number, |a| of_float(&spelled(a), |x| x)),
    entry("sign", ONE, Kind::Number, |a| match a {
        [Value::Int(n)] => Value::Int(n.signum()),
        [Value::Float(x)] if *x > 0.0 => Value::Int(1),
        [Value::Float(x)] if *x < 0.0 => Value::Int(-1),
        [Value::Float(_)] => Value::Int(0),
        _ => Value::Null,
    }),
    entry("min_val", TWO, Kind::Number, |a| alike(a).map_or(Value::Null, |(a, b)| if b < a { b } else { a })),
    entry("max_val", TWO, Kind::Number, |a| alike(a).map_or(Value::Null, |(a, b)| if b > a { b } else { a })),
];

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::Float(x) => Some(*x),
        _ => None,
    }
}

fn of_float(arguments: &[Value], function: fn(f64) -> f64) -> Value {
    arguments.first().and_then(number).map_or(Value::Null, |x| float(function(x)))
}

/// A float's neighbour among the integers; an integer is one.
/// Numbers for texts that spell them.
fn spelled(arguments: &[Value]) -> Vec<Value> {
    let number = |text: &str| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let is_number = (digits(whole) || whole.is_empty() && digits(fraction))
            && (digits(fraction) || fraction.is_empty())
            && digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent));
        match (digits(unsigned).then(|| text.parse()), is_number.then(|| text.parse())) {
            (Some(Ok(n)), _) => Value::Int(n),
            (_, Some(Ok(x))) if f64::is_finite(x) => Value::Float(x),
            _ => Value::Null,
        }
    };
    let value = |value: &Value| match value {
        Value::Text(text) => number(text.trim()),
        value => value.clone(),
    };
    arguments.iter().map(value).collect()
}

fn whole(arguments: &[Value], function: fn(f64) -> f64) -> Value {
    match arguments {
        [Value::Int(n)] => Value::Int(*n),
        // A cast saturates.
        [Value::Float(x)] => Value::Int(function(*x) as i64),
        _ => Value::Null,
    }
}

/// Two integers, two strings, or two numbers as floats.
fn alike(arguments: &[Value]) -> Option<(Value, Value)> {
    match arguments {
        [a @ Value::Int(_), b @ Value::Int(_)] | [a @ Value::Text(_), b @ Value::Text(_)] => {
            Some((a.clone(), b.clone()))
        }
        [a, b] => Some((Value::Float(number(a)?), Value::Float(number(b)?))),
        _ => None,
    }
}
