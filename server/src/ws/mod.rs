//! WebSocket: `/ws`, its upgrade, and the life of one socket from first message to close.

mod connection;
mod handshake;
mod notify;
mod stream;

use std::collections::HashMap;
use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::HeaderMap;
use warp::reply::{Reply, Response};
use warp::ws::{WebSocket, Ws};

use crate::app::App;
use crate::http::{Problem, admit_socket};
use crate::limits::{Place, Stranger};
use crate::net::Link;
use crate::requests::Target;

use notify::Since;

/// The graph that a session is bound to unless `?kg=` names another.
const DEFAULT_GRAPH: &str = "default";

/// A message that is not complete takes at most so many times its size, in however many frames it comes.
const FRAMING: usize = 4;

/// Why the server closes a socket, as it travels in the close frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CloseCode {
    /// The server stops, or the socket was idle or too old.
    Away = 1001,
    /// Something that the protocol does not allow.
    Protocol = 1002,
    /// Text that is not UTF-8.
    Encoding = 1007,
    /// Authentication or policy.
    Policy = 1008,
    /// A message was too large.
    TooLarge = 1009,
}

/// `/ws`, and `/sessions/ID/ws`.
pub(crate) fn route(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    let own = warp::path("ws").and(warp::path::end()).map(|| None);
    let of_session = warp::path("sessions")
        .and(warp::path::param())
        .and(warp::path("ws"))
        .and(warp::path::end())
        .map(Some);
    let app = app.clone();
    let handshake = warp::ws().map(Some).or(warp::any().map(|| None)).unify();
    own.or(of_session)
        .unify()
        .and(warp::query::<HashMap<String, String>>())
        .and(warp::header::headers_cloned())
        .and(warp::ext::optional::<Link>())
        .and(handshake)
        .map(
            move |session: Option<String>,
                  query: HashMap<String, String>,
                  headers: HeaderMap,
                  link: Option<Link>,
                  ws: Option<Ws>| {
                let admitted = admit_socket(&headers, &app.origins);
                let upgraded = admitted.and_then(|()| upgrade(&app, session.as_deref(), query, link, ws));
                upgraded.unwrap_or_else(Problem::into_response)
            },
        )
        .boxed()
}

fn upgrade(
    app: &Arc<App>,
    session: Option<&str>,
    mut query: HashMap<String, String>,
    link: Option<Link>,
    ws: Option<Ws>,
) -> Result<Response, Problem> {
    let target = match session.map(|id| id.parse()) {
        None => Target::Graph(query.remove("kg").unwrap_or_else(|| DEFAULT_GRAPH.to_owned())),
        Some(Ok(id)) if app.sessions.has(id) => Target::Session(id),
        Some(_) => return Err(Problem::NoSuchSession),
    };
    let seen = query.get("last_seq").map(|number| number.parse());
    let seen = seen.transpose().map_err(|_| Problem::BadNumber)?;
    let (Some(ws), Some(link)) = (ws, link) else {
        return Err(Problem::UpgradeRequired);
    };
    let socket = app.places.socket().ok_or(Problem::TooManySockets)?;
    let stranger = app.places.stranger(link.client).ok_or(Problem::TooManyStrangers)?;
    let limit = app.limits.message_bytes;
    link.allow(handshake::ALLOWANCE);
    let visit = Visit { app: app.clone(), link, target, seen, socket, stranger };
    let upgrade = ws.max_message_size(limit).max_frame_size(limit);
    Ok(upgrade.on_upgrade(move |socket| visit.receive(socket)).into_response())
}

/// A socket that was let in, with the places that it takes.
struct Visit {
    app: Arc<App>,
    link: Link,
    target: Target,
    /// The last notification that the client has seen.
    seen: Option<u64>,
    socket: Place,
    stranger: Stranger,
}

impl Visit {
    async fn receive(self, mut socket: WebSocket) {
        let Visit { app, link, target, seen, socket: place, stranger } = self;
        let _counted = app.watch();
        let _place = place;
        let Some((caller, last)) = handshake::authenticate(&mut socket, &app, &link, &target).await else {
            return;
        };
        drop(stranger);
        let since = seen.map_or(Since::Login(last), Since::Seen);
        link.allow_everything();
        let most = app.limits.message_bytes.saturating_mul(FRAMING) as u64;
        link.count_in(app.queries.on_its_way(most));
        connection::serve(socket, caller, since, link).await;
    }
}
