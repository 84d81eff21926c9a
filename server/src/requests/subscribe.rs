//! `subscribe` and `unsubscribe`.

use stratalog_engine::Next;
use stratalog_protocol::{
    Code, Failure, Reply as ReplyMessage, RequestId, Response, Subscribe, Unsubscribe, Unsubscribed,
};

use super::Caller;
use crate::auth;
use crate::queries::Ticket;
use crate::subscriptions::{Feed, knows, token};
use crate::wire::{self, Reply};

/// Subscribes to a query. Its first answer is evaluated here, in the turn of the request.
pub(super) async fn subscribe(
    caller: &Caller,
    subscribe: Subscribe,
    id: Option<RequestId>,
    ticket: &Ticket,
) -> Result<Reply, Failure> {
    let Subscribe { query, params, format, every_version, progress, resume } = subscribe;
    let parameters = wire::parameters(params)?;
    let limit = caller.app.limits.subscriptions_of_connection;
    if limit > 0 && caller.subscriptions.len() >= limit {
        return Err(too_many("the connection", limit, "live.max_per_connection"));
    }
    let place = caller.app.places.subscriber(caller.identity.username()).map_err(|full| match full {
        Some(limit) => too_many("the user", limit, "live.max_per_user"),
        None => too_many("the server", caller.app.limits.subscriptions, "live.max_subscriptions"),
    })?;
    let (who, session) = (caller.identity.clone(), caller.turn(ticket).await?);
    let number = caller.subscriptions.number();
    let waker = caller.subscriptions.waker(number);
    let waker = if every_version { waker.of_each_version() } else { waker };
    let subscribed = move |budget: &_| {
        let prepared = session.prepare(&query, &parameters);
        let grant = prepared.and_then(|prepared| auth::grant(&who, prepared));
        let subscription = grant.and_then(|grant| grant.subscribe(&session, waker, budget));
        subscription.map_err(|error| wire::failure(&error, &query))
    };
    let subscription = caller.app.queries.run(&caller.share(), ticket, None, subscribed).await??;
    let token = token(&subscription);
    // Where what has changed since is not known, all rows are told.
    let at = resume.filter(|resume| knows(&subscription, &resume.token, resume.version));
    let at = at.map(|resume| resume.version).filter(|version| {
        matches!(subscription.next(*version, false), Ok(Next::Nothing { .. } | Next::Delta { .. }))
    });
    let response = Response::Subscribed(wire::subscribed(number, &subscription, at, token));
    let feed = Feed { subscription, at, format, every_version, progress, _place: place };
    caller.subscriptions.add(number, feed);
    Ok(Reply::Whole(ReplyMessage { response, id }.to_json()))
}

/// Ends a subscription.
pub(super) fn unsubscribe(
    caller: &Caller,
    unsubscribe: Unsubscribe,
    id: Option<RequestId>,
) -> Result<Reply, Failure> {
    let subscription = unsubscribe.subscription;
    if !caller.subscriptions.remove(subscription) {
        let message = format!("this connection has no subscription {subscription}");
        return Err(Failure::new(Code::NotFound, message));
    }
    let response = Response::Unsubscribed(Unsubscribed { subscription, ..Unsubscribed::default() });
    Ok(Reply::Whole(ReplyMessage { response, id }.to_json()))
}

fn too_many(whose: &str, limit: usize, name: &str) -> Failure {
    Failure::new(Code::LimitExceeded, format!("{whose} has {limit} subscriptions already"))
        .limit(name, limit as u64)
        .help("end those that are not needed: unsubscribe")
}
