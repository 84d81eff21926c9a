//! HTTP: the list of endpoints, one file each. Every path exists at the root and under `/v1`.

mod accept;
mod bearer;
mod health;
mod rejection;
mod starting;

use std::sync::Arc;

use stratalog_protocol::VERSION;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderValue, Method};
use warp::reply::Response;

use crate::app::App;
use crate::ws;

pub(crate) use accept::accept;
pub(crate) use rejection::Problem;
pub(crate) use starting::while_starting;

/// Everything that the server answers to.
pub(crate) fn routes(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    let endpoints = ws::route(app)
        .or(health::health(app))
        .unify()
        .or(health::live())
        .unify()
        .or(health::ready())
        .unify()
        .or(anything_else(app))
        .unify()
        .boxed();
    let version = HeaderValue::from_static(concat!("v", env!("CARGO_PKG_VERSION")));
    debug_assert_eq!(version.as_bytes()[1..], *VERSION.as_bytes());
    warp::path("v1")
        .and(endpoints.clone())
        .or(endpoints)
        .unify()
        .map(move |mut response: Response| {
            response.headers_mut().insert("x-api-version", version.clone());
            response
        })
        .boxed()
}

/// What no endpoint took: without a valid key one does not even learn that it does not exist.
fn anything_else(app: &Arc<App>) -> BoxedFilter<(Response,)> {
    let accounts = app.accounts.clone();
    warp::method()
        .and(warp::header::headers_cloned())
        .map(move |method: Method, headers| {
            let outcome = bearer::check(&headers, &accounts).and_then(|()| match method {
                Method::GET | Method::HEAD => Err(Problem::NotFound),
                _ => Err(Problem::MethodNotAllowed),
            });
            outcome.unwrap_or_else(Problem::into_response)
        })
        .boxed()
}

/// The endpoints that only show something.
fn read_only(method: &Method) -> Result<(), Problem> {
    match *method {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(Problem::MethodNotAllowed),
    }
}
