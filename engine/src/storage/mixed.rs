//! Values as text beside their kinds, as a column of several types has them: the JSON of each. A list has the kind of each
//! element before it, as in `[2,1,5,"a",8,[2,7]]`, and reads back as the very same list.

use std::fmt::Write;

use serde_json::value::RawValue;

use crate::data::arrow_columns::write_json;
use crate::data::arrow_lists::Numbers;
use crate::data::{Kind, MAX_LIST_DEPTH, Value, ValueRef};

/// Writes a list.
pub(super) fn write_list(out: &mut String, elements: &[Value]) {
    out.push('[');
    for (i, element) in elements.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        // Writing to a `String` cannot fail.
        let _ = write!(out, "{},", element.kind() as u8);
        match element.as_ref() {
            ValueRef::List(elements) => write_list(out, elements),
            value => write_json(out, value, Numbers::InVectors),
        }
    }
    out.push(']');
}

/// The value of a text beside the number of its kind.
pub(super) fn value_of(text: &str, kind: u8) -> Option<Value> {
    let json = |text| serde_json::from_str(text).ok();
    Some(match Kind::from_number(kind)? {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(text.parse().ok()?),
        Kind::Int => Value::Int(text.parse().ok()?),
        Kind::Float => Value::Float(text.parse().ok()?),
        Kind::Timestamp => Value::Timestamp(text.parse().ok()?),
        Kind::Text => Value::text(serde_json::from_str::<String>(text).ok()?),
        Kind::Vector => {
            let elements: Vec<f64> = json(text)?;
            Value::Vector(elements.into_iter().map(|x| x as f32).collect())
        }
        Kind::VectorInt8 => Value::VectorInt8(serde_json::from_str::<Vec<i8>>(text).ok()?.into()),
        Kind::List => return list_of(text, 0),
    })
}

fn list_of(text: &str, depth: usize) -> Option<Value> {
    if depth > MAX_LIST_DEPTH {
        return None;
    }
    let parts: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let (pairs, rest) = parts.as_chunks::<2>();
    let element = |[kind, value]: &[&RawValue; 2]| match kind.get().parse().ok()? {
        kind if kind == Kind::List as u8 => list_of(value.get(), depth + 1),
        kind => value_of(value.get(), kind),
    };
    let elements = pairs.iter().map(element).collect::<Option<_>>()?;
    rest.is_empty().then_some(Value::List(elements))
}
