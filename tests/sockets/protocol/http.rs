//! Plain requests.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use stratalog_tests::server::Server;
use tokio_tungstenite::tungstenite::Error;

#[test]
fn probes_answer_at_the_root_and_below_v1() {
    let server = Server::start();
    for prefix in ["", "/v1"] {
        let (status, head, body) = server.get(&format!("{prefix}/health"));
        assert_eq!(status, 200);
        assert!(head.contains("x-api-version: v"), "{head}");
        assert!(head.contains("content-type: application/json"), "{head}");
        let health: Json = serde_json::from_str(&body).expect("the body is JSON");
        assert_eq!(health["success"], true);
        assert_eq!(health["data"]["status"], "healthy");
        assert!(health["data"]["version"].is_string());
        assert!(health["data"]["uptime_secs"].is_u64());
        for probe in ["/live", "/ready"] {
            let (status, _, body) = server.get(&format!("{prefix}{probe}"));
            assert_eq!((status, body.as_str()), (200, ""), "{prefix}{probe}");
        }
    }
}

fn bearer(key: &str) -> String {
    format!("Authorization: Bearer {key}\r\n")
}

/// The code in the error envelope, which must be all of the body.
fn error_code(body: &str) -> String {
    let json: Json = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    let error = json["error"].as_object().expect("an error");
    assert_eq!((&json["success"], json.as_object().map(|all| all.len())), (&Json::Bool(false), Some(2)));
    assert!(error.len() == 2 && error["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
    error["code"].as_str().expect("a code").to_owned()
}

#[tokio::test]
async fn every_endpoint_but_probes_and_sockets_asks_for_a_key_first() {
    let server = Server::start();
    let key = server.log_in().await.new_key("ops").await;
    let documents =
        ["/api/openapi.yaml", "/api/asyncapi.yaml", "/api/ws-docs", "/api/ws-docs/none.js", "/api"];
    for path in ["/metrics", "/metrics/prometheus", "/nothing", "/metrics/x", "/"].iter().chain(&documents) {
        for path in [(*path).to_owned(), format!("/v1{path}")] {
            for headers in [
                "",
                "Authorization: Bearer 00\r\n",
                "Authorization: Basic YTpi\r\n",
                &format!("Authorization: {key}\r\n"),
            ] {
                let (status, head, body) = server.get_with(&path, headers);
                assert_eq!((status, error_code(&body).as_str()), (401, "UNAUTHORIZED"), "{path}");
                assert!(head.contains("www-authenticate: bearer"), "{head}");
                assert!(head.contains("x-api-version: v"), "{head}");
            }
            let both = bearer(&key) + &bearer(&key);
            assert_eq!(server.get_with(&path, &both).0, 401, "{path} with two keys");
        }
    }
    let revoked = server.log_in().await.execute(".apikey revoke ops").await;
    assert_eq!(revoked["type"], "result");
    assert_eq!(server.get_with("/metrics", &bearer(&key)).0, 401);
}

/// What a browser asks for when somebody follows an address.
const BROWSER: &str = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n";

/// Nothing but what the server itself serves, and no form that sends by itself.
fn assert_guarded(head: &str) {
    for expected in [
        "content-type: text/html",
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
        "form-action 'none'; frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "vary: accept, authorization",
    ] {
        assert!(head.contains(expected), "{expected}: {head}");
    }
    assert!(!head.contains("set-cookie"), "{head}");
}

#[tokio::test]
async fn browsers_without_credentials_see_the_first_page_and_nothing_of_the_data() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(".kg create secret_graph\n.user create secret_user lace-lace-lace viewer").await;
    let key = bearer(&admin.new_key("ops").await);
    for path in ["/", "/v1", "/v1/"] {
        let (status, head, body) = server.get_with(path, BROWSER);
        assert_eq!(status, 200, "{path}");
        assert_guarded(&head);
        assert!(body.contains("api/ws-docs") && body.contains("health"), "{body}");
        assert!(!body.contains("secret_"), "{body}");
        // All others learn what they learn anywhere.
        assert_eq!(server.get_with(path, "Accept: */*\r\n").0, 401, "{path}");
        let (status, _, body) = server.get_with(path, &key);
        assert_eq!((status, error_code(&body).as_str()), (404, "NOT_FOUND"), "{path}");
        let (status, _, body) = server.request("POST", path, &format!("{BROWSER}{key}"));
        assert_eq!((status, error_code(&body).as_str()), (405, "METHOD_NOT_ALLOWED"), "{path}");
    }
    assert_eq!(server.get_with("/anything", BROWSER).0, 401);
}

#[tokio::test]
async fn users_open_the_page_with_their_password_and_nothing_else() {
    let server = Server::start_with(&[("SERVICE_HTTP__AUTH__FAILURES_PER_ADDRESS", "0")]);
    server.log_in().await.rows(".user create zoe lace-lace-lace viewer").await;
    let (status, head, body) = server.get_with("/api/ws-docs", BROWSER);
    assert_eq!(status, 401);
    assert_guarded(&head);
    // A browser that were asked for Basic would keep the password, and send it with every request of any page.
    assert!(head.contains("www-authenticate: bearer") && !head.contains("basic"), "{head}");
    assert!(body.contains("password") && !body.contains("asyncapi"), "{body}");
    // zoe:lace-lace-lace
    let zoe = "Authorization: Basic em9lOmxhY2UtbGFjZS1sYWNl\r\n";
    for path in ["/api/ws-docs", "/v1/api/ws-docs"] {
        let (status, head, body) = server.get_with(path, zoe);
        assert_eq!(status, 200, "{path}");
        assert_guarded(&head);
        assert!(body.contains("asyncapi"), "{path}");
    }
    // What programs read asks for a key.
    for path in ["/api/asyncapi.yaml", "/api/openapi.yaml", "/metrics", "/nothing", "/"] {
        assert_eq!(server.get_with(path, zoe).0, 401, "{path}");
    }
    assert_eq!(server.request("POST", "/api/ws-docs", zoe).0, 405);
    // zoe:wrong, and twice the right one.
    let wrong = "Authorization: Basic em9lOndyb25n\r\n";
    assert_eq!(server.get_with("/api/ws-docs", wrong).0, 401);
    assert_eq!(server.get_with("/api/ws-docs", &zoe.repeat(2)).0, 401);
    server.log_in().await.rows(".user drop zoe").await;
    assert_eq!(server.get_with("/api/ws-docs", zoe).0, 401);
}

#[tokio::test]
async fn passwords_of_the_page_are_guessed_no_faster_than_those_of_sockets() {
    let server = Server::start_with(&[
        ("SERVICE_HTTP__AUTH__FAILURES_PER_USER", "3"),
        ("SERVICE_HTTP__AUTH__FAILURES_PER_ADDRESS", "0"),
        ("SERVICE_HTTP__AUTH__LONGEST_DELAY_MS", "600"),
    ]);
    server.log_in().await.rows(".user create zoe lace-lace-lace viewer").await;
    // Guesses over HTTP count over the WebSocket, which waits 500 ms after four.
    for _ in 0..4 {
        assert_eq!(server.get_with("/api/ws-docs", "Authorization: Basic em9lOndyb25n\r\n").0, 401);
    }
    let start = Instant::now();
    assert_eq!(server.connect().await.log_in_as("zoe", "lace-lace-lace").await["type"], "authenticated");
    assert!(start.elapsed() >= Duration::from_millis(500), "after {:?}", start.elapsed());
}

#[tokio::test]
async fn failures_have_their_status_and_the_envelope() {
    let server = Server::start();
    let key = bearer(&server.log_in().await.new_key("ops").await);
    for prefix in ["", "/v1"] {
        let ask = |method, path: &str, headers: &str| {
            let (status, head, body) = server.request(method, &format!("{prefix}{path}"), headers);
            (status, error_code(&body), head)
        };
        for path in ["/nothing", "/healthy", "/metrics/x", "/api"] {
            let (status, code, _) = ask("GET", path, &key);
            assert_eq!((status, code.as_str()), (404, "NOT_FOUND"), "{path}");
        }
        let probes = ["/health", "/live", "/ready"];
        let documents = ["/api/openapi.yaml", "/api/asyncapi.yaml", "/api/ws-docs", "/api/ws-docs/app.js"];
        let others = ["/metrics", "/metrics/prometheus", "/ws", "/nothing"];
        for path in [&probes[..], &documents, &others].concat() {
            for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
                let (status, code, head) = ask(method, path, &key);
                assert_eq!((status, code.as_str()), (405, "METHOD_NOT_ALLOWED"), "{method} {path}");
                assert!(head.contains("allow: get, head"), "{head}");
            }
        }
        let (status, code, _) = ask("GET", "/ws", "");
        assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"));
        let (status, code, _) = ask("GET", "/metrics", &format!("{key}Content-Length: 16777217\r\n"));
        assert_eq!((status, code.as_str()), (413, "PAYLOAD_TOO_LARGE"));
    }
    let (status, head, body) = server.request("HEAD", "/health", "");
    assert_eq!((status, body.as_str()), (200, ""));
    assert!(head.contains("content-type: application/json"), "{head}");
}

