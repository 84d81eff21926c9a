//! `Identity`: somebody who is logged in, as the engine and its commands see them.

use std::fmt;
use std::sync::Arc;

use stratalog_engine::{Caller, Code, Diagnostic, Error, Keep, Need, Origin};

use super::accounts::Accounts;
use super::change::AccountChange;
use super::key_terms::KeyScope;
use super::roles::Role;
use super::seats::{Ended, Seat};
use crate::audit::{Audit, Entry};
use crate::queries::Share;

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

    /// With whose requests this user's have their turns.
    pub(crate) fn share(&self) -> Share {
        Share { user: self.username().into(), is_administrator: self.role() == Some(Role::Admin) }
    }

    /// Whether the user may create another graph, of which they may own so many.
    pub(crate) fn may_own_another(&self, limit: usize) -> Result<(), Diagnostic> {
        let owned = self.accounts.owned(self.username());
        if limit == 0 || owned < limit || self.role() == Some(Role::Admin) {
            return Ok(());
        }
        let message = format!("you own {owned} knowledge graphs already, and may own {limit}");
        let refusal = Diagnostic::error(Code::LimitExceeded, message).limit("user.max_graphs", limit as u64);
        Err(refusal.help("drop those that are not needed: .kg drop"))
    }

    /// The label of the key with which the user came, if it was one.
    pub(crate) fn key(&self) -> Option<&str> {
        self.seat.key.as_deref()
    }

    /// What may be done of what the user may: everything, unless a key says less.
    pub(crate) fn scope(&self) -> KeyScope {
        self.seat.terms.scope
    }

    /// Whether this is an administrator, who came with the right to be one.
    pub(crate) fn administers(&self) -> bool {
        self.scope().is_all() && self.role() == Some(Role::Admin)
    }

    /// An entry of the audit log about what this user does.
    pub(crate) fn entry(&self, action: &'static str, what: impl Into<String>) -> Entry<'_> {
        self.seat.entry(action, what.into())
    }

    /// Puts into the audit log that somebody asked for more than they may, where it is about more than facts.
    pub(super) fn denied(&self, need: Need, refusal: &Diagnostic) {
        match need {
            Need::Manage | Need::CreateGraph | Need::Administer => {
                self.audit().record(&self.entry("denied", need.to_string()).refused(refusal.code.as_str()));
            }
            Need::Nothing | Need::Enter | Need::Read | Need::Write => {}
        }
    }

    /// The audit log.
    pub(crate) fn audit(&self) -> &Audit {
        self.accounts.audit()
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
        self.scope().allows(need)?;
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
