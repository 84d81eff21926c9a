//! `Caller`: who runs programs, as far as the engine must know. The engine has no users: it asks whether something is
//! allowed, and tells what becomes of graphs.

use std::any::Any;
use std::fmt::Debug;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::graph::Origin;
use crate::need::Need;
use crate::storage::RecordChange;

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

    /// The caller creates a graph, which `keep` does together with changes of what is kept of its users.
    fn creating(&self, graph: &str, keep: Keep<'_>) -> Result<(), Error>;

    /// The caller drops a graph, in the same way. Answers who could see it: they are named in the event, as nobody sees
    /// it afterwards.
    fn dropping(&self, graph: &str, keep: Keep<'_>) -> Result<Vec<String>, Error>;
}

/// Changes records, and what else is to be done with them: all of it durably, or nothing. To be called once.
pub type Keep<'k> = &'k mut dyn FnMut(&[RecordChange]) -> Result<(), Error>;

/// Whoever has the engine for themselves: everything is allowed.
#[derive(Debug, Clone, Copy)]
pub struct Anyone;

impl Caller for Anyone {
    fn allows(&self, _: Need, _: &str) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn creating(&self, _: &str, keep: Keep<'_>) -> Result<(), Error> {
        keep(&[])
    }

    fn dropping(&self, _: &str, keep: Keep<'_>) -> Result<Vec<String>, Error> {
        keep(&[])?;
        Ok(Vec::new())
    }
}
