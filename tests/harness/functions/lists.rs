//! Functions of lists. A vector is taken for the list of its elements.

use super::{Function, Kind, entry};
use crate::value::Value;

const LIST: &[Kind] = &[Kind::List];

pub(super) const FUNCTIONS: &[Function] = &[
    entry("list", &[Kind::Any, Kind::Any], Kind::List, |a| Value::List(a.to_vec())),
    entry("append", &[Kind::List, Kind::Any], Kind::List, |a| {
        made(&a[0], |elements| [elements, &a[1..]].concat())
    }),
    entry("extend", &[Kind::List, Kind::List], Kind::List, |a| match elements(&a[1]) {
        Some(second) => made(&a[0], |first| [first, &second].concat()),
        None => Value::Null,
    }),
    entry("reverse", LIST, Kind::List, |a| made(&a[0], |elements| elements.iter().rev().cloned().collect())),
    entry("sort", LIST, Kind::List, |a| {
        made(&a[0], |elements| {
            let mut sorted = elements.to_vec();
            sorted.sort();
            sorted
        })
    }),
    entry("distinct", LIST, Kind::List, |a| {
        made(&a[0], |elements| {
            let mut kept: Vec<Value> = Vec::new();
            for element in elements {
                if !kept.iter().any(|known| is_same(known, element)) {
                    kept.push(element.clone());
                }
            }
            kept
        })
    }),
    entry("slice", &[Kind::List, Kind::Small, Kind::Small], Kind::List, |a| match (&a[1], &a[2]) {
        (Value::Int(start), Value::Int(count)) => made(&a[0], |elements| {
            elements.iter().skip(*start as usize).take(*count as usize).cloned().collect()
        }),
        _ => Value::Null,
    }),
    entry("split", &[Kind::Text, Kind::Text], Kind::List, |a| match (&a[0], &a[1]) {
        (Value::Text(text), Value::Text(separator)) if !separator.is_empty() => {
            Value::List(text.split(separator.as_str()).map(Value::text).collect())
        }
        _ => Value::Null,
    }),
    entry("len", LIST, Kind::Number, len),
    entry("has", &[Kind::List, Kind::Any], Kind::Bool, |a| match elements(&a[0]) {
        Some(elements) => Value::Bool(elements.iter().any(|element| is_same(element, &a[1]))),
        None => Value::Null,
    }),
];

/// `Z = each(list)`, which gives `Z` one value after the other.
pub static EACH: Function = entry("each", LIST, Kind::Any, |_| Value::Null);

/// How long a string or a list is: whichever a value turns out to be.
pub(super) fn len(arguments: &[Value]) -> Value {
    match (&arguments[0], elements(&arguments[0])) {
        (Value::Text(text), _) => Value::Int(text.len() as i64),
        (_, Some(elements)) => Value::Int(elements.len() as i64),
        _ => Value::Null,
    }
}

/// The elements of a list or vector.
pub fn elements(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::List(elements) => Some(elements.clone()),
        Value::Vector(elements) => Some(elements.iter().map(|x| Value::Float(f64::from(*x))).collect()),
        Value::Bytes(elements) => Some(elements.iter().map(|n| Value::Int(i64::from(*n))).collect()),
        _ => None,
    }
}

fn made(list: &Value, make: impl FnOnce(&[Value]) -> Vec<Value>) -> Value {
    elements(list).map_or(Value::Null, |elements| Value::List(make(&elements)))
}

/// Numbers by value; both zeros are one.
pub fn is_same(a: &Value, b: &Value) -> bool {
    match (a.number(), b.number()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}
