//! One value as text.
//!
//! Text from a knowledge graph may hold anything; what could steer a terminal or turn a line around is written as the
//! language's own escapes, so a cell shows what it holds and does nothing else.

use std::borrow::Cow;
use std::io::{self, Write};
use stratalog_client::Value;
use stratalog_client::files::value_text;

/// `value` as one line: strings as they are, floats with a fraction, vectors in brackets.
pub(super) fn plain<'a>(value: &'a Value, null: &'a str) -> Cow<'a, str> {
    match value {
        Value::Text(text) => printable(text),
        // Strings stand in them.
        Value::List(_) => Cow::Owned(printable(&value_text(value, null)).into_owned()),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Vector(_) => {
            value_text(value, null)
        }
    }
}

/// `text` with control characters and direction marks written as escapes.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("\\t"),
            '\r' => safe.push_str("\\r"),
            c if steers(c) => safe.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

/// Text files on their way to a terminal: what could steer it is written as escapes, but for line breaks and tabs, which
/// stand between fields.
pub(super) struct Harmless<W> {
    out: W,
    /// The beginning of a character, whose rest is still to come.
    begun: Vec<u8>,
}

impl<W: Write> Harmless<W> {
    pub(super) fn new(out: W) -> Harmless<W> {
        Harmless { out, begun: Vec::new() }
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = std::mem::take(&mut self.begun);
        text.extend_from_slice(bytes);
        let complete = match std::str::from_utf8(&text) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => text.len(),
        };
        self.begun = text.split_off(complete);
        let text = String::from_utf8_lossy(&text);
        for part in text.split_inclusive(['\n', '\t']) {
            let (part, end) = match part.strip_suffix(['\n', '\t']) {
                Some(before) => part.split_at(before.len()),
                None => (part, ""),
            };
            self.out.write_all(printable(part).as_bytes())?;
            self.out.write_all(end.as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Characters that move the cursor, change the terminal or reorder the text around them.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_cannot_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[31m\tb\r\nc\u{202e}"), "a\\u001b[31m\\tb\\r\\nc\\u202e");
        assert!(matches!(printable("naïve 日本 🦀 \"q\" \\"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_file_on_a_terminal_cannot_steer_it_either() {
        let mut shown = Vec::new();
        let mut out = Harmless::new(&mut shown);
        for byte in "a\u{1b}]0;x\u{7}\tb\r\n日\u{9b}\u{202e}".as_bytes() {
            out.write_all(&[*byte]).unwrap();
        }
        assert_eq!(String::from_utf8(shown).unwrap(), "a\\u001b]0;x\\u0007\tb\\r\n日\\u009b\\u202e");
    }

    #[test]
    fn null_is_the_word_that_was_asked_for() {
        assert_eq!(plain(&Value::Null, "-"), "-");
        assert_eq!(plain(&Value::Text("a\tb".into()), "-"), "a\\tb");
    }
}
