//! `.live`: the live queries, and who may be in the way. For administrators.

use stratalog_engine::{
    Code, CommandEntry, CommandFamily, Context, Diagnostic, Error, Name, Need, Outcome, SessionState, Value,
};

use super::operator;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Live queries",
    entries: &[
        CommandEntry {
            words: &["live", "list"],
            usage: "",
            doc: "Lists the live queries: id, knowledge_graph, subscribers, version, behind (versions not looked at yet), \
                  took_ms (of the last step, with all that differ in constants only), bytes, query.",
            example: ".live list",
            need: Need::Administer,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["live", "kill"],
            usage: "ID",
            doc: "Ends a live query; all who have subscribed to it are told `cancelled`.",
            example: ".live kill 3",
            need: Need::Administer,
            arguments: 1,
            run: kill,
        },
    ],
};

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let integer = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let rows = operator(context)?.engine.live_queries().into_iter().map(|live| {
        vec![
            integer(live.number),
            Value::text(&*live.graph),
            integer(live.subscribers as u64),
            live.version.map_or(Value::Null, integer),
            integer(live.behind()),
            Value::Float(live.took.as_micros() as f64 / 1e3),
            integer(live.bytes as u64),
            Value::text(live.text),
        ]
    });
    let columns = ["id", "knowledge_graph", "subscribers", "version", "behind", "took_ms", "bytes", "query"];
    Outcome::listing(&columns, rows.collect())
}

fn kill(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let (word, operator) = (&words[0], operator(context)?);
    let number: Option<u64> = word.text.parse().ok();
    match number.and_then(|number| operator.engine.end_live_query(number)) {
        Some(live) => {
            let plural = if live.subscribers == 1 { "" } else { "s" };
            let ended = format!("live query {} with {} subscriber{plural}", live.number, live.subscribers);
            let who = &operator.identity;
            who.audit().record(&who.entry("live.kill", format!("{ended} ended")));
            Ok(Outcome::Message(format!("ended {ended}")))
        }
        None => Err(Error::refused(
            Diagnostic::error(Code::NotFound, format!("there is no live query {}", word.text.escape_debug()))
                .help("list those there are: .live list")
                .at(word.span),
        )),
    }
}
