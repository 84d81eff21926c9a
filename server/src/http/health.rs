//! `/health`, `/live` and `/ready`: for probes, without authentication.
//!
//! `/health` tells of anything that is wrong; `/ready` only of what concerns every request, so that one damaged graph
//! does not take the others away.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use stratalog_protocol::VERSION;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{Method, StatusCode};
use warp::reply::{Reply, Response};

use super::{json_response, read_only};
use crate::app::App;
use crate::queries::off_thread;

/// How long storage may be busy without a break.
const PATIENCE: Duration = Duration::from_secs(1);

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
    fn code(self) -> StatusCode {
        match self {
            HealthStatus::Healthy => StatusCode::OK,
            HealthStatus::Degraded => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn of(is_good: bool) -> HealthStatus {
        if is_good { HealthStatus::Healthy } else { HealthStatus::Degraded }
    }
}

/// Whether this is the path of a probe.
pub(super) fn is_probe(path: &str) -> bool {
    matches!(path.strip_prefix("/v1").unwrap_or(path), "/health" | "/live" | "/ready")
}

/// How the server is: degraded while some graph cannot be read or written, or storage hangs.
pub(super) fn health(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    let app = app.clone();
    probe("health", move || {
        let app = app.clone();
        async move {
            let good = app.engine.storage_troubles().is_empty() && !is_contended(&app).await;
            health_body(HealthStatus::of(good), app.started)
        }
    })
}

pub(super) fn health_body(status: HealthStatus, started: Instant) -> Response {
    let word = match status {
        HealthStatus::Healthy => "healthy",
        HealthStatus::Degraded => "degraded",
    };
    let data = Health { status: word, version: VERSION, uptime_secs: started.elapsed().as_secs() };
    let mut response = json_response(&data);
    *response.status_mut() = status.code();
    response
}

/// Whether the process answers at all.
pub(super) fn live(_: &Arc<App>) -> BoxedFilter<(Response,)> {
    probe("live", || async { Response::default() })
}

/// Whether the server may be sent requests.
pub(super) fn ready(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    let app = app.clone();
    probe("ready", move || {
        let app = app.clone();
        async move { HealthStatus::of(!is_contended(&app).await).code().into_response() }
    })
}

/// Whether storage hangs. Only one probe waits for it at a time, and what it finds is true for those that came meanwhile.
async fn is_contended(app: &Arc<App>) -> bool {
    if !app.engine.is_storage_contended(Duration::ZERO) {
        return false;
    }
    let asked = Instant::now();
    let mut latest = app.probing.lock().await;
    match *latest {
        Some((found, contended)) if found >= asked => contended,
        Some(_) | None => {
            let app = app.clone();
            let contended =
                off_thread(move || app.engine.is_storage_contended(PATIENCE)).await.unwrap_or(true);
            *latest = Some((Instant::now(), contended));
            contended
        }
    }
}

fn probe<F>(
    path: &'static str,
    answer: impl Fn() -> F + Clone + Send + Sync + 'static,
) -> BoxedFilter<(Response,)>
where
    F: Future<Output = Response> + Send,
{
    warp::path(path)
        .and(warp::path::end())
        .and(warp::method())
        .then(move |method: Method| {
            let answer = answer.clone();
            async move {
                match read_only(&method) {
                    Ok(()) => answer().await,
                    Err(problem) => problem.into_response(),
                }
            }
        })
        .boxed()
}
