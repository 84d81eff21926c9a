//! One `column = value` a line, and an empty line between rows: for rows that are too wide for a table.

use super::cells::plain;
use super::printable;
use std::io::{self, Write};
use stratalog_client::Value;

pub(super) fn write(
    out: &mut dyn Write,
    names: &[String],
    rows: &[Vec<Value>],
    null: &str,
    first: bool,
) -> io::Result<()> {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (at, row) in rows.iter().enumerate() {
        if !first || at > 0 {
            writeln!(out)?;
        }
        for (name, value) in names.iter().zip(row) {
            writeln!(out, "{:>width$} = {}", printable(name), plain(value, null))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use serde_json::json;

    #[test]
    fn rows_stand_apart() {
        let mut out = Vec::new();
        let names = ["name".to_owned(), "n".to_owned()];
        super::write(&mut out, &names, &values(json!([["ada", 1], ["a\nb", null]])), "-", true).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "name = ada\n   n = 1\n\nname = a\\nb\n   n = -\n");
    }
}
