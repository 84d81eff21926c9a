//! One value as text.
//!
//! Text from a knowledge graph may hold anything; what could steer a terminal or turn a line around is written as the
//! language's own escapes, so a cell shows what it holds and does nothing else.

use std::borrow::Cow;
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
    fn null_is_the_word_that_was_asked_for() {
        assert_eq!(plain(&Value::Null, "-"), "-");
        assert_eq!(plain(&Value::Text("a\tb".into()), "-"), "a\\tb");
    }
}
