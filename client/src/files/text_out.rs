//! Rows for spreadsheets (CSV) and for pipes (TSV).
//!
//! Both can be read back without loss: CSV keeps null apart from the empty string by quoting the latter, TSV by
//! escaping the backslash that `\N` begins with, and the quote that would begin a quoted field.

use super::arrays::{self, Numbers};
use super::cells::{any_of, guessed_any};
use super::infer::is_time;
use std::borrow::Cow;
use std::io::{self, Write};
use stratalog_protocol::Value;

/// `value` as one piece of text: strings as they are, floats with a fraction, vectors and lists in brackets.
pub fn value_text<'a>(value: &'a Value, null: &'a str) -> Cow<'a, str> {
    match value {
        Value::Null => Cow::Borrowed(null),
        Value::Bool(true) => Cow::Borrowed("true"),
        Value::Bool(false) => Cow::Borrowed("false"),
        Value::Int(number) => Cow::Owned(number.to_string()),
        Value::Float(number) => Cow::Owned(float(*number)),
        Value::Text(text) => Cow::Borrowed(text),
        Value::Vector(elements) => {
            let elements: Vec<String> = elements.iter().map(|&element| float(element)).collect();
            Cow::Owned(format!("[{}]", elements.join(", ")))
        }
        Value::List(elements) => {
            let elements: Vec<Cow<'_, str>> = elements.iter().map(element_text).collect();
            Cow::Owned(format!("[{}]", elements.join(", ")))
        }
    }
}

/// An element of a list, from which text stands out by its quotes.
fn element_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Text(_) => Cow::Owned(value.to_string()),
        other => value_text(other, "null"),
    }
}

/// The shortest text that reads back as `number`, always with a fraction: `2.0`, `1.0e21`.
fn float(number: f64) -> String {
    let text = Value::Float(number).to_string();
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

pub(super) fn write_csv_header(out: &mut dyn Write, names: &[String], null: &str) -> io::Result<()> {
    write_line(out, ",", names.iter().map(|name| csv_text(name, null)))
}

/// RFC 4180, with lines that end the Unix way. In columns of any type, text that looks like something else is quoted.
pub(super) fn write_csv_row(
    out: &mut dyn Write,
    row: &[Value],
    null: &str,
    marked: &[Marked],
) -> io::Result<()> {
    write_line(
        out,
        ",",
        row.iter()
            .zip(marked)
            .map(|(value, mark)| marked_cell(value, *mark).unwrap_or_else(|| csv_cell(value, null))),
    )
}

pub(super) fn write_tsv_header(out: &mut dyn Write, names: &[String], null: &str) -> io::Result<()> {
    write_line(out, "\t", names.iter().map(|name| tsv_text(name, null)))
}

/// One line, whatever the strings hold; those that look like something else are quoted as in CSV.
pub(super) fn write_tsv_row(
    out: &mut dyn Write,
    row: &[Value],
    null: &str,
    marked: &[Marked],
) -> io::Result<()> {
    write_line(
        out,
        "\t",
        row.iter().zip(marked).map(|(value, mark)| match marked_cell(value, *mark) {
            Some(cell) if matches!(value, Value::List(_)) => Cow::Owned(tsv_text(&cell, null).into_owned()),
            Some(cell) => cell,
            None => tsv_cell(value, null),
        }),
    )
}

/// What quotes tell in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marked {
    /// Nothing but where a field ends.
    Nothing,
    /// In a column of strings: that a value is text, where somebody would guess otherwise.
    Text,
    /// In a column of any type: the same of each value.
    Any,
    /// In a column of lists, whose cells are JSON: nothing.
    List,
}

