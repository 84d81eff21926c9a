//! OpenAPI 3.1 of the HTTP endpoints, made from their list.

use serde_json::{Map, Value as Json, json};
use stratalog_protocol::VERSION;

use super::{YAML, schemas};
use crate::http::ENDPOINTS;
use crate::http::console;
use crate::http::endpoint::{Answer, Body, Endpoint, Kind, Parameter};
use crate::http::rejection::{Envelope, Problem};

const ABOUT: &str = "Health, metrics and documents of a Stratalog server; data travels over the WebSocket \
    (/api/asyncapi.yaml).\n\nEvery path exists at the root and below /v1, for GET and for HEAD, which answers the same \
    without a body. Any other method is answered with 405, any other path with 401, and with 404 to holders of an API \
    key. Every answer carries the version of the server in `X-API-Version`.";

/// The document.
pub(super) fn document() -> Json {
    let mut generator = schemas::newest();
    let failure = generator.subschema_for::<Envelope>().to_value();
    let mut paths = Map::new();
    for endpoint in ENDPOINTS {
        let operation = operation(endpoint, &mut generator, &failure);
        paths.insert(endpoint.path.to_owned(), json!({ "get": operation }));
    }
    let components = json!({
        "securitySchemes": {
            "apiKey": {
                "type": "http",
                "scheme": "bearer",
                "description": "An API key, as `.apikey create NAME` returns it.",
            },
            "password": {
                "type": "http",
                "scheme": "basic",
                "description": "A user and the password. Only the page for people takes them.",
            }
        },
        "headers": {
            "X-API-Version": {
                "description": "The version of the server.",
                "required": true,
                "schema": { "type": "string", "const": format!("v{VERSION}") },
            }
        },
        "responses": {
            "MethodNotAllowed": refusal(&[Problem::MethodNotAllowed], &failure),
            "NotFound": refusal(&[Problem::NotFound], &failure),
        },
        "schemas": generator.take_definitions(true),
    });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Stratalog over HTTP",
            "version": VERSION,
            "description": ABOUT,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }, { "url": "/v1" }],
        "security": [{ "apiKey": [] }],
        "paths": paths,
        "components": components,
    })
}

fn operation(endpoint: &Endpoint, generator: &mut schemars::SchemaGenerator, failure: &Json) -> Json {
    let mut responses = Map::new();
    for answer in endpoint.answers {
        responses.insert(answer.status.to_string(), described(answer, endpoint, generator));
    }
    let problems = problems(endpoint);
    for together in problems.chunk_by(|one, other| one.status() == other.status()) {
        let status = together[0].status().as_u16().to_string();
        let refusal = refusal(together, failure);
        match responses.get_mut(&status) {
            // The endpoint has an answer of its own with this status: it may also be this one.
            Some(response) => add_refusal(response, refusal),
            None => {
                responses.insert(status, refusal);
            }
        }
    }
    if let (Kind::Page(_), Some(refused)) = (&endpoint.kind, responses.get_mut("401")) {
        refused["content"]["text/html; charset=utf-8"] = json!({ "schema": { "type": "string" } });
    }
    let mut operation = json!({
        "operationId": operation_id(endpoint.path),
        "summary": endpoint.summary,
        "parameters": endpoint.parameters.iter().map(|each| parameter(each, endpoint)).collect::<Json>(),
        "responses": responses,
    });
    match endpoint.kind {
        Kind::Keyed(_) | Kind::Home(_) => {}
        Kind::Page(_) => operation["security"] = json!([{ "apiKey": [] }, { "password": [] }]),
        Kind::Probe(_) | Kind::Files(_) | Kind::Console(_) | Kind::Socket(_) => {
            operation["security"] = json!([]);
        }
    }
    operation
}

/// What may be wrong with a request to this endpoint, by status.
fn problems(endpoint: &Endpoint) -> Vec<Problem> {
    let anywhere = [Problem::TooLarge, Problem::TooManyConnections];
    let when_busy = [Problem::UnknownHost, Problem::TooManyRequests, Problem::Starting, Problem::Stopping];
    let of_kind: &[Problem] = match endpoint.kind {
        Kind::Probe(_) => return anywhere.to_vec(),
        Kind::Keyed(_) => &[Problem::Unauthorized, Problem::Internal],
        Kind::Page(_) => &[Problem::Unauthorized, Problem::TooManyLogins, Problem::Internal],
        Kind::Home(_) => &[Problem::Unauthorized, Problem::NotFound],
        Kind::Files(_) | Kind::Console(_) | Kind::Socket(_) => &[],
    };
    let here = |problem: &&Problem| {
        [&anywhere[..], &when_busy, of_kind, endpoint.problems].iter().any(|list| list.contains(problem))
    };
    Problem::ALL.iter().filter(here).copied().collect()
}

