//! What somebody may do: role and level against what a program needs.
//!
//! A role says what a user may do in general; a level what they may do on one graph. A graph on which somebody has no
//! level does not exist for them: whatever they ask about it is answered as if it were absent.

use stratalog_engine::{Code, DEFAULT_GRAPH, Diagnostic, Need, graph_not_found};

use super::book::{Book, User};
use super::roles::{Level, Role};
use crate::config::DefaultGraph;

/// Whether a user may do something on a graph.
pub(super) fn check(
    book: &Book,
    default_graph: DefaultGraph,
    username: &str,
    need: Need,
    graph: &str,
) -> Result<(), Diagnostic> {
    let Some(user) = book.user(username) else {
        return Err(denied("the user no longer exists").help("log in as another user"));
    };
    let level = level(book, default_graph, username, user, graph);
    let least = match need {
        Need::Nothing => return Ok(()),
        Need::CreateGraph => {
            return at_least(user.role, Role::Editor, "creating a knowledge graph takes the role `editor`");
        }
        Need::Administer => return at_least(user.role, Role::Admin, "this takes the role `admin`"),
        // That this graph exists is known to everybody.
        Need::Enter if graph == DEFAULT_GRAPH => return Ok(()),
        Need::Enter | Need::Read => Level::Viewer,
        Need::Write => Level::Editor,
        Need::Manage => Level::Owner,
    };
    match level {
        Some(level) if level >= least => Ok(()),
        Some(_) => Err(denied(&format!("this takes the level `{}` on {graph}", least.as_str()))
            .help("an owner of the knowledge graph can grant it: .kg acl grant")),
        None if graph == DEFAULT_GRAPH => Err(denied(&format!("there is no entry for you on {graph}"))
            .help("an administrator can grant one: .kg acl grant")),
        None => Err(graph_not_found(graph)),
    }
}

fn at_least(role: Role, least: Role, reason: &str) -> Result<(), Diagnostic> {
    let help = "an administrator can change the role: .user role";
    if role >= least { Ok(()) } else { Err(denied(reason).help(help)) }
}

fn denied(reason: &str) -> Diagnostic {
    Diagnostic::error(Code::AccessDenied, format!("access denied: {reason}"))
}

/// What a user may do on a graph; `None` if it does not exist for them.
fn level(book: &Book, default_graph: DefaultGraph, name: &str, user: &User, graph: &str) -> Option<Level> {
    if user.role == Role::Admin {
        return Some(Level::Owner);
    }
    let by_role = graph == DEFAULT_GRAPH && default_graph == DefaultGraph::Role;
    book.entry(graph, name).or_else(|| by_role.then(|| Level::from(user.role)))
}
