//! Drawn tables, and the same for Markdown.
//!
//! A table on a terminal wraps long cells to fit; anywhere else it is as wide as its rows. Nothing is cut in either.

use super::cells::plain;
use comfy_table::presets::{NOTHING, UTF8_FULL_CONDENSED};
use comfy_table::{Cell, CellAlignment, ContentArrangement, ContentLineStyle, Table};
use std::io::{self, Write};
use stratalog_client::{Answer, Value};

/// Below this many characters a column, wrapping makes a table harder to read than letting the terminal break lines.
const NARROWEST_COLUMN: u16 = 8;

/// What stands between the cells of a line.
const BARS: ContentLineStyle = ContentLineStyle::new('│', '│', '│');

/// Draws the rows in a box.
pub(super) fn write(
    out: &mut dyn Write,
    answer: &Answer,
    header: bool,
    null: &str,
    width: Option<u16>,
) -> io::Result<()> {
    if answer.columns.is_empty() {
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED.header_lines(BARS).content_lines(BARS));
    if header {
        table.set_header(answer.columns.iter().map(|name| Cell::new(super::printable(name))));
    } else if answer.rows.is_empty() {
        table.load_style(NOTHING);
    }
    for row in &answer.rows {
        table.add_row(row.iter().map(|value| Cell::new(plain(value, null))));
    }
    align(&mut table, answer);
    let room = width.filter(|width| usize::from(width / NARROWEST_COLUMN) >= answer.columns.len());
    match room {
        Some(width) => table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width),
        None => table.set_content_arrangement(ContentArrangement::Disabled),
    };
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn align(table: &mut Table, answer: &Answer) {
    for (i, column) in table.column_iter_mut().enumerate() {
        if is_numeric(answer, i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// True where the column holds numbers and nothing else but null.
fn is_numeric(answer: &Answer, column: usize) -> bool {
    let mut values = answer
        .rows
        .iter()
        .filter_map(|row| row.get(column))
        .filter(|value| **value != Value::Null)
        .peekable();
    values.peek().is_some() && values.all(|value| matches!(value, Value::Int(_) | Value::Float(_)))
}

/// A table in the pipe form that most Markdown readers know; it always has its header, as that form demands.
pub(super) fn write_markdown(out: &mut dyn Write, answer: &Answer, null: &str) -> io::Result<()> {
    if answer.columns.is_empty() {
        return Ok(());
    }
    write_pipes(out, answer.columns.iter().map(|name| markdown_text(&super::printable(name))))?;
    let rules = (0..answer.columns.len()).map(|i| if is_numeric(answer, i) { "--:" } else { "---" });
    write_pipes(out, rules.map(str::to_owned))?;
    for row in &answer.rows {
        write_pipes(out, row.iter().map(|value| markdown_text(&plain(value, null))))?;
    }
    Ok(())
}

fn write_pipes(out: &mut dyn Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    out.write_all(b"|")?;
    for cell in cells {
        write!(out, " {cell} |")?;
    }
    out.write_all(b"\n")
}

/// `text` with a backslash before what Markdown would read as a mark.
fn markdown_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '|' | '\\' | '`' | '*' | '<' | '&' | '[' | ']') {
            safe.push('\\');
        }
        safe.push(c);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::tests::{answer, written, written_as};
    use super::super::{Format, Style};
    use serde_json::json;
    use stratalog_client::Answer;

    fn people() -> Answer {
        answer(&["name", "age", "score"], json!([["ada", 36, 2.0], ["li|n\tx", null, 10.25]]))
    }

    #[test]
    fn numbers_stand_right_and_strings_left() {
        let expected = "\
┌─────────┬──────┬───────┐
│ name    │  age │ score │
╞═════════╪══════╪═══════╡
│ ada     │   36 │   2.0 │
│ li|n\\tx │ null │ 10.25 │
└─────────┴──────┴───────┘
";
        assert_eq!(written(&people(), Format::Table), expected);
    }

    #[test]
    fn a_table_without_a_header_is_still_a_box() {
        let style = Style { format: Format::Table, header: false, null: Some("-".into()), width: None };
        let expected = "\
┌─────────┬────┬───────┐
│ ada     │ 36 │   2.0 │
│ li|n\\tx │  - │ 10.25 │
└─────────┴────┴───────┘
";
        assert_eq!(written_as(&people(), &style), expected);
    }

    #[test]
    fn a_long_cell_is_whole_in_a_pipe_and_wrapped_on_a_terminal() {
        let long = "x".repeat(300);
        let answer = answer(&["a"], json!([[long]]));
        assert!(written(&answer, Format::Table).contains(&long));
        let style = Style { format: Format::Table, header: true, null: None, width: Some(40) };
        let text = written_as(&answer, &style);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert_eq!(text.matches('x').count(), 300);
    }

    #[test]
    fn more_columns_than_fit_are_not_squeezed() {
        let names: Vec<String> = (0..30).map(|i| format!("column_{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let answer = answer(&names, json!([vec![1; 30]]));
        let style = Style { format: Format::Table, header: true, null: None, width: Some(80) };
        assert!(written_as(&answer, &style).contains("column_29"));
    }

    #[test]
    fn markdown_escapes_its_own_marks() {
        let expected = "\
| name | age | score |
| --- | --: | --: |
| ada | 36 | 2.0 |
| li\\|n\\\\tx | null | 10.25 |
";
        assert_eq!(written(&people(), Format::Markdown), expected);
    }
}
