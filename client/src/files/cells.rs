//! One cell of a file as a value of its column's type, or why it is none.

use super::arrays::{self, Numbers};
use super::column_type::ColumnType;
use super::epoch::{self, NumberOfTime, Reading};
use super::error::shortened;
use serde_json::Value as Json;
use std::borrow::Cow;
use stratalog_engine::data::time;
use stratalog_protocol::Value;

/// A value on its way into a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    Int(i64),
    Float(f64),
    Bool(bool),
    Time(i64),
    /// A time that has lost its digits after the millisecond, and what it was.
    CutTime(i64, String),
    Text(Cow<'a, str>),
    Vector(Vec<f32>),
    Bytes(Vec<i8>),
    /// Of a column of any type: the JSON of the value.
    Json(String),
}

/// Reads text, which is not null.
pub(super) fn of_text<'a>(
    text: Cow<'a, str>,
    column_type: ColumnType,
    reading: Reading,
) -> Result<Cell<'a>, String> {
    let trimmed = text.trim();
    let unlike = || Err(format!("`{}` is no {column_type}", shortened(&text)));
    Ok(match column_type {
        ColumnType::Text => Cell::Text(text),
        ColumnType::Int => match trimmed.parse() {
            Ok(number) => Cell::Int(number),
            Err(_) => return unlike(),
        },
        ColumnType::Float => match trimmed.parse::<f64>() {
            Ok(number) if number.is_finite() && is_rounded(trimmed, number) => {
                return Err(rounded(trimmed));
            }
            Ok(number) if !number.is_infinite() => Cell::Float(number),
            _ => return unlike(),
        },
        ColumnType::Bool => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "t" | "1" => Cell::Bool(true),
            "false" | "f" | "0" => Cell::Bool(false),
            _ => return unlike(),
        },
        ColumnType::Timestamp => match (time_of(trimmed, reading)?, trimmed.parse()) {
            (Some(time), _) => time,
            (None, Ok(number)) => time_of_number(number, reading)?,
            (None, Err(_)) => return unlike(),
        },
        ColumnType::Vector(_) | ColumnType::VectorInt8(_) => match guessed_any(trimmed) {
            vector if arrays::elements(&vector).is_some() => {
                return of_json(&vector, column_type, reading).map(owned);
            }
            _ => return unlike(),
        },
        ColumnType::List => match arrays::of_text(trimmed) {
            Some(list) => return of_json(&list, column_type, reading).map(owned),
            None => return unlike(),
        },
        ColumnType::Any => return of_json(&any_of(&text), column_type, reading).map(owned),
    })
}

