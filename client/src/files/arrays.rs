//! Lists and vectors as JSON, which has arrays for both, and as text of CSV and TSV.
//!
//! An array of nothing but numbers is a vector in a column of any type, and a list in a column of lists. One that is the
//! other of the two has a tab at its brackets: a list begins with one, `[\t1,2]`, a vector ends with one, `[1.0,2.0\t]`. To
//! other programs both are arrays. In CSV and TSV, where a column holds anything, a list is `list("a" 1)`, as in the
//! language, but with blanks in place of commas.

use super::error::shortened;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use stratalog_protocol::Value;

/// What an array of nothing but numbers is, if no mark tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// A vector, if one can hold them.
    InVectors,
    /// A vector, if all of them are floats: so answers have them.
    FloatsInVectors,
    /// A list.
    AsTheyAre,
}

/// An array with a mark is read as an object with one of these keys.
const LIST: &str = "\u{1}list";
const VECTOR: &str = "\u{1}vector";

/// The JSON of a value, with the marks of its arrays.
pub(super) fn parse(text: &str) -> serde_json::Result<Json> {
    let plain = serde_json::from_str(text)?; // nothing is too deep for what follows
    if text.contains("[\t") || text.contains("\t]") { marked(text) } else { Ok(plain) }
}

fn marked(text: &str) -> serde_json::Result<Json> {
    if !text.starts_with('[') {
        return serde_json::from_str(text);
    }
    let parts: Vec<&RawValue> = serde_json::from_str(text)?;
    let elements = parts.iter().map(|part| marked(part.get())).collect::<Result<Vec<Json>, _>>()?;
    let key = match (text.starts_with("[\t"), text.ends_with("\t]")) {
        (true, false) => LIST,
        (true, true) if elements.is_empty() => LIST,
        (false, true) => VECTOR,
        _ => return Ok(elements.into()),
    };
    Ok(Json::Object([(key.to_owned(), elements.into())].into_iter().collect()))
}

/// The elements of an array, and whether a mark says that it is a vector, or a list.
pub(super) fn elements(json: &Json) -> Option<(&[Json], Option<bool>)> {
    match json {
        Json::Array(elements) => Some((elements, None)),
        Json::Object(object) if object.len() == 1 => {
            let marked = |key, is_vector| Some((object.get(key)?.as_array()?.as_slice(), Some(is_vector)));
            marked(LIST, false).or_else(|| marked(VECTOR, true))
        }
        _ => None,
    }
}

/// Whether a vector can hold these: they are numbers, and no integer among them would be another one.
pub(super) fn fit_vector(elements: &[Json]) -> bool {
    elements.iter().all(|element| match element {
        Json::Number(number) => match number.as_i128() {
            Some(whole) => (whole as f32) as i128 == whole,
            None => number.as_f64().is_some_and(|number| (number as f32).is_finite()),
        },
        _ => false,
    })
}

/// The value that JSON stands for, or why it stands for none.
pub(super) fn value(json: &Json, numbers: Numbers) -> Result<Value, String> {
    if let Some((elements, mark)) = elements(json) {
        let is_vector = match (mark, numbers) {
            (Some(is_vector), _) => is_vector,
            (None, Numbers::InVectors) => true,
            (None, Numbers::FloatsInVectors) => elements.iter().all(Json::is_f64),
            (None, Numbers::AsTheyAre) => false,
        };
        if is_vector && fit_vector(elements) {
            return Ok(Value::Vector(elements.iter().filter_map(Json::as_f64).collect()));
        }
        let elements: Result<_, _> = elements.iter().map(|element| value(element, numbers)).collect();
        return Ok(Value::List(elements?));
    }
    match json {
        Json::Null => Ok(Value::Null),
        Json::Bool(value) => Ok(Value::Bool(*value)),
        Json::String(text) => Ok(Value::Text(text.clone())),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Ok(Value::Int(number)),
            (None, Some(float)) if number.is_f64() => Ok(Value::Float(float)),
            _ => Err(format!("`{number}` is beyond 64 bits with sign")),
        },
        Json::Array(_) | Json::Object(_) => Err(format!("`{}` is no value", shortened(&json.to_string()))),
    }
}

/// The JSON of a value in a column whose arrays are read so.
pub(super) fn json(value: &Value, numbers: Numbers) -> String {
    let mut out = String::new();
    write_json(&mut out, value, numbers);
    out
}

