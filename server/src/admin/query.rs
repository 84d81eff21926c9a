//! `.query`: what is being asked at the moment. For administrators.

use stratalog_engine::{
    Code, CommandEntry, CommandFamily, Context, Diagnostic, Error, Name, Need, Outcome, SessionState, Value,
};

use super::operator;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Requests",
    entries: &[
        CommandEntry {
            words: &["query", "list"],
            usage: "",
            doc: "Lists the requests that wait or run: id, user, knowledge_graph, session, state, started, elapsed_ms, program, and how far they \
                  are: rounds of recursions, rows that rules have found, memory_bytes that they hold.",
            example: ".query list",
            need: Need::Administer,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["query", "kill"],
            usage: "ID",
            doc: "Stops a request; its user gets the error `cancelled`.",
            example: ".query kill 3",
            need: Need::Administer,
            arguments: 1,
            run: kill,
        },
    ],
};

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let integer = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let rows = operator(context)?.running.list().into_iter().map(|request| {
        vec![
            integer(request.number),
            Value::text(request.user),
            Value::text(request.graph),
            Value::text(request.session.to_string()),
            Value::text(request.state.as_str()),
            Value::Timestamp(request.started_at_ms),
            integer(request.elapsed_ms),
            Value::text(request.program),
            integer(request.progress.rounds),
            integer(request.progress.rows),
            integer(request.progress.memory_bytes),
        ]
    });
    let columns = [
        "id",
        "user",
        "knowledge_graph",
        "session",
        "state",
        "started",
        "elapsed_ms",
        "program",
        "rounds",
        "rows",
        "memory_bytes",
    ];
    Outcome::listing(&columns, rows.collect())
}

fn kill(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let (word, operator) = (&words[0], operator(context)?);
    let number: Option<u64> = word.text.parse().ok();
    match number.and_then(|number| Some((number, operator.running.kill(number)?))) {
        Some((number, user)) => {
            let who = &operator.identity;
            who.audit().record(&who.entry("query.kill", format!("request {number} of {user} stopped")));
            Ok(Outcome::Message(format!("stopped request {number} of {user}")))
        }
        None => Err(Error::refused(
            Diagnostic::error(
                Code::NotFound,
                format!("no request {} waits or runs", word.text.escape_debug()),
            )
            .help("list those there are: .query list")
            .at(word.span),
        )),
    }
}
