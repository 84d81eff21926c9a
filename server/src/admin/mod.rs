//! Dot commands about people and what they do: users, their keys, who may use which graph, running requests and sessions.
//! The engine runs them like its own.

mod acl;
mod api_key;
mod live;
mod metrics;
mod query;
mod session;
mod user;

use std::any::Any;
use std::sync::{Arc, Weak};

use stratalog_engine::{
    BackupSummary, Caller, CommandFamily, Context, Diagnostic, Engine, Error, Keep, Need, Origin,
};

use crate::app::App;
use crate::auth::{AccountError, Identity};
use crate::queries::Running;
use crate::sessions::Sessions;

/// What the server adds to the engine's commands.
pub(crate) const ADMIN_COMMANDS: &[CommandFamily] = &[
    user::COMMANDS,
    api_key::COMMANDS,
    acl::COMMANDS,
    query::COMMANDS,
    live::COMMANDS,
    session::COMMANDS,
    metrics::COMMANDS,
];

/// Somebody who is logged in, with what these commands work on.
#[derive(Debug)]
pub(crate) struct Operator {
    /// Who it is.
    pub(crate) identity: Identity,
    /// What everybody asks.
    pub(crate) running: Arc<Running>,
    /// How many graphs they may own.
    pub(crate) graphs: usize,
    /// What is stored and asked live.
    pub(crate) engine: Engine,
    /// Everybody's sessions, which hold this one.
    pub(crate) sessions: Weak<Sessions>,
    /// The server, which holds all of these.
    pub(crate) app: Weak<App>,
}

impl Operator {
    /// Everybody's sessions; whoever runs a command is in one of them.
    fn sessions(&self) -> Result<Arc<Sessions>, Error> {
        self.sessions.upgrade().ok_or_else(|| Error::internal("admin", "a command outside of all sessions"))
    }

    /// The server.
    fn app(&self) -> Result<Arc<App>, Error> {
        self.app.upgrade().ok_or_else(|| Error::internal("admin", "a command outside of a server"))
    }
}

impl Caller for Operator {
    fn allows(&self, need: Need, graph: &str) -> Result<(), Diagnostic> {
        self.identity.allows(need, graph)?;
        match need {
            Need::CreateGraph => self.identity.may_own_another(self.graphs),
            Need::Nothing | Need::Enter | Need::Read | Need::Write | Need::Manage | Need::Administer => {
                Ok(())
            }
        }
    }

    fn sees(&self, graph: &str) -> bool {
        self.identity.sees(graph)
    }

    fn session(&self) -> Option<Origin> {
        self.identity.session()
    }

    fn creating(&self, graph: &str, keep: Keep<'_>) -> Result<(), Error> {
        self.identity.creating(graph, keep)
    }

    fn backed_up(&self, name: &str, outcome: &Result<BackupSummary, Error>) {
        let entry = self.identity.entry("backup", format!("backup {name}"));
        self.identity.audit().record(&match outcome {
            Ok(_) => entry,
            Err(error) => entry.refused(error),
        });
    }

    fn dropping(&self, graph: &str, keep: Keep<'_>) -> Result<Vec<String>, Error> {
        self.identity.dropping(graph, keep)
    }
}

/// Who runs the command, with what it works on.
fn operator<'c>(context: &'c Context<'_>) -> Result<&'c Operator, Error> {
    let caller: &dyn Any = context.caller();
    caller
        .downcast_ref()
        .ok_or_else(|| Error::internal("admin", "a session of the server belongs to somebody unknown"))
}

/// Who runs a command about users, their keys and rights.
fn caller<'c>(context: &'c Context<'_>) -> Result<&'c Identity, Error> {
    let identity = &operator(context)?.identity;
    match identity.accounts().are_of_owner() {
        true => Err(AccountError::NoUsers.into()),
        false => Ok(identity),
    }
}
