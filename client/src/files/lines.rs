//! JSON lines: one object a line, or one array of values in the order of the columns.

use super::arrays;
use super::cells::is_rounded;
use super::encoding;
use super::error::{FileError, shortened};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

/// The longest line.
const LONGEST: u64 = 64 << 20;

/// The lines of a file.
pub(super) struct Lines<R> {
    source: BufReader<R>,
    name: String,
    line: u64,
    text: Vec<u8>,
}

/// The number of a line, and what it holds or what is wrong with it.
pub(super) type Line = (u64, Result<Json, FileError>);

impl<R: Read> Lines<R> {
    pub(super) fn new(source: R, name: &str) -> Lines<R> {
        Lines {
            source: BufReader::with_capacity(1 << 16, source),
            name: name.to_owned(),
            line: 0,
            text: Vec::new(),
        }
    }

    /// The next line with its number. What is wrong with one line is an `Err` inside, after which others follow.
    pub(super) fn next(&mut self) -> Result<Option<Line>, FileError> {
        loop {
            self.text.clear();
            self.line += 1;
            let read = self.source.by_ref().take(LONGEST).read_until(b'\n', &mut self.text);
            let read = read.map_err(|error| FileError::new(&self.name, error))?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 == LONGEST {
                return Err(FileError::at(&self.name, self.line, "a line of more than 64 MiB"));
            }
            if self.text.trim_ascii().is_empty() {
                continue;
            }
            return Ok(Some((self.line, parsed(&self.text, &self.name, self.line))));
        }
    }
}

/// The row that a piece of text holds, which begins in this line.
pub(super) fn parsed(text: &[u8], name: &str, line: u64) -> Result<Json, FileError> {
    let text = text.trim_ascii_end(); // its faults are in its own lines
    let error = match serde_json::from_slice(text) {
        Ok(Row(json)) => return Ok(json),
        Err(error) => error,
    };
    if std::str::from_utf8(text).is_err() {
        return Err(FileError::at(name, line, "this is not UTF-8").help(encoding::advice(text)));
    }
    let problem = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let problem = problem.trim_end_matches(&place);
    match error.is_data() {
        true => Err(FileError::at(name, line, problem)),
        false => {
            let line = line + error.line().saturating_sub(1) as u64;
            let error = FileError::at(name, line, format!("{problem} (character {})", error.column()));
            Err(if text.trim_ascii() == b"[" {
                error.help("a file of one array is read as `json`")
            } else {
                error
            })
        }
    }
}

/// An object or an array, of which nothing is lost: no key comes twice, and no integer is rounded.
struct Row(Json);

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Row, D::Error> {
        deserializer.deserialize_any(RowVisitor).map(Row)
    }
}

struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = serde_json::Map::new();
        while let Some((key, value)) = entries.next_entry::<String, &RawValue>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key `{}` comes twice", shortened(&key))));
            }
            object.insert(key, value_of(value)?);
        }
        Ok(Json::Object(object))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(element) = elements.next_element::<&RawValue>()? {
            array.push(value_of(element)?);
        }
        Ok(Json::Array(array))
    }
}

/// The value of a piece of JSON. An integer beyond 64 bits is a float where that is the same number.
fn value_of<E: Error>(raw: &RawValue) -> Result<Json, E> {
    let text = raw.get();
    let json =
        arrays::parse(text).map_err(|_| E::custom(format_args!("`{}` is no value", shortened(text))))?;
    match json.as_f64() {
        Some(float) if json.is_f64() && is_rounded(text, float) => Err(E::custom(format_args!(
            "`{}` is beyond 64 bits with sign: it can be a string",
            shortened(text)
        ))),
        _ => Ok(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_are_objects_or_arrays() {
        let mut lines = Lines::new(&b"{\"a\":1}\n\n[1, 2]\r\n{\"a\":\n7\n{}"[..], "f");
        let mut next = || lines.next().unwrap();
        assert_eq!(next(), Some((1, Ok(json!({"a": 1})))));
        assert_eq!(next(), Some((3, Ok(json!([1, 2])))));
        let (line, problem) = next().unwrap();
        assert_eq!(line, 4);
        assert!(problem.unwrap_err().to_string().starts_with("f:4: EOF while parsing a value"));
        assert_eq!(
            next().unwrap().1.unwrap_err().problem,
            "invalid type: integer `7`, expected an object or an array"
        );
        assert_eq!(next(), Some((6, Ok(json!({})))));
        assert_eq!(next(), None);
    }

    #[test]
    fn nothing_of_a_line_is_lost() {
        let problem = |text: &str| {
            let mut lines = Lines::new(text.as_bytes(), "f");
            lines.next().unwrap().unwrap().1.map_err(|error| error.to_string())
        };
        assert_eq!(problem("{\"a\":1,\"b\":2,\"a\":3}"), Err("f:1: the key `a` comes twice".to_owned()));
        for text in ["{\"a\":123456789012345678901}", "[-123456789012345678901]"] {
            assert!(problem(text).unwrap_err().contains("is beyond 64 bits with sign"), "{text}");
        }
        assert_eq!(
            problem("[100000000000000000000, 1e20, 9223372036854775807]"),
            Ok(json!([1e20, 1e20, i64::MAX]))
        );
        assert!(problem("[1e400]").unwrap_err().contains("`1e400` is no value"));
    }
}
