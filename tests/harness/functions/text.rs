//! Functions of strings. Offsets count bytes, and move on to where a character ends.

use regex::Regex;

use super::lists::{elements, is_same, len};
use super::{Function, Kind, entry};
use crate::value::Value;

const TEXT: &[Kind] = &[Kind::Text];

pub(super) const FUNCTIONS: &[Function] = &[
    entry("len", TEXT, Kind::Number, len),
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
    entry("regex_match", &[Kind::Text, Kind::Text], Kind::Bool, |a| match a {
        [Value::Text(text), Value::Text(pattern)] => {
            Regex::new(pattern).map_or(Value::Null, |regex| Value::Bool(regex.find(text).is_some()))
        }
        _ => Value::Null,
    }),
    entry("regex_replace", &[Kind::Text, Kind::Text, Kind::Text], Kind::Text, |a| match a {
        [Value::Text(text), Value::Text(pattern), Value::Text(by)] => Regex::new(pattern)
            .map_or(Value::Null, |regex| Value::Text(regex.replace_all(text, by.as_str()).into_owned())),
        _ => Value::Null,
    }),
    entry("regex_extract", &[Kind::Text, Kind::Text, Kind::Small], Kind::Text, |a| match a {
        [Value::Text(text), Value::Text(pattern), Value::Int(group)] => Regex::new(pattern)
            .ok()
            .and_then(|regex| Some(regex.captures(text)?.get(*group as usize)?.as_str().to_owned()))
            .map_or(Value::Null, Value::Text),
        _ => Value::Null,
    }),
    entry("split_part", &[Kind::Text, Kind::Text, Kind::Small], Kind::Text, |a| match a {
        [Value::Text(_), Value::Text(separator), _] if separator.is_empty() => Value::Null,
        [Value::Text(text), Value::Text(separator), Value::Int(number)] => {
            let parts: Vec<&str> = text.split(separator.as_str()).collect();
            let part = parts.iter().enumerate().find(|(at, _)| *at as i64 + 1 == *number);
            part.map_or(Value::Null, |(_, part)| Value::text(part))
        }
        _ => Value::Null,
    }),
    entry("contains", &[Kind::Text, Kind::Text], Kind::Bool, |a| {
        of_two(a, |text, part| (0..=text.len()).any(|at| text[at..].starts_with(part)))
    }),
    entry("starts_with", &[Kind::Text, Kind::Text], Kind::Bool, |a| {
        of_two(a, |text, part| text.starts_with(part))
    }),
    entry("ends_with", &[Kind::Text, Kind::Text], Kind::Bool, |a| {
        of_two(a, |text, part| text.ends_with(part))
    }),
    entry("index_of", &[Kind::Text, Kind::Text], Kind::Number, |a| match a {
        [Value::Text(text), Value::Text(part)] => {
            let (text, part) = (text.as_bytes(), part.as_bytes());
            let found = (0..=text.len()).find(|at| text[*at..].starts_with(part));
            Value::Int(found.map_or(-1, |at| at as i64))
        }
        [whole, part] => elements(whole).map_or(Value::Null, |elements| {
            let found = elements.iter().position(|element| is_same(element, part));
            Value::Int(found.map_or(-1, |at| at as i64))
        }),
        _ => Value::Null,
    }),
    entry("pad_left", &[Kind::Text, Kind::Small, Kind::Text], Kind::Text, |a| match padding(a) {
        Some((text, padding)) => Value::Text(format!("{padding}{text}")),
        None => Value::Null,
    }),
    entry("pad_right", &[Kind::Text, Kind::Small, Kind::Text], Kind::Text, |a| match padding(a) {
        Some((text, padding)) => Value::Text(format!("{text}{padding}")),
        None => Value::Null,
    }),
    entry("to_string", &[Kind::Any], Kind::Text, |a| match a {
        [Value::Null] => Value::Null,
        [value] => Value::Text(as_text(value)),
        _ => Value::Null,
    }),
    entry("concat", &[Kind::Any, Kind::Any, Kind::Any], Kind::Text, |a| {
        Value::Text(a.iter().map(as_text).collect())
    }),
];

fn of_two(arguments: &[Value], holds: fn(&[u8], &[u8]) -> bool) -> Value {
    match arguments {
        [Value::Text(text), Value::Text(part)] => Value::Bool(holds(text.as_bytes(), part.as_bytes())),
        _ => Value::Null,
    }
}

/// A text, and what it is filled up with.
fn padding(arguments: &[Value]) -> Option<(&str, String)> {
    let [Value::Text(text), Value::Int(length), Value::Text(filling)] = arguments else { return None };
    let mut padding = String::new();
    while !filling.is_empty() && ((text.chars().count() + padding.chars().count()) as i64) < *length {
        padding.extend(filling.chars().nth(padding.chars().count() % filling.chars().count()));
    }
    Some((text, padding))
}

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
