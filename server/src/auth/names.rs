//! What users and keys may be called, and what makes a password.

use stratalog_engine::is_invisible;

use super::error::AccountError;

/// The longest name of a user or key, in bytes.
const LONGEST_NAME: usize = 128;

/// The longest password, in bytes.
const LONGEST_PASSWORD: usize = 1024;

/// Whether a user or a key may have this name: letters and digits of any script, and `_ - . @ +`.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), AccountError> {
    let allowed = |c: char| (c.is_alphanumeric() && !is_invisible(c)) || "_-.@+".contains(c);
    let fits = name.len() <= LONGEST_NAME && name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if fits && name.chars().all(allowed) { Ok(()) } else { Err(AccountError::BadName(what)) }
}

/// Whether this may be a password. The text itself stays out of the error.
pub(crate) fn check_password(password: &str) -> Result<(), AccountError> {
    if password.len() > LONGEST_PASSWORD {
        return Err(AccountError::BadPassword("it is longer than 1024 bytes"));
    }
    if password.chars().any(char::is_control) {
        return Err(AccountError::BadPassword("it holds a control character"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check_name, check_password};

    #[test]
    fn names_are_words() {
        for name in ["ada", "Ada_1", "ada.l@example.org", "größe", "_", "7", &"x".repeat(128)] {
            assert!(check_name("user", name).is_ok(), "{name}");
        }
        for name in
            ["", "-x", ".x", "a b", "a/b", "a\u{7}", "a\"", "a\u{3164}", "..", "a'--", &"x".repeat(129)]
        {
            assert!(check_name("user", name).is_err(), "{name}");
        }
    }

    #[test]
    fn passwords_are_any_text_of_some_length() {
        assert!(check_password("p(\"';é$%").is_ok());
        assert!(check_password("a\u{1b}[2J").is_err());
        let error = check_password(&"s".repeat(2000)).unwrap_err();
        assert!(!error.to_string().contains("sss"));
    }
}
