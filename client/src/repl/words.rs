//! The words of a command of the prompt: split at blanks but for those in quotes. A word that begins with `~/` is in the
//! home of the user.

use std::borrow::Cow;
use std::path::PathBuf;

/// The words of a line; an error where a quote is not closed.
pub(super) fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = first(rest)?;
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

/// The first word, and what follows it.
fn first(text: &str) -> Result<(String, &str), String> {
    let mut word = String::new();
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c.is_whitespace() => return Ok((in_home(&word).into_owned(), &text[at..])),
            Some(_) | None => word.push(c),
        }
    }
    match quote {
        Some(open) => Err(format!("`{open}` is not closed")),
        None => Ok((in_home(&word).into_owned(), "")),
    }
}

/// What stands before the last word, and that as a file: in quotes, or without blanks.
pub(super) fn last_file(text: &str) -> Option<(&str, PathBuf)> {
    let text = text.trim_end();
    let quote = text.chars().last().filter(|c| matches!(c, '"' | '\''));
    let quoted = quote.and_then(|quote| text[..text.len() - 1].rfind(quote));
    // A quote in the middle of a word is one of the program.
    let quoted = quoted.filter(|&at| text[..at].ends_with(char::is_whitespace));
    let start = quoted.or_else(|| text.rfind(char::is_whitespace).map(|at| at + 1))?;
    let (before, file) = (text[..start].trim(), text.get(start..)?.trim());
    (!before.is_empty()).then(|| (before, path(file)))
}

/// A file that is all of a text, perhaps in quotes.
pub(super) fn path(text: &str) -> PathBuf {
    PathBuf::from(in_home(unquoted(text)).as_ref())
}

/// A text without the quotes around it.
pub(super) fn unquoted(text: &str) -> &str {
    let without = |quote| text.strip_prefix(quote).and_then(|text: &str| text.strip_suffix(quote));
    without('"').or_else(|| without('\'')).unwrap_or(text)
}

/// The same with the home of the user for `~/`.
pub(super) fn in_home(text: &str) -> Cow<'_, str> {
    let home = || std::env::var("HOME").ok();
    match text.strip_prefix("~/").and_then(|rest| Some((rest, home()?))) {
        Some((rest, home)) => Cow::Owned(format!("{}/{rest}", home.trim_end_matches('/'))),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_blanks_together() {
        let words = |line| split(line).unwrap();
        assert_eq!(words(" city 'my file.csv'  --null \"\" "), ["city", "my file.csv", "--null", ""]);
        assert_eq!(words("--columns=\"a: int, b: int\" x"), ["--columns=a: int, b: int", "x"]);
        assert!(split("city \"my file.csv").is_err());
    }

    #[test]
    fn the_last_word_is_a_file() {
        let found =
            |text| last_file(text).map(|(before, file)| (before.to_owned(), file.display().to_string()));
        let is = |before: &str, file: &str| Some((before.to_owned(), file.to_owned()));
        assert_eq!(found("edge e.csv"), is("edge", "e.csv"));
        assert_eq!(found("?p(\"a b\", X) \"my file.csv\""), is("?p(\"a b\", X)", "my file.csv"));
        assert_eq!(found("?p(\"a b\", X) out.csv"), is("?p(\"a b\", X)", "out.csv"));
        assert_eq!(found("edge"), None);
    }

    #[test]
    fn a_home_is_where_the_user_is() {
        let home = std::env::var("HOME").unwrap_or_default();
        assert_eq!(path("~/x.dl"), PathBuf::from(format!("{home}/x.dl")));
        assert_eq!(path("\"~/x y.dl\""), PathBuf::from(format!("{home}/x y.dl")));
        assert_eq!(path("a~/x"), PathBuf::from("a~/x"));
    }
}
