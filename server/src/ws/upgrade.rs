//! The upgrade of a request to a WebSocket.
//!
//! warp has one of its own, but it does not let its buffers be chosen: `tungstenite` fills 128 KiB with zeros each time that
//! it looks whether something has come, which is a good part of what a short message costs, and keeps them for each socket.

use std::future::Future;

use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use warp::http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use warp::http::{HeaderMap, HeaderValue, StatusCode};
use warp::reply::Response;

/// How much is read at once: most messages are shorter, and of long ones a part of this size costs little.
const READ_BUFFER: usize = 4 << 10;

/// A WebSocket.
pub(super) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// A request for a WebSocket.
pub(super) struct Upgrade {
    accept: HeaderValue,
    on_upgrade: OnUpgrade,
}

impl Upgrade {
    /// What these headers ask for; nothing if that is no WebSocket.
    pub(super) fn asked(headers: &HeaderMap, on_upgrade: Option<OnUpgrade>) -> Option<Upgrade> {
        let names = |header, name: &str| {
            let lines = headers.get_all(header).iter().filter_map(|value| value.to_str().ok());
            lines.flat_map(|line| line.split(',')).any(|item| item.trim().eq_ignore_ascii_case(name))
        };
        let is_version_13 = headers.get(SEC_WEBSOCKET_VERSION).is_some_and(|version| version == "13");
        if !names(CONNECTION, "upgrade") || !names(UPGRADE, "websocket") || !is_version_13 {
            return None;
        }
        let accept = derive_accept_key(headers.get(SEC_WEBSOCKET_KEY)?.as_bytes());
        Some(Upgrade { accept: HeaderValue::from_str(&accept).ok()?, on_upgrade: on_upgrade? })
    }

    /// Agrees, and serves the socket, whose messages have so many bytes at most.
    pub(super) fn accept<S>(
        self,
        largest: usize,
        serve: impl FnOnce(Socket) -> S + Send + 'static,
    ) -> Response
    where
        S: Future<Output = ()> + Send + 'static,
    {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER)
            .max_message_size(Some(largest))
            .max_frame_size(Some(largest));
        let Upgrade { accept, on_upgrade } = self;
        tokio::spawn(async move {
            match on_upgrade.await {
                Ok(upgraded) => {
                    let stream = TokioIo::new(upgraded);
                    serve(WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await).await;
                }
                Err(error) => tracing::debug!(%error, "a WebSocket was not opened"),
            }
        });
        let mut response = Response::default();
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        response
    }
}