/// What quotes have to tell apart: text that would be read as a number, a boolean, a vector or as nothing stands in them, and
/// a vector or a list in a column of any type does not, so there is no comma in it.
fn marked_cell(value: &Value, mark: Marked) -> Option<Cow<'_, str>> {
    match (value, mark) {
        (Value::Text(text), Marked::Any) if text.is_empty() || !any_of(text).is_string() => {
            Some(quoted(text))
        }
        (Value::Text(text), Marked::Text) if !guessed_any(text).is_string() || is_time(text) => {
            Some(quoted(text))
        }
        (Value::Vector(_), Marked::Any) => Some(Cow::Owned(value_text(value, "").replace(", ", " "))),
        (Value::List(_), Marked::Any) => Some(Cow::Owned(arrays::text(value))),
        _ => None,
    }
}

fn write_line<'a>(
    out: &mut dyn Write,
    separator: &str,
    cells: impl Iterator<Item = Cow<'a, str>>,
) -> io::Result<()> {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.write_all(separator.as_bytes())?;
        }
        out.write_all(cell.as_bytes())?;
    }
    out.write_all(b"\n")
}

fn csv_cell<'a>(value: &'a Value, null: &'a str) -> Cow<'a, str> {
    match value {
        Value::Text(text) => csv_text(text, null),
        Value::Vector(_) => quoted(&value_text(value, null)),
        Value::List(_) => quoted(&list_text(value)),
        Value::Null => Cow::Borrowed(null),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => apart(value_text(value, null), null),
    }
}

/// A list in a column of lists, as JSON; where there is a vector in it, with the mark of that.
fn list_text(value: &Value) -> Cow<'_, str> {
    fn has_vector(value: &Value) -> bool {
        match value {
            Value::Vector(_) => true,
            Value::List(elements) => elements.iter().any(has_vector),
            _ => false,
        }
    }
    if has_vector(value) {
        Cow::Owned(arrays::json(value, Numbers::AsTheyAre))
    } else {
        value_text(value, "null")
    }
}

/// What is not null and reads like the word for it stands in quotes.
fn apart<'a>(text: Cow<'a, str>, null: &str) -> Cow<'a, str> {
    if text == null { quoted(&text) } else { text }
}

/// A string that could be taken for null, or that holds a separator, stands in quotes.
pub(super) fn csv_text<'a>(text: &'a str, null: &str) -> Cow<'a, str> {
    let edge = |c: Option<char>| c.is_some_and(char::is_whitespace);
    let plain = text != null
        && !text.is_empty()
        && !text.contains([',', '"', '\n', '\r'])
        && !edge(text.chars().next())
        && !edge(text.chars().next_back());
    if plain { Cow::Borrowed(text) } else { quoted(text) }
}

fn quoted<'a>(text: &str) -> Cow<'a, str> {
    Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
}