/// Reads a JSON value.
pub(super) fn of_json(json: &Json, column_type: ColumnType, reading: Reading) -> Result<Cell<'_>, String> {
    let unlike = || Err(format!("`{}` is no {column_type}", shortened(&json.to_string())));
    Ok(match (column_type, json) {
        (_, Json::Null) => Cell::Null,
        (ColumnType::Any | ColumnType::List, json) if has_object(json) => {
            return Err(match json {
                Json::Object(_) => "an object is no value".to_owned(),
                _ => "an object is no value, nor is a list with one".to_owned(),
            });
        }
        (ColumnType::Any, Json::Number(number)) if number.is_u64() && number.as_i64().is_none() => {
            return Err(format!("`{number}` is beyond 64 bits with sign"));
        }
        (ColumnType::Any, json) if arrays::elements(json).is_none() => Cell::Json(json.to_string()),
        (ColumnType::Any, json) => {
            let value = arrays::value(json, Numbers::InVectors)?;
            Cell::Json(arrays::json(&value, Numbers::InVectors))
        }
        (ColumnType::List, json) if let Some((elements, _)) = arrays::elements(json) => {
            let elements: Result<_, String> =
                elements.iter().map(|element| arrays::value(element, Numbers::AsTheyAre)).collect();
            Cell::Json(arrays::json(&Value::List(elements?), Numbers::AsTheyAre))
        }
        (ColumnType::Text, Json::String(text)) => Cell::Text(Cow::Borrowed(text)),
        (ColumnType::Bool, Json::Bool(value)) => Cell::Bool(*value),
        (ColumnType::Int, Json::Number(number)) => match number.as_i64() {
            Some(number) => Cell::Int(number),
            None => return unlike(),
        },
        (ColumnType::Float, Json::Number(number)) => match number.as_f64() {
            Some(_) if is_inexact(number) => return Err(rounded(&number.to_string())),
            Some(number) => Cell::Float(number),
            None => return unlike(),
        },
        (ColumnType::Timestamp, Json::Number(number)) => match number.as_i64() {
            Some(number) => time_of_number(number, reading)?,
            None => return unlike(),
        },
        (ColumnType::Timestamp, Json::String(text)) => match time_of(text, reading)? {
            Some(time) => time,
            None => return unlike(),
        },
        (ColumnType::Vector(_), json)
            if let Some((elements, _)) = arrays::elements(json)
                && elements.iter().all(Json::is_number)
                && !arrays::fit_vector(elements) =>
        {
            let array = Json::from(elements).to_string();
            return Err(format!(
                "`{}` has a number that is beyond 32-bit floats, or would be rounded to one",
                shortened(&array)
            ));
        }
        (ColumnType::Vector(length), json) if let Some((elements, _)) = arrays::elements(json) => {
            let numbers: Option<Vec<f32>> =
                elements.iter().map(|element| Some(element.as_f64()? as f32)).collect();
            match numbers {
                Some(numbers) if fits(length, numbers.len()) => Cell::Vector(numbers),
                _ => return unlike(),
            }
        }
        (ColumnType::VectorInt8(length), json) if let Some((elements, _)) = arrays::elements(json) => {
            let numbers: Option<Vec<i8>> = elements.iter().map(byte).collect();
            match numbers {
                Some(numbers) if fits(length, numbers.len()) => Cell::Bytes(numbers),
                _ => return unlike(),
            }
        }
        _ => return unlike(),
    })
}

/// Whether a number is an integer, and no float is equal to it.
pub(super) fn is_inexact(number: &serde_json::Number) -> bool {
    number.as_i128().is_some_and(|whole| (whole as f64) as i128 != whole)
}

/// Whether text is an integer, and this float, which it was read as, is another one. Fractions are what is nearest to them.
pub(super) fn is_rounded(text: &str, float: f64) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let digits = digits.trim_start_matches('0');
    // Up to fifteen digits are always exact.
    is_integer && digits.len() > 15 && format!("{:.0}", float.abs()) != digits
}

fn rounded(text: &str) -> String {
    format!("`{}` would be rounded to a float", shortened(text))
}

/// Text that is a time.
fn time_of(text: &str, reading: Reading) -> Result<Option<Cell<'static>>, String> {
    match time::read_whole(text) {
        Some(whole) if time::is_finer(text) => cut(whole, text, reading).map(Some),
        whole => Ok(whole.map(Cell::Time)),
    }
}

fn time_of_number(number: i64, reading: Reading) -> Result<Cell<'static>, String> {
    match epoch::milliseconds(number, reading.epoch)? {
        NumberOfTime { milliseconds, is_cut: true } => cut(milliseconds, &number.to_string(), reading),
        NumberOfTime { milliseconds, is_cut: false } => Ok(Cell::Time(milliseconds)),
    }
}

fn cut(whole: i64, text: &str, reading: Reading) -> Result<Cell<'static>, String> {
    if reading.exact {
        return Err(format!(
            "`{}` is finer than milliseconds, which is what times are kept in",
            shortened(text)
        ));
    }
    Ok(Cell::CutTime(whole, shortened(text)))
}

