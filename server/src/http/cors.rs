//! Cross-origin requests: what pages of other sites may ask, and read, from within a browser.
//!
//! A browser lets a page open a WebSocket to any host and only names the page's site in `Origin`; so a socket is refused
//! here. Other requests it sends as well, and what is said here decides whether the page may read the answer.

use hyper::Request;
use warp::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use warp::reply::{Reply, Response};

use super::Problem;
use crate::config::Origins;

/// How long a browser may remember the answer to its question, in seconds.
const REMEMBERED: HeaderValue = HeaderValue::from_static("600");

/// Refuses sockets of pages that are not the server's own, nor of a site that is allowed. Clients that are no browsers
/// do not send an origin.
pub(crate) fn admit_socket(headers: &HeaderMap, origins: &Origins) -> Result<(), Problem> {
    let mut given = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = given.next() else { return Ok(()) };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    match (origin.to_str(), given.next()) {
        (Ok(origin), None) if origins.allow(origin) || Origins::is_own(origin, host) => Ok(()),
        (Ok(_) | Err(_), _) => Err(Problem::ForeignOrigin),
    }
}

/// What is said to a browser about a request of a page of another site.
#[derive(Debug, Clone)]
pub(super) enum Cors {
    /// Nothing: no other site may.
    Silent,
    /// That the answer depends on the site, which may not.
    Varies,
    /// That this site may read the answer.
    Allowed(HeaderValue),
}

impl Cors {
    /// What is said about a request.
    pub(super) fn of(headers: &HeaderMap, origins: &Origins) -> Cors {
        if !origins.all && origins.listed.is_empty() {
            return Cors::Silent;
        }
        match headers.get(header::ORIGIN) {
            Some(origin) if origin.to_str().is_ok_and(|text| origins.allow(text)) => {
                Cors::Allowed(origin.clone())
            }
            Some(_) | None => Cors::Varies,
        }
    }

    /// The answer to a browser that asks before it sends a request.
    pub(super) fn preflight<B>(&self, request: &Request<B>) -> Option<Response> {
        let Cors::Allowed(_) = self else { return None };
        if request.method() != Method::OPTIONS {
            return None;
        }
        request.headers().get(header::ACCESS_CONTROL_REQUEST_METHOD)?;
        let mut response = StatusCode::NO_CONTENT.into_response();
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD"));
        if let Some(asked) = request.headers().get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
        }
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, REMEMBERED);
        Some(response)
    }

    /// The response with what is said.
    pub(super) fn say(self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        match self {
            Cors::Silent => return response,
            Cors::Varies => {}
            Cors::Allowed(origin) => {
                headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
                let told = HeaderValue::from_static("x-api-version, retry-after");
                headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, told);
            }
        }
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        response
    }
}
