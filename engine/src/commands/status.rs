//! `.status`: what is here.

use std::collections::HashSet;

use super::{CommandEntry, CommandFamily};
use crate::answer::Rows;
use crate::context::{Context, Outcome};
use crate::data::Value;
use crate::error::Error;
use crate::graph::{GraphId, SessionState};
use crate::need::Need;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Status",
    entries: &[CommandEntry {
        words: &["status"],
        usage: "",
        doc: "Shows the version, what is stored in the graphs that you may see, how near the facts of all graphs are to \
                  the memory that they may take, how long ago everything was archived, and what is kept of the rows of rules.",
        example: ".status",
        need: Need::Nothing,
        arguments: 0,
        run: status,
    }],
};

fn status(_: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let caller = context.caller;
    let statistics = context.environment.graphs.statistics(|graph| caller.sees(graph));
    let graphs = &context.environment.graphs;
    let seen = graphs.names().into_iter().filter(|graph| caller.sees(graph));
    let seen: HashSet<GraphId> = seen.filter_map(|name| Some(graphs.get(&name).ok()?.id())).collect();
    let kept = context.environment.views.status(|graph| seen.contains(&graph));
    let columns = [
        "version",
        "knowledge_graph",
        "knowledge_graphs",
        "relations",
        "views",
        "tuples",
        "memory_bytes",
        "stored_bytes",
        "stored_limit_bytes",
        "archive_age_seconds",
        "kept_views",
        "kept_view_bytes",
    ];
    let count = |n: usize| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let bytes = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let row = vec![
        Value::text(env!("CARGO_PKG_VERSION")),
        Value::text(session.graph.name()),
        count(statistics.knowledge_graphs),
        count(statistics.relations),
        count(statistics.views),
        count(statistics.tuples),
        count(statistics.memory_bytes),
        bytes(statistics.stored_bytes),
        statistics.stored_limit.map_or(Value::Null, bytes),
        statistics.archive.map_or(Value::Null, |archive| bytes(archive.age.as_secs())),
        count(kept.views),
        count(kept.memory_bytes),
    ];
    Ok(Outcome::Listing(Rows::listing(&columns, vec![row])?))
}