#[tokio::test]
async fn an_address_may_ask_so_often_a_second_and_probes_always() {
    let server = Server::start_with(&[("SERVICE_HTTP__RATE_LIMIT__MAX_REQUESTS_PER_SEC_PER_ADDRESS", "5")]);
    let mut statuses = Vec::new();
    // More than the limits of all seconds that this may take together would be a slow machine indeed.
    for _ in 0..200 {
        let (status, head, body) = server.get("/metrics");
        if status == 429 {
            assert_eq!(error_code(&body), "RATE_LIMITED");
            assert!(head.contains("retry-after: 1"), "{head}");
        }
        statuses.push(status);
    }
    assert_eq!(statuses[..5], [401; 5]);
    assert!(statuses.contains(&429), "{statuses:?}");
    for path in ["/health", "/live", "/ready", "/v1/ready"] {
        for _ in 0..10 {
            assert_eq!(server.get(path).0, 200);
        }
    }
}

#[tokio::test]
async fn connections_without_a_place_are_turned_away_and_told_so() {
    let server = Server::start_with(&[
        ("SERVICE_HTTP__RATE_LIMIT__MAX_CONNECTIONS", "2"),
        ("SERVICE_HTTP__RATE_LIMIT__MAX_WS_CONNECTIONS", "1"),
        ("SERVICE_HTTP__RATE_LIMIT__KEPT_FOR_ADMINISTRATORS", "0"),
    ]);
    let _one = server.log_in().await;
    let upgrade =
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let refused = server.connect_to("/ws").await.expect_err("there is one place for a socket");
    let Error::Http(response) = refused else { panic!("{refused}") };
    assert_eq!(response.status(), 503);
    let body = String::from_utf8(response.body().clone().expect("a body")).expect("text");
    assert_eq!(error_code(&body), "SERVICE_UNAVAILABLE");
    let held = std::net::TcpStream::connect(server.url().replace("ws://", "").replace("/ws", ""))
        .expect("a connection");
    let (status, head, body) = server.get_with("/metrics", upgrade);
    assert_eq!((status, error_code(&body).as_str()), (503, "SERVICE_UNAVAILABLE"));
    assert_eq!(server.get_with("/health", upgrade).0, 200, "probes need no place");
    assert!(head.contains("retry-after: 1"), "{head}");
    drop(held);
}

