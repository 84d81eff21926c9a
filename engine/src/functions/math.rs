//! Functions of numbers. Integers and floats are numbers; everything else gives Null.

use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use crate::data::{Value, ValueRef};

type Results = Result<Column, FunctionError>;

pub(super) fn abs(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    Ok(Column::Values(arguments.each(|row| match arguments.at(0, row) {
        ValueRef::Int(n) => Value::Int(magnitude(n, circumstances)),
        ValueRef::Float(x) => Value::Float(x.abs()),
        _ => Value::Null,
    })))
}

pub(super) fn abs_int64(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.ints(|row| match arguments.at(0, row) {
        ValueRef::Int(n) => Some(magnitude(n, circumstances)),
        _ => None,
    })
}

fn magnitude(n: i64, circumstances: &Circumstances<'_>) -> i64 {
    n.checked_abs().unwrap_or_else(|| circumstances.saturate(i64::MAX))
}

pub(super) fn abs_float64(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    map(arguments, f64::abs)
}

pub(super) fn sqrt(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    map(arguments, f64::sqrt)
}

pub(super) fn pow(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    arguments.floats(|row| Some(float(arguments.at(0, row))?.powf(float(arguments.at(1, row))?)))
}

pub(super) fn log(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    map(arguments, f64::ln)
}

pub(super) fn exp(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    map(arguments, f64::exp)
}

pub(super) fn sin(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    map(arguments, f64::sin)
}

pub(super) fn cos(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    map(arguments, f64::cos)
}

pub(super) fn tan(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    map(arguments, f64::tan)
}

pub(super) fn floor(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    round(arguments, circumstances, f64::floor)
}

pub(super) fn ceil(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    round(arguments, circumstances, f64::ceil)
}

pub(super) fn nearest(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    round(arguments, circumstances, f64::round)
}

pub(super) fn round_to(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    arguments.floats(|row| match (float(arguments.at(0, row)), arguments.at(1, row)) {
        (Some(x), ValueRef::Int(digits)) => Some(rounded(x, digits)),
        _ => None,
    })
}

/// A number with so many decimals; one that has no more of them stays as it is.
fn rounded(x: f64, digits: i64) -> f64 {
    // No float has places before the 309th.
    let digits = digits.clamp(-308, 308) as i32;
    let power = 10_f64.powi(digits.abs());
    if digits < 0 {
        return (x / power).round() * power;
    }
    let whole = (x * power).round();
    if whole.abs() < EXACT { whole / power } else { x }
}

/// From here on not every integer is a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The first value that is not null.
pub(super) fn coalesce(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    Ok(Column::Values(arguments.each(|row| {
        let values = (0..arguments.count()).map(|column| arguments.at(column, row));
        let found = values.into_iter().find(|value| !matches!(value, ValueRef::Null));
        found.map_or(Value::Null, ValueRef::to_value)
    })))
}

pub(super) fn to_int(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.ints(|row| match spelled_out(arguments.at(0, row)) {
        ValueRef::Int(n) | ValueRef::Timestamp(n) => Some(n),
        ValueRef::Float(x) => Some(circumstances.whole(x.trunc())),
        _ => None,
    })
}

pub(super) fn to_float(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    arguments.floats(|row| float(spelled_out(arguments.at(0, row))))
}

/// The number that a text spells, without blanks around it; another value as it is.
fn spelled_out(value: ValueRef<'_>) -> ValueRef<'_> {
    let ValueRef::Text(text) = value else { return value };
    let text = text.trim();
    if let Ok(n) = text.parse() {
        return ValueRef::Int(n);
    }
    // Not the words `inf` and `nan`.
    let is_number = text.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    match text.parse() {
        Ok(x) if is_number && f64::is_finite(x) => ValueRef::Float(x),
        _ => ValueRef::Null,
    }
}

pub(super) fn sign(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    arguments.ints(|row| match arguments.at(0, row) {
        ValueRef::Int(n) => Some(n.signum()),
        ValueRef::Float(x) => Some(i64::from(x > 0.0) - i64::from(x < 0.0)),
        _ => None,
    })
}

pub(super) fn min_val(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    choose(arguments, circumstances, std::cmp::Ordering::is_le)
}

pub(super) fn max_val(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    choose(arguments, circumstances, std::cmp::Ordering::is_ge)
}

/// The first of two arguments if its order to the second is the wanted one, else the second.
fn choose(
    arguments: &Arguments<'_>,
    circumstances: &Circumstances<'_>,
    first: fn(std::cmp::Ordering) -> bool,
) -> Results {
    let pair = |row| (arguments.at(0, row), arguments.at(1, row));
    let ints = (0..arguments.rows()).map(|row| match pair(row) {
        (ValueRef::Int(a), ValueRef::Int(b)) => Some(Some(if first(a.cmp(&b)) { a } else { b })),
        _ => None,
    });
    if let Some(ints) = ints.collect() {
        return Ok(Column::Ints(ints));
    }
    arguments.try_each(|row| match pair(row) {
        (ValueRef::Int(a), ValueRef::Int(b)) => Ok(Value::Int(if first(a.cmp(&b)) { a } else { b })),
        (ValueRef::Text(a), ValueRef::Text(b)) => {
            circumstances.text(if first(a.cmp(b)) { a } else { b }.to_owned())
        }
        (a, b) => Ok(match (float(a), float(b)) {
            (Some(a), Some(b)) => Value::Float(if first(a.total_cmp(&b)) { a } else { b }),
            _ => Value::Null,
        }),
    })
}

pub(super) fn near(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    arguments.bools(|row| match (arguments.at(0, row), arguments.at(1, row), arguments.at(2, row)) {
        (ValueRef::Int(a), ValueRef::Int(b), ValueRef::Int(eps)) => {
            Some(i128::from(a.abs_diff(b)) <= i128::from(eps))
        }
        (ValueRef::Int(a), ValueRef::Int(b), eps) => Some(a.abs_diff(b) as f64 <= float(eps)?),
        (a, b, eps) => Some((float(a)? - float(b)?).abs() <= float(eps)?),
    })
}

/// A function of one float.
fn map(arguments: &Arguments<'_>, function: impl Fn(f64) -> f64) -> Results {
    arguments.floats(|row| float(arguments.at(0, row)).map(&function))
}

/// Floats to integers; integers stay what they are.
fn round(
    arguments: &Arguments<'_>,
    circumstances: &Circumstances<'_>,
    function: impl Fn(f64) -> f64,
) -> Results {
    arguments.ints(|row| match arguments.at(0, row) {
        ValueRef::Int(n) => Some(n),
        ValueRef::Float(x) => Some(circumstances.whole(function(x))),
        _ => None,
    })
}

/// The nearest float of a number.
pub(super) fn float(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Int(n) => Some(n as f64),
        ValueRef::Float(x) => Some(x),
        _ => None,
    }
}
