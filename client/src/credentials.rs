//! Who is there.

use stratalog_protocol::{Authenticate, Login, Request, Secret};

/// A name with a password, or an API key. Neither shows itself when printed for debugging.
#[derive(Debug, Clone, PartialEq)]
pub struct Credentials(Request);

impl Credentials {
    /// A user and their password.
    pub fn password(user: impl Into<String>, password: impl Into<String>) -> Credentials {
        Credentials(Request::Login(Login { username: user.into(), password: Secret::new(password) }))
    }

    /// An API key, which stands for the user who made it.
    pub fn api_key(key: impl Into<String>) -> Credentials {
        Credentials(Request::Authenticate(Authenticate { api_key: Secret::new(key) }))
    }

    /// The first message of a connection.
    pub(crate) fn into_request(self) -> Request {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Credentials;

    #[test]
    fn secrets_do_not_show() {
        let shown = format!("{:?} {:?}", Credentials::password("ada", "lace"), Credentials::api_key("a1b2"));
        assert!(shown.contains("ada") && !shown.contains("lace") && !shown.contains("a1b2"), "{shown}");
    }
}
