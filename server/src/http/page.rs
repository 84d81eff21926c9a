//! `/`, which tells a browser where it is, and `/api/ws-docs`, a page to try the messages of the WebSocket. All of it is in
//! the binary, built from `console/messages`, and it asks no other host for anything.
//!
//! A browser that opens a page cannot send credentials. It gets the status and headers of any request without them, and a
//! form, whose script asks again with them in a header; the files that pages are made of hold nothing of the server.

use std::sync::LazyLock;

use warp::http::{HeaderMap, HeaderValue, header};
use warp::reply::Response;

use super::documents::asyncapi;
use super::endpoint::{Answer, Body, Endpoint, File, Kind, Parameter};
use super::{Problem, text_response};

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// Nothing but files of this server, and no script or style within the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What somebody sees who follows the address that the server prints at its start.
pub(super) const HOME: Endpoint = Endpoint {
    path: "/",
    summary: "For browsers (`Accept: text/html`), without credentials: what this is, and where to go on. To everybody \
              else there is nothing here.",
    parameters: &[],
    answers: &[Answer {
        status: 200,
        when: "The page.",
        body: Body::Text { kind: HTML, example: "<!doctype html>" },
    }],
    problems: &[],
    kind: Kind::Home(|| html(include_str!("../../page/home.html"))),
};

/// The page.
pub(super) const PAGE: Endpoint = Endpoint {
    path: "/api/ws-docs",
    summary: "A page to try the messages of the WebSocket. Also users open it, by HTTP Basic. A browser without \
              credentials is shown a form for them, with status 401.",
    parameters: &[],
    answers: &[Answer {
        status: 200,
        when: "The page.",
        body: Body::Text { kind: HTML, example: "<!doctype html>" },
    }],
    problems: &[],
    kind: Kind::Page(|_| html(&PAGE_TEXT)),
};

/// What the page is made of.
pub(super) const FILES: Endpoint = Endpoint {
    path: "/api/ws-docs/{file}",
    summary: "A script or style sheet of the page.",
    parameters: &[Parameter { name: "file", what: "Its name.", is_number: false }],
    answers: &[Answer {
        status: 200,
        when: "The file.",
        body: Body::Text { kind: SCRIPT, example: "export {};" },
    }],
    // A name that is none of them is like any other path.
    problems: &[Problem::Unauthorized, Problem::NotFound],
    kind: Kind::Files(&[
        script("home.js", include_str!("../../page/home.js")),
        script("login.js", include_str!("../../page/login.js")),
        script("start.js", include_str!("../../page/start.js")),
        script("app.js", include_str!("../../page/app.js")),
        File { name: "style.css", kind: STYLE, text: include_str!("../../page/style.css") },
        File { name: "licenses.md", kind: TEXT, text: include_str!("../../page/licenses.md") },
    ]),
};

static PAGE_TEXT: LazyLock<String> = LazyLock::new(|| {
    // Within a script element only `<` could end it.
    let document = serde_json::to_string(&*asyncapi::DOCUMENT).unwrap_or_default().replace('<', "\\u003c");
    include_str!("../../page/index.html").replace("{asyncapi}", &document)
});

const fn script(name: &'static str, text: &'static str) -> File {
    File { name, kind: SCRIPT, text }
}

impl File {
    pub(super) fn response(&self) -> Response {
        guarded(text_response(self.kind, self.text))
    }
}

/// Shows the form for credentials to browsers, and the envelope to everybody else.
pub(super) fn refuse(problem: Problem, headers: &HeaderMap) -> Response {
    let refused = problem.into_response();
    if problem != Problem::Unauthorized || !wants_html(headers) {
        return refused;
    }
    let mut form = html(include_str!("../../page/login.html"));
    *form.status_mut() = refused.status();
    for (name, value) in problem.headers() {
        form.headers_mut().insert(*name, HeaderValue::from_static(value));
    }
    form
}

/// Whether this is a browser that opens a page.
pub(super) fn wants_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accepted.split([',', ';']).any(|kind| kind.trim().eq_ignore_ascii_case("text/html"))
}

fn html(text: &'static str) -> Response {
    guarded(text_response(HTML, text))
}

fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("accept, authorization"));
    response
}

#[cfg(test)]
mod tests {
    use warp::http::{HeaderMap, HeaderValue, header};

    use super::refuse;
    use crate::http::Problem;

    #[test]
    fn only_browsers_are_shown_the_form() {
        for (accept, kind) in [
            ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"),
            ("Text/HTML;q=0.9", "text/html; charset=utf-8"),
            ("*/*", "application/json"),
            ("application/json, text/plain", "application/json"),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            let response = refuse(Problem::Unauthorized, &headers);
            assert_eq!(response.status(), 401);
            assert_eq!(response.headers()["content-type"], kind);
            assert_eq!(response.headers()["www-authenticate"], "Bearer");
        }
    }
}
