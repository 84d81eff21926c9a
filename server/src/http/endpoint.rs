//! `Endpoint`: one entry of the list that routes and `/api/openapi.yaml` are made from.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value as Json;
use warp::filters::BoxedFilter;
use warp::http::HeaderMap;
use warp::reply::Response;

use super::Problem;
use crate::app::App;

/// One path, who may ask for it, and everything that it may answer.
pub(crate) struct Endpoint {
    /// As in OpenAPI: `{id}` stands for a part of the path.
    pub(crate) path: &'static str,
    /// What it is, in a sentence or two.
    pub(crate) summary: &'static str,
    /// Of path and query.
    pub(crate) parameters: &'static [Parameter],
    /// What is answered when nothing is wrong with the request.
    pub(crate) answers: &'static [Answer],
    /// What may be wrong beside what its kind says.
    pub(crate) problems: &'static [Problem],
    /// Who may ask, and how it is answered.
    pub(crate) kind: Kind,
}

/// A parameter of the query, or of the path where that names it.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    /// A whole number, not negative; otherwise a text.
    pub(crate) is_number: bool,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) when: &'static str,
    pub(crate) body: Body,
}

/// What an answer holds.
pub(crate) enum Body {
    /// Nothing.
    Empty,
    /// JSON with this schema and this example.
    Json(fn(&mut SchemaGenerator) -> (Schema, Json)),
    /// A document as YAML that begins with the version of its kind.
    Yaml { field: &'static str, version: &'static str },
    /// A text of this content type.
    Text { kind: &'static str, example: &'static str },
}

/// Who may ask, and how it is answered.
pub(crate) enum Kind {
    /// Anybody, also when the server is busy.
    Probe(fn(Arc<App>) -> BoxFuture<'static, Response>),
    /// Holders of an API key; takes processor time.
    Keyed(fn(&App) -> Response),
    /// Holders of an API key and users with their password; a browser that has neither yet is shown a form for them.
    Page(fn(&App) -> Response),
    /// Browsers, whoever they are; to everybody else there is nothing.
    Home(fn() -> Response),
    /// Anybody: what pages are made of. `{file}` in the path is one of these names.
    Files(&'static [File]),
    /// Anybody, where the server has the console: a page and its files, given what stands for `{file}` and the headers.
    Console(fn(&str, &HeaderMap) -> Option<Response>),
    /// Anybody, until the WebSocket is open.
    Socket(fn(&Arc<App>) -> BoxedFilter<(Response,)>),
}

/// A file that is in the binary.
#[derive(Debug)]
pub(crate) struct File {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) text: &'static str,
}
