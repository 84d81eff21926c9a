//! Answers as text: one form a reader can look at, and five that a program can read.
//!
//! Only data goes through here. Timings, warnings and errors belong to [`crate::notices`] and standard error, so that
//! `stratalog ... > file` holds rows and nothing else.

mod cells;
mod delimited;
mod json;
mod table;

pub(crate) use cells::printable;

use std::io::{self, Write};
use stratalog_client::{Answer, Value};

/// A way to write rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// A drawn table; messages as plain lines
    Table,
    /// Comma-separated, RFC 4180; null is empty and an empty string is ""
    Csv,
    /// Tab-separated; tab, line break and backslash are written \t, \n and \\, null \N
    Tsv,
    /// One array with one object a row
    Json,
    /// One object a line
    Jsonl,
    /// A table for Markdown
    Markdown,
}

/// How answers are to look.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    pub format: Format,
    /// False leaves out the line with the column names, where a format has one to leave out.
    pub header: bool,
    /// The word for null; `None` takes the format's own.
    pub null: Option<String>,
    /// Columns of the terminal; `None` is no terminal, and nothing is ever wrapped to fit.
    pub width: Option<u16>,
}

/// Writes the rows of `answer`.
pub(crate) fn write_answer(out: &mut dyn Write, answer: &Answer, style: &Style) -> io::Result<()> {
    let null = |own: &'static str| style.null.as_deref().unwrap_or(own);
    match style.format {
        Format::Table if answer.is_message() => write_messages(out, answer),
        Format::Table => table::write(out, answer, style.header, null("null"), style.width),
        Format::Csv => delimited::write_csv(out, answer, style.header, null("")),
        Format::Tsv => delimited::write_tsv(out, answer, style.header, null("\\N")),
        Format::Json => json::write_array(out, answer),
        Format::Jsonl => json::write_lines(out, answer),
        Format::Markdown => table::write_markdown(out, answer, null("null")),
    }
}

/// A command's messages need no frame; their line breaks are meant as such.
fn write_messages(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    for cell in answer.rows.iter().flatten() {
        match cell {
            Value::Text(text) => {
                for line in text.lines() {
                    writeln!(out, "{}", printable(line))?;
                }
            }
            other => writeln!(out, "{}", cells::plain(other, "null"))?,
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// An answer whose rows are written as JSON.
    pub(crate) fn answer(columns: &[&str], rows: serde_json::Value) -> Answer {
        Answer::new(columns, serde_json::from_value(rows).unwrap())
    }

    /// The text of `answer` in `format`, as it goes into a pipe.
    pub(crate) fn written(answer: &Answer, format: Format) -> String {
        written_as(answer, &Style { format, header: true, null: None, width: None })
    }

    pub(crate) fn written_as(answer: &Answer, style: &Style) -> String {
        let mut out = Vec::new();
        write_answer(&mut out, answer, style).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn messages_are_plain_lines() {
        let answer = answer(&["message"], json!([["inserted 2\nskipped 1"], ["bell \u{7}"]]));
        assert_eq!(written(&answer, Format::Table), "inserted 2\nskipped 1\nbell \\u0007\n");
        assert_eq!(written(&answer, Format::Jsonl).lines().count(), 2);
    }
}