fn tsv_cell<'a>(value: &'a Value, null: &'a str) -> Cow<'a, str> {
    match value {
        Value::Text(text) => tsv_text(text, null),
        Value::Null => Cow::Borrowed(null),
        // The texts in it have escapes of their own.
        Value::List(_) => Cow::Owned(tsv_text(&list_text(value), null).into_owned()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Vector(_) => {
            apart(value_text(value, null), null)
        }
    }
}

fn tsv_text<'a>(text: &'a str, null: &str) -> Cow<'a, str> {
    if text == null && !text.contains('\\') {
        return quoted(text);
    }
    if !text.contains(['\t', '\n', '\r', '\\']) && !text.starts_with('"') {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for (at, c) in text.char_indices() {
        match c {
            '\t' => safe.push_str("\\t"),
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\\' => safe.push_str("\\\\"),
            '"' if at == 0 => safe.push_str("\\\""),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows() -> Vec<Vec<Value>> {
        let rows = json!([
            ["ada", 2.0],
            ["a,\"b\"", ""],
            ["two\nlines", null],
            [[1.0, 2.0], "back\\slash\ttab"],
            ["\"q\"", 1]
        ]);
        serde_json::from_value(rows).unwrap()
    }

    type WriteRow = fn(&mut dyn Write, &[Value], &str, &[Marked]) -> io::Result<()>;

    fn written(write: WriteRow, null: &str) -> String {
        let mut out = Vec::new();
        rows().iter().for_each(|row| write(&mut out, row, null, &[Marked::Nothing; 2]).unwrap());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn csv_quotes_what_it_must() {
        assert_eq!(
            written(write_csv_row, ""),
            "ada,2.0\n\"a,\"\"b\"\"\",\"\"\n\"two\nlines\",\n\"[1.0, 2.0]\",back\\slash\ttab\n\"\"\"q\"\"\",1\n"
        );
        assert!(written(write_csv_row, "ada").starts_with("\"ada\",2.0"));
    }

    #[test]
    fn tsv_is_one_line_a_row() {
        assert_eq!(
            written(write_tsv_row, "\\N"),
            "ada\t2.0\na,\"b\"\t\ntwo\\nlines\t\\N\n[1.0, 2.0]\tback\\\\slash\\ttab\n\\\"q\"\t1\n"
        );
    }

    #[test]
    fn text_in_a_column_of_any_type_stays_text() {
        let row: Vec<Value> = serde_json::from_value(json!(["1", "x"])).unwrap();
        let (mut csv, mut tsv) = (Vec::new(), Vec::new());
        write_csv_row(&mut csv, &row, "", &[Marked::Any; 2]).unwrap();
        write_tsv_row(&mut tsv, &row, "", &[Marked::Any; 2]).unwrap();
        assert_eq!((csv.as_slice(), tsv.as_slice()), (&b"\"1\",x\n"[..], &b"\"1\"\tx\n"[..]));
        let row: Vec<Value> = serde_json::from_value(json!([[1.0, 2.5], "[1 2]", ""])).unwrap();
        let (mut csv, mut tsv) = (Vec::new(), Vec::new());
        write_csv_row(&mut csv, &row, "", &[Marked::Any; 3]).unwrap();
        write_tsv_row(&mut tsv, &row, "\\N", &[Marked::Any; 3]).unwrap();
        assert_eq!(String::from_utf8(csv).unwrap(), "[1.0 2.5],\"[1 2]\",\"\"\n");
        assert_eq!(String::from_utf8(tsv).unwrap(), "[1.0 2.5]\t\"[1 2]\"\t\"\"\n");
    }

    #[test]
    fn what_reads_like_the_word_for_null_stands_in_quotes() {
        let row: Vec<Value> = serde_json::from_value(json!(["NA", null, "N"])).unwrap();
        for (null, csv, tsv) in
            [("NA", "\"NA\",NA,N\n", "\"NA\"\tNA\tN\n"), ("\\N", "NA,\\N,N\n", "NA\t\\N\tN\n")]
        {
            let mut out = (Vec::new(), Vec::new());
            write_csv_row(&mut out.0, &row, null, &[Marked::Nothing; 3]).unwrap();
            write_tsv_row(&mut out.1, &row, null, &[Marked::Nothing; 3]).unwrap();
            assert_eq!((out.0.as_slice(), out.1.as_slice()), (csv.as_bytes(), tsv.as_bytes()));
        }
    }

    #[test]
    fn a_float_always_has_a_fraction() {
        let text = |value: Value| value_text(&value, "null").into_owned();
        assert_eq!(text(Value::Int(2)), "2");
        assert_eq!(text(Value::Float(2.0)), "2.0");
        assert_eq!(text(Value::Float(-0.5)), "-0.5");
        assert_eq!(float(1e300).parse(), Ok(1e300));
        assert!(float(1e300).starts_with("1.0e"), "{}", float(1e300));
        assert_eq!(text(Value::Int(9_007_199_254_740_993)), "9007199254740993");
        assert_eq!(text(Value::Vector(vec![1.0, 0.25])), "[1.0, 0.25]");
        assert_eq!(text(Value::Null), "null");
    }
}
