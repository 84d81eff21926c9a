//! Where a server is: the address a person types, made into the address a WebSocket wants.
//!
//! `ws://host:port/ws`, `http://host:port` and a bare `host:port` name the same endpoint; `wss://` and `https://` name one
//! behind TLS. Passwords have no place in an address, since command lines and logs show it: one that holds any is refused.

use std::fmt;
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::Arc;

/// The server that is meant when nothing else is said.
pub const DEFAULT_ADDRESS: &str = "ws://127.0.0.1:8080/ws";

/// The path of the endpoint when an address names none.
const DEFAULT_PATH: &str = "/ws";
/// The port of a bare `host`; an address with a scheme follows the scheme's custom instead.
const SERVER_PORT: u16 = 8080;
/// The port of `ws://host` and `http://host`.
const WEB_PORT: u16 = 80;
/// The port of `wss://host` and `https://host`.
const TLS_PORT: u16 = 443;

/// The WebSocket endpoint of a server, and the knowledge graph to open there.
///
/// ```
/// use stratalog_client::Address;
///
/// let address: Address = "localhost:8080".parse()?;
/// assert_eq!(address.graph("family tree").to_string(), "ws://localhost:8080/ws?kg=family%20tree");
/// # Ok::<(), stratalog_client::AddressError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    security: Security,
    host: String,
    port: u16,
    path: String,
    /// `name=value` pairs as they stand in the address.
    query: Vec<String>,
}

/// How the server is known to be the one that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Security {
    /// It is not: whatever travels can be read and changed.
    Plain,
    /// By a certificate for its name, from an authority that the system trusts, or one whose certificate is in a file.
    Tls { authorities: Option<PathBuf> },
    /// It is in this process.
    #[cfg(unix)]
    Inside(Inside),
}

/// The way into a server in this process.
#[cfg(unix)]
#[derive(Clone)]
pub(crate) struct Inside {
    name: String,
    dial: Arc<Dial>,
}

#[cfg(unix)]
type Dial = dyn Fn() -> io::Result<UnixStream> + Send + Sync;

#[cfg(unix)]
impl Inside {
    /// A socket whose other end is the server's.
    pub(crate) fn dial(&self) -> io::Result<UnixStream> {
        (self.dial)()
    }
}

#[cfg(unix)]
impl PartialEq for Inside {
    fn eq(&self, other: &Inside) -> bool {
        Arc::ptr_eq(&self.dial, &other.dial)
    }
}

#[cfg(unix)]
impl Eq for Inside {}

#[cfg(unix)]
impl fmt::Debug for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inside({})", self.name)
    }
}

/// What is wrong with an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// Neither `ws` nor `http`, with or without TLS.
    #[error(
        "`{0}://` is not an address of this server: expected ws://host:port, wss://host, http://host:port, \
         https://host or host:port"
    )]
    UnknownScheme(String),
    /// `user:password@host`.
    #[error("an address cannot hold a user or a password: give them apart from it")]
    HoldsCredentials,
    /// Nothing between the scheme and the path, or characters no host name has.
    #[error("`{0}` is not a host name")]
    BadHost(String),
    /// Not a number from 1 to 65535.
    #[error("`{0}` is not a port: expected a number from 1 to 65535")]
    BadPort(String),
    /// White space, a control character or a fragment.
    #[error("`{0}` is not a path of an address")]
    BadPath(String),
}

impl Address {
    /// The same server, opening the knowledge graph `name`.
    #[must_use]
    pub fn graph(mut self, name: &str) -> Address {
        self.query.retain(|pair| !pair.starts_with("kg="));
        self.query.push(format!("kg={}", percent_encoded(name)));
        self
    }

    /// The same server, whose certificate has to come from an authority in this PEM file, and no other one is trusted.
    /// Without TLS nothing is changed.
    #[must_use]
    pub fn authorities(mut self, file: &Path) -> Address {
        if let Security::Tls { authorities } = &mut self.security {
            *authorities = Some(file.to_owned());
        }
        self
    }

    /// The same endpoint of a server in this process: `dial` makes a socket whose other end is the server's, and `name` is
    /// what people call it.
    #[cfg(unix)]
    #[must_use]
    pub fn inside(
        mut self,
        name: &str,
        dial: impl Fn() -> io::Result<UnixStream> + Send + Sync + 'static,
    ) -> Address {
        self.security = Security::Inside(Inside { name: name.to_owned(), dial: Arc::new(dial) });
        self
    }

    /// What is asked for in a handshake.
    pub(crate) fn url(&self) -> String {
        let scheme = match self.security {
            Security::Tls { .. } => "wss",
            _ => "ws",
        };
        let mut url = format!("{scheme}://{}:{}{}", self.host, self.port, self.path);
        for (i, pair) in self.query.iter().enumerate() {
            url.push(if i == 0 { '?' } else { '&' });
            url.push_str(pair);
        }
        url
    }

    /// Name or number of the server, a number of version 6 without its brackets.
    pub(crate) fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn security(&self) -> &Security {
        &self.security
    }

    /// Another way into a session that exists, at the server that it was opened on.
    #[must_use]
    pub(crate) fn session(mut self, id: &str) -> Address {
        let path = self.path.trim_end_matches('/');
        self.path = format!("{}/sessions/{id}/ws", path.strip_suffix("/ws").unwrap_or(path));
        self.query.clear();
        self
    }

