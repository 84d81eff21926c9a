//! What somebody may do: a user's role against the `Need` of a program gives a [`Grant`], and only a grant can run.
//!
//! The need is that of all statements of the program together, so nothing of it runs unless everything may.

use arrow::record_batch::RecordBatch;
use stratalog_engine::{Answer, Budget, Error, Inserted, Need, Prepared, RunOptions, Scope, Session, Value};

use super::{Identity, Role, Users};

/// The right to run one program.
pub(crate) struct Grant {
    prepared: Prepared,
}

/// The right to insert once, without program text.
pub(crate) struct InsertGrant(());

/// Somebody may not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("access denied: {reason}")]
pub(crate) struct Denied {
    reason: &'static str,
}

/// Allows a program to run, or does not.
pub(crate) fn grant(users: &Users, who: &Identity, prepared: Prepared) -> Result<Grant, Denied> {
    for need in prepared.needs() {
        check(users, who, need)?;
    }
    // A program that needs nothing is not for somebody who is gone.
    check(users, who, Need::Nothing)?;
    Ok(Grant { prepared })
}

/// Allows an insert of rows, or does not.
pub(crate) fn grant_insert(users: &Users, who: &Identity) -> Result<InsertGrant, Denied> {
    check(users, who, Need::Write)?;
    Ok(InsertGrant(()))
}

fn check(users: &Users, who: &Identity, need: Need) -> Result<(), Denied> {
    let Some(role) = users.role(who) else {
        return Err(Denied { reason: "the user no longer exists" });
    };
    let (least, reason) = match need {
        Need::Nothing | Need::Read => return Ok(()),
        Need::Write => (Role::Editor, "changing facts, rules and schemas takes the role `editor`"),
        Need::Manage => (Role::Admin, "managing a knowledge graph is for its owner"),
        Need::CreateGraph => (Role::Admin, "creating a knowledge graph takes the role `admin`"),
        Need::Administer => (Role::Admin, "this takes the role `admin`"),
    };
    if role >= least { Ok(()) } else { Err(Denied { reason }) }
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
}

impl InsertGrant {
    /// Inserts rows of single values.
    pub(crate) fn insert_rows(
        self,
        session: &mut Session,
        relation: &str,
        scope: Scope,
        rows: Vec<Vec<Value>>,
        budget: &Budget,
    ) -> Result<Inserted, Error> {
        session.insert_rows(relation, scope, rows, budget)
    }

    /// Inserts whole batches.
    pub(crate) fn insert_batches(
        self,
        session: &mut Session,
        relation: &str,
        scope: Scope,
        batches: &[RecordBatch],
        budget: &Budget,
    ) -> Result<Inserted, Error> {
        session.insert_batches(relation, scope, batches, budget)
    }
}

#[cfg(test)]
mod tests {
    use stratalog_engine::Need;

    use super::check;
    use crate::auth::{Identity, Role, Users};

    const NEEDS: [Need; 6] =
        [Need::Nothing, Need::Read, Need::Write, Need::Manage, Need::CreateGraph, Need::Administer];

    fn allowed(username: &str) -> Vec<Need> {
        let users = Users::with(&[("v", Role::Viewer), ("e", Role::Editor), ("a", Role::Admin)]);
        let who = Identity { username: username.to_owned() };
        NEEDS.into_iter().filter(|need| check(&users, &who, *need).is_ok()).collect()
    }

    #[test]
    fn each_role_may_do_this_and_no_more() {
        assert_eq!(allowed("v"), [Need::Nothing, Need::Read]);
        assert_eq!(allowed("e"), [Need::Nothing, Need::Read, Need::Write]);
        assert_eq!(allowed("a"), NEEDS);
    }

    #[test]
    fn a_user_who_is_gone_may_do_nothing() {
        assert_eq!(allowed("nobody"), []);
    }
}
