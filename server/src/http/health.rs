//! `/health`, `/live` and `/ready`: for probes, without authentication.
//!
//! `/health` tells of anything that is wrong; `/ready` of what concerns every request, so that one damaged graph does
//! not take the others away, and of a disk that does not sync.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value as Json;
use stratalog_protocol::VERSION;
use warp::http::StatusCode;
use warp::reply::{Reply, Response};

use super::endpoint::{Answer, Body, Endpoint, Kind};
use super::{example, json_response};
use crate::app::App;
use crate::queries::off_thread;

/// How long storage may be busy without a break.
const PATIENCE: Duration = Duration::from_secs(1);

/// How the server is.
#[derive(Serialize, JsonSchema)]
struct Health {
    /// In one word.
    status: HealthStatus,
    /// The version of the server.
    version: &'static str,
    /// Seconds since it started.
    uptime_secs: u64,
    /// Graphs that take no writes because a sync failed; `*` stands for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unwritable: Vec<String>,
}

/// How storage is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum HealthStatus {
    /// Everything can be read and written.
    Healthy,
    /// Some graph cannot be read or written, or storage hangs.
    Degraded,
}

/// `/health`, of anything that is wrong.
pub(super) const HEALTH: Endpoint = Endpoint {
    path: "/health",
    summary: "How the server is.",
    parameters: &[],
    answers: &[
        Answer {
            status: 200,
            when: "Everything can be read and written.",
            body: Body::Json(|schemas| health_example(schemas, HealthStatus::Healthy)),
        },
        Answer {
            status: 503,
            when: "Some graph cannot be read or written, or storage hangs.",
            body: Body::Json(|schemas| health_example(schemas, HealthStatus::Degraded)),
        },
    ],
    problems: &[],
    kind: Kind::Probe(|app| {
        async move {
            let unwritable = app.engine.unwritable();
            let good = unwritable.is_empty() && app.engine.storage_troubles().is_empty();
            let good = good && !is_contended(&app).await;
            health_body(HealthStatus::of(good), unwritable, app.started)
        }
        .boxed()
    }),
};

/// `/live`: whether the process answers at all.
pub(super) const LIVE: Endpoint = Endpoint {
    path: "/live",
    summary: "Whether the process answers.",
    parameters: &[],
    answers: &[Answer { status: 200, when: "It does.", body: Body::Empty }],
    problems: &[],
    kind: Kind::Probe(|_| async { Response::default() }.boxed()),
};

/// `/ready`: whether the server may be sent requests.
pub(super) const READY: Endpoint = Endpoint {
    path: "/ready",
    summary: "Whether requests may be sent.",
    parameters: &[],
    answers: &[
        Answer { status: 200, when: "They may.", body: Body::Empty },
        Answer {
            status: 503,
            when: "The server starts or stops, storage hangs, or does not sync.",
            body: Body::Empty,
        },
    ],
    problems: &[],
    kind: Kind::Probe(|app| {
        async move {
            let unwritable = app.engine.unwritable();
            if !unwritable.is_empty() {
                return health_body(HealthStatus::Degraded, unwritable, app.started);
            }
            HealthStatus::of(!is_contended(&app).await).code().into_response()
        }
        .boxed()
    }),
};

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

fn health_example(schemas: &mut SchemaGenerator, status: HealthStatus) -> (Schema, Json) {
    example(schemas, &Health { status, version: VERSION, uptime_secs: 86_400, unwritable: Vec::new() })
}

pub(super) fn health_body(status: HealthStatus, unwritable: Vec<String>, started: Instant) -> Response {
    let data = Health { status, version: VERSION, uptime_secs: started.elapsed().as_secs(), unwritable };
    let mut response = json_response(&data);
    *response.status_mut() = status.code();
    response
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
