//! Lists as text, with the kind of each element before it: `[2,1,5,"a",8,[2,7]]`. It reads back as the very same list.

use std::fmt::Write;

use serde_json::value::RawValue;

use super::columns::mixed_value;
use crate::data::arrow_columns::write_json;
use crate::data::arrow_lists::Numbers;
use crate::data::{Kind, MAX_LIST_DEPTH, Value, ValueRef};

pub(super) fn write(out: &mut String, elements: &[Value]) {
    out.push('[');
    for (i, element) in elements.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        // Writing to a `String` cannot fail.
        let _ = write!(out, "{},", element.kind() as u8);
        match element.as_ref() {
            ValueRef::List(elements) => write(out, elements),
            value => write_json(out, value, Numbers::InVectors),
        }
    }
    out.push(']');
}

pub(super) fn read(text: &str, depth: usize) -> Option<Value> {
    if depth > MAX_LIST_DEPTH {
        return None;
    }
    let parts: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let (pairs, rest) = parts.as_chunks::<2>();
    let element = |[kind, value]: &[&RawValue; 2]| match kind.get().parse().ok()? {
        kind if kind == Kind::List as u8 => read(value.get(), depth + 1),
        kind => mixed_value(value.get(), kind),
    };
    let elements = pairs.iter().map(element).collect::<Option<_>>()?;
    rest.is_empty().then_some(Value::List(elements))
}
