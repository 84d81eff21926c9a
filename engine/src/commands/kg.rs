//! `.kg`: knowledge graphs.

use super::CommandEntry;
use crate::answer::Rows;
use crate::context::{Context, Outcome};
use crate::data::Value;
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::{DEFAULT_GRAPH, SessionState};
use crate::need::Need;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: &[CommandEntry] = &[
    CommandEntry {
        words: &["kg"],
        usage: "",
        doc: "Names the graph that the session is bound to.",
        need: Need::Nothing,
        arguments: 0,
        run: current,
    },
    CommandEntry {
        words: &["kg", "list"],
        usage: "",
        doc: "Lists the graphs; `current` marks the session's own.",
        need: Need::Nothing,
        arguments: 0,
        run: list,
    },
    CommandEntry {
        words: &["kg", "create"],
        usage: "NAME",
        doc: "Creates a graph and binds the session to it.",
        need: Need::CreateGraph,
        arguments: 1,
        run: create,
    },
    CommandEntry {
        words: &["kg", "use"],
        usage: "NAME",
        doc: "Binds the session to another graph; session facts and rules are dropped.",
        need: Need::Nothing,
        arguments: 1,
        run: bind,
    },
    CommandEntry {
        words: &["kg", "drop"],
        usage: "NAME",
        doc: "Drops a graph with all that is in it.",
        need: Need::Manage,
        arguments: 1,
        run: drop,
    },
];

fn current(_: &[Name], _: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Message(session.graph.name().to_owned()))
}

fn list(_: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let current = session.graph.name();
    let row = |name: String| vec![Value::text(name.clone()), Value::Bool(name == current)];
    let rows = context.environment.graphs.names().into_iter().map(row).collect();
    Ok(Outcome::Listing(Rows::listing(&["name", "current"], rows)?))
}

fn create(words: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    let environment = context.environment;
    let created = environment.graphs.create(&name.text, environment.limits.graphs);
    session.bind(created.map_err(|diagnostic| Error::refused(diagnostic.at(name.span)))?);
    Ok(Outcome::Switched(
        name.text.clone(),
        format!("created knowledge graph {} and switched to it", name.text),
    ))
}

fn bind(words: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0].text;
    session.bind(context.environment.graphs.get(name)?);
    Ok(Outcome::Switched(name.clone(), format!("switched to knowledge graph {name}")))
}

fn drop(words: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    let refuse = |message: String, help: &str| {
        Err(Error::refused(Diagnostic::error(Code::AccessDenied, message).at(name.span).help(help)))
    };
    if name.text == DEFAULT_GRAPH {
        return refuse(
            format!("the knowledge graph {DEFAULT_GRAPH} always exists"),
            "drop its relations instead: .rel drop NAME",
        );
    }
    if name.text == session.graph.name() {
        return refuse(
            format!("the session is bound to {}", name.text),
            "switch to another knowledge graph first: .kg use default",
        );
    }
    context.environment.graphs.remove(&name.text)?;
    Ok(Outcome::Message(format!("dropped knowledge graph {}", name.text)))
}
