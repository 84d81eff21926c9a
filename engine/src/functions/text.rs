//! Functions of strings. Lengths and offsets count the bytes of UTF-8; no result is ever cut inside a character.

use std::fmt::Write;

use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use super::lists::{elements, place};
use crate::data::{Value, ValueRef};

type Results = Result<Column, FunctionError>;

pub(super) fn len(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    arguments.ints(|row| {
        let length = match arguments.at(0, row) {
            ValueRef::Text(text) => text.len(),
            other => elements(other)?.len(),
        };
        i64::try_from(length).ok()
    })
}

pub(super) fn upper(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    map(arguments, circumstances, str::to_uppercase)
}

pub(super) fn lower(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    map(arguments, circumstances, str::to_lowercase)
}

pub(super) fn trim(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    map(arguments, circumstances, |text| text.trim().to_owned())
}

fn map(
    arguments: &Arguments<'_>,
    circumstances: &Circumstances<'_>,
    function: impl Fn(&str) -> String,
) -> Results {
    arguments.try_each(|row| match arguments.at(0, row) {
        ValueRef::Text(text) => circumstances.text(function(text)),
        _ => Ok(Value::Null),
    })
}

pub(super) fn substr(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row), arguments.at(2, row)) {
        (ValueRef::Text(text), ValueRef::Int(start), ValueRef::Int(length)) => {
            circumstances.text(part(text, start, length).to_owned())
        }
        _ => Ok(Value::Null),
    })
}

/// The part from one byte to another, both moved on to the next boundary between characters.
fn part(text: &str, start: i64, length: i64) -> &str {
    let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(length)) else { return "" };
    let boundary = |at: usize| (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(boundary(start)..boundary(start.saturating_add(length))).unwrap_or("")
}

pub(super) fn replace(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row), arguments.at(2, row)) {
        (ValueRef::Text(text), ValueRef::Text(find), ValueRef::Text(replacement)) => {
            let found = text.matches(find).count();
            let kept = text.len() - found * find.len();
            circumstances.check_length(found.saturating_mul(replacement.len()).saturating_add(kept))?;
            circumstances.text(text.replace(find, replacement))
        }
        _ => Ok(Value::Null),
    })
}

pub(super) fn contains(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row)) {
        (ValueRef::Text(text), ValueRef::Text(part)) => {
            circumstances.work(text.len())?;
            Ok(Value::Bool(text.contains(part)))
        }
        (whole, part) => {
            Ok(elements(whole).map_or(Value::Null, |all| Value::Bool(place(&all, part).is_some())))
        }
    })
}

pub(super) fn starts_with(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    compare(arguments, circumstances, |text, part| text.starts_with(part))
}

pub(super) fn ends_with(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    compare(arguments, circumstances, |text, part| text.ends_with(part))
}

fn compare(
    arguments: &Arguments<'_>,
    circumstances: &Circumstances<'_>,
    holds: impl Fn(&str, &str) -> bool,
) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row)) {
        (ValueRef::Text(text), ValueRef::Text(part)) => {
            circumstances.work(text.len())?;
            Ok(Value::Bool(holds(text, part)))
        }
        _ => Ok(Value::Null),
    })
}

pub(super) fn index_of(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row)) {
        (ValueRef::Text(text), ValueRef::Text(part)) => {
            circumstances.work(text.len())?;
            let found = text.find(part).and_then(|at| i64::try_from(at).ok());
            Ok(Value::Int(found.unwrap_or(-1)))
        }
        (whole, part) => Ok(elements(whole).map_or(Value::Null, |all| {
            Value::Int(place(&all, part).and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
        })),
    })
}

pub(super) fn pad_left(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    pad(arguments, circumstances, |text, filling| filling + text)
}

pub(super) fn pad_right(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    pad(arguments, circumstances, |text, filling| text.to_owned() + &filling)
}

/// Fills a text up to so many characters.
fn pad(
    arguments: &Arguments<'_>,
    circumstances: &Circumstances<'_>,
    join: impl Fn(&str, String) -> String,
) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row), arguments.at(2, row)) {
        (ValueRef::Text(text), ValueRef::Int(length), ValueRef::Text(filling)) => {
            let missing = usize::try_from(length).unwrap_or(0).saturating_sub(text.chars().count());
            let missing = if filling.is_empty() { 0 } else { missing };
            // A character has a byte at least.
            circumstances.check_length(text.len().saturating_add(missing))?;
            circumstances.text(join(text, filling.chars().cycle().take(missing).collect()))
        }
        _ => Ok(Value::Null),
    })
}

pub(super) fn concat(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| {
        let mut text = String::new();
        for column in 0..arguments.count() {
            append(&mut text, arguments.at(column, row), circumstances)?;
        }
        circumstances.text(text)
    })
}

pub(super) fn join(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| {
        let (Some(elements), ValueRef::Text(separator)) =
            (elements(arguments.at(0, row)), arguments.at(1, row))
        else {
            return Ok(Value::Null);
        };
        let mut text = String::new();
        for (i, element) in elements.iter().enumerate() {
            if i > 0 {
                text.push_str(separator);
            }
            append(&mut text, element.as_ref(), circumstances)?;
        }
        circumstances.text(text)
    })
}

pub(super) fn to_string(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match arguments.at(0, row) {
        ValueRef::Null => Ok(Value::Null),
        value => {
            let mut text = String::new();
            append(&mut text, value, circumstances)?;
            circumstances.text(text)
        }
    })
}

/// A value as text. Writing to a `String` cannot fail.
pub(super) fn append(
    text: &mut String,
    value: ValueRef<'_>,
    circumstances: &Circumstances<'_>,
) -> Result<(), FunctionError> {
    let fits = |length| circumstances.check_length(length);
    match value {
        ValueRef::Null => text.push_str("NULL"),
        ValueRef::Bool(b) => _ = write!(text, "{b}"),
        ValueRef::Int(n) | ValueRef::Timestamp(n) => _ = write!(text, "{n}"),
        ValueRef::Float(x) => _ = write!(text, "{x}"),
        ValueRef::Text(more) => {
            fits(text.len() + more.len())?;
            text.push_str(more);
        }
        ValueRef::Vector(elements) => list(text, elements, |text, x| _ = write!(text, "{x:.4}"), fits)?,
        ValueRef::VectorInt8(elements) => list(text, elements, |text, x| _ = write!(text, "{x}"), fits)?,
        ValueRef::List(_) => {
            let written = value.to_string();
            fits(text.len() + written.len())?;
            text.push_str(&written);
        }
    }
    fits(text.len())
}

fn list<T: Copy>(
    text: &mut String,
    elements: &[T],
    write: impl Fn(&mut String, T),
    fits: impl Fn(usize) -> Result<(), FunctionError>,
) -> Result<(), FunctionError> {
    text.push('[');
    for (i, element) in elements.iter().enumerate() {
        if i > 0 {
            text.push_str(", ");
        }
        write(text, *element);
        fits(text.len())?;
    }
    text.push(']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_never_cut_a_character_and_neighbours_share_none() {
        assert_eq!(part("hello", 1, 3), "ell");
        assert_eq!(part("hello", 3, 100), "lo");
        assert_eq!(part("hello", 9, 1), "");
        assert_eq!(part("hello", -1, 3), "");
        assert_eq!(part("hello", 1, -3), "");
        assert_eq!(part("hello", i64::MAX, i64::MAX), "");
        assert_eq!((part("aéb", 0, 2), part("aéb", 2, 2)), ("aé", "b"));
        assert_eq!(part("é", 1, 1), "");
    }
}
