//! Rows for spreadsheets (CSV) and for pipes (TSV).
//!
//! Both can be read back without loss: CSV keeps null apart from the empty string by quoting the latter, TSV by
//! escaping the backslash that `\N` begins with.

use super::cells::exact;
use std::borrow::Cow;
use std::io::{self, Write};
use stratalog_client::{Answer, Value};

/// RFC 4180, with lines that end the Unix way.
pub(super) fn write_csv(out: &mut dyn Write, answer: &Answer, header: bool, null: &str) -> io::Result<()> {
    if header {
        write_line(out, ",", answer.columns.iter().map(|name| csv_text(name, null)))?;
    }
    for row in &answer.rows {
        write_line(out, ",", row.iter().map(|value| csv_cell(value, null)))?;
    }
    Ok(())
}

/// One line a row, whatever the strings hold.
pub(super) fn write_tsv(out: &mut dyn Write, answer: &Answer, header: bool, null: &str) -> io::Result<()> {
    if header {
        write_line(out, "\t", answer.columns.iter().map(|name| tsv_text(name)))?;
    }
    for row in &answer.rows {
        write_line(out, "\t", row.iter().map(|value| tsv_cell(value, null)))?;
    }
    Ok(())
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
        Value::Vector(_) => quoted(&exact(value, null)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => exact(value, null),
    }
}

/// A string that could be taken for null, or that holds a separator, stands in quotes.
fn csv_text<'a>(text: &'a str, null: &str) -> Cow<'a, str> {
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
        Value::Text(text) => tsv_text(text),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Vector(_) => {
            exact(value, null)
        }
    }
}

fn tsv_text(text: &str) -> Cow<'_, str> {
    if !text.contains(['\t', '\n', '\r', '\\']) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\t' => safe.push_str("\\t"),
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\\' => safe.push_str("\\\\"),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{answer, written, written_as};
    use super::super::{Format, Style};
    use serde_json::json;
    use stratalog_client::Answer;

    fn tricky() -> Answer {
        answer(
            &["name", "note"],
            json!([["ada", 2.0], ["a,\"b\"", ""], ["two\nlines", null], [[1.0, 2.0], "back\\slash\ttab"],]),
        )
    }

    #[test]
    fn csv_quotes_what_it_must() {
        assert_eq!(
            written(&tricky(), Format::Csv),
            "name,note\nada,2.0\n\"a,\"\"b\"\"\",\"\"\n\"two\nlines\",\n\"[1.0, 2.0]\",back\\slash\ttab\n"
        );
    }

    #[test]
    fn tsv_is_one_line_a_row() {
        assert_eq!(
            written(&tricky(), Format::Tsv),
            "name\tnote\nada\t2.0\na,\"b\"\t\ntwo\\nlines\t\\N\n[1.0, 2.0]\tback\\\\slash\\ttab\n"
        );
    }

    #[test]
    fn header_and_null_follow_the_style() {
        let style = Style { format: Format::Csv, header: false, null: Some("nil".into()), width: None };
        let answer = answer(&["a", "b"], json!([[null, "nil"]]));
        assert_eq!(written_as(&answer, &style), "nil,\"nil\"\n");
    }

    #[test]
    fn an_empty_answer_keeps_its_column_names() {
        assert_eq!(written(&answer(&["a", "b"], json!([])), Format::Csv), "a,b\n");
    }
}
