//! WebSocket: `/ws`, its upgrade, and the life of one socket from first message to close.

mod connection;
mod deltas;
mod handshake;
mod notify;
mod stream;
mod upgrade;
mod working;

use std::collections::HashMap;
use std::sync::Arc;

use hyper::upgrade::OnUpgrade;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, Method};
use warp::reply::Response;

use crate::app::App;
use crate::http::{Answer, Body, Endpoint, Kind, Parameter, Problem, admit_socket};
use crate::limits::Entrance;
use crate::net::Link;
use crate::requests::Target;

use notify::Since;
use upgrade::{Socket, Upgrade};

/// The graph that a session is bound to unless `?kg=` names another.
const DEFAULT_GRAPH: &str = "default";

/// A message that is not complete takes at most so many times its size, in however many frames it comes.
const FRAMING: usize = 4;

/// Why the server closes a socket, as it travels in the close frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseCode {
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
    /// There is no place.
    Full = 1013,
}

impl CloseCode {
    /// The frame that says so.
    fn frame(self, reason: &'static str) -> Message {
        Message::Close(Some(CloseFrame { code: (self as u16).into(), reason: reason.into() }))
    }

    /// All of them.
    pub(crate) const ALL: &[CloseCode] = &[
        CloseCode::Away,
        CloseCode::Protocol,
        CloseCode::Encoding,
        CloseCode::Policy,
        CloseCode::TooLarge,
        CloseCode::Full,
    ];

    /// When it is sent.
    pub(crate) fn when(self) -> &'static str {
        match self {
            CloseCode::Away => {
                "The server stops; the connection or session was idle, or reached its longest lifetime."
            }
            CloseCode::Protocol => "A frame breaks the WebSocket protocol.",
            CloseCode::Encoding => "A text frame is not UTF-8.",
            CloseCode::Policy => {
                "Authentication is missing, failed too often or took too long; there is no such graph; the session was \
                 ended, or is another user's; there are too many sessions, or too many missed notifications, or the user \
                 has too many connections."
            }
            CloseCode::TooLarge => "A message is too large.",
            CloseCode::Full => {
                "Too many connections are open, and what is kept is for administrators: try again later."
            }
        }
    }
}

/// `/ws`.
pub(crate) const OWN: Endpoint = Endpoint {
    path: "/ws",
    summary: "A WebSocket with a session of its own. /api/asyncapi.yaml has its messages.",
    parameters: &[
        Parameter { name: "kg", what: "The graph to begin with: `default` unless given.", is_number: false },
        LAST_SEQ,
    ],
    answers: UPGRADED,
    problems: &[
        Problem::UpgradeRequired,
        Problem::ForeignOrigin,
        Problem::BadNumber,
        Problem::TooManySockets,
        Problem::TooManyStrangers,
        Problem::TooManyOfAddress,
    ],
    kind: Kind::Socket(|app| route(app, warp::path("ws").and(warp::path::end()).map(|| None).boxed())),
};

/// `/sessions/ID/ws`.
pub(crate) const OF_SESSION: Endpoint = Endpoint {
    path: "/sessions/{id}/ws",
    summary: "Another WebSocket to a session that exists. It takes the same messages.",
    parameters: &[
        Parameter {
            name: "id",
            what: "The `session_id` of the session's `authenticated`.",
            is_number: false,
        },
        LAST_SEQ,
    ],
    answers: UPGRADED,
    problems: &[
        Problem::UpgradeRequired,
        Problem::ForeignOrigin,
        Problem::BadNumber,
        Problem::NoSuchSession,
        Problem::TooManySockets,
        Problem::TooManyStrangers,
        Problem::TooManyOfAddress,
    ],
    kind: Kind::Socket(|app| {
        let path = warp::path("sessions").and(warp::path::param()).and(warp::path("ws"));
        route(app, path.and(warp::path::end()).map(Some).boxed())
    }),
};

const LAST_SEQ: Parameter = Parameter {
    name: "last_seq",
    what: "The last notification that was seen: those after it come first. Empty: from now on. `authenticated` tells \
           where that is.",
    is_number: true,
};

const UPGRADED: &[Answer] = &[Answer {
    status: 101,
    when: "The WebSocket is open: authenticate within 30 seconds.",
    body: Body::Empty,
}];

/// The sockets below a path that gives the id of a session, or none.
fn route(app: &Arc<App>, path: BoxedFilter<(Option<String>,)>) -> BoxedFilter<(Response,)> {
    let app = app.clone();
    path.and(warp::query::<HashMap<String, String>>())
        .and(warp::header::headers_cloned())
        .and(warp::ext::optional::<Link>())
        .and(warp::ext::optional::<OnUpgrade>())
        .and(warp::method())
        .map(
            move |session: Option<String>,
                  query: HashMap<String, String>,
                  headers: HeaderMap,
                  link: Option<Link>,
                  on_upgrade: Option<OnUpgrade>,
                  method: Method| {
                let on_upgrade = on_upgrade.filter(|_| method == Method::GET);
                let ws = Upgrade::asked(&headers, on_upgrade);
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
    ws: Option<Upgrade>,
) -> Result<Response, Problem> {
    let target = match session.map(|id| id.parse()) {
        None => Target::Graph(query.remove("kg").unwrap_or_else(|| DEFAULT_GRAPH.to_owned())),
        Some(Ok(id)) if app.sessions.has(id) => Target::Session(id),
        Some(_) => return Err(Problem::NoSuchSession),
    };
    let last_seq = query.remove("last_seq");
    let seen = last_seq.as_deref().filter(|number| !number.is_empty()).map(str::parse);
    let seen = seen.transpose().map_err(|_| Problem::BadNumber)?;
    let (Some(ws), Some(link)) = (ws, link) else {
        return Err(Problem::UpgradeRequired);
    };
    let entrance = app.places.enter(link.client, link.from, &link.standing)?;
    let limit = app.limits.message_bytes;
    link.allow(handshake::ALLOWANCE);
    let tells_last = last_seq.is_some();
    let arrival = Arrival { app: app.clone(), link, target, seen, tells_last, entrance };
    Ok(ws.accept(limit, move |socket| arrival.receive(socket)))
}

/// A socket that was let in, with the places that it takes.
struct Arrival {
    app: Arc<App>,
    link: Link,
    target: Target,
    /// The last notification that the client has seen.
    seen: Option<u64>,
    /// Whether it wants to know the number of the last one.
    tells_last: bool,
    entrance: Entrance,
}

impl Arrival {
    async fn receive(self, mut socket: Socket) {
        let Arrival { app, link, target, seen, tells_last, entrance } = self;
        let _counted = app.watch();
        let entered = handshake::authenticate(&mut socket, &app, &link, entrance, &target, tells_last).await;
        let Some((caller, _seat, last)) = entered else { return };
        let since = seen.map_or(Since::Login(last), Since::Seen);
        link.allow_everything();
        let most = app.limits.message_bytes.saturating_mul(FRAMING) as u64;
        link.count_in(app.queries.on_its_way(most));
        connection::serve(socket, caller, since, link).await;
    }
}
