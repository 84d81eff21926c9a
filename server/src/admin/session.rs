//! `.session open` and `.session kill`: the sessions of people. Everybody has to do with their own, administrators with
//! all.

use std::time::Duration;

use stratalog_engine::{
    Code, CommandEntry, CommandFamily, Context, Diagnostic, Error, Name, Need, Outcome, SessionState, Value,
};
use uuid::Uuid;

use super::operator;
use crate::auth::{Ended, Identity};

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Sessions",
    entries: &[
        CommandEntry {
            words: &["session", "open"],
            usage: "",
            doc: "Lists the open sessions, your own or, for administrators, all: id, user, api_key, knowledge_graph, connections, idle_ms.",
            example: ".session open",
            need: Need::Nothing,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["session", "kill"],
            usage: "ID",
            doc: "Ends a session and its connections: one of your own or, for administrators, any.",
            example: ".session kill 6b6f4c9e-0f3a-4bd2-9f3c-8a1d5f0f2c11",
            need: Need::Nothing,
            arguments: 1,
            run: kill,
        },
    ],
};

/// Whether somebody has to do with the sessions of this owner.
fn may(who: &Identity, owner: &Identity) -> bool {
    who.administers() || who.username() == owner.username()
}

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let operator = operator(context)?;
    let sessions = operator.sessions()?.list(|owner| may(&operator.identity, owner));
    let milliseconds = |time: Duration| Value::Int(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
    let rows = sessions.into_iter().map(|session| {
        vec![
            Value::text(session.id.to_string()),
            Value::text(session.user),
            session.key.map_or(Value::Null, Value::text),
            Value::text(session.graph),
            Value::Int(i64::try_from(session.sockets).unwrap_or(i64::MAX)),
            milliseconds(session.silent),
        ]
    });
    let columns = ["id", "user", "api_key", "knowledge_graph", "connections", "idle_ms"];
    Outcome::listing(&columns, rows.collect())
}

fn kill(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let (word, operator) = (&words[0], operator(context)?);
    let who = &operator.identity;
    if !who.scope().is_all() {
        return Err(Error::refused(who.scope().refusal()));
    }
    let why = |owner: &Identity| {
        may(who, owner).then(|| Ended::Killed { by_user: who.username() == owner.username() })
    };
    let sessions = operator.sessions()?;
    let killed = Uuid::try_parse(&word.text).ok().and_then(|id| Some((id, sessions.kill(id, why)?)));
    let Some((id, user)) = killed else {
        let message = format!("there is no session {}", word.text.escape_debug());
        let diagnostic = Diagnostic::error(Code::NotFound, message).at(word.span);
        return Err(Error::refused(diagnostic.help("list those there are: .session open")));
    };
    who.audit().record(&who.entry("session.kill", format!("session {id} of {user} ended")));
    Ok(Outcome::Message(format!("ended session {id} of {user}")))
}
