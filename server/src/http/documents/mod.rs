//! `/api/openapi.yaml` and `/api/asyncapi.yaml`, made from the types that travel and the list of endpoints.

pub(super) mod asyncapi;
mod exchanges;
mod openapi;
mod schemas;

use std::sync::LazyLock;

use serde_json::Value as Json;

use super::endpoint::{Answer, Body, Endpoint, Kind};
use super::text_response;

pub(super) const YAML: &str = "text/yaml; charset=utf-8";

/// `/api/openapi.yaml`.
pub(super) const OPENAPI: Endpoint = Endpoint {
    path: "/api/openapi.yaml",
    summary: "This document: OpenAPI 3.1 of the HTTP endpoints.",
    parameters: &[],
    answers: &[Answer {
        status: 200,
        when: "The document.",
        body: Body::Yaml { field: "openapi", version: "3.1.0" },
    }],
    problems: &[],
    kind: Kind::Keyed(|_| {
        static TEXT: LazyLock<String> = LazyLock::new(|| yaml(&openapi::document()));
        text_response(YAML, TEXT.as_str())
    }),
};

/// `/api/asyncapi.yaml`.
pub(super) const ASYNCAPI: Endpoint = Endpoint {
    path: "/api/asyncapi.yaml",
    summary: "AsyncAPI 3.0 of the messages of the WebSocket.",
    parameters: &[],
    answers: &[Answer {
        status: 200,
        when: "The document.",
        body: Body::Yaml { field: "asyncapi", version: "3.0.0" },
    }],
    problems: &[],
    kind: Kind::Keyed(|_| {
        static TEXT: LazyLock<String> = LazyLock::new(|| yaml(&asyncapi::DOCUMENT));
        text_response(YAML, TEXT.as_str())
    }),
};

fn yaml(document: &Json) -> String {
    // Text keys, numbers and texts: nothing that YAML could refuse.
    yaml_serde::to_string(document).unwrap_or_default()
}
