//! What goes wrong over HTTP: status, code and message in the one error envelope.

use serde::Serialize;
use warp::http::{HeaderValue, StatusCode, header};
use warp::reply::{Reply, Response};

/// Why an HTTP request was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// No API key, or none that is valid.
    Unauthorized,
    /// A socket of a page of a site that is not allowed.
    ForeignOrigin,
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
    /// Too many requests of one address within a second.
    TooManyRequests,
    /// A larger body than any endpoint could want.
    TooLarge,
    /// The data is still being opened.
    Starting,
    /// The server takes no new requests, as it is about to end.
    Stopping,
    /// A fault of ours.
    Internal,
}

#[derive(Serialize)]
struct Envelope {
    success: bool,
    error: Body,
}

#[derive(Serialize)]
struct Body {
    code: &'static str,
    message: &'static str,
}

impl Problem {
    fn describe(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Problem::Unauthorized => (
                StatusCode::UNAUTHORIZED,
                "UNAUTHORIZED",
                "a valid API key is required: Authorization: Bearer <API_KEY>",
            ),
            Problem::ForeignOrigin => (
                StatusCode::FORBIDDEN,
                "FORBIDDEN",
                "pages of this origin may not connect: the setting http.cors_origins lists those that may",
            ),
            Problem::Starting => (
                StatusCode::SERVICE_UNAVAILABLE,
                "SERVICE_UNAVAILABLE",
                "the server is starting: try again when /ready answers 200",
            ),
            Problem::Stopping => (
                StatusCode::SERVICE_UNAVAILABLE,
                "SERVICE_UNAVAILABLE",
                "the server is shutting down: connect again when it has started anew",
            ),
            Problem::TooManyRequests => (
                StatusCode::TOO_MANY_REQUESTS,
                "RATE_LIMITED",
                "too many requests of this address within a second; try again in a second",
            ),
            Problem::TooLarge => {
                (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE", "a body may have at most 16 MiB")
            }
            Problem::Internal => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "INTERNAL_ERROR",
                "an internal error; the server's log has more",
            ),
            Problem::NotFound => (StatusCode::NOT_FOUND, "NOT_FOUND", "there is no such endpoint"),
            Problem::NoSuchSession => {
                (StatusCode::NOT_FOUND, "NOT_FOUND", "there is no such session, or it has ended")
            }
            Problem::BadNumber => (
                StatusCode::BAD_REQUEST,
                "BAD_REQUEST",
                "last_seq must be a whole number that is not negative",
            ),
            Problem::MethodNotAllowed => {
                (StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", "only GET and HEAD are allowed")
            }
            Problem::UpgradeRequired => (
                StatusCode::BAD_REQUEST,
                "BAD_REQUEST",
                "this endpoint takes WebSocket connections: a GET request with the headers of a WebSocket handshake",
            ),
            Problem::TooManySockets => (
                StatusCode::SERVICE_UNAVAILABLE,
                "SERVICE_UNAVAILABLE",
                "too many WebSocket connections are open; try again later",
            ),
            Problem::TooManyStrangers => (
                StatusCode::TOO_MANY_REQUESTS,
                "RATE_LIMITED",
                "too many connections of this address have not authenticated yet; try again later",
            ),
            Problem::TooManyConnections => (
                StatusCode::SERVICE_UNAVAILABLE,
                "SERVICE_UNAVAILABLE",
                "too many connections are open; try again later",
            ),
        }
    }

    /// The error envelope as JSON.
    pub(super) fn to_json(self) -> String {
        let (_, code, message) = self.describe();
        serde_json::to_string(&Envelope { success: false, error: Body { code, message } }).unwrap_or_default()
    }

    /// The whole response.
    pub(crate) fn into_response(self) -> Response {
        let mut response = self.to_json().into_response();
        *response.status_mut() = self.describe().0;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        match self {
            Problem::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Problem::MethodNotAllowed => {
                headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            }
            Problem::TooManySockets
            | Problem::TooManyStrangers
            | Problem::TooManyConnections
            | Problem::TooManyRequests
            | Problem::Starting
            | Problem::Stopping => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Problem::TooLarge => {
                // The body is not read.
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Problem::ForeignOrigin
            | Problem::NotFound
            | Problem::NoSuchSession
            | Problem::BadNumber
            | Problem::UpgradeRequired
            | Problem::Internal => {}
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::Problem;

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
