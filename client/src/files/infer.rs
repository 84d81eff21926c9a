//! The types of columns, from values seen in them.

use super::arrays::{elements, fit_vector};
use super::cells::{self, guessed_any};
use super::column_type::ColumnType;
use serde_json::Value as Json;
use stratalog_engine::data::time;

/// What a column has shown so far; nothing, or only null, at first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    found: Option<ColumnType>,
    /// There was an integer that no float holds.
    large: bool,
}

impl Seen {
    /// A field of a text file. Where values differ in kind, all are text. What is `marked` stood in quotes for being text; but
    /// vectors have commas, and stand in quotes for these.
    pub(super) fn text(&mut self, field: &str, marked: bool) {
        let found = match guessed_any(field) {
            json if marked && elements(&json).is_none() => ColumnType::Text,
            Json::String(_) if is_time(field) => ColumnType::Timestamp,
            json => {
                self.large |= is_large(&json);
                of_json(&json)
            }
        };
        self.join(found, ColumnType::Text);
    }

    /// A JSON value; null says nothing.
    pub(super) fn json(&mut self, json: &Json) {
        if json.is_null() {
            return;
        }
        self.large |= is_large(json);
        self.found(match json.as_str().is_some_and(is_written_time) {
            true => ColumnType::Timestamp,
            false => of_json(json),
        });
    }

    /// A value of this type. Where values differ in kind, the column holds anything; but times among other text are text.
    pub(super) fn found(&mut self, found: ColumnType) {
        use ColumnType as T;
        let is_text = |seen: ColumnType| matches!(seen, T::Text | T::Timestamp);
        let all_text = is_text(found) && self.found.is_none_or(is_text);
        self.join(found, if all_text { T::Text } else { T::Any });
    }

    /// Integers and floats are floats, as far as that loses nothing; vectors of several lengths are of any, and with numbers
    /// that no vector holds all are lists; other kinds have only the widest type together.
    fn join(&mut self, found: ColumnType, widest: ColumnType) {
        self.found = Some(match (self.found, found) {
            (None, found) => found,
            (Some(before), found) if before == found => found,
            (Some(ColumnType::Int), ColumnType::Float) | (Some(ColumnType::Float), ColumnType::Int) => {
                ColumnType::Float
            }
            (Some(ColumnType::Vector(_)), ColumnType::Vector(_)) => ColumnType::Vector(None),
            (Some(ColumnType::Vector(_)), ColumnType::List)
            | (Some(ColumnType::List), ColumnType::Vector(_)) => ColumnType::List,
            _ => widest,
        });
        if self.found == Some(ColumnType::Float) && self.large {
            self.found = Some(widest);
        }
    }

    /// The type; anything where nothing was seen.
    pub(super) fn column_type(self) -> ColumnType {
        self.found.unwrap_or(ColumnType::Any)
    }
}

fn is_large(json: &Json) -> bool {
    json.as_number().is_some_and(cells::is_inexact)
}

fn of_json(json: &Json) -> ColumnType {
    if let Some((elements, mark)) = elements(json) {
        return match mark {
            _ if !elements.iter().all(Json::is_number) => ColumnType::Any,
            Some(false) => ColumnType::List,
            _ if !fit_vector(elements) => ColumnType::List,
            _ => ColumnType::Vector(u32::try_from(elements.len()).ok().filter(|length| *length > 0)),
        };
    }
    match json {
        Json::Bool(_) => ColumnType::Bool,
        Json::Number(number) if number.is_f64() => ColumnType::Float,
        Json::Number(_) => ColumnType::Int,
        Json::String(_) => ColumnType::Text,
        Json::Null | Json::Array(_) | Json::Object(_) => ColumnType::Any,
    }
}

/// Whether text is a time for who guesses.
pub(super) fn is_time(text: &str) -> bool {
    time::read_whole(text).is_some()
}

/// Whether text is a time exactly as one is written here. In JSON, other text that could be one stays text.
fn is_written_time(text: &str) -> bool {
    text.ends_with('Z') && time::read(text).ok().and_then(time::write).as_deref() == Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(fields: &[&str]) -> ColumnType {
        let mut seen = Seen::default();
        fields.iter().for_each(|field| seen.text(field, false));
        seen.column_type()
    }

    #[test]
    fn text_columns_have_one_type() {
        assert_eq!(of(&["1", "2"]), ColumnType::Int);
        assert_eq!(of(&["1", "2.5"]), ColumnType::Float);
        assert_eq!(of(&["9007199254740993", "2"]), ColumnType::Int);
        assert_eq!(of(&["9007199254740992", "2.5"]), ColumnType::Float);
        assert_eq!(of(&["9007199254740993", "2.5"]), ColumnType::Text);
        assert_eq!(of(&["2.5", "9007199254740993"]), ColumnType::Text);
        assert_eq!(of(&["2025-11-21T10:00:00.123456Z"]), ColumnType::Timestamp);
        assert_eq!(of(&["1", "x", "2"]), ColumnType::Text);
        assert_eq!(of(&["00501", "10001"]), ColumnType::Text);
        assert_eq!(of(&["2025-11-21", "2025-11-21T10:00:00Z"]), ColumnType::Timestamp);
        assert_eq!(of(&["2025-11-21", "none"]), ColumnType::Text);
        assert_eq!(of(&["true", "FALSE"]), ColumnType::Bool);
        assert_eq!(of(&["[1, 2]", "[0.5 1.0]"]), ColumnType::Vector(Some(2)));
        assert_eq!(of(&["[1, 2]", "[0.5]"]), ColumnType::Vector(None));
        assert_eq!(of(&["[]"]), ColumnType::Vector(None));
        assert_eq!(of(&["[1, 2]", "[16777217, 2]"]), ColumnType::List);
        assert_eq!(of(&["[16777217]", "[0.5]"]), ColumnType::List);
        assert_eq!(of(&[]), ColumnType::Any);
    }

    #[test]
    fn json_columns_may_hold_anything() {
        let mut seen = Seen::default();
        for (json, expected) in [
            (json!(null), ColumnType::Any),
            (json!(1), ColumnType::Int),
            (json!(1.5), ColumnType::Float),
            (json!("x"), ColumnType::Any),
            (json!(2), ColumnType::Any),
        ] {
            seen.json(&json);
            assert_eq!(seen.column_type(), expected, "{json}");
        }
    }
}
