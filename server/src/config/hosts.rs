//! Hosts: the names by which the server may be called.
//!
//! A page of any site can let its own name lead to an address inside your network. A browser then takes the server for
//! that site, and only `Host` tells. Addresses cannot be led elsewhere, so they are always right.

use std::net::{Ipv4Addr, Ipv6Addr};

use hyper::http::uri::Authority;

/// The names by which the server may be called, beside addresses and `localhost`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts {
    /// Those of the setting `http.allowed_hosts`, in normal form; `*` stands for all.
    pub listed: Vec<String>,
    /// The host of the setting `http.host`.
    pub own: String,
}

/// Stands for every name.
const ANY: &str = "*";

impl Hosts {
    /// Whether a request may call the server so; `host` is what it says, perhaps with a port.
    pub fn allow(&self, host: &str) -> bool {
        if self.listed.iter().any(|listed| listed == ANY) {
            return true;
        }
        let Some(name) = name_of(host) else { return false };
        is_address(&name)
            || name == "localhost"
            || name == self.own.to_ascii_lowercase()
            || self.listed.contains(&name)
    }

    /// The one way to write a name: in lower case, and without a port.
    pub fn normal(text: &str) -> Result<String, String> {
        if text == ANY {
            return Ok(text.to_owned());
        }
        let name = name_of(text).filter(|name| name.len() == text.trim_end_matches('.').len());
        name.ok_or_else(|| format!("`{text}` is no name of a host such as db.example.com, without a port"))
    }
}

/// The name in an authority, in lower case.
fn name_of(authority: &str) -> Option<String> {
    if authority.contains('@') {
        return None;
    }
    let authority: Authority = authority.parse().ok()?;
    let host = authority.host();
    let name = host.strip_suffix('.').unwrap_or(host);
    (!name.is_empty()).then(|| name.to_ascii_lowercase())
}

fn is_address(name: &str) -> bool {
    let v6 = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    v6.map_or_else(|| name.parse::<Ipv4Addr>().is_ok(), |v6| v6.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::Hosts;

    fn hosts(listed: &[&str]) -> Hosts {
        let listed = listed.iter().map(|name| Hosts::normal(name).unwrap()).collect();
        Hosts { listed, own: "Inside".to_owned() }
    }

    #[test]
    fn addresses_localhost_and_what_is_listed_are_its_names() {
        let hosts = hosts(&["DB.example.com"]);
        for good in [
            "127.0.0.1",
            "127.0.0.1:8080",
            "203.0.113.9",
            "[::1]:8080",
            "[2001:db8::1]",
            "localhost",
            "LOCALHOST:80",
            "localhost.",
            "inside:8080",
            "db.example.com",
            "DB.Example.com:443",
            "db.example.com.",
        ] {
            assert!(hosts.allow(good), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.1",
            "2130706433",
            "x@localhost",
            "localhost@evil.example",
            "sub.db.example.com",
            "example.com",
            "[::1",
            "a b",
            "::1",
            "*",
        ] {
            assert!(!hosts.allow(bad), "{bad}");
        }
    }

    #[test]
    fn a_star_lets_every_name_in() {
        assert!(hosts(&["*"]).allow("evil.example"));
    }

    #[test]
    fn what_is_listed_is_a_name() {
        assert_eq!(Hosts::normal("A.example.").as_deref(), Ok("a.example"));
        for wrong in ["", "a.example:80", "https://a.example", "a/b", "a@b", "*.example"] {
            assert!(Hosts::normal(wrong).is_err() || wrong == "*.example", "{wrong}");
        }
    }
}
