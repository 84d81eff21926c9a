//! What goes wrong over HTTP: status, code and message in the one error envelope.

use schemars::JsonSchema;
use serde::Serialize;
use warp::http::{HeaderName, HeaderValue, StatusCode, header};
use warp::reply::{Reply, Response};

use crate::limits::Full;

/// Why an HTTP request was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(JsonSchema))]
pub(crate) enum Problem {
    /// No API key, or none that is valid.
    Unauthorized,
    /// A socket of a page of a site that is not allowed.
    ForeignOrigin,
    /// The server is called by a name that is none of its own.
    UnknownHost,
    /// No such endpoint.
    NotFound,
    /// No session of this id.
    NoSuchSession,
    /// `last_seq` is no number.
    BadNumber,
    /// Another method than GET or HEAD.
    MethodNotAllowed,
    /// A WebSocket endpoint without a WebSocket handshake.
    UpgradeRequired,
    /// All WebSocket places are taken.
    TooManySockets,
    /// Too many sockets of one address have not authenticated.
    TooManyStrangers,
    /// All places are taken.
    TooManyConnections,
    /// All places of one address are taken.
    TooManyOfAddress,
    /// Too many requests of one address within a second.
    TooManyRequests,
    /// Too many wrong passwords lately, or too many to check.
    TooManyLogins,
    /// A larger body than any endpoint could want.
    TooLarge,
    /// The data is still being opened.
    Starting,
    /// The server takes no new requests, as it is about to end.
    Stopping,
    /// A fault of ours.
    Internal,
}

impl From<Full> for Problem {
    fn from(full: Full) -> Problem {
        match full {
            Full::Connections => Problem::TooManyConnections,
            Full::OfAddress => Problem::TooManyOfAddress,
            Full::Sockets => Problem::TooManySockets,
            Full::Strangers => Problem::TooManyStrangers,
        }
    }
}

/// The error envelope.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Failure")]
pub(super) struct Envelope {
    /// Always false.
    success: bool,
    /// What was wrong.
    error: Explanation,
}

/// Why a request was refused.
#[derive(Serialize, JsonSchema)]
struct Explanation {
    /// For programs.
    code: ErrorCode,
    /// For people; it may change.
    message: &'static str,
}

/// The stable code of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum ErrorCode {
    /// The request makes no sense here.
    BadRequest,
    /// No valid API key.
    Unauthorized,
    /// A page of this site may not, or the server is called by a name that it does not have.
    Forbidden,
    /// No such endpoint or session.
    NotFound,
    /// Another method than GET and HEAD.
    MethodNotAllowed,
    /// The body is too large.
    PayloadTooLarge,
    /// Too much of one address.
    RateLimited,
    /// A fault of the server.
    InternalError,
    /// Not now: try again.
    ServiceUnavailable,
}

impl Problem {
    /// All of them, by status.
    pub(super) const ALL: &[Problem] = &[
        Problem::BadNumber,
        Problem::UpgradeRequired,
        Problem::Unauthorized,
        Problem::ForeignOrigin,
        Problem::UnknownHost,
        Problem::NotFound,
        Problem::NoSuchSession,
        Problem::MethodNotAllowed,
        Problem::TooLarge,
        Problem::TooManyRequests,
        Problem::TooManyLogins,
        Problem::TooManyStrangers,
        Problem::TooManyOfAddress,
        Problem::Internal,
        Problem::Starting,
        Problem::Stopping,
        Problem::TooManyConnections,
        Problem::TooManySockets,
    ];

