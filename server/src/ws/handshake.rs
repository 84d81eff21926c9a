//! A socket before authentication: who does not say who they are is shown out.
//!
//! Wrong credentials leave the socket open for another try; anything else closes it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use stratalog_protocol::{AuthError, Code, Message as Request, Reply, RequestId, Response};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::tungstenite::Message;

use super::CloseCode;
use super::connection::problem_of;
use super::upgrade::Socket;
use crate::app::App;
use crate::limits::{Entrance, Seated};
use crate::net::Link;
use crate::requests::{self, Caller, LoginFailed, Target};

/// The time from connecting to authentication.
const WINDOW: Duration = Duration::from_secs(30);

/// The largest message before authentication.
const LARGEST_MESSAGE: usize = 64 << 10;

/// Bytes that may come in before authentication, all messages and their framing together.
pub(super) const ALLOWANCE: i64 = 1 << 20;

/// Wrong credentials after which the socket is closed.
const TRIES: usize = 5;

/// Why somebody for whom there is no place is sent away.
const FULL: &str = "too many connections are open: try again later";

/// How long a farewell may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// Waits for valid credentials and greets; answers also the last notification before. `None` means that the socket is
/// closed.
pub(super) async fn authenticate(
    socket: &mut Socket,
    app: &Arc<App>,
    link: &Link,
    entrance: Entrance,
    target: &Target,
    tells_last: bool,
) -> Option<(Caller, Seated, u64)> {
    let mut door = Door { socket, link, tells_last, until: Instant::now() + WINDOW };
    let driven_out = entrance.over();
    let (code, reason) = tokio::select! {
        entered = door.wait(app, entrance, target) => return entered,
        () = app.stopped() => (CloseCode::Away, "the server is shutting down"),
        () = driven_out => (CloseCode::Full, FULL),
    };
    door.close(code, reason).await;
    None
}

struct Door<'a> {
    socket: &'a mut Socket,
    link: &'a Link,
    /// Whether the greeting tells the number of the last notification.
    tells_last: bool,
    /// When the time to authenticate is over. An answer that is on its way may come later.
    until: Instant,
}

impl Door<'_> {
    async fn wait(
        &mut self,
        app: &Arc<App>,
        entrance: Entrance,
        target: &Target,
    ) -> Option<(Caller, Seated, u64)> {
        let mut failures = 0;
        loop {
            let message = match timeout_at(self.until, self.next()).await {
                Err(_) => {
                    self.refuse("no authentication within 30 seconds", None).await;
                    let reason = "authentication timed out: log in within 30 seconds";
                    self.close(CloseCode::Policy, reason).await;
                    return None;
                }
                Ok(next) => next,
            };
            let message = match message {
                Ok(message) => message,
                Err(Some((code, reason))) => {
                    self.refuse(reason, None).await;
                    self.close(code, reason).await;
                    return None;
                }
                Err(None) => return None,
            };
            let (id, failed) = match message {
                Err(failed) => (None, failed),
                Ok(Request { request, id }) => match requests::log_in(app, self.link.client, request).await {
                    Ok(who) => return self.greet(app, who, entrance, target, id).await,
                    Err(failed) => (id, failed),
                },
            };
            self.refuse(&failed.to_string(), id).await;
            match failed {
                LoginFailed::NotCredentials => {
                    self.close(CloseCode::Policy, "authentication required: log in first").await;
                    return None;
                }
                LoginFailed::Password
                | LoginFailed::Key
                | LoginFailed::KeyExpired
                | LoginFailed::KeyScope(_) => failures += 1,
                LoginFailed::Throttled(_) | LoginFailed::NotRun(_) => {}
            }
            if failures == TRIES {
                tracing::warn!(address = %self.link.client, "closed after {TRIES} failed logins");
                self.close(CloseCode::Policy, "too many failed logins: connect again later").await;
                return None;
            }
        }
    }

    /// The next message; an error says how to close, or that there is nobody to tell.
    async fn next(&mut self) -> Result<Result<Request, LoginFailed>, Option<(CloseCode, &'static str)>> {
        const TOO_LARGE: (CloseCode, &str) =
            (CloseCode::TooLarge, "a message before authentication is at most 64 KiB");
        loop {
            let frame = match self.socket.next().await {
                None => return Err(None),
                Some(Ok(frame)) => frame,
                Some(Err(_)) if self.link.is_exhausted() => return Err(Some(TOO_LARGE)),
                Some(Err(error)) => return Err(problem_of(&error)),
            };
            if frame.len() > LARGEST_MESSAGE {
                return Err(Some(TOO_LARGE));
            }
            if let Message::Text(text) = &frame {
                return Ok(Request::parse(text).map_err(|_| LoginFailed::NotCredentials));
            }
            if frame.is_binary() {
                return Ok(Err(LoginFailed::NotCredentials));
            }
        }
    }

    async fn greet(
        &mut self,
        app: &Arc<App>,
        who: requests::LoggedIn,
        entrance: Entrance,
        target: &Target,
        id: Option<RequestId>,
    ) -> Option<(Caller, Seated, u64)> {
        let Link { client, from, standing, .. } = self.link;
        let seat = match app.places.settle(entrance, *client, *from, standing, who.is_administrator()) {
            Ok(seat) => seat,
            Err(full) => {
                self.send(requests::error(requests::no_place(full, app), id)).await;
                self.close(CloseCode::Full, FULL).await;
                return None;
            }
        };
        let caller = match requests::enter(app, who, target) {
            Ok(caller) => caller,
            Err(failure) => {
                let reason = match (target, failure.code) {
                    (Target::Graph(_), Code::NotFound) => {
                        "no such knowledge graph: connect with another ?kg="
                    }
                    (Target::Graph(_) | Target::Session(_), _) => "the message before tells why",
                };
                self.send(requests::error(failure, id)).await;
                self.close(CloseCode::Policy, reason).await;
                return None;
            }
        };
        let last = app.events.last();
        let (greeting, session) =
            (requests::authenticated(&caller, self.tells_last.then_some(last), id), caller.session.id());
        tracing::debug!(%session, user = caller.identity.username(), address = %self.link.client, "authenticated");
        self.socket.send(Message::text(greeting)).await.is_ok().then_some((caller, seat, last))
    }

    async fn refuse(&mut self, message: &str, id: Option<RequestId>) {
        let response = Response::AuthError(AuthError { message: message.to_owned() });
        self.send(Reply { response, id }.to_json()).await;
    }

    async fn send(&mut self, text: String) {
        // Whoever does not read the answer is gone, and the next read says so.
        let _ = timeout(FAREWELL, self.socket.send(Message::text(text))).await;
    }

    /// Says why, and waits a moment for the other end to agree.
    async fn close(&mut self, code: CloseCode, reason: &'static str) {
        self.link.linger();
        self.link.allow_everything();
        let farewell = async {
            if self.socket.send(code.frame(reason)).await.is_ok() {
                while let Some(Ok(_)) = self.socket.next().await {}
            }
        };
        let _ = timeout(FAREWELL, farewell).await;
    }
}
