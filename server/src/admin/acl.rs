//! `.kg acl`: who may use a graph. For its owners, and for administrators.

use stratalog_engine::{
    CommandEntry, CommandFamily, Context, Error, Name, Need, Outcome, SessionState, Value, graph_not_found,
};

use super::caller;
use crate::auth::{AccountChange, AccountError, Level};

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Access to knowledge graphs",
    entries: &[
        CommandEntry {
            words: &["kg", "acl", "list"],
            usage: "",
            doc: "Lists who has an entry for the session's graph: username, level.",
            example: ".kg acl list",
            need: Need::Manage,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["kg", "acl", "list"],
            usage: "KG",
            doc: "Lists who has an entry for a graph: username, level.",
            example: ".kg acl list lab",
            need: Need::Manage,
            arguments: 1,
            run: list,
        },
        CommandEntry {
            words: &["kg", "acl", "grant"],
            usage: "KG USER LEVEL",
            doc: "Gives a user the level viewer, editor or owner on a graph, in place of any before.",
            example: ".kg acl grant lab ada editor",
            need: Need::Manage,
            arguments: 3,
            run: grant,
        },
        CommandEntry {
            words: &["kg", "acl", "revoke"],
            usage: "KG USER",
            doc: "Takes a user's level on a graph away.",
            example: ".kg acl revoke lab ada",
            need: Need::Manage,
            arguments: 2,
            run: revoke,
        },
    ],
};

fn list(words: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let graph = match words.first() {
        Some(word) => existing(word, context)?,
        None => session.graph.name(),
    };
    let entries = caller(context)?.accounts().entries(graph).into_iter();
    let rows = entries.map(|(user, level)| vec![Value::text(user), Value::text(level.as_str())]);
    Outcome::listing(&["username", "level"], rows.collect())
}

fn grant(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let (graph, user) = (existing(&words[0], context)?, &words[1]);
    let level =
        Level::parse(&words[2].text).ok_or_else(|| Error::from(AccountError::BadLevel).at(words[2].span))?;
    let change = AccountChange::Grant { graph: graph.to_owned(), user: user.text.clone(), level };
    caller(context)?.change(&change).map_err(|error| error.at(user.span))?;
    Ok(Outcome::Message(format!("{} is {} of knowledge graph {graph} now", user.text, level.as_str())))
}

fn revoke(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let (graph, user) = (existing(&words[0], context)?, &words[1]);
    let change = AccountChange::Revoke { graph: graph.to_owned(), user: user.text.clone() };
    caller(context)?.change(&change).map_err(|error| error.at(user.span))?;
    Ok(Outcome::Message(format!("{} has no entry for knowledge graph {graph} any more", user.text)))
}

/// The name of a graph that exists.
fn existing<'w>(word: &'w Name, context: &Context<'_>) -> Result<&'w str, Error> {
    if context.has_graph(&word.text) {
        return Ok(&word.text);
    }
    Err(Error::refused(graph_not_found(&word.text).at(word.span)))
}
