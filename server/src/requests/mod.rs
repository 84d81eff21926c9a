//! What clients ask, one file a message. Nothing here knows how messages travel.

mod cancel;
mod check;
mod complete;
mod execute;
mod format;
mod insert;
mod login;
mod session;
mod subscribe;

use std::sync::Arc;
use std::time::Instant;

use stratalog_engine::{Budget, BudgetError, Error};
use stratalog_protocol::{Code, Failure, Gap, Reply as ReplyMessage, Request, RequestId, Response};
use tokio::sync::OwnedSemaphorePermit;
use tracing::Instrument;

use crate::admin::Operator;
use crate::app::App;
use crate::auth::{Ended, Identity};
use crate::deposits::Answers;
use crate::limits::OfUser;
use crate::queries::{NotRun, RETRY_AFTER_MS, Share, Ticket, beginning, shown};
use crate::sessions::{Attached, Turn};
use crate::subscriptions::Subscriptions;
use crate::wire::{self, Reply};

pub(crate) use cancel::Tickets;
pub(crate) use insert::{Announced, Next, Upload};
pub(crate) use login::{LoggedIn, LoginFailed, Target, authenticated, enter, log_in, no_place};

/// An authenticated connection, as its requests see it.
pub(crate) struct Caller {
    /// What the server shares.
    pub(crate) app: Arc<App>,
    /// Who is asking.
    pub(crate) identity: Identity,
    /// The session.
    pub(crate) session: Attached,
    /// One of the connections of its user.
    pub(crate) _of_user: OfUser,
    /// What the connection has subscribed to.
    pub(crate) subscriptions: Arc<Subscriptions>,
    /// Where answers stay for a client in this process.
    pub(crate) answers: Option<Arc<Answers>>,
}

impl Caller {
    /// With whose requests this one's have their turns.
    pub(crate) fn share(&self) -> Share {
        self.identity.share()
    }

    /// Waits until no request from another socket has the session.
    async fn turn(&self, ticket: &Ticket) -> Result<Turn, NotRun> {
        let operator = Operator {
            identity: self.identity.clone(),
            running: self.app.running.clone(),
            graphs: self.app.limits.user.graphs,
            engine: self.app.engine.clone(),
            sessions: Arc::downgrade(&self.app.sessions),
            app: Arc::downgrade(&self.app),
        };
        self.session.turn(Arc::new(operator), ticket).await
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
    /// What the request takes before it runs.
    pub(crate) held: Held,
}

/// What a request takes while it waits and runs: its share of the queue, and of the memory of all what its message
/// takes, where that is not counted elsewhere.
pub(crate) type Held = (OwnedSemaphorePermit, Option<Budget>);

/// What there is to do for a request.
pub(crate) enum Work {
    /// Answer it.
    Answer(Request),
    /// Insert the Arrow stream that was announced.
    Insert(Announced),
    /// Say why it is none.
    Refuse(Failure),
}

impl Work {
    /// Whether its client wants to know how far it is.
    pub(crate) fn is_watched(&self) -> bool {
        matches!(self, Work::Answer(Request::Execute(execute)) if execute.progress)
    }