/// Whether there is an object in it.
pub(super) fn has_object(json: &Json) -> bool {
    match arrays::elements(json) {
        Some((elements, _)) => elements.iter().any(has_object),
        None => json.is_object(),
    }
}

/// The element of a vector of bytes; `1.0` is one, as it is written.
fn byte(element: &Json) -> Option<i8> {
    let number = element.as_f64()?;
    (number.fract() == 0.0 && (-128.0..=127.0).contains(&number)).then_some(number as i8)
}

/// What text is, where there may be vectors: one of those also where spaces alone stand between its numbers, `[1.0 2.0]`.
pub(super) fn guessed_any(text: &str) -> Json {
    let numbers = |json: &Json| {
        text.starts_with('[')
            && arrays::elements(json).is_some_and(|(elements, _)| elements.iter().all(Json::is_number))
    };
    arrays::of_text(text).filter(numbers).unwrap_or_else(|| guessed(text))
}

/// What text is in a column of any type, where there may also be lists.
pub(super) fn any_of(text: &str) -> Json {
    arrays::of_text(text).unwrap_or_else(|| guessed(text))
}

/// What text is likely to be. A number that would lose something, such as the zeros of a postal code, stays text.
pub(super) fn guessed(text: &str) -> Json {
    let plain = text.strip_prefix('-').unwrap_or(text);
    let leading_zero = plain.len() > 1 && plain.starts_with('0') && !plain.starts_with("0.");
    let is_number = plain.starts_with(|c: char| c.is_ascii_digit() || c == '.') && !leading_zero;
    if is_number {
        if let Ok(number) = text.parse::<i64>() {
            return number.into();
        }
        // An integer beyond 64 bits would be rounded.
        if text.contains(['.', 'e', 'E'])
            && let Some(number) = text.parse().ok().and_then(serde_json::Number::from_f64)
        {
            return number.into();
        }
    }
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return text.eq_ignore_ascii_case("true").into();
    }
    if text.starts_with('[')
        && let Ok(Json::Array(elements)) = serde_json::from_str(text)
        && elements.iter().all(Json::is_number)
    {
        return elements.into();
    }
    text.into()
}

fn fits(length: Option<u32>, found: usize) -> bool {
    length.is_none_or(|length| length as usize == found)
}

