//! `.user`: who may log in.

use stratalog_engine::{
    CommandEntry, CommandFamily, Context, Error, Name, Need, Outcome, SessionState, Value,
};
use stratalog_protocol::Secret;

use super::caller;
use crate::auth::{AccountChange, AccountError, Role, check_name, check_password};

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Users",
    entries: &[
        CommandEntry {
            words: &["user", "list"],
            usage: "",
            doc: "Lists the users: username, role.",
            example: ".user list",
            need: Need::Administer,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["user", "create"],
            usage: "NAME PASSWORD ROLE",
            doc: "Creates a user with the role admin, editor or viewer.",
            example: ".user create bob builder viewer",
            need: Need::Administer,
            arguments: 3,
            run: create,
        },
        CommandEntry {
            words: &["user", "drop"],
            usage: "NAME",
            doc: "Drops a user with keys and access entries, and ends the user's sessions.",
            example: ".user drop ada",
            need: Need::Administer,
            arguments: 1,
            run: drop,
        },
        CommandEntry {
            words: &["user", "password"],
            usage: "PASSWORD",
            doc: "Changes your own password, and ends your other sessions.",
            example: ".user password analytical",
            need: Need::Nothing,
            arguments: 1,
            run: own_password,
        },
        CommandEntry {
            words: &["user", "password"],
            usage: "NAME PASSWORD",
            doc: "Changes a password, and ends the user's other sessions.",
            example: ".user password ada analytical",
            need: Need::Administer,
            arguments: 2,
            run: password,
        },
        CommandEntry {
            words: &["user", "role"],
            usage: "NAME ROLE",
            doc: "Changes the role of a user.",
            example: ".user role ada viewer",
            need: Need::Administer,
            arguments: 2,
            run: role,
        },
    ],
};

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let users = caller(context)?.accounts().users();
    let rows = users.into_iter().map(|(name, role)| vec![Value::text(name), Value::text(role.as_str())]);
    Outcome::listing(&["username", "role"], rows.collect())
}

fn create(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let [name, password, role] = exactly(words, ".user create NAME PASSWORD ROLE")?;
    let by = caller(context)?;
    check_name("a user", &name.text).map_err(|error| at(name, error))?;
    check_password(&password.text).map_err(|error| at(password, error))?;
    let parsed = parse_role(role)?;
    let accounts = by.accounts();
    // Hashing takes long, so what cannot be is refused before.
    if accounts.has_user(&name.text) {
        return Err(at(name, AccountError::UserExists(name.text.clone())));
    }
    let hash = accounts.hash(&Secret::new(password.text.as_str())).map_err(AccountError::from)?;
    by.change(&AccountChange::CreateUser { name: name.text.clone(), role: parsed, password: hash })?;
    Ok(Outcome::Message(format!("created user {} with the role {}", name.text, parsed.as_str())))
}

fn drop(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0].text;
    caller(context)?.change(&AccountChange::DropUser { name: name.clone() })?;
    Ok(Outcome::Message(format!("dropped user {name}")))
}

fn password(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let [name, password] = exactly(words, ".user password NAME PASSWORD")?;
    let by = caller(context)?;
    check_password(&password.text).map_err(|error| at(password, error))?;
    let accounts = by.accounts();
    if !accounts.has_user(&name.text) {
        return Err(at(name, AccountError::NoSuchUser(name.text.clone())));
    }
    let hash = accounts.hash(&Secret::new(password.text.as_str())).map_err(AccountError::from)?;
    by.change(&AccountChange::SetPassword { name: name.text.clone(), password: hash })?;
    Ok(Outcome::Message(format!("changed the password of {}", name.text)))
}

fn own_password(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let [password] = exactly(words, ".user password PASSWORD")?;
    let by = caller(context)?;
    check_password(&password.text).map_err(|error| at(password, error))?;
    if by.key().is_some() {
        return Err(at(password, AccountError::PasswordByKey));
    }
    let (accounts, name) = (by.accounts(), by.username());
    // Somebody has left the password out. Who else there is, only administrators may know.
    if password.text == name || (by.administers() && accounts.has_user(&password.text)) {
        return Err(at(password, AccountError::PasswordMissing(password.text.clone())));
    }
    let hash = accounts.hash(&Secret::new(password.text.as_str())).map_err(AccountError::from)?;
    by.change(&AccountChange::SetPassword { name: name.to_owned(), password: hash })?;
    Ok(Outcome::Message("changed your password".to_owned()))
}

fn role(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let (name, role) = (&words[0].text, parse_role(&words[1])?);
    caller(context)?.change(&AccountChange::SetRole { name: name.clone(), role })?;
    Ok(Outcome::Message(format!("{name} has the role {} now", role.as_str())))
}

/// The arguments of a command that takes a password. A surplus word is an error here: it may be the rest of a password
/// with a blank in it, of which only the first word would count.
fn exactly<'w, const N: usize>(words: &'w [Name], usage: &'static str) -> Result<&'w [Name; N], Error> {
    words.try_into().map_err(|_| AccountError::SurplusWords(usage).into())
}

fn parse_role(word: &Name) -> Result<Role, Error> {
    Role::parse(&word.text).ok_or_else(|| at(word, AccountError::BadRole))
}

/// Says where the word stands that is wrong.
fn at(word: &Name, error: AccountError) -> Error {
    Error::from(error).at(word.span)
}
