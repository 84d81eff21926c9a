//! Drawn tables, and the same for Markdown.
//!
//! A table on a terminal wraps long cells to fit; anywhere else it is as wide as its rows. Nothing is cut in either.

use super::cells::plain;
use comfy_table::presets::{ASCII_FULL_CONDENSED, NOTHING, UTF8_FULL_CONDENSED};
use comfy_table::{Cell, CellAlignment, ContentArrangement, ContentLineStyle, Table};
use std::io::{self, Write};
use stratalog_client::Value;

/// Below this many characters a column, wrapping makes a table harder to read than letting the terminal break lines.
const NARROWEST_COLUMN: u16 = 8;

/// What stands between the cells of a line.
const BARS: ContentLineStyle = ContentLineStyle::new('│', '│', '│');

/// How a table is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub ascii: bool,
    pub header: bool,
    pub width: Option<u16>,
}

/// Draws the rows in a box.
pub(super) fn write(
    out: &mut dyn Write,
    names: &[String],
    rows: &[Vec<Value>],
    null: &str,
    look: Look,
) -> io::Result<()> {
    if names.is_empty() {
        // A question without variables: each row says that it holds.
        return rows.iter().try_for_each(|_| writeln!(out, "()"));
    }
    let mut table = Table::new();
    if look.ascii {
        table.load_style(ASCII_FULL_CONDENSED);
    } else {
        table.load_style(UTF8_FULL_CONDENSED.header_lines(BARS).content_lines(BARS));
    }
    if look.header {
        table.set_header(names.iter().map(|name| Cell::new(super::printable(name))));
    } else if rows.is_empty() {
        table.load_style(NOTHING);
    }
    for row in rows {
        table.add_row(row.iter().map(|value| Cell::new(plain(value, null))));
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        if is_numeric(rows, i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let room = look.width.filter(|width| usize::from(width / NARROWEST_COLUMN) >= names.len());
    match room {
        Some(width) => table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width),
        None => table.set_content_arrangement(ContentArrangement::Disabled),
    };
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// True where the column holds numbers and nothing else but null.
fn is_numeric(rows: &[Vec<Value>], column: usize) -> bool {
    let mut values =
        rows.iter().filter_map(|row| row.get(column)).filter(|value| **value != Value::Null).peekable();
    values.peek().is_some() && values.all(|value| matches!(value, Value::Int(_) | Value::Float(_)))
}

/// A table in the pipe form that most Markdown readers know; it always has its header, as that form demands.
pub(super) fn write_markdown(
    out: &mut dyn Write,
    names: &[String],
    rows: &[Vec<Value>],
    null: &str,
) -> io::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    write_pipes(out, names.iter().map(|name| markdown_text(&super::printable(name))))?;
    let rules = (0..names.len()).map(|i| if is_numeric(rows, i) { "--:" } else { "---" });
    write_pipes(out, rules.map(str::to_owned))?;
    for row in rows {
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
    use super::super::tests::values;
    use super::{Look, Value, write, write_markdown};
    use serde_json::json;

    const NAMES: &[&str] = &["name", "age", "score"];
    const BOX: Look = Look { ascii: false, header: true, width: None };

    fn people() -> Vec<Vec<Value>> {
        values(json!([["ada", 36, 2.0], ["li|n\tx", null, 10.25]]))
    }

    fn written(names: &[&str], rows: &[Vec<Value>], null: &str, look: Look) -> String {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut out = Vec::new();
        write(&mut out, &names, rows, null, look).unwrap();
        String::from_utf8(out).unwrap()
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
        assert_eq!(written(NAMES, &people(), "null", BOX), expected);
    }

    #[test]
    fn a_table_without_a_header_is_still_a_box() {
        let expected = "\
┌─────────┬────┬───────┐
│ ada     │ 36 │   2.0 │
│ li|n\\tx │  - │ 10.25 │
└─────────┴────┴───────┘
";
        assert_eq!(written(NAMES, &people(), "-", Look { header: false, ..BOX }), expected);
    }

    #[test]
    fn a_table_can_be_ascii() {
        let text = written(NAMES, &people(), "null", Look { ascii: true, ..BOX });
        let expected = "\
+---------+------+-------+
| name    |  age | score |
+========================+
| ada     |   36 |   2.0 |
| li|n\\tx | null | 10.25 |
+---------+------+-------+
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_long_cell_is_whole_in_a_pipe_and_wrapped_on_a_terminal() {
        let long = "x".repeat(300);
        let rows = values(json!([[long]]));
        assert!(written(&["a"], &rows, "", BOX).contains(&long));
        let text = written(&["a"], &rows, "", Look { width: Some(40), ..BOX });
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert_eq!(text.matches('x').count(), 300);
    }

    #[test]
    fn more_columns_than_fit_are_not_squeezed() {
        let names: Vec<String> = (0..30).map(|i| format!("column_{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = written(&names, &values(json!([vec![1; 30]])), "", Look { width: Some(80), ..BOX });
        assert!(text.contains("column_29"));
    }

    #[test]
    fn markdown_escapes_its_own_marks() {
        let expected = "\
| name | age | score |
| --- | --: | --: |
| ada | 36 | 2.0 |
| li\\|n\\\\tx | null | 10.25 |
";
        let names: Vec<String> = NAMES.iter().map(|&name| name.to_owned()).collect();
        let mut out = Vec::new();
        write_markdown(&mut out, &names, &people(), "null").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
