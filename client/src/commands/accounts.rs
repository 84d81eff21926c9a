//! `stratalog user` and `stratalog key`: the server's commands, with passwords that no command line shows.

use crate::arguments::{KeyCommand, UserCommand};
use crate::terminal;
use std::io::{self, IsTerminal};
use stratalog_client::manage::command_word;

/// The command of the server for a command about users.
pub(crate) fn user(command: &UserCommand) -> Result<String, String> {
    Ok(match command {
        UserCommand::List => ".user list".to_owned(),
        UserCommand::Create { name, role } => {
            let (name, role) = (word(name, "name")?, word(role, "role")?);
            format!(".user create {name} {} {role}", new_password(name)?)
        }
        UserCommand::Password { name } => {
            let name = word(name, "name")?;
            format!(".user password {name} {}", new_password(name)?)
        }
        UserCommand::Role { name, role } => {
            format!(".user role {} {}", word(name, "name")?, word(role, "role")?)
        }
        UserCommand::Drop { name } => format!(".user drop {}", word(name, "name")?),
    })
}

/// The command of the server for a command about keys.
pub(crate) fn key(command: &KeyCommand) -> Result<String, String> {
    Ok(match command {
        KeyCommand::List => ".apikey list".to_owned(),
        KeyCommand::Create { label } => format!(".apikey create {}", word(label, "label")?),
        KeyCommand::Revoke { label } => format!(".apikey revoke {}", word(label, "label")?),
    })
}

/// Asks twice for a password; without a terminal, standard input has it on its first line.
fn new_password(name: &str) -> Result<String, String> {
    let failed = |error: io::Error| format!("cannot read the password: {error}");
    if !io::stdin().is_terminal() {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map_err(failed)?;
        return word(line.trim_end_matches(['\r', '\n']), "password").map(str::to_owned);
    }
    let password = terminal::ask(&format!("New password for {name}: ")).map_err(failed)?;
    let again = terminal::ask("The same again: ").map_err(failed)?;
    if password != again {
        return Err("the passwords differ".to_owned());
    }
    word(&password, "password").map(str::to_owned)
}

fn word<'a>(text: &'a str, what: &str) -> Result<&'a str, String> {
    command_word(text, what).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word() {
        let drop = UserCommand::Drop { name: "ada\n.user create eve x admin".into() };
        assert!(user(&drop).is_err());
        assert_eq!(key(&KeyCommand::Create { label: "nightly".into() }), Ok(".apikey create nightly".into()));
    }
}
