//! `/console`: a page to ask, look and watch with, in the binary with all that it is made of (`console/` has its sources).
//!
//! Its files hold nothing of the server: whoever opens it logs in over the WebSocket, as any client does.

use std::collections::HashMap;
use std::io::Write;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use warp::http::{HeaderMap, HeaderValue, StatusCode, header};
use warp::reply::{Reply, Response};

use super::Problem;
use super::endpoint::{Answer, Body, Endpoint, Kind, Parameter};

#[derive(rust_embed::RustEmbed)]
#[folder = "console"]
struct Built;

/// The page.
const INDEX: &str = "index.html";

/// In the page, this stands for a number that is another one each time.
const NONCE: &str = "{nonce}";

const HTML: &str = "text/html; charset=utf-8";

/// The page.
pub(super) const PAGE: Endpoint = Endpoint {
    path: "/console",
    summary: "The console: a page to ask, look and watch with. Whoever opens it logs in over the WebSocket. With \
              `http.console = false` it is not there.",
    parameters: &[],
    answers: &[Answer {
        status: 200,
        when: "The page.",
        body: Body::Text { kind: HTML, example: "<!doctype html>" },
    }],
    problems: &[Problem::Internal],
    kind: Kind::Console(|_, _| page()),
};

/// What the page is made of.
pub(super) const FILES: Endpoint = Endpoint {
    path: "/console/{file}",
    summary: "A script or style sheet of the console.",
    parameters: &[Parameter { name: "file", what: "Its name.", is_number: false }],
    answers: &[Answer {
        status: 200,
        when: "The file.",
        body: Body::Text { kind: "text/javascript; charset=utf-8", example: "export {};" },
    }],
    // A name that is none of them is like any other path.
    problems: &[Problem::Unauthorized, Problem::NotFound],
    kind: Kind::Console(file),
};

/// A file that is in the binary, as it travels.
struct Packed {
    kind: &'static str,
    plain: Bytes,
    gzip: Bytes,
    tag: HeaderValue,
}

static FILES_PACKED: LazyLock<HashMap<String, Packed>> = LazyLock::new(|| {
    let files = Built::iter().filter(|name| name != INDEX);
    files.filter_map(|name| Some((name.to_string(), packed(&name)?))).collect()
});

fn packed(name: &str) -> Option<Packed> {
    let file = Built::get(name)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&file.data).ok()?;
    let tag = format!("\"{}\"", STANDARD_NO_PAD.encode(file.metadata.sha256_hash()));
    Some(Packed {
        kind: kind_of(name),
        gzip: encoder.finish().ok()?.into(),
        plain: file.data.into_owned().into(),
        tag: HeaderValue::from_str(&tag).ok()?,
    })
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("html") => HTML,
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// The page, with a number of its own: styles that its scripts make carry it.
fn page() -> Option<Response> {
    let mut bytes = [0_u8; 18];
    let text = Built::get(INDEX).zip(getrandom::fill(&mut bytes).ok());
    let Some((text, ())) = text else { return Some(Problem::Internal.into_response()) };
    let nonce = STANDARD_NO_PAD.encode(bytes);
    let html = String::from_utf8_lossy(&text.data).replace(NONCE, &nonce);
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; \
         img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = html.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(HTML));
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Some(guarded(response))
}

/// One of the files, unless the browser has it already.
fn file(name: &str, asked: &HeaderMap) -> Option<Response> {
    let packed = FILES_PACKED.get(name)?;
    let value = |name| asked.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_known = value(header::IF_NONE_MATCH).split(',').any(|tag| packed.tag == tag.trim());
    let takes_gzip = value(header::ACCEPT_ENCODING).split(',').any(|each| each.trim().starts_with("gzip"));
    let mut response = match (is_known, takes_gzip) {
        (true, _) => StatusCode::NOT_MODIFIED.into_response(),
        (false, true) => Response::new(packed.gzip.clone().into()),
        (false, false) => Response::new(packed.plain.clone().into()),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(packed.kind));
    headers.insert(header::ETAG, packed.tag.clone());
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if takes_gzip && !is_known {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Some(guarded(response))
}

fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// The content types of the files.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    FILES_PACKED.values().map(|packed| packed.kind)
}

/// The names of the files.
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = FILES_PACKED.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use warp::http::{HeaderMap, HeaderValue, header};

    use super::{Built, INDEX, NONCE, file, names, page};

    #[test]
    fn the_page_says_the_number_that_its_policy_allows() {
        let response = page().unwrap();
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        let other = page().unwrap();
        assert_ne!(policy, other.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap());
        let html = Built::get(INDEX).unwrap();
        assert!(String::from_utf8_lossy(&html.data).contains(NONCE));
    }

    #[test]
    fn a_file_comes_as_the_browser_takes_it() {
        let plain = file("console.js", &HeaderMap::new()).unwrap();
        assert_eq!(plain.headers()[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
        assert!(!plain.headers().contains_key(header::CONTENT_ENCODING));
        let mut asked = HeaderMap::new();
        asked.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("br, gzip;q=0.8"));
        let packed = file("console.js", &asked).unwrap();
        assert_eq!(packed.headers()[header::CONTENT_ENCODING], "gzip");
        asked.insert(header::IF_NONE_MATCH, packed.headers()[header::ETAG].clone());
        assert_eq!(file("console.js", &asked).unwrap().status(), 304);
        assert!(file("../console.js", &asked).is_none());
        assert!(!names().contains(&INDEX));
    }
}
