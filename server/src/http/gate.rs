//! What is checked of every request before it is looked at: whom it calls, how fast they come, and how much comes with
//! them.

use hyper::Request;
use warp::http::{HeaderValue, header};

use super::{Problem, forwarded, health, read_only};
use crate::app::App;
use crate::config::Hosts;
use crate::limits::Standing;
use crate::net::Link;

/// The largest body, though no endpoint reads one.
const LARGEST_BODY: u64 = 16 << 20;

/// Lets a request pass, or says why not. Probes are always let in: a busy server is no dead one. So are handshakes of
/// those for whom there is no place, as they may be administrators.
pub(super) fn admit<B>(request: &Request<B>, app: &App, link: &Link) -> Result<(), Problem> {
    let path = request.uri().path();
    if !health::is_probe(path) {
        if app.places.request(link.client).is_err() {
            return Err(Problem::TooManyRequests);
        }
        // A proxy asks for those names that it was told to.
        let is_forwarded = link.from.is_proxy && forwarded::names_client(request.headers());
        if !is_forwarded && !calls_us(request, &app.hosts) {
            return Err(Problem::UnknownHost);
        }
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

/// Whether every name by which a request calls the server is one of its own. Who calls it by none is no browser.
fn calls_us<B>(request: &Request<B>, hosts: &Hosts) -> bool {
    let named = request.headers().get_all(header::HOST).iter().map(HeaderValue::to_str);
    let mut named = named.chain(request.uri().authority().map(|authority| Ok(authority.as_str())));
    named.all(|name| name.is_ok_and(|name| hosts.allow(name)))
}

/// Whether this is the path of a WebSocket: what it may be asked is known before anybody says who they are.
fn is_socket(path: &str) -> bool {
    path.trim_end_matches('/').ends_with("/ws")
}
