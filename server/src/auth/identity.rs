//! `Identity`: somebody who is logged in, as the engine and its commands see them.

use std::fmt;
use std::sync::Arc;

use stratalog_engine::{Caller, Code, Diagnostic, Error, Need};

use super::accounts::Accounts;
use super::change::AccountChange;
use super::roles::Role;
use super::seats::{Ended, Seat};

/// Somebody who has said who they are, in one session. What they may do is looked up at each request.
#[derive(Clone)]
pub(crate) struct Identity {
    accounts: Arc<Accounts>,
    seat: Arc<Seat>,
}

impl Identity {
    pub(super) fn new(accounts: Arc<Accounts>, seat: Arc<Seat>) -> Identity {
        Identity { accounts, seat }
    }

    /// The user's name.
    pub(crate) fn username(&self) -> &str {
        &self.seat.username
    }

    /// The accounts that this user is one of.
    pub(crate) fn accounts(&self) -> &Arc<Accounts> {
        &self.accounts
    }

    /// The user's role at this moment; `None` once the user is gone.
    pub(crate) fn role(&self) -> Option<Role> {
        self.accounts.role(self.username())
    }

    /// Changes the accounts in this user's name.
    pub(crate) fn change(&self, change: &AccountChange) -> Result<(), Error> {
        self.accounts.apply(change, &self.seat).map_err(Error::from)
    }

    /// Waits until the session is ended because its user or key has changed.
    pub(crate) async fn ended(&self) -> Ended {
        self.seat.ended().await
    }
}

impl Caller for Identity {
    fn allows(&self, need: Need, graph: &str) -> Result<(), Diagnostic> {
        if let Some(ended) = self.seat.is_ended() {
            return Err(Diagnostic::error(Code::AccessDenied, ended.to_string()).help("connect again"));
        }
        self.accounts.check(self.username(), need, graph)
    }

    fn created(&self, graph: &str) -> Result<(), Error> {
        let owner = self.username().to_owned();
        self.change(&AccountChange::CreateGraph { graph: graph.to_owned(), owner })
    }

    fn dropping(&self, graph: &str) -> Result<(), Error> {
        self.change(&AccountChange::DropGraph { graph: graph.to_owned() })
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.username())
    }
}