fn described(answer: &Answer, endpoint: &Endpoint, generator: &mut schemars::SchemaGenerator) -> Json {
    let mut response = json!({ "description": answer.when, "headers": headers(&[]) });
    match (&answer.body, &endpoint.kind) {
        (Body::Empty, _) => {}
        (Body::Json(make), _) => {
            let (schema, example) = make(generator);
            response["content"] = json!({ "application/json": { "schema": schema, "example": example } });
        }
        (Body::Yaml { field, version }, _) => {
            let schema = json!({ "type": "object", "required": [field] });
            response["content"] = json!({ YAML: { "schema": schema, "example": { *field: version } } });
        }
        (Body::Text { example, .. }, Kind::Files(files)) => {
            response["content"] = files.iter().map(|file| (file.kind.to_owned(), text(example))).collect();
        }
        (Body::Text { example, .. }, Kind::Console(_)) if endpoint.path.ends_with("{file}") => {
            response["content"] = console::kinds().map(|kind| (kind.to_owned(), text(example))).collect();
        }
        (Body::Text { kind, example }, _) => response["content"] = json!({ *kind: text(example) }),
    }
    response
}

fn text(example: &str) -> Json {
    json!({ "schema": { "type": "string" }, "example": example })
}

/// An answer to a request that is refused, all for reasons with one status.
fn refusal(problems: &[Problem], failure: &Json) -> Json {
    let examples: Map<String, Json> = problems
        .iter()
        .map(|problem| (format!("{problem:?}"), json!({ "value": problem.envelope() })))
        .collect();
    let messages: Vec<Json> =
        problems.iter().map(|problem| json!(problem.envelope())["error"]["message"].clone()).collect();
    let messages: Vec<&str> = messages.iter().filter_map(Json::as_str).collect();
    json!({
        "description": messages.join("; or: "),
        "headers": headers(problems.first().map_or(&[], |problem| problem.headers())),
        "content": { "application/json": { "schema": failure, "examples": examples } },
    })
}

fn add_refusal(response: &mut Json, mut refusal: Json) {
    response["description"] =
        json!(format!("{} Or: {}.", text_of(&response["description"]), text_of(&refusal["description"])));
    let content = refusal["content"]["application/json"].take();
    match response.pointer_mut("/content/application~1json") {
        Some(own) => {
            let schemas = json!([own["schema"].take(), content["schema"]]);
            let mut examples = content["examples"].clone();
            examples["Answer"] = json!({ "value": own["example"].take() });
            *own = json!({ "schema": { "anyOf": schemas }, "examples": examples });
        }
        None => response["content"] = json!({ "application/json": content }),
    }
    if let (Some(headers), Some(more)) = (response["headers"].as_object_mut(), refusal["headers"].as_object())
    {
        let own: Vec<String> = headers.keys().cloned().collect();
        for (name, header) in more.iter().filter(|(name, _)| !own.contains(name)) {
            let mut header = header.clone();
            header["required"] = json!(false);
            headers.insert(name.clone(), header);
        }
    }
}

fn headers(own: &[(&str, &str)]) -> Json {
    let version = ("X-API-Version".to_owned(), json!({ "$ref": "#/components/headers/X-API-Version" }));
    let own = own.iter().map(|(name, value)| {
        ((*name).to_owned(), json!({ "required": true, "schema": { "type": "string", "const": value } }))
    });
    std::iter::once(version).chain(own).collect()
}

fn parameter(parameter: &Parameter, endpoint: &Endpoint) -> Json {
    let place = format!("{{{}}}", parameter.name);
    let in_path = endpoint.path.contains(&place);
    let schema = match (&endpoint.kind, parameter.is_number) {
        (Kind::Files(files), _) => {
            json!({ "type": "string", "enum": files.iter().map(|file| file.name).collect::<Vec<_>>() })
        }
        (Kind::Console(_), _) => json!({ "type": "string", "enum": console::names() }),
        (_, true) => json!({ "type": "integer", "format": "uint64", "minimum": 0, "maximum": u64::MAX }),
        (_, false) => json!({ "type": "string" }),
    };
    json!({
        "name": parameter.name,
        "in": if in_path { "path" } else { "query" },
        "required": in_path,
        "description": parameter.what,
        "schema": schema,
    })
}

/// `get_api_ws_docs` of `/api/ws-docs`.
fn operation_id(path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once("get").chain(words).collect::<Vec<_>>().join("_")
}

fn text_of(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::document;
    use crate::http::rejection::Problem;

    #[test]
    fn every_problem_has_its_place() {
        let text = document().to_string();
        for problem in Problem::ALL {
            assert!(text.contains(&format!("\"{problem:?}\":{{\"value\"")), "{problem:?}");
        }
    }
}
