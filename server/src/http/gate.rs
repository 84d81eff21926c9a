//! What is checked of every request before it is looked at: how fast they come, and how much comes with them.

use hyper::Request;
use warp::http::header;

use super::{Problem, health, read_only};
use crate::app::App;
use crate::limits::Standing;
use crate::net::Link;

/// The largest body, though no endpoint reads one.
const LARGEST_BODY: u64 = 16 << 20;

/// Lets a request pass, or says why not. Probes are always let in: a busy server is no dead one. So are handshakes of
/// those for whom there is no place, as they may be administrators.
pub(super) fn admit<B>(request: &Request<B>, app: &App, link: &Link) -> Result<(), Problem> {
    let path = request.uri().path();
    if !health::is_probe(path) && app.places.request(link.client).is_err() {
        return Err(Problem::TooManyRequests);
    }
    if is_socket(path) {
        read_only(request.method())?;
    } else if let Standing::Visitor(visit) = &*link.standing
        && !health::is_probe(path)
    {
        return Err(visit.why().into());
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
