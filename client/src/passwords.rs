//! Passwords that a person types.

use crate::exit::Exit;
use std::io;

/// What a person types, unseen. Ctrl-C leaves, with a terminal that shows again what is typed.
pub(crate) fn ask(prompt: &str) -> io::Result<String> {
    let answer = rpassword::prompt_password(prompt);
    match &answer {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Exit::Interrupted.now(),
        _ => answer,
    }
}
