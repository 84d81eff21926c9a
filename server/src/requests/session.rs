//! The messages about what a session has for itself: `query`, `insert_facts`, `retract_facts`, `add_rule`.

use std::sync::Arc;

use stratalog_engine::{Answer, Budget, Content, Error, RunOptions, Scope};
use stratalog_protocol::{
    Ack, AddRule, Code, Execute, Facts, Failure, Query, Reply as ReplyMessage, RequestId, Response,
};

use super::{Caller, execute};
use crate::auth;
use crate::queries::Ticket;
use crate::sessions::Turn;
use crate::wire::{self, Reply};

/// Runs a program that asks something.
pub(super) async fn query(
    caller: &Caller,
    query: Query,
    id: Option<RequestId>,
    ticket: &Arc<Ticket>,
) -> Result<Reply, Failure> {
    let program = Execute { program: query.query, ..Execute::default() };
    execute::execute(caller, program, id, ticket).await
}

/// Adds facts to the session.
pub(super) async fn insert_facts(
    caller: &Caller,
    facts: Facts,
    id: Option<RequestId>,
    ticket: &Ticket,
) -> Result<Reply, Failure> {
    if facts.relation.starts_with("__") {
        let message = format!("`{}` cannot be the name of a relation of a session", facts.relation);
        return Err(Failure::new(Code::ParseError, message).help("names that begin with `__` are reserved"));
    }
    let who = caller.identity.clone();
    acknowledge(caller, id, ticket, move |session, budget| {
        let grant = auth::grant_insert(&who, session).map_err(|error| wire::failure(&error, ""))?;
        let rows = wire::rows(facts.tuples)?;
        let inserted = grant.insert_rows(session, &facts.relation, Scope::Session, None, rows, budget);
        let inserted = inserted.map_err(|error| wire::failure(&error, ""))?;
        Ok(format!("inserted {} fact(s) into {} for this session", inserted.inserted, facts.relation))
    })
    .await
}

/// Takes facts of the session away.
pub(super) async fn retract_facts(
    caller: &Caller,
    facts: Facts,
    id: Option<RequestId>,
    ticket: &Ticket,
) -> Result<Reply, Failure> {
    let who = caller.identity.clone();
    acknowledge(caller, id, ticket, move |session, budget| {
        let grant = auth::grant_retract(&who, session).map_err(|error| wire::failure(&error, ""))?;
        let rows = wire::rows(facts.tuples)?;
        let retracted = grant.retract_rows(session, &facts.relation, &rows, budget);
        let retracted = retracted.map_err(|error| wire::failure(&error, ""))?;
        Ok(format!("retracted {retracted} fact(s) from {} of this session", facts.relation))
    })
    .await
}

/// Adds a rule to the session.
pub(super) async fn add_rule(
    caller: &Caller,
    rule: AddRule,
    id: Option<RequestId>,
    ticket: &Ticket,
) -> Result<Reply, Failure> {
    let who = caller.identity.clone();
    acknowledge(caller, id, ticket, move |session, budget| {
        let run = |session: &mut Turn| -> Result<Answer, Error> {
            let grant = auth::grant(&who, session.prepare_rule(&rule.rule)?)?;
            grant.run(session, &RunOptions::default(), budget)
        };
        let answer = run(session).map_err(|error| wire::failure(&error, &rule.rule))?;
        Ok(match answer.content {
            Content::Messages(messages) => messages.join("; "),
            Content::Rows(_) => String::new(),
        })
    })
    .await
}

/// Does something with the session, and says so in one sentence.
async fn acknowledge(
    caller: &Caller,
    id: Option<RequestId>,
    ticket: &Ticket,
    work: impl FnOnce(&mut Turn, &Budget) -> Result<String, Failure> + Send + 'static,
) -> Result<Reply, Failure> {
    let mut session = caller.turn(ticket).await?;
    let done = caller
        .app
        .queries
        .run(&caller.share(), ticket, None, move |budget: &Budget| work(&mut session, budget))
        .await??;
    let response = Response::Ack(Ack { message: done });
    Ok(Reply::Whole(ReplyMessage { response, id }.to_json()))
}
