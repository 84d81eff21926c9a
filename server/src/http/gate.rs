//! What is checked of every request before it is looked at: how fast they come, and how much comes with them.

use std::net::IpAddr;

use hyper::Request;
use warp::http::header;

use super::{Problem, health, read_only};
use crate::app::App;

/// The largest body, though no endpoint reads one.
const LARGEST_BODY: u64 = 16 << 20;

/// Lets a request pass, or says why not. Probes are always let in: a busy server is no dead one.
pub(super) fn admit<B>(request: &Request<B>, app: &App, address: IpAddr) -> Result<(), Problem> {
    if !health::is_probe(request.uri().path()) && app.places.request(address).is_err() {
        return Err(Problem::TooManyRequests);
    }
    if is_socket(request.uri().path()) {
        read_only(request.method())?;
    }
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > LARGEST_BODY) {
        return Err(Problem::TooLarge);
    }
    Ok(())
}

/// Whether this is the path of a WebSocket: what it may be asked is known before anybody says who they are.
fn is_socket(path: &str) -> bool {
    path.trim_end_matches('/').ends_with("/ws")
}