fn write_json(out: &mut String, value: &Value, numbers: Numbers) {
    match value {
        Value::List(elements) => {
            let is_number = |element: &Value| matches!(element, Value::Int(_) | Value::Float(_));
            let is_marked = numbers != Numbers::AsTheyAre && elements.iter().all(is_number);
            out.push_str(if is_marked { "[\t" } else { "[" });
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json(out, element, numbers);
            }
            out.push(']');
        }
        Value::Vector(elements) if numbers == Numbers::AsTheyAre && !elements.is_empty() => {
            out.push_str(value.to_string().trim_end_matches(']'));
            out.push_str("\t]");
        }
        other => out.push_str(&other.to_string()),
    }
}

/// A list or a vector as text of a column of any type. There is no comma in it, so nothing stands in quotes.
pub(super) fn text(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(" ");
    match value {
        Value::List(elements) => format!("list({})", joined(elements.iter().map(text).collect())),
        Value::Vector(elements) => {
            format!(
                "[{}]",
                joined(elements.iter().map(|element| Value::Float(*element).to_string()).collect())
            )
        }
        Value::Text(_) => value.to_string().replace(',', "\\u002c"),
        other => other.to_string(),
    }
}

/// The JSON of such text, with marks: of a list, `list("a" 1)`, or of an array.
pub(super) fn of_text(text: &str) -> Option<Json> {
    if !text.starts_with("list(") && !text.starts_with('[') {
        return None;
    }
    let json = parse(&with_commas(text)).ok()?;
    elements(&json).is_some().then_some(json)
}

/// Blanks between elements become commas, and `list(` and its end the brackets of a list.
fn with_commas(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let (mut in_text, mut escaped) = (false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if in_text {
            in_text = escaped || c != '"';
            escaped = c == '\\' && !escaped;
        } else if let Some(inside) = rest.strip_prefix("list(") {
            out.push_str("[\t");
            rest = inside;
            continue;
        } else if c.is_whitespace() {
            rest = rest.trim_start();
            if !out.ends_with(['[', ',', '\t']) && !rest.starts_with([']', ')', ',']) {
                out.push(',');
            }
            continue;
        } else {
            in_text = c == '"';
        }
        out.push(if c == ')' && !in_text { ']' } else { c });
        rest = &rest[c.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(elements: &[Value]) -> Value {
        Value::List(elements.to_vec())
    }

    #[test]
    fn a_list_is_told_from_a_vector() {
        let vector = Value::Vector(vec![1.0, 2.5]);
        let large = Value::Int(9_007_199_254_740_993);
        for value in [
            list(&[]),
            list(&[large]),
            list(&[Value::Int(1), Value::Float(2.0)]),
            list(&[Value::Float(0.1)]),
            list(&[
                Value::Text("a, \"b)\" [\t] list(\n".into()),
                list(&[Value::Int(1)]),
                vector.clone(),
                Value::Null,
            ]),
            vector,
            Value::Vector(vec![]),
        ] {
            for numbers in [Numbers::InVectors, Numbers::FloatsInVectors, Numbers::AsTheyAre] {
                let written = json(&value, numbers);
                let empty = value == Value::Vector(vec![]) && numbers == Numbers::AsTheyAre;
                if !empty {
                    assert_eq!(
                        super::value(&parse(&written).unwrap(), numbers),
                        Ok(value.clone()),
                        "{written}"
                    );
                }
            }
            let written = text(&value);
            assert!(!written.contains(','), "{written}");
            assert_eq!(super::value(&of_text(&written).unwrap(), Numbers::InVectors), Ok(value), "{written}");
        }
    }

    #[test]
    fn an_array_of_numbers_is_a_vector_if_it_can_be() {
        let read = |text: &str| value(&parse(text).unwrap(), Numbers::InVectors).unwrap();
        assert_eq!(read("[1, 16777216]"), Value::Vector(vec![1.0, 16_777_216.0]));
        assert_eq!(read("[16777217]"), list(&[Value::Int(16_777_217)]));
        assert_eq!(read("[1e300]"), list(&[Value::Float(1e300)]));
        assert_eq!(read("[0.1]"), Value::Vector(vec![0.1]));
        assert_eq!(read("[ 1, 2]"), Value::Vector(vec![1.0, 2.0]));
        assert_eq!(read("[\t1, 2]"), list(&[Value::Int(1), Value::Int(2)]));
    }

    #[test]
    fn other_text_is_none() {
        for text in ["", "[", "[a]", "list(", "list(a)", "list(1", "list", "x"] {
            assert_eq!(of_text(text), None, "{text}");
        }
    }
}