    /// The beginning of its program, if it takes a turn at the database.
    fn described(&self) -> Option<String> {
        match self {
            Work::Answer(Request::Execute(execute)) => Some(beginning(&execute.program).to_owned()),
            Work::Answer(Request::Check(check)) => Some(format!("check {}", beginning(&check.program))),
            Work::Answer(Request::Format(layout)) => Some(format!("format {}", beginning(&layout.program))),
            Work::Answer(Request::Complete(complete)) => {
                Some(format!("complete {}", beginning(&complete.program)))
            }
            Work::Answer(Request::Insert(insert)) => Some(format!("insert into {}", insert.relation)),
            Work::Insert(announced) => Some(format!("insert into {}", announced.relation())),
            Work::Answer(Request::Query(query)) => Some(beginning(&query.query).to_owned()),
            Work::Answer(Request::InsertFacts(facts)) => Some(format!("insert_facts {}", facts.relation)),
            Work::Answer(Request::RetractFacts(facts)) => Some(format!("retract_facts {}", facts.relation)),
            Work::Answer(Request::AddRule(rule)) => Some(beginning(&rule.rule).to_owned()),
            Work::Answer(Request::Subscribe(subscribe)) => Some(beginning(&subscribe.query).to_owned()),
            Work::Answer(
                Request::Login(_)
                | Request::Authenticate(_)
                | Request::Unsubscribe(_)
                | Request::Ping
                | Request::Cancel(_),
            )
            | Work::Refuse(_) => None,
        }
    }
}

/// Answers a request in its turn. Meanwhile it is on the list of those that run, and what is logged names it.
pub(crate) async fn answer(
    caller: &Caller,
    id: Option<RequestId>,
    work: Work,
    ticket: &Arc<Ticket>,
) -> Reply {
    let Some(program) = work.described() else { return reply(caller, id, work, ticket).await };
    let user = caller.identity.username();
    let (app, session, graph) = (&caller.app, caller.session.id(), caller.session.binding().name());
    let span = tracing::error_span!("request", request = tracing::field::Empty, %session, user, graph);
    let request = app.running.enter(user, graph, session, &program, ticket);
    span.record("request", request.number);
    let began = Instant::now();
    let reply = reply(caller, id, work, ticket).instrument(span.clone()).await;
    let took = began.elapsed();
    app.metrics.whole.observe(took);
    if !app.limits.slow_query.is_zero() && took >= app.limits.slow_query {
        let elapsed_ms = took.as_millis() as u64;
        span.in_scope(
            || tracing::warn!(target: "stratalog_server::slow", elapsed_ms, program = shown(&program), "a slow query"),
        );
    }
    reply
}

async fn reply(caller: &Caller, id: Option<RequestId>, work: Work, ticket: &Arc<Ticket>) -> Reply {
    if let Work::Insert(_) | Work::Answer(Request::Insert(_)) = work {
        ticket.note_write();
    }
    let outcome = match work {
        Work::Refuse(failure) => Err(failure),
        Work::Insert(announced) => insert::insert_stream(caller, announced, id.clone(), ticket).await,
        Work::Answer(request) => match request {
            Request::Execute(execute) => execute::execute(caller, execute, id.clone(), ticket).await,
            Request::Check(check) => check::check(caller, check, id.clone(), ticket).await,
            Request::Format(layout) => format::format(caller, layout, id.clone(), ticket).await,
            Request::Complete(complete) => complete::complete(caller, complete, id.clone(), ticket).await,
            Request::Insert(insert) => insert::insert_rows(caller, insert, id.clone(), ticket).await,
            Request::Query(query) => session::query(caller, query, id.clone(), ticket).await,
            Request::InsertFacts(facts) => session::insert_facts(caller, facts, id.clone(), ticket).await,
            Request::RetractFacts(facts) => session::retract_facts(caller, facts, id.clone(), ticket).await,
            Request::AddRule(rule) => session::add_rule(caller, rule, id.clone(), ticket).await,
            Request::Subscribe(subscribe) => {
                subscribe::subscribe(caller, subscribe, id.clone(), ticket).await
            }
            Request::Unsubscribe(unsubscribe) => subscribe::unsubscribe(caller, unsubscribe, id.clone()),
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

/// Why a request that asks for more than there is cannot go on.
pub(crate) fn stopped(why: BudgetError) -> Failure {
    wire::failure(&Error::Stopped(why), "")
}

/// What is said to somebody whose message does not fit into memory any more.
pub(crate) fn too_large_now() -> String {
    let message = "the message takes more memory than there is for it";
    let failure = Failure::new(Code::Overloaded, message).retry_after_ms(RETRY_AFTER_MS);
    error(failure.help("connect again, and send smaller messages or the same one later"), None)
}

/// What is said to a session that was ended.
pub(crate) fn ended(why: Ended) -> String {
    error(Failure::new(Code::AccessDenied, why.to_string()).help("log in again"), None)
}

/// An `error` message.
pub(crate) fn error(failure: Failure, id: Option<RequestId>) -> String {
    ReplyMessage { response: Response::Error(failure), id }.to_json()
}
