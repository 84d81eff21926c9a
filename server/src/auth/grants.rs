//! The rights to do something once: what somebody may do gives a [`Grant`], and only a grant can run.

use arrow::record_batch::RecordBatch;
use stratalog_engine::catalog::Catalog;
use stratalog_engine::{
    Answer, Budget, Caller, Diagnostic, Error, Inserted, Need, Prepared, RunOptions, Scope, Session,
    Subscription, Value, Waker,
};

use super::identity::Identity;

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
