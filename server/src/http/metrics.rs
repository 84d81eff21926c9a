//! `/metrics` and `/metrics/prometheus`: what the server counts, for holders of an API key.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value as Json;

use super::endpoint::{Answer, Body, Endpoint, Kind};
use super::{example, json_response, text_response};
use crate::metrics::Reading;

/// The content type of Prometheus' text format.
const EXPOSITION: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What the server counts.
#[derive(Serialize, JsonSchema)]
struct Statistics {
    /// Graphs.
    knowledge_graphs: u64,
    /// Relations with facts of their own.
    relations: u64,
    /// Derived relations that are kept in a graph.
    views: u64,
    /// An estimate of the memory that the facts take.
    memory_usage_bytes: u64,
    /// Programs that were run, whatever came of them.
    query_count: u64,
    /// Seconds since the server started.
    uptime_secs: u64,
    /// The sessions.
    sessions: Sessions,
}

/// The sessions, counted.
#[derive(Serialize, JsonSchema)]
struct Sessions {
    /// All.
    total: u64,
    /// Those without facts and rules of their own.
    clean: u64,
    /// Those with.
    dirty: u64,
    /// Facts of sessions.
    total_ephemeral_facts: u64,
    /// Rules of sessions.
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
pub(super) const JSON: Endpoint = Endpoint {
    path: "/metrics",
    summary: "What the server counts.",
    parameters: &[],
    answers: &[Answer { status: 200, when: "The counts.", body: Body::Json(statistics_example) }],
    problems: &[],
    kind: Kind::Keyed(|app| json_response(&Statistics::from(&app.reading()))),
};

/// `/metrics/prometheus`.
pub(super) const PROMETHEUS: Endpoint = Endpoint {
    path: "/metrics/prometheus",
    summary: "The same and latencies, in the text format of Prometheus.",
    parameters: &[],
    answers: &[Answer {
        status: 200,
        when: "The metrics, each with a HELP and a TYPE line.",
        body: Body::Text {
            kind: EXPOSITION,
            example: "# HELP service_queries_total Total queries executed\n# TYPE service_queries_total counter\n\
                      service_queries_total 42\n",
        },
    }],
    problems: &[],
    kind: Kind::Keyed(|app| text_response(EXPOSITION, app.metrics.exposition(&app.reading()))),
};

fn statistics_example(schemas: &mut SchemaGenerator) -> (Schema, Json) {
    let sessions =
        Sessions { total: 2, clean: 1, dirty: 1, total_ephemeral_facts: 2, total_ephemeral_rules: 0 };
    let statistics = Statistics {
        knowledge_graphs: 1,
        relations: 3,
        views: 1,
        memory_usage_bytes: 20_480,
        query_count: 17,
        uptime_secs: 60,
        sessions,
    };
    example(schemas, &statistics)
}
