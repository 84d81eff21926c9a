//! Drawn tables, and the same for Markdown.
//!
//! Where all of an answer is wanted, a table on a terminal wraps long cells to fit; anywhere else it is as wide as its rows,
//! and nothing is cut. A preview has no more columns than fit, and no cell of more than a few lines.

use super::cells::plain;
use super::fit::{Fit, READABLE, Wish, fit};
use super::preview::{LINES, LeftOut, cut};
use super::records;
use comfy_table::presets::{ASCII_FULL_CONDENSED, NOTHING, UTF8_FULL_CONDENSED};
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, ContentLineStyle, Row, Table, Width,
};
use std::io::{self, Write};
use stratalog_client::Value;
use unicode_width::UnicodeWidthStr;

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
        return write_holding(out, rows);
    }
    let mut table = begin(names, rows, look);
    for row in rows {
        table.add_row(row.iter().map(|value| Cell::new(plain(value, null))));
    }
    align(&mut table, rows);
    let room = look.width.filter(|width| usize::from(width / NARROWEST_COLUMN) >= names.len());
    match room {
        Some(width) => table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width),
        None => table.set_content_arrangement(ContentArrangement::Disabled),
    };
    write_table(out, &table)
}

/// Draws what a person wants to see of the rows first: in a box as wide as the terminal, or one value a line where that is
/// better and wanted.
pub(super) fn write_preview(
    out: &mut dyn Write,
    names: &[String],
    rows: &[Vec<Value>],
    null: &str,
    look: Look,
    may_turn: bool,
) -> io::Result<LeftOut> {
    if names.is_empty() {
        return write_holding(out, rows).map(|()| LeftOut::default());
    }
    let Some(width) = look.width.filter(|width| *width > 0) else {
        return write(out, names, rows, null, look).map(|()| LeftOut::default());
    };
    let wishes: Vec<Wish> = (0..names.len()).map(|column| wish(names, rows, column, null, width)).collect();
    let widths = match fit(&wishes, rows.len(), usize::from(width), may_turn) {
        Fit::Table(widths) => widths,
        Fit::ByColumn => return records::write_preview(out, names, rows, null, Some(width), true),
    };
    let shown = widths.len();
    let is_whole = shown == names.len();
    let mut left_out = LeftOut { columns: (!is_whole).then_some(shown), ..LeftOut::default() };
    let mut headed: Vec<String> = names[..shown].to_vec();
    headed.extend((!is_whole).then(|| MORE.to_owned()));
    let mut table = begin(&headed, rows, look);
    table.set_truncation_indicator(MORE);
    for row in rows {
        let mut cells = Vec::with_capacity(headed.len());
        for (value, width) in row.iter().zip(&widths) {
            // Wrapping at blanks takes more lines; what is beyond those is cut when it is drawn.
            let (text, is_cut) = cut(value, null, width * LINES);
            left_out.values |= is_cut;
            cells.push(Cell::new(text));
        }
        cells.extend((!is_whole).then(|| Cell::new(MORE)));
        table.add_row(Row::from(cells));
    }
    align(&mut table, rows);
    for (column, width) in table.column_iter_mut().zip(&widths) {
        let width = u16::try_from(width + PADDING).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
    }
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    let lines = table.lines().count();
    for row in table.row_iter_mut() {
        row.max_height(LINES);
    }
    left_out.values |= table.lines().count() < lines;
    write_table(out, &table)?;
    Ok(left_out)
}

/// What stands for more than there is room for.
const MORE: &str = "…";
/// The blanks around the text of a cell.
const PADDING: usize = 2;

/// How much room a column would like.
fn wish(names: &[String], rows: &[Vec<Value>], column: usize, null: &str, width: u16) -> Wish {
    let longest = usize::from(width) * LINES;
    let cells = rows.iter().filter_map(|row| row.get(column));
    let widest = cells.map(|value| cut(value, null, longest).0.width()).max().unwrap_or(0);
    let natural = super::printable(&names[column]).width().max(widest).max(1);
    // A number is not broken, but its name may be.
    let least =
        if is_numeric(rows, column) { widest.max(natural.min(READABLE)) } else { natural.min(READABLE) };
    Wish { natural, least }
}

/// A question without variables: each row says that it holds.
fn write_holding(out: &mut dyn Write, rows: &[Vec<Value>]) -> io::Result<()> {
    rows.iter().try_for_each(|_| writeln!(out, "()"))
}

fn begin(names: &[String], rows: &[Vec<Value>], look: Look) -> Table {
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
    table
}

fn align(table: &mut Table, rows: &[Vec<Value>]) {
    for (i, column) in table.column_iter_mut().enumerate() {
        if is_numeric(rows, i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn write_table(out: &mut dyn Write, table: &Table) -> io::Result<()> {
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

/// A table in the pipe form that most Markdown readers know; it always has its header, as that form demands, and that
/// stands before the first rows.
pub(super) fn write_markdown(
    out: &mut dyn Write,
    names: &[String],
    rows: &[Vec<Value>],
    null: &str,
    first: bool,
) -> io::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    if first {
        write_pipes(out, names.iter().map(|name| markdown_text(&super::printable(name))))?;
        let rules = (0..names.len()).map(|i| if is_numeric(rows, i) { "--:" } else { "---" });
        write_pipes(out, rules.map(str::to_owned))?;
    }
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
    use super::{LeftOut, Look, Value, write, write_markdown, write_preview};
    use serde_json::json;
    use unicode_width::UnicodeWidthStr;

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
        write_markdown(&mut out, &names, &people(), "null", true).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    fn previewed(names: &[&str], rows: &[Vec<Value>], width: u16) -> (String, LeftOut) {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut out = Vec::new();
        let look = Look { width: Some(width), ..BOX };
        let left_out = write_preview(&mut out, &names, rows, "null", look, true).unwrap();
        (String::from_utf8(out).unwrap(), left_out)
    }

    #[test]
    fn a_preview_of_what_fits_is_the_table() {
        let (text, left_out) = previewed(NAMES, &people(), 80);
        assert_eq!((text, left_out), (written(NAMES, &people(), "null", BOX), LeftOut::default()));
    }

    #[test]
    fn a_preview_is_as_wide_as_the_terminal_and_cuts_long_values() {
        let rows = values(json!([["日本".repeat(2_000), 1_234_567_890_123_i64, "word ".repeat(200)]]));
        let (text, left_out) = previewed(&["text", "number", "words"], &rows, 60);
        assert!(text.lines().all(|line| line.width() <= 60), "{text}");
        assert!(text.contains(" 1234567890123 ") && text.lines().count() == 8, "{text}");
        assert!(left_out.values && left_out.columns.is_none());
    }

    #[test]
    fn columns_that_find_no_room_are_left_out_with_a_mark() {
        let names: Vec<String> = (0..30).map(|i| format!("column_{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (text, left_out) = previewed(&names, &values(json!(vec![vec!["some text"; 30]; 20])), 80);
        assert!(text.lines().all(|line| line.width() <= 80), "{text}");
        assert!(text.contains("column_4") && text.contains("│ … │"), "{text}");
        assert_eq!(left_out.columns, Some(6));
        let (text, left_out) = previewed(&names, &values(json!([vec![1; 30]])), 80);
        assert!(text.starts_with(" column_0 = 1\n") && left_out == LeftOut::default(), "{text}");
    }
}
