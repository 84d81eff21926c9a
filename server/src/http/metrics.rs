//! `/metrics` and `/metrics/prometheus`: what the server counts, for holders of an API key.

use std::sync::Arc;

use serde::Serialize;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, HeaderValue, Method, header};
use warp::reply::{Reply, Response};

use super::{Problem, bearer, json_response, read_only};
use crate::app::App;
use crate::metrics::Reading;
use crate::queries::off_thread;

/// The server's statistics as JSON.
#[derive(Serialize)]
struct Statistics {
    knowledge_graphs: u64,
    relations: u64,
    views: u64,
    memory_usage_bytes: u64,
    query_count: u64,
    uptime_secs: u64,
    sessions: Sessions,
}

#[derive(Serialize)]
struct Sessions {
    total: u64,
    clean: u64,
    dirty: u64,
    total_ephemeral_facts: u64,
    total_ephemeral_rules: u64,
}

impl From<&Reading> for Statistics {
    fn from(reading: &Reading) -> Statistics {
        Statistics {
            knowledge_graphs: reading.knowledge_graphs,
            relations: reading.relations,
            views: reading.views,
            memory_usage_bytes: reading.memory_bytes,
            query_count: reading.queries,
            uptime_secs: reading.uptime_secs,
            sessions: Sessions {
                total: reading.sessions,
                clean: reading.clean_sessions(),
                dirty: reading.dirty_sessions,
                total_ephemeral_facts: reading.ephemeral_facts,
                total_ephemeral_rules: reading.ephemeral_rules,
            },
        }
    }
}

/// `/metrics`.
pub(super) fn json(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    let path = warp::path("metrics").and(warp::path::end()).boxed();
    endpoint(app, path, |_, reading| json_response(&Statistics::from(reading)))
}

/// `/metrics/prometheus`.
pub(super) fn prometheus(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    let path = warp::path("metrics").and(warp::path("prometheus")).and(warp::path::end()).boxed();
    endpoint(app, path, |app, reading| {
        let mut response = app.metrics.exposition(reading).into_response();
        let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, text);
        response
    })
}

fn endpoint(
    app: &Arc<App>,
    path: BoxedFilter<()>,
    show: fn(&App, &Reading) -> Response,
) -> BoxedFilter<(Response,)> {
    let app = app.clone();
    path.and(warp::method())
        .and(warp::header::headers_cloned())
        .then(move |method: Method, headers: HeaderMap| {
            let app = app.clone();
            async move {
                let allowed = bearer::check(&headers, &app.accounts).and_then(|()| read_only(&method));
                let read = match allowed {
                    Ok(()) => off_thread(move || show(&app, &app.reading())).await,
                    Err(problem) => return problem.into_response(),
                };
                read.unwrap_or_else(|_| Problem::Internal.into_response())
            }
        })
        .boxed()
}
