//! When Enter ends a statement, and when it only begins the next line of it: the parser knows.

use reedline::{ValidationResult, Validator};
use stratalog_engine::syntax::goes_on;

/// Asks for more lines until the program is whole.
pub(crate) struct Continuation;

impl Validator for Continuation {
    fn validate(&self, text: &str) -> ValidationResult {
        if is_whole(text) { ValidationResult::Complete } else { ValidationResult::Incomplete }
    }
}

/// True when nothing goes on. An empty last line ends a program that ends with `,` or `<-`, so that nobody is caught in a
/// statement they cannot finish; and only a query makes a command longer than its line.
fn is_whole(text: &str) -> bool {
    let is_command = text.trim_start().starts_with('.') && !text.contains('?');
    // An open bracket goes on after any name; a comma does not.
    let ends_here = || text.ends_with('\n') && !goes_on(&format!("{text}x"));
    is_command || !goes_on(text) || ends_here()
}

#[cfg(test)]
mod tests {
    use super::is_whole;

    #[test]
    fn an_empty_line_ends_a_trailing_comma_but_not_a_bracket() {
        assert!(!is_whole("reach(X, Y) <- edge(X, Y),"));
        assert!(is_whole("reach(X, Y) <- edge(X, Y),\n"));
        assert!(!is_whole("+edge[(1, 2),\n"));
        assert!(!is_whole("+note(\"a\n"));
    }

    #[test]
    fn a_command_is_a_line() {
        assert!(is_whole(".user password bob a(b"));
        assert!(is_whole(".load my (file.dl"));
        assert!(!is_whole(".explain ?edge(X,"));
    }
}
