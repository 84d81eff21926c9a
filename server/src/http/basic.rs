//! `Authorization: Basic`, by which the page for people takes a user's password instead of an API key.
//!
//! It is checked as a login over a WebSocket is: with the same waits after wrong guesses, and a line in the audit log. A
//! challenge never names it, so no browser keeps a password and sends it by itself: only a script that was told one does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stratalog_protocol::{Login, Request, Secret};
use warp::http::{HeaderMap, header};

use super::Problem;
use crate::app::App;
use crate::net::Link;
use crate::requests::{LoginFailed, log_in};

/// Lets a request with a user's password pass.
pub(super) async fn check(headers: &HeaderMap, app: &App, link: Option<&Link>) -> Result<(), Problem> {
    let (Some(login), Some(link)) = (credentials(headers), link) else { return Err(Problem::Unauthorized) };
    match log_in(app, link.client, Request::Login(login)).await {
        Ok(_) => Ok(()),
        Err(LoginFailed::Throttled(_) | LoginFailed::NotRun(_)) => Err(Problem::TooManyLogins),
        Err(
            LoginFailed::Password
            | LoginFailed::Key
            | LoginFailed::KeyExpired
            | LoginFailed::KeyScope(_)
            | LoginFailed::NotCredentials,
        ) => Err(Problem::Unauthorized),
    }
}

/// User and password in UTF-8. No user has a colon in the name.
fn credentials(headers: &HeaderMap) -> Option<Login> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return None };
    let (scheme, text) = value.to_str().ok()?.split_once(' ')?;
    let text = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(text.trim()).ok())??;
    let text = String::from_utf8(text).ok()?;
    let (username, password) = text.split_once(':')?;
    Some(Login { username: username.to_owned(), password: Secret::new(password) })
}

#[cfg(test)]
mod tests {
    use warp::http::{HeaderMap, HeaderValue, header};

    use super::credentials;

    #[test]
    fn only_one_header_with_user_and_password_is_taken() {
        let found = |values: &[&'static str]| {
            let headers: HeaderMap =
                values.iter().map(|value| (header::AUTHORIZATION, HeaderValue::from_static(value))).collect();
            credentials(&headers).map(|login| (login.username, login.password.expose().to_owned()))
        };
        let ada = Some(("ada".to_owned(), "a:ö".to_owned()));
        assert_eq!(found(&["Basic YWRhOmE6w7Y="]), ada);
        assert_eq!(found(&["basic  YWRhOmE6w7Y="]), ada);
        for wrong in ["Basic", "Basic YWRh", "Basic !", "Basic /w==", "Bearer YWRhOmE6w7Y=", ""] {
            assert_eq!(found(&[wrong]), None, "{wrong}");
        }
        assert_eq!(found(&["Basic YWRhOmE6w7Y=", "Basic YWRhOmE6w7Y="]), None);
    }
}
