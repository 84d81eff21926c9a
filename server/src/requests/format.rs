//! `format`: a program in the layout that all programs have.

use std::sync::Arc;

use stratalog_engine::{Budget, Error};
use stratalog_language::format::WIDTH;
use stratalog_protocol::{Failure, Formatted, Layout, Reply as ReplyMessage, RequestId, Response};

use super::Caller;
use crate::queries::Ticket;
use crate::wire::{self, Reply};

/// Writes a program anew. It is looked at by itself, so whoever is logged in may ask.
pub(super) async fn format(
    caller: &Caller,
    layout: Layout,
    id: Option<RequestId>,
    ticket: &Arc<Ticket>,
) -> Result<Reply, Failure> {
    let write = move |_: &Budget| match stratalog_language::format(&layout.program, WIDTH) {
        Ok(formatted) => Ok(Formatted { program: formatted.text }),
        Err(found) => Err(wire::failure(&Error::Refused(found), &layout.program)),
    };
    let formatted = caller.app.queries.run(&caller.share(), ticket, None, write).await??;
    Ok(Reply::Whole(ReplyMessage { response: Response::Formatted(formatted), id }.to_json()))
}
