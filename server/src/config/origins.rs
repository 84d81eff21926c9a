//! Origins: the sites whose pages may use the server from a browser.

use hyper::Uri;

/// The sites whose pages may use the server, beside those that it serves itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins {
    /// Pages of every site may.
    pub all: bool,
    /// Those of these sites may, in normal form.
    pub listed: Vec<String>,
}

impl Origins {
    /// Whether pages of this site may, as a browser names it.
    pub fn allow(&self, origin: &str) -> bool {
        self.all || Origins::normal(origin).is_ok_and(|origin| self.listed.contains(&origin))
    }

    /// The one way to write an origin: `https://example.com`, in lower case, and without a port that goes without saying.
    pub fn normal(text: &str) -> Result<String, String> {
        let wrong = || format!("`{text}` is no origin such as https://example.com");
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong());
        };
        // The parsed text is the origin and an empty path, which is shown as `/`.
        if uri.path_and_query().is_some_and(|path| path.as_str() != "/") || text.ends_with('/') {
            return Err(wrong());
        }
        let authority = same_without_port(scheme, authority.as_str()).ok_or_else(wrong)?;
        Ok(format!("{}://{authority}", scheme.to_ascii_lowercase()))
    }

    /// Whether a page of this site comes from the server itself, which the browser calls `host`.
    pub fn is_own(origin: &str, host: &str) -> bool {
        let own = |scheme| same_without_port(scheme, host).map(|host| format!("{scheme}://{host}"));
        Origins::normal(origin).is_ok_and(|origin| {
            ["http", "https"].into_iter().any(|scheme| own(scheme).as_ref() == Some(&origin))
        })
    }
}

/// Host and port in lower case, without the port that the scheme means anyway.
fn same_without_port(scheme: &str, authority: &str) -> Option<String> {
    let authority = authority.to_ascii_lowercase();
    if authority.is_empty() || authority.contains(['@', '/']) {
        return None;
    }
    let usual = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return Some(authority),
    };
    Some(authority.strip_suffix(usual).unwrap_or(&authority).to_owned())
}

#[cfg(test)]
mod tests {
    use super::Origins;

    #[test]
    fn an_origin_is_a_scheme_a_host_and_perhaps_a_port() {
        let normal = |text| Origins::normal(text).ok();
        assert_eq!(normal("https://Example.com").as_deref(), Some("https://example.com"));
        assert_eq!(normal("https://example.com:443").as_deref(), Some("https://example.com"));
        assert_eq!(normal("http://[::1]:8080").as_deref(), Some("http://[::1]:8080"));
        for wrong in
            ["", "null", "*", "example.com", "https://", "https://a.b/c", "https://a.b/", "https://a@b"]
        {
            assert_eq!(normal(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_page_of_the_server_has_its_host_and_port() {
        assert!(Origins::is_own("http://127.0.0.1:8080", "127.0.0.1:8080"));
        assert!(Origins::is_own("https://db.example.com", "DB.example.com"));
        assert!(Origins::is_own("https://db.example.com", "db.example.com:443"));
        for (origin, host) in [
            ("http://evil.example", "127.0.0.1:8080"),
            ("http://127.0.0.1:8081", "127.0.0.1:8080"),
            ("http://127.0.0.1", "127.0.0.1:8080"),
            ("https://db.example.com.evil.example", "db.example.com"),
            ("https://db.example.com@evil.example", "db.example.com"),
            ("null", "null"),
            ("", ""),
        ] {
            assert!(!Origins::is_own(origin, host), "{origin} {host}");
        }
    }

    #[test]
    fn listed_sites_are_allowed_and_no_others() {
        let some = Origins { all: false, listed: vec!["https://a.example".to_owned()] };
        assert!(some.allow("https://a.example:443") && !some.allow("http://a.example"));
        assert!(!some.allow("null") && !Origins::default().allow("https://a.example"));
        assert!(Origins { all: true, listed: Vec::new() }.allow("null"));
    }
}
