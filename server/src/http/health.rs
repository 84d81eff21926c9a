//! `/health`, `/live` and `/ready`: for probes, without authentication.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use stratalog_protocol::VERSION;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderValue, Method, StatusCode, header};
use warp::reply::{Reply, Response};

use super::{Problem, read_only};
use crate::app::App;

#[derive(Serialize)]
struct Envelope {
    success: bool,
    data: Health,
}

#[derive(Serialize)]
struct Health {
    status: &'static str,
    version: &'static str,
    uptime_secs: u64,
}

/// How storage is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HealthStatus {
    Healthy,
    Degraded,
}

impl HealthStatus {
    fn of(app: &App) -> HealthStatus {
        if app.engine.storage_troubles().is_empty() { HealthStatus::Healthy } else { HealthStatus::Degraded }
    }

    fn code(self) -> StatusCode {
        match self {
            HealthStatus::Healthy => StatusCode::OK,
            HealthStatus::Degraded => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// How the server is: degraded while some knowledge graph cannot be read or written.
pub(super) fn health(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    let app = app.clone();
    probe("health", move || health_body(HealthStatus::of(&app), app.started))
}

pub(super) fn health_body(status: HealthStatus, started: Instant) -> Response {
    let word = match status {
        HealthStatus::Healthy => "healthy",
        HealthStatus::Degraded => "degraded",
    };
    let data = Health { status: word, version: VERSION, uptime_secs: started.elapsed().as_secs() };
    let mut response =
        serde_json::to_string(&Envelope { success: true, data }).unwrap_or_default().into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    *response.status_mut() = status.code();
    response
}

/// Whether the process answers at all.
pub(super) fn live() -> BoxedFilter<(Response,)> {
    probe("live", empty)
}

/// Whether the server may be sent requests. A damaged graph does not make it unready: the others are served.
pub(super) fn ready() -> BoxedFilter<(Response,)> {
    probe("ready", empty)
}

fn empty() -> Response {
    Response::default()
}

fn probe(
    path: &'static str,
    answer: impl Fn() -> Response + Clone + Send + Sync + 'static,
) -> BoxedFilter<(Response,)> {
    warp::path(path)
        .and(warp::path::end())
        .and(warp::method())
        .map(move |method: Method| read_only(&method).map_or_else(Problem::into_response, |()| answer()))
        .boxed()
}
