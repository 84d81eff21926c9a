//! `Caller`: who runs programs, as far as the engine must know. The engine has no users: it asks whether something is
//! allowed, and tells what becomes of graphs.

use std::any::Any;
use std::fmt::Debug;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::graph::{BackupSummary, Origin};
use crate::need::Need;

/// Who runs programs. Whoever knows the users implements it; commands from outside of the engine find them behind it.
pub trait Caller: Any + Debug + Send + Sync {
    /// Whether this may be done at this moment; `graph` is the graph that it concerns.
    fn allows(&self, need: Need, graph: &str) -> Result<(), Diagnostic>;

    /// Whether the caller may know that this graph exists.
    fn sees(&self, graph: &str) -> bool {
        self.allows(Need::Read, graph).is_ok()
    }

    /// The session that acts, as listeners hear of what it commits.
    fn session(&self) -> Option<Origin> {
        None
    }

    /// The caller has created a graph. If this fails, the graph is taken back.
    fn created(&self, graph: &str) -> Result<(), Error>;

    /// The caller has made a backup of this name, or has tried to.
    fn backed_up(&self, _name: &str, _outcome: &Result<BackupSummary, Error>) {}

    /// The caller is about to drop a graph. If this fails, the graph stays. Answers who could see it: they are named in
    /// the event, as nobody sees it afterwards.
    fn dropping(&self, graph: &str) -> Result<Vec<String>, Error>;
}

/// Whoever has the engine for themselves: everything is allowed.
#[derive(Debug, Clone, Copy)]
pub struct Anyone;

impl Caller for Anyone {
    fn allows(&self, _: Need, _: &str) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn created(&self, _: &str) -> Result<(), Error> {
        Ok(())
    }

    fn dropping(&self, _: &str) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }
}
