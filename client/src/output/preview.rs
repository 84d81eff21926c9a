//! What a person at a terminal sees of an answer without asking for all of it.
//!
//! Rows that are not shown are not kept, and mostly not even sent: the server is asked for no more than are shown, and
//! says how many there are.

use super::cells::plain;
use stratalog_client::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// So many rows are shown.
pub(crate) const ROWS: u64 = 40;
/// A value takes no more lines than these.
pub(super) const LINES: usize = 4;
/// One value a line, there are no more lines than these.
const LONGEST: usize = 200;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Preview {
    /// At most so many rows.
    pub rows: u64,
    /// The server was asked for no more than these.
    pub by_server: bool,
    /// What to say of the way to see everything depends on where somebody asks.
    pub at_prompt: bool,
}

/// What was left out of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// So many rows are shown where others are not.
    pub rows: Option<usize>,
    /// The same for columns.
    pub columns: Option<usize>,
    /// There are values with more text than is shown.
    pub values: bool,
}

impl LeftOut {
    pub(super) fn add(&mut self, more: &LeftOut) {
        self.rows = self.rows.or(more.rows);
        self.columns = self.columns.or(more.columns);
        self.values |= more.values;
    }

    /// The line below the rows, where something was left out.
    pub(super) fn line(&self, preview: Preview, shown: u64, rows: u64, columns: usize) -> Option<String> {
        let mut parts = Vec::new();
        if shown < rows {
            parts.push(format!("{} of {} rows", grouped(shown), grouped(rows)));
        }
        if let Some(shown) = self.columns {
            parts.push(format!("{shown} of {columns} columns"));
        }
        if self.values {
            parts.push("long values cut (…)".to_owned());
        }
        let (all, turned) = match preview.at_prompt {
            true => ("`.all on` shows everything", "`.expanded on` one value a line"),
            false => ("--all shows everything", "-x one value a line"),
        };
        let turned = self.columns.filter(|_| self.rows.is_none()).map(|_| format!(", {turned}"));
        (!parts.is_empty()).then(|| format!("{}: {all}{}", parts.join(", "), turned.unwrap_or_default()))
    }
}

/// How many of so many rows and columns are shown one value a line.
pub(super) fn by_column(rows: usize, columns: usize) -> (usize, usize) {
    (rows.min((LONGEST / (columns + 1)).max(1)), columns.min(LONGEST))
}

/// A value in so many cells of a terminal, and whether that is all of it.
pub(super) fn cut(value: &Value, null: &str, width: usize) -> (String, bool) {
    let text = plain(value, null);
    if text.len() <= width || text.width() <= width {
        return (text.into_owned(), false);
    }
    let mut room = width.saturating_sub(1);
    let fits = |c: &char| match room.checked_sub(c.width().unwrap_or(0)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    let mut short: String = text.chars().take_while(fits).collect();
    short.push('…');
    (short, true)
}

/// `1,234,567`
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567"), (100_000, "100,000")]
        {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn wide_characters_take_two_cells() {
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(cut(&text("日本語"), "", 6), ("日本語".to_owned(), false));
        assert_eq!(cut(&text("日本語"), "", 5), ("日本…".to_owned(), true));
        assert_eq!(cut(&text("日本語"), "", 4), ("日…".to_owned(), true));
        assert_eq!(cut(&text("abc"), "", 2), ("a…".to_owned(), true));
    }

    #[test]
    fn the_last_line_says_what_is_missing_and_what_to_do() {
        let preview = Preview { rows: 40, by_server: true, at_prompt: false };
        let line = |left_out: LeftOut, shown, rows| left_out.line(preview, shown, rows, 30);
        assert_eq!(line(LeftOut::default(), 3, 3), None);
        assert_eq!(
            line(LeftOut::default(), 40, 1_234_567).as_deref(),
            Some("40 of 1,234,567 rows: --all shows everything")
        );
        let wide = LeftOut { columns: Some(5), values: true, rows: None };
        assert_eq!(
            line(wide, 3, 3).as_deref(),
            Some("5 of 30 columns, long values cut (…): --all shows everything, -x one value a line")
        );
        assert_eq!(by_column(40, 4), (40, 4));
        assert_eq!(by_column(40, 24), (8, 24));
        assert_eq!(by_column(40, 500), (1, 200));
    }
}
