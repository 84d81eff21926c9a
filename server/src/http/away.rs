//! While there is no data to serve, because it is being opened or the server stops: probes are answered, everything else
//! is asked to come back.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use warp::http::{HeaderValue, StatusCode, header};
use warp::reply::{Reply, Response};

use super::health::{HealthStatus, health_body};
use super::{Problem, versioned};

/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// So many connections are answered at a time; more wait in the system's queue.
const CONNECTIONS: usize = 256;

/// Why there is no data to serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absence {
    /// It is being opened.
    Starting,
    /// Requests that run may end, new ones are not taken.
    Stopping,
}

/// Answers for ever; whoever calls this drops it when that is over.
pub(crate) async fn while_away(listener: &TcpListener, why: Absence, started: Instant) -> Infallible {
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= CONNECTIONS {
            connections.join_next().await;
        }
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        connections.spawn(async move {
            let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let response = answer(request.uri().path(), why, started);
                async move { Ok::<_, Infallible>(response) }
            });
            let mut http = http1::Builder::new();
            http.keep_alive(false).timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            // A probe that goes away early needs no answer.
            let _ =
                tokio::time::timeout(PATIENCE, http.serve_connection(TokioIo::new(stream), service)).await;
        });
    }
}

fn answer(path: &str, why: Absence, started: Instant) -> Response {
    let path = path.strip_prefix("/v1").unwrap_or(path);
    let mut response = match (path, why) {
        ("/live", _) => Response::default(),
        ("/ready", _) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        ("/health", _) => health_body(HealthStatus::Degraded, Vec::new(), started),
        (_, Absence::Starting) => Problem::Starting.into_response(),
        (_, Absence::Stopping) => Problem::Stopping.into_response(),
    };
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    versioned(response)
}
