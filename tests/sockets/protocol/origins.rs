//! Browsers: pages of other sites, and clients behind a proxy.

use serde_json::json;
use stratalog_tests::server::{PASSWORD, Server};
use tokio_tungstenite::tungstenite::Error;

const PAGE: &str = "https://app.example";

/// The HTTP status with which a handshake is refused.
async fn refused(server: &Server, path: &str, headers: &[(&'static str, &str)]) -> u16 {
    match server.connect_with(path, headers).await {
        Err(Error::Http(response)) => {
            let body = String::from_utf8_lossy(response.body().as_deref().unwrap_or_default()).into_owned();
            assert!(body.contains("\"success\":false"), "{body}");
            response.status().as_u16()
        }
        other => panic!("{headers:?}: {:?}", other.map(|_| "connected")),
    }
}

#[tokio::test]
async fn pages_of_other_sites_get_no_socket() {
    let server = Server::start();
    let session = {
        let mut connection = server.connect().await;
        connection.log_in(PASSWORD).await["session_id"].as_str().expect("an id").to_owned()
    };
    let of_session = format!("/sessions/{session}/ws");
    for path in ["/ws", "/ws/", "/v1/ws", &of_session, &format!("{of_session}/")] {
        for origin in [PAGE, "null", "http://localhost:1", "http://127.0.0.1", "file://", "", "x"] {
            assert_eq!(refused(&server, path, &[("origin", origin)]).await, 403, "{path} {origin}");
        }
        let own = format!("http://{}", server.address());
        assert_eq!(refused(&server, path, &[("origin", &own), ("origin", PAGE)]).await, 403);
        // The server's own page, and whoever is no browser.
        server.connect_with(path, &[("origin", &own)]).await.expect("its own page may");
        server.connect_to(path).await.expect("a program may");
    }
}

#[tokio::test]
async fn listed_sites_may_connect_and_read() {
    let server =
        Server::start_with(&[("SERVICE_HTTP__CORS_ORIGINS", "https://app.example, http://dev.example:3000")]);
    for origin in [PAGE, "https://app.example:443", "http://dev.example:3000"] {
        let mut connection = server.connect_with("/ws", &[("origin", origin)]).await.expect("it is listed");
        assert_eq!(connection.log_in(PASSWORD).await["type"], "authenticated");
    }
    for origin in ["http://app.example", "https://app.example.evil.example", "http://dev.example", "null"] {
        assert_eq!(refused(&server, "/ws", &[("origin", origin)]).await, 403, "{origin}");
    }
    let ask = |method, path, headers: &str| server.request(method, path, headers);
    let preflight = format!(
        "Origin: {PAGE}\r\nAccess-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: authorization\r\n"
    );
    let (status, head, body) = ask("OPTIONS", "/metrics", &preflight);
    assert_eq!((status, body.as_str()), (204, ""), "{head}");
    for line in [
        "access-control-allow-origin: https://app.example",
        "access-control-allow-methods: get, head",
        "access-control-allow-headers: authorization",
        "access-control-max-age: 600",
        "vary: origin",
        "x-api-version: v",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    // The answer itself may be read, refusals too.
    for (path, expected) in [("/health", 200), ("/metrics", 401)] {
        let (status, head, _) = ask("GET", path, &format!("Origin: {PAGE}\r\n"));
        assert_eq!(status, expected);
        assert!(head.contains("access-control-allow-origin: https://app.example"), "{head}");
        assert!(!head.contains("access-control-allow-credentials"), "{head}");
    }
    for headers in [preflight.replace(PAGE, "https://evil.example"), preflight.replace("Origin", "X-Origin")]
    {
        let (status, head, _) = ask("OPTIONS", "/health", &headers);
        assert_eq!(status, 405);
        assert!(!head.contains("access-control") && head.contains("vary: origin"), "{head}");
    }
}

#[tokio::test]
async fn no_site_is_told_anything_unless_one_is_listed() {
    let server = Server::start();
    let (status, head, _) = server.request(
        "OPTIONS",
        "/health",
        &format!("Origin: {PAGE}\r\nAccess-Control-Request-Method: GET\r\n"),
    );
    assert_eq!(status, 405);
    assert!(!head.contains("access-control") && !head.contains("vary"), "{head}");
    let open = Server::start_with(&[("SERVICE_HTTP__CORS_ALLOW_ALL", "true")]);
    for origin in [PAGE, "null"] {
        open.connect_with("/ws", &[("origin", origin)]).await.expect("every page may");
        let (_, head, _) = open.get_with("/health", &format!("Origin: {origin}\r\n"));
        assert!(head.contains(&format!("access-control-allow-origin: {origin}")), "{head}");
    }
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_client_has_places_of_its_own() {
    let one_stranger = ("SERVICE_HTTP__RATE_LIMIT__MAX_UNAUTHENTICATED_PER_ADDRESS", "1");
    let none_kept = ("SERVICE_HTTP__RATE_LIMIT__KEPT_FOR_ADMINISTRATORS", "0");
    let trusting = ("SERVICE_HTTP__TRUSTED_PROXIES", "127.0.0.0/8, ::1");
    let server = Server::start_with(&[one_stranger, none_kept, trusting]);
    let from = |address| [("x-forwarded-for", address)];
    let _first = server.connect_with("/ws", &from("198.51.100.1")).await.expect("a place");
    assert_eq!(refused(&server, "/ws", &from("198.51.100.1")).await, 429);
    assert_eq!(
        refused(&server, "/ws", &from("203.0.113.5, 198.51.100.1")).await,
        429,
        "the left one is made up"
    );
    let _second = server.connect_with("/ws", &from("198.51.100.2")).await.expect("a place of its own");
    // Who is not told to trust anybody does not.
    let server = Server::start_with(&[one_stranger, none_kept]);
    let _first = server.connect_with("/ws", &from("198.51.100.1")).await.expect("a place");
    assert_eq!(refused(&server, "/ws", &from("198.51.100.2")).await, 429);
}

#[tokio::test]
async fn failed_logins_count_for_the_client_that_a_trusted_proxy_names() {
    let server = Server::start_with(&[
        ("SERVICE_HTTP__TRUSTED_PROXIES", "127.0.0.1"),
        ("SERVICE_LOGGING__LEVEL", "warn"),
    ]);
    let mut guesser =
        server.connect_with("/ws", &[("x-forwarded-for", "198.51.100.9")]).await.expect("a socket");
    for _ in 0..5 {
        let wrong = json!({"type": "login", "username": "admin", "password": "wrong"});
        assert_eq!(guesser.ask(wrong).await["type"], "auth_error");
    }
    assert_eq!(guesser.closed(&[]).await, Some(1008));
    for _ in 0..100 {
        if server.log().contains("address=198.51.100.9") {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the log names another address:\n{}", server.log());
}

/// The HTTP statuses that a request for metrics, a document and a probe get under this name.
async fn called(server: &Server, host: &'static str) -> [u16; 3] {
    let ask = |path: &str| {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(server.address()).expect("the server listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("an answer");
        reply.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status")
    };
    ["/metrics", "/api/ws-docs", "/ready"].map(ask)
}

/// The status of a socket that a page of some site opens after its name has led here.
async fn rebound(server: &Server, host: &str, more: &[(&'static str, &str)]) -> u16 {
    use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
    let stream = tokio::net::TcpStream::connect(server.address()).await.expect("the server listens");
    let mut request = format!("ws://{host}/ws").into_client_request().expect("a request");
    for (name, value) in more {
        request.headers_mut().append(*name, value.parse().expect("a header"));
    }
    match tokio_tungstenite::client_async(request, stream).await {
        Ok(_) => 101,
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_name_that_was_led_here_gets_no_socket() {
    let server = Server::start();
    let port = server.address().rsplit(':').next().expect("a port").to_owned();
    let evil = format!("evil.example:{port}");
    let origin = format!("http://{evil}");
    assert_eq!(rebound(&server, &evil, &[("origin", &origin)]).await, 403);
    assert_eq!(rebound(&server, "evil.example", &[("x-forwarded-for", "127.0.0.1")]).await, 403);
    for name in ["127.0.0.1", "localhost", "[::1]", "203.0.113.9", "LOCALHOST"] {
        assert_eq!(rebound(&server, &format!("{name}:{port}"), &[]).await, 101, "{name}");
    }
    assert_eq!(called(&server, "evil.example").await, [403, 403, 200]);
    assert_eq!(called(&server, "127.0.0.1").await, [401, 401, 200]);
    assert_eq!(called(&server, "localhost.evil.example").await, [403, 403, 200]);
}

#[tokio::test]
async fn a_server_is_called_by_its_names_and_by_those_of_its_proxy() {
    let server = Server::start_with(&[("SERVICE_HTTP__ALLOWED_HOSTS", "db.example.com, other.example")]);
    for name in ["db.example.com", "DB.example.com:8080", "other.example", "127.0.0.1"] {
        assert_eq!(rebound(&server, name, &[]).await, 101, "{name}");
    }
    assert_eq!(rebound(&server, "www.db.example.com", &[]).await, 403);
    let all = Server::start_with(&[("SERVICE_HTTP__ALLOWED_HOSTS", "*")]);
    assert_eq!(rebound(&all, "any.example", &[]).await, 101);
    // What a trusted proxy hands on it was asked by a name of its own. A browser beside it is no proxy.
    let server = Server::start_with(&[("SERVICE_HTTP__TRUSTED_PROXIES", "127.0.0.0/8")]);
    assert_eq!(rebound(&server, "db.example.com", &[("x-forwarded-for", "198.51.100.1")]).await, 101);
    assert_eq!(rebound(&server, "db.example.com", &[]).await, 403);
}
