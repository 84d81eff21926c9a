//! One `column = value` a line, and an empty line between rows: for rows that are too wide for a table.

use super::cells::plain;
use super::preview::{LINES, LeftOut, by_column, cut};
use super::printable;
use std::io::{self, Write};
use stratalog_client::Value;
use unicode_width::UnicodeWidthStr;

pub(super) fn write(
    out: &mut dyn Write,
    names: &[String],
    rows: &[Vec<Value>],
    null: &str,
    first: bool,
) -> io::Result<()> {
    let width = names_width(names);
    for (at, row) in rows.iter().enumerate() {
        if !first || at > 0 {
            writeln!(out)?;
        }
        for (name, value) in names.iter().zip(row) {
            write_line(out, name, width, &plain(value, null))?;
        }
    }
    Ok(())
}

/// The same with no more lines, and no longer values, than somebody reads on a terminal of this width.
pub(super) fn write_preview(
    out: &mut dyn Write,
    names: &[String],
    rows: &[Vec<Value>],
    null: &str,
    width: Option<u16>,
    first: bool,
) -> io::Result<LeftOut> {
    let (shown, columns) = by_column(rows.len(), names.len());
    let mut left_out = LeftOut {
        rows: (shown < rows.len()).then_some(shown),
        columns: (columns < names.len()).then_some(columns),
        values: false,
    };
    let names_width = names_width(&names[..columns]);
    let room = width.filter(|width| *width > 0).map(|width| {
        // Even where the names take all of a line, values have one.
        (usize::from(width) * LINES).saturating_sub(names_width + 3).max(usize::from(width))
    });
    for (at, row) in rows[..shown].iter().enumerate() {
        if !first || at > 0 {
            writeln!(out)?;
        }
        for (name, value) in names[..columns].iter().zip(row) {
            let (text, is_cut) = cut(value, null, room.unwrap_or(usize::MAX));
            left_out.values |= is_cut;
            write_line(out, name, names_width, &text)?;
        }
    }
    Ok(left_out)
}

fn names_width(names: &[String]) -> usize {
    names.iter().map(|name| printable(name).width()).max().unwrap_or(0)
}

fn write_line(out: &mut dyn Write, name: &str, width: usize, text: &str) -> io::Result<()> {
    let name = printable(name);
    let before = width.saturating_sub(name.width());
    writeln!(out, "{:before$}{name} = {text}", "")
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_stand_apart() {
        let mut out = Vec::new();
        let names = ["name".to_owned(), "n".to_owned()];
        write(&mut out, &names, &values(json!([["ada", 1], ["a\nb", null]])), "-", true).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "name = ada\n   n = 1\n\nname = a\\nb\n   n = -\n");
    }

    #[test]
    fn a_preview_has_no_endless_values() {
        let mut out = Vec::new();
        let names = ["名".to_owned(), "n".to_owned()];
        let rows = values(json!([["x".repeat(1000), 1]]));
        let left_out = write_preview(&mut out, &names, &rows, "-", Some(20), true).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, format!("名 = {}…\n n = 1\n", "x".repeat(20 * LINES - 5 - 1)));
        assert!(left_out.values && left_out.rows.is_none());
    }
}
