//! Dot commands: words, without knowing any command.
//!
//! A command is read from the text itself, not from tokens, because its words are free: file names, passwords. Only
//! where it ends is decided as for every statement.

use super::ast::{Command, Name};
use super::lexer::end_of_comment;
use super::parser::{Parsed, Parser, starts_statement};
use crate::diagnostic::Span;

impl Parser<'_> {
    /// A command, from its dot.
    pub(super) fn command(&mut self) -> Parsed<Command> {
        let start = self.span().end as usize;
        let mut scan =
            Scan { text: self.text, at: start, words: Vec::new(), open: 0, unclosed: false, quotes: 0 };
        scan.run();
        if scan.words.first().is_none_or(|word| word.start > start || self.text[start..].starts_with('.')) {
            self.bump();
            return Err(self.unexpected("a command such as `.kg list` after the dot"));
        }
        let name = |range: &std::ops::Range<usize>| Name {
            text: self.text[range.clone()].to_owned(),
            span: Span::new(range.start, range.end),
        };
        let words = scan.words.iter().map(name).collect();
        let rest = match scan.words.as_slice() {
            [_, second, ..] => second.start..scan.words.last().map_or(second.end, |last| last.end),
            [first] => first.end..first.end,
            [] => start..start,
        };
        let text = self.text[start..rest.end].to_owned();
        let rest = name(&rest);
        self.seek(rest.span, scan.at);
        Ok(Command { words, rest, text, query: None, changes: Vec::new() })
    }
}

/// Collects words until the end of the statement.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    words: Vec<std::ops::Range<usize>>,
    /// Brackets that are open.
    open: usize,
    /// A comment was not closed: from there on no other is looked for, or time would grow with the square of the text.
    unclosed: bool,
    /// Up to here, a quote was found that its line does not close; those after it count as text.
    quotes: usize,
}

impl Scan<'_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut word = None;
        while let Some(&byte) = bytes.get(self.at) {
            let rest = &self.text[self.at..];
            let starts_word = word.is_none();
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {
                    self.end_word(&mut word);
                    if byte == b'\n' {
                        match self.next_line() {
                            Some(line) => self.at = line,
                            None => return,
                        }
                    } else {
                        self.at += 1;
                    }
                    continue;
                }
                // Comments follow a blank: `http://host` and `a/*b` are words.
                b'/' if starts_word && rest.starts_with("//") => {
                    self.at += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
                b'/' if starts_word && !self.unclosed && rest.starts_with("/*") => {
                    if let Some(end) = end_of_comment(self.text, self.at) {
                        self.at = end;
                        continue;
                    }
                    self.unclosed = true;
                }
                _ => {}
            }
            let start = *word.get_or_insert(self.at);
            match byte {
                b'"' if self.at >= self.quotes => match end_of_string(bytes, self.at) {
                    Ok(end) => {
                        self.string(&mut word, start, end);
                        continue;
                    }
                    Err(end_of_line) => self.quotes = end_of_line,
                },
                b'(' | b'[' => self.open += 1,
                b')' | b']' => self.open = self.open.saturating_sub(1),
                _ => {}
            }
            self.at += rest.chars().next().map_or(1, char::len_utf8);
        }
        self.end_word(&mut word);
    }

    fn end_word(&mut self, word: &mut Option<usize>) {
        if let Some(start) = word.take() {
            self.words.push(start..self.at);
        }
    }

    /// Steps over a string: nothing in it is a comment or a bracket, but blanks still separate words.
    fn string(&mut self, word: &mut Option<usize>, start: usize, end: usize) {
        let mut start = Some(start);
        let text = &self.text[self.at..end];
        for (offset, c) in text.char_indices() {
            if c.is_ascii_whitespace() {
                if let Some(start) = start.take() {
                    self.words.push(start..self.at + offset);
                }
            } else if start.is_none() {
                start = Some(self.at + offset);
            }
        }
        *word = start;
        self.at = end;
    }

    /// Where the command goes on after this end of line, if it does.
    fn next_line(&self) -> Option<usize> {
        let last = self.words.last().map_or("", |word| &self.text[word.clone()]);
        let continues = self.open > 0 || last.ends_with(',') || last.ends_with("<-");
        let mut at = self.at + 1;
        loop {
            let line = self.text[at..].split('\n').next().unwrap_or("");
            let content = line.trim_start();
            if content.is_empty() || content.starts_with("//") || content.starts_with('%') {
                at += line.len() + 1;
                if at > self.text.len() {
                    return None;
                }
                continue;
            }
            let indented = line.starts_with([' ', '\t']);
            return (indented || continues && !starts_statement(line)).then_some(at);
        }
    }
}

/// The end of the string that starts here, or else how far was looked: a string ends in its line.
fn end_of_string(bytes: &[u8], start: usize) -> Result<usize, usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\n') | None => return Err(at),
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::Limits;
    use crate::syntax::ast::{Command, StatementKind};
    use crate::syntax::parse;

    fn commands(text: &str) -> Vec<Command> {
        let (statements, errors) = parse(text, &Limits::default());
        assert_eq!(errors, []);
        statements
            .into_iter()
            .filter_map(|statement| match statement.kind {
                StatementKind::Command(command) => Some(command),
                _ => None,
            })
            .collect()
    }

    fn words(text: &str) -> Vec<Vec<String>> {
        commands(text).into_iter().map(|c| c.words.into_iter().map(|word| word.text).collect()).collect()
    }

    #[test]
    fn words_are_split_at_blanks_and_taken_as_they_are() {
        assert_eq!(
            words(".kg create a.b/c  \n.user create bob p'w(\"; editor"),
            [vec!["kg", "create", "a.b/c"], vec!["user", "create", "bob", "p'w(\";", "editor"]]
        );
        assert_eq!(words(".?"), [["?"]]);
    }

    #[test]
    fn comments_follow_a_blank() {
        assert_eq!(
            words(".load http://x/y // from there\n.kg /* or use */ list"),
            [vec!["load", "http://x/y"], vec!["kg", "list"]]
        );
    }

    #[test]
    fn an_embedded_query_goes_on_like_a_query() {
        let text = ".why ?p(X, \"a // (b\"),\nq(X,\n\n  // no\n  Y)\n.kg";
        let commands = commands(text);
        assert_eq!(commands.len(), 2);
        assert_eq!(commands[0].rest.text, "?p(X, \"a // (b\"),\nq(X,\n\n  // no\n  Y)");
        assert_eq!(commands[0].rest.span.start, 5);
        assert_eq!(words(text)[0], ["why", "?p(X,", "\"a", "//", "(b\"),", "q(X,", "Y)"]);
    }

    #[test]
    fn a_quote_in_the_first_word_means_the_same_when_it_is_printed() {
        for text in [".a\")[b\n c \"d(", ".a\"b c\" (", ".a /* gap */ b"] {
            let printed = commands(text)[0].to_string();
            assert_eq!(words(&printed), words(text));
        }
    }

    #[test]
    fn an_open_bracket_does_not_swallow_the_next_statement() {
        assert_eq!(
            words(".user password bob a(b\n.user list"),
            [vec!["user", "password", "bob", "a(b"], vec!["user", "list"]]
        );
    }
}
