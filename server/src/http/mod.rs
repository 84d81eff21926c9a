//! HTTP: the list of endpoints, one file each. Every path exists at the root and under `/v1`.

mod accept;
mod away;
mod basic;
mod bearer;
mod console;
mod cors;
mod documents;
mod endpoint;
mod forwarded;
mod gate;
mod health;
mod metrics;
mod page;
mod rejection;
mod route;

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value as Json;
use stratalog_protocol::VERSION;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, HeaderValue, Method, header};
use warp::reply::{Reply, Response};

use crate::app::App;
use crate::auth::Accounts;
use crate::ws;

pub(crate) use accept::{Inside, accept};
pub(crate) use away::{Absence, while_away};
pub(crate) use cors::admit_socket;
pub(crate) use endpoint::{Answer, Body, Endpoint, Kind, Parameter};
pub(crate) use rejection::Problem;

/// The endpoints. Routes and `/api/openapi.yaml` are made from this list.
const ENDPOINTS: &[Endpoint] = &[
    ws::OWN,
    ws::OF_SESSION,
    health::HEALTH,
    health::LIVE,
    health::READY,
    metrics::JSON,
    metrics::PROMETHEUS,
    documents::OPENAPI,
    documents::ASYNCAPI,
    page::HOME,
    page::PAGE,
    page::FILES,
    console::PAGE,
    console::FILES,
];

/// Everything that the server answers to.
pub(crate) fn routes(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    // The last one takes what no other does.
    let endpoints = ENDPOINTS
        .iter()
        .flat_map(|endpoint| endpoint.routes(app))
        .collect::<Vec<_>>()
        .into_iter()
        .rfold(anything_else(app), |rest, endpoint| endpoint.or(rest).unify().boxed());
    warp::path("v1").and(endpoints.clone()).or(endpoints).unify().boxed()
}

/// The response with the version that every one carries.
fn versioned(mut response: Response) -> Response {
    const VERSION_HEADER: &str = concat!("v", env!("CARGO_PKG_VERSION"));
    debug_assert_eq!(&VERSION_HEADER[1..], VERSION);
    response.headers_mut().insert("x-api-version", HeaderValue::from_static(VERSION_HEADER));
    response
}

/// What no endpoint took: without a valid key one does not even learn that it does not exist.
fn no_endpoint(method: &Method, headers: &HeaderMap, accounts: &Accounts) -> Response {
    let outcome = bearer::check(headers, accounts)
        .and_then(|()| read_only(method))
        .and_then(|()| Err::<Response, _>(Problem::NotFound));
    outcome.unwrap_or_else(Problem::into_response)
}

fn anything_else(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    let accounts = app.accounts.clone();
    warp::method()
        .and(warp::header::headers_cloned())
        .map(move |method: Method, headers: HeaderMap| no_endpoint(&method, &headers, &accounts))
        .boxed()
}

/// The endpoints that only show something.
fn read_only(method: &Method) -> Result<(), Problem> {
    match *method {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(Problem::MethodNotAllowed),
    }
}

/// The success envelope.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{D}Envelope")]
struct Success<'d, D> {
    /// Always true.
    success: bool,
    /// What was asked for.
    data: &'d D,
}

/// Schema and example of an answer with this data.
fn example<D: Serialize + JsonSchema>(schemas: &mut SchemaGenerator, data: &D) -> (Schema, Json) {
    let example = serde_json::to_value(Success { success: true, data });
    (schemas.subschema_for::<Success<'_, D>>(), example.unwrap_or_default())
}

fn json_response<D: Serialize>(data: &D) -> Response {
    let Ok(body) = serde_json::to_string(&Success { success: true, data }) else {
        return Problem::Internal.into_response();
    };
    text_response("application/json", body)
}

fn text_response(kind: &'static str, body: impl Reply) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
