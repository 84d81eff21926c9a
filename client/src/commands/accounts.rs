//! `stratalog user` and `stratalog key`: the server's commands, with passwords that no command line shows.

use crate::arguments::{KeyCommand, UserCommand};
use crate::passwords;
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
        UserCommand::Password { name: Some(name) } => {
            let name = word(name, "name")?;
            format!(".user password {name} {}", new_password(name)?)
        }
        UserCommand::Password { name: None } => format!(".user password {}", new_password("yourself")?),
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
        KeyCommand::Create { label, owner, expires, scope } => {
            let mut command = format!(".apikey create {}", word(label, "label")?);
            for (before, given, what) in
                [(" for ", owner, "name"), (" expires ", expires, "time"), (" ", scope, "scope")]
            {
                if let Some(given) = given {
                    command.push_str(before);
                    command.push_str(word(given, what)?);
                }
            }
            command
        }
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
    let password = passwords::ask(&format!("New password for {name}: ")).map_err(failed)?;
    let again = passwords::ask("The same again: ").map_err(failed)?;
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
        let create = |owner: Option<&str>, expires: Option<&str>, scope: Option<&str>| {
            let [owner, expires, scope] = [owner, expires, scope].map(|given| given.map(str::to_owned));
            key(&KeyCommand::Create { label: "nightly".into(), owner, expires, scope })
        };
        assert_eq!(create(None, None, None), Ok(".apikey create nightly".into()));
        let all = create(Some("ada"), Some("30d"), Some("read"));
        assert_eq!(all, Ok(".apikey create nightly for ada expires 30d read".into()));
        assert!(create(Some("ada read"), None, None).is_err());
    }
}