    fn describe(self) -> (StatusCode, ErrorCode, &'static str) {
        use ErrorCode as Code;
        match self {
            Problem::Unauthorized => (
                StatusCode::UNAUTHORIZED,
                Code::Unauthorized,
                "a valid API key is required: Authorization: Bearer <API_KEY>",
            ),
            Problem::ForeignOrigin => (
                StatusCode::FORBIDDEN,
                Code::Forbidden,
                "pages of this origin may not connect: the setting http.cors_origins lists those that may",
            ),
            Problem::UnknownHost => (
                StatusCode::FORBIDDEN,
                Code::Forbidden,
                "the server has no such name: the setting http.allowed_hosts lists its names",
            ),
            Problem::Starting => (
                StatusCode::SERVICE_UNAVAILABLE,
                Code::ServiceUnavailable,
                "the server is starting: try again when /ready answers 200",
            ),
            Problem::Stopping => (
                StatusCode::SERVICE_UNAVAILABLE,
                Code::ServiceUnavailable,
                "the server is shutting down: connect again when it has started anew",
            ),
            Problem::TooManyRequests => (
                StatusCode::TOO_MANY_REQUESTS,
                Code::RateLimited,
                "too many requests of this address within a second; try again in a second",
            ),
            Problem::TooManyLogins => (
                StatusCode::TOO_MANY_REQUESTS,
                Code::RateLimited,
                "too many logins have failed or wait to be checked: try again in some seconds",
            ),
            Problem::TooLarge => {
                (StatusCode::PAYLOAD_TOO_LARGE, Code::PayloadTooLarge, "a body may have at most 16 MiB")
            }
            Problem::Internal => (
                StatusCode::INTERNAL_SERVER_ERROR,
                Code::InternalError,
                "an internal error; the server's log has more",
            ),
            Problem::NotFound => (StatusCode::NOT_FOUND, Code::NotFound, "there is no such endpoint"),
            Problem::NoSuchSession => {
                (StatusCode::NOT_FOUND, Code::NotFound, "there is no such session, or it has ended")
            }
            Problem::BadNumber => (
                StatusCode::BAD_REQUEST,
                Code::BadRequest,
                "last_seq must be a whole number that is not negative",
            ),
            Problem::MethodNotAllowed => {
                (StatusCode::METHOD_NOT_ALLOWED, Code::MethodNotAllowed, "only GET and HEAD are allowed")
            }
            Problem::UpgradeRequired => (
                StatusCode::BAD_REQUEST,
                Code::BadRequest,
                "this endpoint takes WebSocket connections: a GET request with the headers of a WebSocket handshake",
            ),
            Problem::TooManySockets => (
                StatusCode::SERVICE_UNAVAILABLE,
                Code::ServiceUnavailable,
                "too many WebSocket connections are open; try again later",
            ),
            Problem::TooManyStrangers => (
                StatusCode::TOO_MANY_REQUESTS,
                Code::RateLimited,
                "too many connections of this address have not authenticated yet; try again later",
            ),
            Problem::TooManyOfAddress => (
                StatusCode::TOO_MANY_REQUESTS,
                Code::RateLimited,
                "too many connections of this address are open; close some, or try again later",
            ),
            Problem::TooManyConnections => (
                StatusCode::SERVICE_UNAVAILABLE,
                Code::ServiceUnavailable,
                "too many connections are open; try again later",
            ),
        }
    }

    /// The headers beside those of every answer.
    pub(super) fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Problem::Unauthorized => &[("www-authenticate", "Bearer")],
            Problem::MethodNotAllowed => &[("allow", "GET, HEAD")],
            Problem::TooManySockets
            | Problem::TooManyStrangers
            | Problem::TooManyConnections
            | Problem::TooManyOfAddress
            | Problem::TooManyRequests
            | Problem::TooManyLogins
            | Problem::Starting
            | Problem::Stopping => &[("retry-after", "1")],
            // The body is not read.
            Problem::TooLarge => &[("connection", "close")],
            Problem::ForeignOrigin
            | Problem::UnknownHost
            | Problem::NotFound
            | Problem::NoSuchSession
            | Problem::BadNumber
            | Problem::UpgradeRequired
            | Problem::Internal => &[],
        }
    }

    /// The status of the answer.
    pub(super) fn status(self) -> StatusCode {
        self.describe().0
    }

    /// What is answered.
    pub(super) fn envelope(self) -> Envelope {
        let (_, code, message) = self.describe();
        Envelope { success: false, error: Explanation { code, message } }
    }

    /// The error envelope as JSON.
    pub(super) fn to_json(self) -> String {
        serde_json::to_string(&self.envelope()).unwrap_or_default()
    }

    /// The whole response.
    pub(crate) fn into_response(self) -> Response {
        let mut response = self.to_json().into_response();
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in self.headers() {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Problem;

    #[test]
    fn the_list_of_problems_is_complete() {
        let schema = serde_json::to_value(schemars::schema_for!(Problem)).unwrap();
        let variants = schema["oneOf"].as_array().unwrap().iter().map(|each| each["const"].as_str().unwrap());
        let listed: Vec<String> = Problem::ALL.iter().map(|problem| format!("{problem:?}")).collect();
        assert_eq!(variants.collect::<BTreeSet<_>>(), listed.iter().map(String::as_str).collect());
    }

    #[test]
    fn every_error_has_the_envelope() {
        assert_eq!(
            Problem::NotFound.to_json(),
            r#"{"success":false,"error":{"code":"NOT_FOUND","message":"there is no such endpoint"}}"#
        );
        let response = Problem::Unauthorized.into_response();
        assert_eq!(response.status(), 401);
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
        assert_eq!(response.headers()["content-type"], "application/json");
        assert_eq!(Problem::MethodNotAllowed.into_response().headers()["allow"], "GET, HEAD");
    }
}
