//! What somebody may do: role and level against the needs of a program give a [`Grant`], and only a grant can run.
//!
//! A role says what a user may do in general; a level what they may do on one graph. A graph on which somebody has no
//! level does not exist for them: whatever they ask about it is answered as if it were absent.

use arrow::record_batch::RecordBatch;
use stratalog_engine::catalog::Catalog;
use stratalog_engine::{
    Answer, Budget, Caller, Code, DEFAULT_GRAPH, Diagnostic, Error, Inserted, Need, Prepared, RunOptions,
    Scope, Session, Subscription, Value, Waker, graph_not_found,
};

use super::book::{Book, User};
use super::identity::Identity;
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

/// The right to run one program.
pub(crate) struct Grant {
    prepared: Prepared,
}

/// The right to insert once, without program text.
pub(crate) struct InsertGrant(());

/// The right to take facts of the session away.
pub(crate) struct RetractGrant(());

/// The right to have a program checked.
pub(crate) struct CheckGrant(());

/// Allows a program to run, or says which statement stands against it: nothing runs unless everything may.
pub(crate) fn grant(who: &Identity, prepared: Prepared) -> Result<Grant, Error> {
    for needed in prepared.needs() {
        who.allows(needed.need, &needed.graph).map_err(|refusal| {
            who.denied(needed.need, &refusal);
            needed.refuse(refusal)
        })?;
    }
    Ok(Grant { prepared })
}

/// Allows an insert of rows into the session's graph, or does not.
pub(crate) fn grant_insert(who: &Identity, session: &Session) -> Result<InsertGrant, Error> {
    who.allows(Need::Write, session.graph()).map_err(Error::refused)?;
    Ok(InsertGrant(()))
}

/// Allows facts of the session to be taken away: whoever may read the graph may clear their session.
pub(crate) fn grant_retract(who: &Identity, session: &Session) -> Result<RetractGrant, Error> {
    who.allows(Need::Read, session.graph()).map_err(Error::refused)?;
    Ok(RetractGrant(()))
}

/// Allows a program to be compared with what the session's graph defines, which shows in what is found.
pub(crate) fn grant_check(who: &Identity, session: &Session) -> Result<CheckGrant, Error> {
    who.allows(Need::Read, session.graph()).map_err(Error::refused)?;
    Ok(CheckGrant(()))
}

impl CheckGrant {
    /// What is wrong with a program.
    pub(crate) fn check(
        self,
        session: &Session,
        program: &str,
        budget: &Budget,
    ) -> Result<Vec<Diagnostic>, Error> {
        session.check(program, budget)
    }

    /// What is defined there.
    pub(crate) fn catalog(self, session: &Session) -> Catalog {
        session.catalog()
    }
}

impl RetractGrant {
    /// Takes rows of the session away.
    pub(crate) fn retract_rows(
        self,
        session: &mut Session,
        relation: &str,
        rows: &[Vec<Value>],
        budget: &Budget,
    ) -> Result<usize, Error> {
        session.retract_rows(relation, rows, budget)
    }
}

impl Grant {
    /// Runs the program. Blocks, and takes processor time.
    pub(crate) fn run(
        self,
        session: &mut Session,
        options: &RunOptions,
        budget: &Budget,
    ) -> Result<Answer, Error> {
        session.run(self.prepared, options, budget)
    }

    /// Subscribes to the query that the program is. Blocks, and takes processor time.
    pub(crate) fn subscribe(
        self,
        session: &Session,
        waker: Waker,
        budget: &Budget,
    ) -> Result<Subscription, Error> {
        session.subscribe(self.prepared, waker, budget)
    }
}

impl InsertGrant {
    /// Inserts rows of single values.
    pub(crate) fn insert_rows(
        self,
        session: &mut Session,
        relation: &str,
        scope: Scope,
        names: Option<&[String]>,
        rows: Vec<Vec<Value>>,
        budget: &Budget,
    ) -> Result<Inserted, Error> {
        session.insert_rows(relation, scope, names, rows, budget)
    }

    /// Inserts whole batches.
    pub(crate) fn insert_batches(
        self,
        session: &mut Session,
        relation: &str,
        scope: Scope,
        batches: Vec<RecordBatch>,
        budget: &Budget,
    ) -> Result<Inserted, Error> {
        session.insert_batches(relation, scope, batches, budget)
    }
}
