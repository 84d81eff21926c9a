//! While the data is being opened: probes are answered, everything else is asked to come back.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use warp::http::{HeaderValue, StatusCode, header};
use warp::reply::{Reply, Response};

use super::Problem;
use super::health::{HealthStatus, health_body};

/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// So many connections are answered at a time; more wait in the system's queue.
const CONNECTIONS: usize = 256;

/// Answers for ever; whoever calls this drops it when the data is open.
pub(crate) async fn while_starting(listener: &TcpListener, started: Instant) -> Infallible {
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
                let response = answer(request.uri().path(), started);
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

fn answer(path: &str, started: Instant) -> Response {
    let path = path.strip_prefix("/v1").unwrap_or(path);
    let mut response = match path {
        "/live" => Response::default(),
        "/ready" => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        "/health" => health_body(HealthStatus::Degraded, started),
        _ => Problem::Starting.into_response(),
    };
    response
        .headers_mut()
        .insert("x-api-version", HeaderValue::from_static(concat!("v", env!("CARGO_PKG_VERSION"))));
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
