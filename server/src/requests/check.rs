//! `check`: what is wrong with a program, without running it.

use std::sync::Arc;

use stratalog_engine::Budget;
use stratalog_protocol::{Check, Checked, Failure, Reply as ReplyMessage, RequestId, Response};

use super::Caller;
use crate::auth;
use crate::queries::Ticket;
use crate::wire::{self, Reply};

/// Looks at a program, where the session is.
pub(super) async fn check(
    caller: &Caller,
    check: Check,
    id: Option<RequestId>,
    ticket: &Arc<Ticket>,
) -> Result<Reply, Failure> {
    let (who, session) = (caller.identity.clone(), caller.turn(ticket).await?);
    let look = move |budget: &Budget| {
        let grant = auth::grant_check(&who, &session);
        let found = grant.and_then(|grant| grant.check(&session, &check.program, budget));
        found
            .map(|found| Checked { diagnostics: wire::annotations(&found, &check.program) })
            .map_err(|error| wire::failure(&error, &check.program))
    };
    let checked = caller.app.queries.run(&caller.share(), ticket, None, look).await??;
    let response = Response::Checked(checked);
    Ok(Reply::Whole(ReplyMessage { response, id }.to_json()))
}
