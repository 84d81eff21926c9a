//! `.apikey`: keys for programs. Each belongs to the user who created it, and has that user's rights.

use stratalog_engine::{
    CommandEntry, CommandFamily, Context, Error, Name, Need, Outcome, SessionState, Value,
};

use super::caller;
use crate::auth::{AccountChange, AccountError, check_name, new_key};

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "API keys",
    entries: &[
        CommandEntry {
            words: &["apikey", "list"],
            usage: "",
            doc: "Lists the API keys: label, owner, created.",
            example: ".apikey list",
            need: Need::Administer,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["apikey", "create"],
            usage: "LABEL",
            doc: "Creates an API key with your rights, and shows it this once: api_key, label.",
            example: ".apikey create weekly-report",
            need: Need::Administer,
            arguments: 1,
            run: create,
        },
        CommandEntry {
            words: &["apikey", "revoke"],
            usage: "LABEL",
            doc: "Revokes an API key, and ends the sessions that it opened.",
            example: ".apikey revoke nightly-import",
            need: Need::Administer,
            arguments: 1,
            run: revoke,
        },
    ],
};

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let keys = caller(context)?.accounts().keys().into_iter();
    let rows = keys.map(|(label, owner, created)| {
        vec![Value::text(label), Value::text(owner), Value::Timestamp(created)]
    });
    Outcome::listing(&["label", "owner", "created"], rows.collect())
}

fn create(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let (word, by) = (&words[0], caller(context)?);
    let label = &word.text;
    check_name("an API key", label).map_err(|error| Error::from(error).at(word.span))?;
    let (secret, change) = new_key(label, by.username()).map_err(AccountError::from)?;
    by.change(&change)?;
    let row = vec![Value::text(secret.expose()), Value::text(label.as_str())];
    Outcome::listing(&["api_key", "label"], vec![row])
}

fn revoke(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let label = &words[0].text;
    caller(context)?.change(&AccountChange::RevokeKey { label: label.clone() })?;
    Ok(Outcome::Message(format!("revoked API key {label}")))
}
