//! `/health`, `/live` and `/ready`: for probes, without authentication.

use std::sync::Arc;

use serde::Serialize;
use stratalog_protocol::VERSION;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderValue, Method, header};
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

/// How the server is. Data in memory is always accessible.
pub(super) fn health(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    let app = app.clone();
    probe("health", move || {
        let data =
            Health { status: "healthy", version: VERSION, uptime_secs: app.started.elapsed().as_secs() };
        let mut response =
            serde_json::to_string(&Envelope { success: true, data }).unwrap_or_default().into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    })
}

/// Whether the process answers at all.
pub(super) fn live() -> BoxedFilter<(Response,)> {
    probe("live", empty)
}

/// Whether the server may be sent requests.
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
