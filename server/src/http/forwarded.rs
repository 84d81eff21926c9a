//! Where a request comes from: the other end of its connection, or whom a trusted proxy names.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use warp::http::HeaderMap;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Who sent a request that came from `peer`. Anybody may write addresses into the header; each proxy appends the one
/// that it saw. So it is read from the right, for as long as those who wrote are trusted.
pub(super) fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let lines = headers.get_all(FORWARDED_FOR).iter().rev();
    let named = lines.flat_map(|line| line.to_str().unwrap_or("?").rsplit(',')).map(address);
    let mut client = peer.to_canonical();
    for named in named {
        match named {
            Some(named) if is_trusted(client, trusted) => client = named,
            Some(_) | None => break,
        }
    }
    client
}

/// Whether the word of this address is taken for where requests come from.
pub(super) fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&address))
}

/// Whether a request says for whom it was handed on: through a trusted proxy, which has seen to it that the host is one of
/// its own.
pub(super) fn names_client(headers: &HeaderMap) -> bool {
    headers.contains_key(FORWARDED_FOR)
}

fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let with_port = || text.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    text.parse().ok().or_else(with_port).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use warp::http::{HeaderMap, HeaderValue};

    use super::client;

    fn seen(peer: &str, headers: &[&'static str], trusted: &[&str]) -> String {
        let mut map = HeaderMap::new();
        for value in headers {
            map.append("x-forwarded-for", HeaderValue::from_static(value));
        }
        let trusted: Vec<_> = trusted.iter().map(|network| network.parse().unwrap()).collect();
        client(peer.parse::<IpAddr>().unwrap(), &map, &trusted).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        let proxies = ["10.0.0.0/8", "fd00::/8"];
        assert_eq!(seen("203.0.113.9", &["1.1.1.1"], &proxies), "203.0.113.9");
        assert_eq!(seen("10.0.0.1", &["1.1.1.1"], &[]), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &["198.51.100.7"], &proxies), "198.51.100.7");
        assert_eq!(seen("::ffff:10.0.0.1", &["198.51.100.7:4711"], &proxies), "198.51.100.7");
        assert_eq!(seen("fd00::1", &["[2001:db8::1]:80"], &proxies), "2001:db8::1");
        assert_eq!(seen("10.0.0.1", &[], &proxies), "10.0.0.1");
    }

    #[test]
    fn what_a_client_wrote_itself_is_not_believed() {
        let proxies = ["10.0.0.0/8"];
        assert_eq!(seen("10.0.0.1", &["1.1.1.1, 198.51.100.7"], &proxies), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["1.1.1.1", "198.51.100.7, 10.0.0.2"], &proxies), "198.51.100.7");
        assert_eq!(seen("10.0.0.1", &["1.1.1.1, nonsense"], &proxies), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", &["nonsense, 198.51.100.7"], &proxies), "198.51.100.7");
    }
}
