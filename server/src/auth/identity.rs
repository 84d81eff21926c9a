//! `Identity`: somebody who is logged in, as the engine and its commands see them.

use std::fmt;
use std::sync::Arc;

use stratalog_engine::{Caller, Code, Diagnostic, Error, Keep, Need, Origin};

use super::accounts::Accounts;
use super::change::AccountChange;
use super::roles::Role;
use super::seats::{Ended, Seat};

/// Somebody who has said who they are, in one session. What they may do is looked up at each request.
#[derive(Clone)]
pub(crate) struct Identity {
    accounts: Arc<Accounts>,
    seat: Arc<Seat>,
    session: Option<Origin>,
}

impl Identity {
    pub(super) fn new(accounts: Arc<Accounts>, seat: Arc<Seat>) -> Identity {
        Identity { accounts, seat, session: None }
    }

    /// The same in a session, which is named wherever somebody is told of what they do.
    pub(crate) fn in_session(self, session: Origin) -> Identity {
        Identity { session: Some(session), ..self }
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

    /// Whether the session was ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.seat.is_ended().is_some()
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

    fn session(&self) -> Option<Origin> {
        self.session.clone()
    }

    fn creating(&self, graph: &str, keep: Keep<'_>) -> Result<(), Error> {
        let owner = self.username().to_owned();
        let change = AccountChange::CreateGraph { graph: graph.to_owned(), owner };
        Ok(self.accounts.apply_with(&change, &self.seat, keep)?)
    }

    fn dropping(&self, graph: &str, keep: Keep<'_>) -> Result<Vec<String>, Error> {
        let witnesses = self.accounts.entries(graph).into_iter().map(|(user, _)| user).collect();
        let change = AccountChange::DropGraph { graph: graph.to_owned() };
        self.accounts.apply_with(&change, &self.seat, keep)?;
        Ok(witnesses)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.username())
    }
}
