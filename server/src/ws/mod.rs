//! WebSocket: `/ws`, its upgrade, and the life of one socket from first message to close.

mod connection;
mod handshake;
mod stream;

use std::collections::HashMap;
use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::{Reply, Response};
use warp::ws::{WebSocket, Ws};

use crate::app::App;
use crate::http::Problem;
use crate::limits::{Place, Stranger};
use crate::net::Link;

/// The graph that a session is bound to unless `?kg=` names another.
const DEFAULT_GRAPH: &str = "default";

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

/// `/ws`.
pub(crate) fn route(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    let app = app.clone();
    let handshake = warp::ws().map(Some).or(warp::any().map(|| None)).unify();
    warp::path("ws")
        .and(warp::path::end())
        .and(warp::query::<HashMap<String, String>>())
        .and(warp::ext::optional::<Link>())
        .and(handshake)
        .map(move |query: HashMap<String, String>, link: Option<Link>, ws: Option<Ws>| {
            upgrade(&app, query, link, ws).unwrap_or_else(Problem::into_response)
        })
        .boxed()
}

fn upgrade(
    app: &Arc<App>,
    mut query: HashMap<String, String>,
    link: Option<Link>,
    ws: Option<Ws>,
) -> Result<Response, Problem> {
    let (Some(ws), Some(link)) = (ws, link) else {
        return Err(Problem::UpgradeRequired);
    };
    let socket = app.places.socket().ok_or(Problem::TooManySockets)?;
    let stranger = app.places.stranger(link.address.ip()).ok_or(Problem::TooManyStrangers)?;
    let graph = query.remove("kg").unwrap_or_else(|| DEFAULT_GRAPH.to_owned());
    let limit = app.limits.message_bytes;
    link.allow(handshake::ALLOWANCE);
    let visit = Visit { app: app.clone(), link, graph, socket, stranger };
    let upgrade = ws.max_message_size(limit).max_frame_size(limit);
    Ok(upgrade.on_upgrade(move |socket| visit.receive(socket)).into_response())
}

/// A socket that was let in, with the places that it takes.
struct Visit {
    app: Arc<App>,
    link: Link,
    graph: String,
    socket: Place,
    stranger: Stranger,
}

impl Visit {
    async fn receive(self, mut socket: WebSocket) {
        let Visit { app, link, graph, socket: place, stranger } = self;
        let _counted = app.watch();
        let _place = place;
        let Some(caller) = handshake::authenticate(&mut socket, &app, &link, &graph).await else {
            return;
        };
        drop(stranger);
        link.allow_everything();
        connection::serve(socket, caller, link).await;
    }
}
