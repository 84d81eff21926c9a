//! Functions of strings. Offsets count bytes, and move on to where a character ends.

use super::{Function, Kind, entry};
use crate::value::Value;

const TEXT: &[Kind] = &[Kind::Text];

pub(super) const FUNCTIONS: &[Function] = &[
    entry("len", TEXT, Kind::Number, |a| match a {
        [Value::Text(text)] => Value::Int(text.len() as i64),
        _ => Value::Null,
    }),
    entry("upper", TEXT, Kind::Text, |a| of_text(a, str::to_uppercase)),
    entry("lower", TEXT, Kind::Text, |a| of_text(a, str::to_lowercase)),
    entry("trim", TEXT, Kind::Text, |a| of_text(a, |text| text.trim().to_owned())),
    entry("substr", &[Kind::Text, Kind::Number, Kind::Small], Kind::Text, |a| match a {
        [Value::Text(_), Value::Int(start), Value::Int(length)] if *start < 0 || *length < 0 => {
            Value::text("")
        }
        [Value::Text(text), Value::Int(start), Value::Int(length)] => {
            let (start, end) = (*start as usize, start.saturating_add(*length) as usize);
            // A character belongs to the part that holds its first byte.
            let inside = text.char_indices().filter(|(at, _)| (start..end).contains(at));
            Value::Text(inside.map(|(_, c)| c).collect())
        }
        _ => Value::Null,
    }),
    entry("replace", &[Kind::Text, Kind::Text, Kind::Text], Kind::Text, |a| match a {
        [Value::Text(text), Value::Text(find), Value::Text(by)] => Value::Text(text.replace(find, by)),
        _ => Value::Null,
    }),
    entry("concat", &[Kind::Any, Kind::Any, Kind::Any], Kind::Text, |a| {
        Value::Text(a.iter().map(as_text).collect())
    }),
];

fn of_text(arguments: &[Value], function: fn(&str) -> String) -> Value {
    match arguments {
        [Value::Text(text)] => Value::Text(function(text)),
        _ => Value::Null,
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Text(text) => text.clone(),
        Value::Float(x) => x.to_string(),
        Value::Vector(elements) => {
            let elements: Vec<String> = elements.iter().map(|x| format!("{x:.4}")).collect();
            format!("[{}]", elements.join(", "))
        }
        value => value.to_string(),
    }
}
