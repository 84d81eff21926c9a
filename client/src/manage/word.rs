//! Names and passwords as words of a command, which is split at blanks.

use crate::errors::ClientError;

/// One word of a command: commands are split at blanks, and `//` after a blank begins a comment. The error does not
/// repeat the word, which may be a secret.
///
/// ```
/// use stratalog_client::manage::command_word;
///
/// assert!(command_word("ada", "name of a user").is_ok());
/// assert!(command_word("ada\n.user create eve x admin", "name of a user").is_err());
/// ```
pub fn command_word<'a>(text: &'a str, what: &str) -> Result<&'a str, ClientError> {
    const HELP: &str = "commands are split at blanks, and `//` begins a comment";
    if text.is_empty() {
        return Err(ClientError::invalid(format!("the {what} is empty"), "it takes at least one character"));
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control())
        || text.starts_with("//")
        || text.starts_with("/*")
    {
        let problem =
            format!("this {what} cannot stand in a command: it holds a blank, or begins as a comment does");
        return Err(ClientError::invalid(problem, HELP));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::command_word;

    #[test]
    fn a_word_is_one_word() {
        assert_eq!(command_word("p'w(\";", "password").unwrap(), "p'w(\";");
        for text in ["", "a b", "a\nb", "//x", "/*x", "\u{7}"] {
            assert!(command_word(text, "name").is_err(), "{text:?}");
        }
        let error = command_word("open sesame", "password").unwrap_err().to_string();
        assert!(!error.contains("sesame"), "{error}");
    }
}
