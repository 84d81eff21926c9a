//! `Authorization: Bearer <API_KEY>`, which every endpoint but the probes and the WebSocket asks for.

use warp::http::HeaderMap;

use super::Problem;

/// Lets a request with a valid key pass. No key has been created yet, so none is valid.
pub(super) fn check(_headers: &HeaderMap) -> Result<(), Problem> {
    Err(Problem::Unauthorized)
}