/// The numbers of `/metrics/prometheus` that stand for themselves.
fn scrape(server: &Server, key: &str) -> BTreeMap<String, f64> {
    let (status, head, body) = server.get_with("/metrics/prometheus", key);
    assert_eq!(status, 200);
    assert!(head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
    let lines = body.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').expect("a name and a number");
            (name.to_owned(), value.parse().expect("a number"))
        })
        .collect()
}

#[tokio::test]
async fn metrics_count_what_happens() {
    // A session ends with its connection.
    let server = Server::start_with(&[("SERVICE_HTTP__SESSION_GRACE_MS", "0")]);
    let mut admin = server.log_in().await;
    let key = bearer(&admin.new_key("ops").await);
    let read = || {
        let (status, head, body) = server.get_with("/metrics", &key);
        assert_eq!(status, 200);
        assert!(head.contains("content-type: application/json"), "{head}");
        serde_json::from_str::<Json>(&body).expect("JSON")
    };
    let before = read();
    assert_eq!(before["success"], true);
    let fields = |json: &Json| {
        json.as_object().expect("an object").keys().cloned().collect::<std::collections::BTreeSet<_>>()
    };
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(
        fields(&before["data"]),
        names(&[
            "knowledge_graphs",
            "memory_usage_bytes",
            "query_count",
            "relations",
            "sessions",
            "uptime_secs",
            "views"
        ])
    );
    assert_eq!(
        fields(&before["data"]["sessions"]),
        names(&["clean", "dirty", "total", "total_ephemeral_facts", "total_ephemeral_rules"])
    );
    let scraped = scrape(&server, &key);
    assert_eq!(scraped["service_queries_total"], before["data"]["query_count"].as_f64().expect("a number"));
    let counts = |json: &Json| {
        let data = &json["data"];
        ["query_count", "knowledge_graphs", "relations", "views"]
            .map(|name| data[name].as_u64().expect("a number"))
    };
    assert_eq!(counts(&before), [1, 1, 0, 0]);
    // Seven programs; one that cannot be parsed is not run.
    admin.rows(".kg create lab").await;
    admin.rows("+edge[(1,2),(2,3),(3,4)]").await;
    admin.rows("+node(1)").await;
    admin.rows("+reach(X, Y) <- edge(X, Y)").await;
    admin.rows("?reach(X, Y)").await;
    assert_eq!(admin.execute("?(").await["code"], "parse_error");
    let mut other = server.log_in().await;
    other.rows("mine[(1),(2)]").await;
    other.rows("own(X) <- mine(X)").await;
    let after = read();
    assert_eq!(counts(&after), [8, 2, 2, 1]);
    let sessions = |json: &Json| {
        ["total", "clean", "dirty", "total_ephemeral_facts", "total_ephemeral_rules"]
            .map(|name| json["data"]["sessions"][name].as_u64().expect("a number"))
    };
    assert_eq!(sessions(&before), [1, 1, 0, 0, 0]);
    assert_eq!(sessions(&after), [2, 1, 1, 2, 1]);
    let numbers = scrape(&server, &key);
    for (name, value) in [
        ("service_queries_total", 8.0),
        ("service_knowledge_graphs", 2.0),
        ("service_relations_total", 2.0),
        ("service_views_total", 1.0),
        ("service_sessions_total", 2.0),
        ("service_sessions_clean", 1.0),
        ("service_sessions_dirty", 1.0),
        ("service_tuples_total", 4.0),
        ("service_ephemeral_facts", 2.0),
        ("service_ephemeral_rules", 1.0),
        ("service_query_execute_seconds_count", 8.0),
        ("service_query_parse_seconds_count", 8.0),
        ("service_query_seconds_count", 9.0),
    ] {
        assert_eq!(numbers[name], value, "{name}");
    }
    assert!(numbers["service_memory_usage_bytes"] > 0.0);
    drop(other);
    let mut left = read();
    for _ in 0..100 {
        if sessions(&left) == [1, 1, 0, 0, 0] {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        left = read();
    }
    assert_eq!(sessions(&left), [1, 1, 0, 0, 0]);
}

#[tokio::test]
async fn a_plain_request_to_the_socket_is_refused() {
    let server = Server::start();
    let (status, _, _) = server.get("/ws");
    assert_eq!(status, 400);
}
