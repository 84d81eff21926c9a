//! `.kg`: knowledge graphs.

use super::{CommandEntry, CommandFamily};
use crate::context::{Context, Outcome};
use crate::data::Value;
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::{DEFAULT_GRAPH, Event, SessionState, graph_not_found};
use crate::need::Need;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Knowledge graphs",
    entries: &[
        CommandEntry {
            words: &["kg"],
            usage: "",
            doc: "Names the graph that the session is bound to.",
            example: ".kg",
            need: Need::Nothing,
            arguments: 0,
            run: current,
        },
        CommandEntry {
            words: &["kg", "list"],
            usage: "",
            doc: "Lists the graphs that you may see: name, and whether it is the session's (current).",
            example: ".kg list",
            need: Need::Nothing,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["kg", "level"],
            usage: "",
            doc: "Tells what you may do on the session's graph: level (viewer, editor or owner; null: nothing).",
            example: ".kg level",
            need: Need::Nothing,
            arguments: 0,
            run: level,
        },
        CommandEntry {
            words: &["kg", "create"],
            usage: "KG",
            doc: "Creates a graph and binds the session to it.",
            example: ".kg create atlas",
            need: Need::CreateGraph,
            arguments: 1,
            run: create,
        },
        CommandEntry {
            words: &["kg", "use"],
            usage: "KG",
            doc: "Binds the session to another graph; session facts and rules are dropped.",
            example: ".kg use lab",
            need: Need::Enter,
            arguments: 1,
            run: bind,
        },
        CommandEntry {
            words: &["kg", "drop"],
            usage: "KG",
            doc: "Drops a graph with all that is in it; not `default`, and not the session's own.",
            example: ".kg drop lab",
            need: Need::Manage,
            arguments: 1,
            run: drop,
        },
    ],
};

fn current(_: &[Name], _: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Message(session.graph.name().to_owned()))
}

fn list(_: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let current = session.graph.name();
    let row = |name: String| vec![Value::text(name.clone()), Value::Bool(name == current)];
    let names = context.environment.graphs.names().into_iter();
    let rows = names.filter(|name| context.caller.sees(name)).map(row).collect();
    Outcome::listing(&["name", "current"], rows)
}

fn level(_: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    const LEVELS: [(Need, &str); 3] =
        [(Need::Manage, "owner"), (Need::Write, "editor"), (Need::Read, "viewer")];
    let allows = |need: Need| context.caller.allows(need, session.graph.name()).is_ok();
    let level = LEVELS.into_iter().find(|(need, _)| allows(*need));
    Outcome::listing(&["level"], vec![vec![level.map_or(Value::Null, |(_, level)| Value::text(level))]])
}

fn create(words: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    let (environment, caller) = (context.environment, context.caller);
    let mut created = None;
    caller.creating(&name.text, &mut |records| {
        let graph = environment.graphs.create(&name.text, environment.limits.graphs, records);
        created = Some(graph.map_err(|mut refusal| {
            if refusal.code == Code::AlreadyExists && !caller.sees(&name.text) {
                // That the name is taken cannot be hidden; whether it could be used can.
                refusal.message = format!("the name {} is taken", name.text);
                refusal.help = Some("choose another one".to_owned());
            }
            Error::refused(refusal.at(name.span))
        })?);
        Ok(())
    })?;
    let graph = created.ok_or_else(|| Error::internal("kg", "a graph was not created"))?;
    graph.tell(caller.session(), vec![Event::GraphCreated]);
    session.bind(graph);
    Ok(Outcome::Switched(
        name.text.clone(),
        format!("created knowledge graph {} and switched to it", name.text),
    ))
}

fn bind(words: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    session.bind(context.environment.graphs.get(&name.text).map_err(|error| error.at(name.span))?);
    Ok(Outcome::Switched(name.text.clone(), format!("switched to knowledge graph {}", name.text)))
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
    if !context.has_graph(&name.text) {
        return Err(Error::refused(graph_not_found(&name.text).at(name.span)));
    }
    let graphs = &context.environment.graphs;
    let graph = graphs.get(&name.text);
    // With what is known about its users: a later graph of the same name must not inherit them.
    let witnesses = context.caller.dropping(&name.text, &mut |records| graphs.remove(&name.text, records))?;
    if let Ok(graph) = graph {
        context.environment.views.forget(graph.id());
        context.environment.forms.forget(graph.id());
        graph.tell(context.caller.session(), vec![Event::GraphDropped { witnesses }]);
    }
    Ok(Outcome::Message(format!("dropped knowledge graph {}", name.text)))
}
