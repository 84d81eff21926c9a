//! Expressions and comparisons.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::Refusal;
use crate::model::{Arithmetic, Comparison, Expression};
use crate::value::Value;

/// The value of an expression.
pub(super) fn evaluate(expression: &Expression, values: &BTreeMap<String, Value>) -> Result<Value, Refusal> {
    match expression {
        Expression::Constant(value) => Ok(value.clone()),
        Expression::Variable(name) => values.get(name).cloned().ok_or(Refusal::Unsafe),
        Expression::Arithmetic(left, operator, right) => {
            Ok(calculate(&evaluate(left, values)?, *operator, &evaluate(right, values)?))
        }
        Expression::Call(function, arguments) => {
            let arguments: Result<Vec<Value>, Refusal> =
                arguments.iter().map(|argument| evaluate(argument, values)).collect();
            Ok((function.evaluate)(&arguments?))
        }
    }
}

/// Integers stay integers, but for `/`. What is no finite number is Null.
fn calculate(left: &Value, operator: Arithmetic, right: &Value) -> Value {
    if let (Value::Int(a), Value::Int(b)) = (left, right) {
        match operator {
            Arithmetic::Add => return Value::Int(a.saturating_add(*b)),
            Arithmetic::Subtract => return Value::Int(a.saturating_sub(*b)),
            Arithmetic::Multiply => return Value::Int(a.saturating_mul(*b)),
            Arithmetic::Remainder if *b == 0 => return Value::Null,
            Arithmetic::Remainder => return Value::Int(a.wrapping_rem(*b)),
            Arithmetic::Divide => {}
        }
    }
    let (Some(a), Some(b)) = (left.number(), right.number()) else { return Value::Null };
    finite(match operator {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide => a / b,
        Arithmetic::Remainder => a % b,
    })
}

pub(super) fn finite(x: f64) -> Value {
    if x.is_finite() { Value::Float(x) } else { Value::Null }
}

/// Whether a comparison holds. Between two variables of `stored` it is by identity.
pub(super) fn holds(
    left: &Expression,
    operator: Comparison,
    right: &Expression,
    values: &BTreeMap<String, Value>,
    stored: &BTreeSet<String>,
) -> Result<bool, Refusal> {
    let (a, b) = (evaluate(left, values)?, evaluate(right, values)?);
    let equal = || match (left, right) {
        (Expression::Variable(left), Expression::Variable(right))
            if stored.contains(left) && stored.contains(right) =>
        {
            a == b
        }
        // The literal equals nothing.
        (Expression::Constant(Value::Null), _) | (_, Expression::Constant(Value::Null)) => false,
        _ => equal_by_value(&a, &b),
    };
    let order = || order(&a, &b);
    Ok(match operator {
        Comparison::Equal => equal(),
        Comparison::NotEqual => !equal(),
        Comparison::Less => order() == Some(Ordering::Less),
        Comparison::LessOrEqual => matches!(order(), Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => order() == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => matches!(order(), Some(Ordering::Greater | Ordering::Equal)),
    })
}

/// Equality with what is written or computed: numbers by value.
pub(super) fn equal_by_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a == b,
        _ => match (a.number(), b.number()) {
            (Some(a), Some(b)) => a == b,
            _ => a == b,
        },
    }
}

/// What `<` sees: numbers by value, strings, booleans; nothing else can be ordered.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        _ => a.number()?.partial_cmp(&b.number()?),
    }
}