    /// The same, going on after the notification of this number.
    #[must_use]
    pub(crate) fn since(mut self, seq: u64) -> Address {
        self.query.retain(|pair| !pair.starts_with("last_seq="));
        self.query.push(format!("last_seq={seq}"));
        self
    }
}

impl Default for Address {
    fn default() -> Address {
        Address {
            security: Security::Plain,
            host: "127.0.0.1".into(),
            port: SERVER_PORT,
            path: DEFAULT_PATH.into(),
            query: Vec::new(),
        }
    }
}

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let text = text.trim();
        let (security, rest, default_port) = match text.split_once("://") {
            None => (Security::Plain, text, SERVER_PORT),
            Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
                "ws" | "http" => (Security::Plain, rest, WEB_PORT),
                "wss" | "https" => (Security::Tls { authorities: None }, rest, TLS_PORT),
                _ => return Err(AddressError::UnknownScheme(scheme.into())),
            },
        };
        let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(AddressError::HoldsCredentials);
        }
        let (host, port) = host_and_port(authority, default_port)?;
        if tail.chars().any(|c| c.is_whitespace() || c.is_control() || c == '#') {
            return Err(AddressError::BadPath(tail.into()));
        }
        let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
        let path = if path.is_empty() || path == "/" { DEFAULT_PATH } else { path };
        let query = query.split('&').filter(|pair| !pair.is_empty()).map(str::to_owned).collect();
        Ok(Address { security, host, port, path: path.into(), query })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.security {
            #[cfg(unix)]
            Security::Inside(Inside { name, .. }) => f.write_str(name),
            Security::Plain | Security::Tls { .. } => f.write_str(&self.url()),
        }
    }
}

/// Splits `host:port`, where an IPv6 host stands in brackets.
fn host_and_port(authority: &str, default_port: u16) -> Result<(String, u16), AddressError> {
    let after_host = match authority.find(']') {
        Some(bracket) => bracket + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(after_host);
    let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let valid = match inside {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(|c| c.is_alphanumeric() || "-._".contains(c)),
    };
    if !valid {
        return Err(AddressError::BadHost(host.into()));
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => default_port,
        None => return Err(AddressError::BadPort(port.into())),
        Some(digits) => match digits.parse() {
            Ok(number) if number > 0 && digits.bytes().all(|b| b.is_ascii_digit()) => number,
            _ => return Err(AddressError::BadPort(digits.into())),
        },
    };
    Ok((host.to_owned(), port))
}

/// `text` with everything but unreserved ASCII written as `%XX`.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        text.parse::<Address>().unwrap().to_string()
    }

    #[test]
    fn every_form_names_the_same_endpoint() {
        for text in ["ws://db:9000/ws", "ws://db:9000", "http://db:9000/", "db:9000", " HTTP://db:9000 "] {
            assert_eq!(shown(text), "ws://db:9000/ws", "{text}");
        }
        assert_eq!(Address::default().to_string(), DEFAULT_ADDRESS);
    }

    #[test]
    fn a_missing_port_follows_the_scheme() {
        assert_eq!(shown("db"), "ws://db:8080/ws");
        assert_eq!(shown("http://db"), "ws://db:80/ws");
        assert_eq!(shown("https://db/ws?kg=a"), "wss://db:443/ws?kg=a");
        assert_eq!(shown("WSS://db:8443"), "wss://db:8443/ws");
    }

    #[test]
    fn paths_queries_and_ipv6_hosts_are_kept() {
        assert_eq!(shown("ws://[::1]:8080/v1/ws?last_seq=4&kg=a"), "ws://[::1]:8080/v1/ws?last_seq=4&kg=a");
        assert_eq!(shown("[::1]"), "ws://[::1]:8080/ws");
    }

    #[test]
    fn a_graph_replaces_the_one_in_the_address() {
        let address = "db:1/ws?kg=old&last_seq=4".parse::<Address>().unwrap().graph("a&b é");
        assert_eq!(address.to_string(), "ws://db:1/ws?last_seq=4&kg=a%26b%20%C3%A9");
    }

    #[test]
    fn a_session_has_an_address_of_its_own() {
        let session = |text: &str| text.parse::<Address>().unwrap().session("0fa0").to_string();
        assert_eq!(session("db:1/ws?kg=a"), "ws://db:1/sessions/0fa0/ws");
        assert_eq!(session("db:1/v1/ws"), "ws://db:1/v1/sessions/0fa0/ws");
    }

    #[test]
    fn a_wrong_address_says_what_is_wrong() {
        use AddressError as E;
        let cases = [
            ("ftp://db", E::UnknownScheme("ftp".into())),
            ("ws://ada:secret@db", E::HoldsCredentials),
            ("ws://:8080", E::BadHost(String::new())),
            ("", E::BadHost(String::new())),
            ("[::g]:1", E::BadHost("[::g]".into())),
            ("a b:1", E::BadHost("a b".into())),
            ("db:0", E::BadPort("0".into())),
            ("db:+1", E::BadPort("+1".into())),
            ("db:70000", E::BadPort("70000".into())),
            ("[::1]9", E::BadPort("9".into())),
            ("db/a b", E::BadPath("/a b".into())),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<Address>(), Err(expected), "{text}");
        }
    }
}