pub(super) fn owned(cell: Cell<'_>) -> Cell<'static> {
    match cell {
        Cell::Null => Cell::Null,
        Cell::Int(number) => Cell::Int(number),
        Cell::Float(number) => Cell::Float(number),
        Cell::Bool(value) => Cell::Bool(value),
        Cell::Time(time) => Cell::Time(time),
        Cell::CutTime(time, text) => Cell::CutTime(time, text),
        Cell::Text(text) => Cell::Text(Cow::Owned(text.into_owned())),
        Cell::Vector(elements) => Cell::Vector(elements),
        Cell::Bytes(elements) => Cell::Bytes(elements),
        Cell::Json(json) => Cell::Json(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_becomes_what_the_column_holds() {
        use ColumnType as T;
        let read = |text: &'static str, column_type| of_text(text.into(), column_type, Reading::default());
        assert_eq!(read(" 12 ", T::Int), Ok(Cell::Int(12)));
        assert_eq!(read("1", T::Float), Ok(Cell::Float(1.0)));
        assert!(matches!(read("NaN", T::Float), Ok(Cell::Float(number)) if number.is_nan()));
        assert_eq!(read("9007199254740992", T::Float), Ok(Cell::Float(9_007_199_254_740_992.0)));
        assert_eq!(read("100000000000000000000", T::Float), Ok(Cell::Float(1e20)));
        assert_eq!(read("TRUE", T::Bool), Ok(Cell::Bool(true)));
        assert_eq!(read(" a ", T::Text), Ok(Cell::Text(" a ".into())));
        assert_eq!(read("1970-01-02", T::Timestamp), Ok(Cell::Time(86_400_000)));
        assert_eq!(read("[1, 2.5]", T::Vector(Some(2))), Ok(Cell::Vector(vec![1.0, 2.5])));
        assert_eq!(read("[1, 2.0]", T::VectorInt8(None)), Ok(Cell::Bytes(vec![1, 2])));
        assert_eq!(read("[1.0 2.5]", T::Any), Ok(Cell::Json("[1.0,2.5]".into())));
        assert_eq!(read("[1.0, 2.5]", T::Any), Ok(Cell::Json("[1.0,2.5]".into())));
        assert_eq!(read("[]", T::Any), Ok(Cell::Json("[]".into())));
        assert_eq!(read("[1e300]", T::Any), Ok(Cell::Json("[\t1e+300]".into())));
        assert_eq!(read("[16777217 1]", T::Any), Ok(Cell::Json("[\t16777217,1]".into())));
        assert_eq!(read("list(1 list(\"a\"))", T::Any), Ok(Cell::Json("[1,[\"a\"]]".into())));
        assert_eq!(read("[1, 16777217]", T::List), Ok(Cell::Json("[1,16777217]".into())));
        assert_eq!(read("[a b]", T::Any), Ok(Cell::Json("\"[a b]\"".into())));
        assert_eq!(read("007", T::Any), Ok(Cell::Json("\"007\"".into())));
        assert_eq!(read("7", T::Any), Ok(Cell::Json("7".into())));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        use ColumnType as T;
        for (text, column_type) in [
            ("x", T::Int),
            ("1.5", T::Int),
            ("9223372036854775808", T::Int),
            ("inf", T::Float),
            ("yes", T::Bool),
            ("soon", T::Timestamp),
            ("[1, 2]", T::Vector(Some(3))),
            ("[300]", T::VectorInt8(None)),
            ("[\"a\"]", T::Vector(None)),
        ] {
            let problem = of_text(text.into(), column_type, Reading::default()).unwrap_err();
            assert!(problem.contains(&column_type.to_string()), "{problem}");
        }
        for (text, column_type, part) in [
            ("9007199254740993", T::Float, "rounded"),
            ("-123456789012345678901", T::Float, "rounded"),
            ("2025-11-21T10:00:00.123456Z", T::Timestamp, "finer than milliseconds"),
            ("[1e300]", T::Vector(None), "beyond 32-bit floats"),
            ("[16777217]", T::Vector(None), "would be rounded"),
        ] {
            let exact = Reading { exact: true, ..Reading::default() };
            let problem = of_text(text.into(), column_type, exact).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        }
        for large in [json!(9_007_199_254_740_993_i64), json!(9_223_372_036_854_775_809_u64), json!(u64::MAX)]
        {
            assert!(
                of_json(&large, T::Float, Reading::default()).unwrap_err().contains("rounded"),
                "{large}"
            );
        }
        assert_eq!(
            of_json(&json!(9_223_372_036_854_775_808_u64), T::Float, Reading::default()),
            Ok(Cell::Float(9_223_372_036_854_775_808.0))
        );
        assert!(of_json(&json!([1.5]), T::VectorInt8(None), Reading::default()).is_err());
        assert!(of_json(&json!({"a": 1}), T::Any, Reading::default()).is_err());
        assert!(of_json(&json!(1.5), T::Int, Reading::default()).is_err());
        assert!(of_json(&json!(1), T::Text, Reading::default()).is_err());
    }

    #[test]
    fn a_guess_loses_nothing() {
        for (text, value) in [
            ("12", json!(12)),
            ("-0.5", json!(-0.5)),
            ("1e3", json!(1000.0)),
            ("007", json!("007")),
            ("+48", json!("+48")),
            ("9223372036854775808", json!("9223372036854775808")),
            ("True", json!(true)),
            ("[1]", json!([1])),
            ("[a]", json!("[a]")),
            ("nan", json!("nan")),
            ("0", json!(0)),
        ] {
            assert_eq!(guessed(text), value, "{text}");
        }
    }
}
