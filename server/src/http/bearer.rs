//! `Authorization: Bearer <API_KEY>`, which every endpoint but the probes and the WebSocket asks for.

use warp::http::{HeaderMap, header};

use super::Problem;
use crate::auth::Accounts;

/// Lets a request with a valid key pass.
pub(super) fn check(headers: &HeaderMap, accounts: &Accounts) -> Result<(), Problem> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return Err(Problem::Unauthorized) };
    let value = value.to_str().map_err(|_| Problem::Unauthorized)?;
    match value.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") && accounts.has_key(key.trim()) => {
            Ok(())
        }
        Some(_) | None => Err(Problem::Unauthorized),
    }
}
