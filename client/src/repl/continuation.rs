//! When Enter ends a statement, and when it only begins the next line of it.
//!
//! A statement goes on while a bracket, a string or a block comment is open, and after a line that ends with `,`
//! or `<-`. This mirrors the server's rule for joining lines, so what the prompt sends is one whole program.

use reedline::{ValidationResult, Validator};

/// Asks for more lines until the program is whole.
pub(crate) struct Continuation;

impl Validator for Continuation {
    fn validate(&self, line: &str) -> ValidationResult {
        if is_whole(line) { ValidationResult::Complete } else { ValidationResult::Incomplete }
    }
}

/// True when nothing is open at the end of `program`. An empty last line ends a program that ends with `,` or `<-`,
/// so that nobody is caught in a statement they cannot finish.
pub(crate) fn is_whole(program: &str) -> bool {
    let mut depth = 0usize;
    let mut ending = Ending::default();
    let mut chars = program.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                if !skip_string(&mut chars) {
                    return false;
                }
                ending.see('"');
            }
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|&c| c != '\n').is_some() {},
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                if !skip_block_comment(&mut chars) {
                    return false;
                }
            }
            '%' if ending.at_line_start => while chars.next_if(|&c| c != '\n').is_some() {},
            '(' | '[' => {
                depth += 1;
                ending.see(c);
            }
            ')' | ']' => {
                depth = depth.saturating_sub(1); // one too many is for the server to explain
                ending.see(c);
            }
            _ => ending.see(c),
        }
    }
    depth == 0
        && (ending.at_line_start || !(ending.last == ',' || (ending.before == '<' && ending.last == '-')))
}

/// The last two characters of the program that are neither space nor comment, and whether the line has any.
struct Ending {
    before: char,
    last: char,
    at_line_start: bool,
}

impl Default for Ending {
    fn default() -> Ending {
        Ending { before: '\n', last: '\n', at_line_start: true }
    }
}

impl Ending {
    fn see(&mut self, c: char) {
        if c == '\n' {
            self.at_line_start = true;
        } else if !c.is_whitespace() {
            self.at_line_start = false;
            self.before = self.last;
            self.last = c;
        }
    }
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Moves past the closing quote; false when there is none.
fn skip_string(chars: &mut Chars<'_>) -> bool {
    while let Some(c) = chars.next() {
        match c {
            '"' => return true,
            '\\' => {
                chars.next();
            }
            _ => {}
        }
    }
    false
}

/// Moves past the `*/` that closes a comment, which may hold others; false when it is missing.
fn skip_block_comment(chars: &mut Chars<'_>) -> bool {
    let mut depth = 1usize;
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('*', Some('/')) => {
                chars.next();
                depth -= 1;
                if depth == 0 {
                    return true;
                }
            }
            ('/', Some('*')) => {
                chars.next();
                depth += 1;
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn a_finished_statement_is_whole() {
        for program in [
            "",
            "?edge(X, Y)",
            "+edge[(1, 2),\n (2, 3)]",
            "reach(X, Y) <-\n  edge(X, Y)",
            "+note(\"a ( b\")",
            "+note(\"say \\\"hi\\\"\")",
            "?edge(X, Y) // and so on,",
            "/* ( */ ?edge(X, Y)",
            "% a comment (",
            "?edge(X, Y))",
        ] {
            assert!(is_whole(program), "{program}");
        }
    }

    #[test]
    fn an_open_statement_asks_for_more() {
        for program in [
            "+edge[(1, 2)",
            "?edge(X,",
            "reach(X, Y) <-",
            "reach(X, Y) <- edge(X, Z),",
            "reach(X, Y) <- edge(X, Z), // then",
            "+note(\"one\ntwo",
            "+note(\"ends with \\\"",
            "/* /* */ ",
        ] {
            assert!(!is_whole(program), "{program}");
        }
    }

    #[test]
    fn an_empty_line_ends_a_trailing_comma_but_not_a_bracket() {
        assert!(is_whole("reach(X, Y) <- edge(X, Y),\n"));
        assert!(!is_whole("+edge[(1, 2),\n"));
    }

    #[test]
    fn a_minus_after_a_comparison_is_not_an_arrow() {
        assert!(!is_whole("r(X) <- a(X), X <-"));
        assert!(is_whole("r(X) <- a(X), X < Y"));
    }
}
