//! `.apikey`: keys for programs. Each belongs to a user and has that user's rights, or as much of them as its scope says.

use stratalog_engine::{
    CommandEntry, CommandFamily, Context, Error, Name, Need, Outcome, SessionState, Value,
};

use super::caller;
use crate::auth::{AccountChange, AccountError, KeyScope, KeyTerms, ListedKey, check_name, new_key};
use crate::clock;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "API keys",
    entries: &[
        CommandEntry {
            words: &["apikey", "list"],
            usage: "",
            doc: "Lists the API keys: label, owner, created, expires, scope.",
            example: ".apikey list",
            need: Need::Administer,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["apikey", "create"],
            usage: "LABEL [for USER] [expires TIME] [SCOPE]",
            doc: "Creates an API key with your rights, or those of another user, and shows it this once: api_key, label. TIME is a date and time or a length such as 30d; SCOPE is metrics, read or write.",
            example: ".apikey create weekly-report for ada expires 30d read",
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
    let rows = keys.map(|ListedKey { label, owner, created, terms }| {
        let expires = terms.expires.map_or(Value::Null, Value::Timestamp);
        let scope = Value::text(terms.scope.as_str());
        vec![Value::text(label), Value::text(owner), Value::Timestamp(created), expires, scope]
    });
    Outcome::listing(&["label", "owner", "created", "expires", "scope"], rows.collect())
}

fn create(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let (word, by) = (&words[0], caller(context)?);
    let label = &word.text;
    check_name("an API key", label).map_err(|error| Error::from(error).at(word.span))?;
    let Asked { owner, terms } = Asked::read(&words[1..])?;
    let owner = owner.map_or(by.username(), |word| word.text.as_str());
    let (secret, change) = new_key(label, owner, terms).map_err(AccountError::from)?;
    by.change(&change)?;
    let row = vec![Value::text(secret.expose()), Value::text(label.as_str())];
    Outcome::listing(&["api_key", "label"], vec![row])
}

/// What follows the label: each at most once, in any order.
#[derive(Default)]
struct Asked<'w> {
    owner: Option<&'w Name>,
    terms: KeyTerms,
}

impl Asked<'_> {
    fn read(words: &[Name]) -> Result<Asked<'_>, Error> {
        let (mut owner, mut expires, mut scope) = (None, None, None);
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let wrong = || Error::from(AccountError::BadKeyTerms).at(word.span);
            let is_new = match word.text.to_ascii_lowercase().as_str() {
                "for" => owner.replace(rest.next().ok_or_else(wrong)?).is_none(),
                "expires" => {
                    let time = rest.next().ok_or_else(wrong)?;
                    let (given, now) = (clock::parse(&time.text, clock::now_ms()), clock::now_ms());
                    let at = given.filter(|at| *at > now);
                    let at = at.ok_or_else(|| Error::from(AccountError::BadTime).at(time.span))?;
                    expires.replace(at).is_none()
                }
                text => scope.replace(KeyScope::parse(text).ok_or_else(wrong)?).is_none(),
            };
            if !is_new {
                return Err(wrong());
            }
        }
        Ok(Asked { owner, terms: KeyTerms { scope: scope.unwrap_or_default(), expires } })
    }
}

fn revoke(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let label = &words[0].text;
    caller(context)?.change(&AccountChange::RevokeKey { label: label.clone() })?;
    Ok(Outcome::Message(format!("revoked API key {label}")))
}
