//! `.cluster`: a question to the cluster. `.kg cluster`: whether the questions of a graph go there.

use super::plan::query;
use super::{CommandEntry, CommandFamily};
use crate::catalog::ClusterUse;
use crate::context::{Context, Outcome, Question};
use crate::data::Value;
use crate::error::Error;
use crate::graph::{Change, SessionState};
use crate::need::Need;
use crate::statements::no_cluster;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Beyond memory",
    entries: &[
        CommandEntry {
            words: &["kg", "cluster"],
            usage: "",
            doc: "Tells whether questions about the session's graph go to the cluster: use (off, on or only), is_there \
                  (whether the server has one), over_bytes (from how many bytes of stored rows on they go there at once).",
            example: ".kg cluster",
            need: Need::Read,
            arguments: 0,
            run: show,
        },
        CommandEntry {
            words: &["kg", "cluster", "on"],
            usage: "",
            doc: "Lets questions about the session's graph go to the cluster: those that read or need more than fits memory, \
                  and those that ask to.",
            example: ".kg cluster on",
            need: Need::Manage,
            arguments: 0,
            run: on,
        },
        CommandEntry {
            words: &["kg", "cluster", "off"],
            usage: "",
            doc: "Evaluates all questions about the session's graph in the server's memory.",
            example: ".kg cluster off",
            need: Need::Manage,
            arguments: 0,
            run: off,
        },
        CommandEntry {
            words: &["kg", "cluster", "only"],
            usage: "",
            doc: "Evaluates all questions about the session's graph by the cluster; live queries and views stay here.",
            example: ".kg cluster only",
            need: Need::Manage,
            arguments: 0,
            run: only,
        },
        CommandEntry {
            words: &["cluster"],
            usage: super::QUERY,
            doc: "Answers a query by the cluster, whose rows need not fit memory.",
            example: ".cluster ?path(X, Y)",
            need: Need::Read,
            arguments: 1,
            run: ask,
        },
    ],
};

fn show(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let cluster = context.environment.cluster.as_ref();
    let said = context.snapshot().catalog().cluster_use();
    let uses = said.or(cluster.map(|cluster| cluster.default_use)).unwrap_or(ClusterUse::Off);
    let over = cluster
        .map_or(Value::Null, |cluster| Value::Int(i64::try_from(cluster.over_bytes).unwrap_or(i64::MAX)));
    let row = vec![Value::text(uses.as_str()), Value::Bool(cluster.is_some()), over];
    Outcome::listing(&["use", "is_there", "over_bytes"], vec![row])
}

fn on(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    set(ClusterUse::On, context)
}

fn off(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    set(ClusterUse::Off, context)
}

fn only(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    set(ClusterUse::Only, context)
}

fn set(cluster: ClusterUse, context: &mut Context<'_>) -> Result<Outcome, Error> {
    let is_there = context.environment.cluster.is_some();
    if cluster == ClusterUse::Only && !is_there {
        return Err(no_cluster("the questions of this graph are to go to a cluster"));
    }
    context.write(|_, _| Ok((vec![Change::UseCluster(cluster)], ())))?;
    let graph = context.graph.name();
    let goes = match cluster {
        ClusterUse::Off => "does not use the cluster",
        ClusterUse::On => "uses the cluster for what does not fit memory",
        ClusterUse::Only => "is evaluated by the cluster",
    };
    let absent = if is_there { "" } else { "; this server has none" };
    Ok(Outcome::Message(format!("knowledge graph {graph} {goes}{absent}")))
}

fn ask(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::ByCluster(query(context)?)))
}
