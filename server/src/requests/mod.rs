//! What clients ask, one file a message. Nothing here knows how messages travel.

mod cancel;
mod execute;
mod insert;
mod login;
mod session;

use std::sync::Arc;

use stratalog_protocol::{Code, Failure, Gap, Reply as ReplyMessage, Request, RequestId, Response};
use tokio::sync::OwnedSemaphorePermit;

use crate::app::App;
use crate::auth::{Ended, Identity};
use crate::queries::{NotRun, Ticket};
use crate::sessions::{Attached, Turn};
use crate::wire::Reply;

pub(crate) use cancel::Tickets;
pub(crate) use insert::{Announced, Next, Upload};
pub(crate) use login::{LoggedIn, LoginFailed, Target, authenticated, enter, log_in};

/// An authenticated connection, as its requests see it.
pub(crate) struct Caller {
    /// What the server shares.
    pub(crate) app: Arc<App>,
    /// Who is asking.
    pub(crate) identity: Identity,
    /// The session.
    pub(crate) session: Attached,
}

impl Caller {
    /// Waits until no request from another socket has the session.
    async fn turn(&self, ticket: &Ticket) -> Result<Turn, NotRun> {
        self.session.turn(&self.identity, ticket).await
    }
}

/// One request in its turn.
pub(crate) struct Job {
    /// Repeated in every reply.
    pub(crate) id: Option<RequestId>,
    /// What to do.
    pub(crate) work: Work,
    /// The right to go on.
    pub(crate) ticket: Arc<Ticket>,
    /// The share of the queue that the request takes.
    pub(crate) held: OwnedSemaphorePermit,
}

/// What there is to do for a request.
pub(crate) enum Work {
    /// Answer it.
    Answer(Request),
    /// Insert the Arrow stream that was announced.
    Insert(Announced),
    /// Say why it is none.
    Refuse(Failure),
}

/// Answers a request in its turn.
pub(crate) async fn answer(caller: &Caller, id: Option<RequestId>, work: Work, ticket: &Ticket) -> Reply {
    let outcome = match work {
        Work::Refuse(failure) => Err(failure),
        Work::Insert(announced) => insert::insert_stream(caller, announced, id.clone(), ticket).await,
        Work::Answer(request) => match request {
            Request::Execute(execute) => execute::execute(caller, execute, id.clone(), ticket).await,
            Request::Insert(insert) => insert::insert_rows(caller, insert, id.clone(), ticket).await,
            Request::Query(query) => session::query(caller, query, id.clone(), ticket).await,
            Request::InsertFacts(facts) => session::insert_facts(caller, facts, id.clone(), ticket).await,
            Request::RetractFacts(facts) => session::retract_facts(caller, facts, id.clone(), ticket).await,
            Request::AddRule(rule) => session::add_rule(caller, rule, id.clone(), ticket).await,
            Request::Login(_) | Request::Authenticate(_) => {
                Err(Failure::new(Code::InvalidMessage, "this connection is already authenticated")
                    .help("open another connection to act as another user"))
            }
            Request::Ping => return Reply::Whole(pong(id)),
            Request::Cancel(_) => return Reply::Whole(cancel::cancelled(false, id)),
        },
    };
    outcome.unwrap_or_else(|failure| Reply::Whole(error(failure, id)))
}

/// The answer to `ping`.
pub(crate) fn pong(id: Option<RequestId>) -> String {
    ReplyMessage { response: Response::Pong, id }.to_json()
}

/// What is said to somebody who has missed notifications.
pub(crate) fn gap(gap: Gap) -> String {
    let count = gap.to - gap.from + 1;
    let message = format!("missed {count} notification(s), from {} to {}", gap.from, gap.to);
    let failure = Failure::new(Code::NotFound, message).gap(gap);
    error(failure.help("they are not kept any more: read again what they could be about"), None)
}

/// What is said to somebody who has missed too many.
pub(crate) fn too_slow() -> String {
    let message = "more notifications were missed than are kept: read them as they come";
    error(Failure::new(Code::Overloaded, message).help("connect again with last_seq"), None)
}

/// What is said to a session that was ended.
pub(crate) fn ended(why: Ended) -> String {
    error(Failure::new(Code::AccessDenied, why.to_string()).help("log in again"), None)
}

/// An `error` message.
pub(crate) fn error(failure: Failure, id: Option<RequestId>) -> String {
    ReplyMessage { response: Response::Error(failure), id }.to_json()
}
