//! API keys for what they are for, one's own password, and sessions that somebody ends.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, Server};
use stratalog_tests::times::PATIENCE;

/// The password of every user but `admin`.
const LACE: &str = "lace-1815";

/// A new key: what follows `.apikey create`.
async fn key(admin: &mut Connection, terms: &str) -> String {
    let reply = admin.execute(&format!(".apikey create {terms}")).await;
    assert_eq!(reply["columns"], json!(["api_key", "label"]), "{terms}: {reply}");
    reply["rows"][0][0].as_str().expect("a key").to_owned()
}

/// A session that a key opens.
async fn robot(server: &Server, key: &str) -> Connection {
    let mut robot = server.connect().await;
    let reply = robot.authenticate(key).await;
    assert_eq!(reply["type"], "authenticated", "{reply}");
    robot
}

/// Why a key opens no session.
async fn refusal(server: &Server, key: &str) -> String {
    let reply = server.connect().await.authenticate(key).await;
    assert_eq!(reply["type"], "auth_error", "{reply}");
    reply["message"].as_str().expect("a message").to_owned()
}

fn http(server: &Server, key: &str) -> [u16; 4] {
    let header = format!("Authorization: Bearer {key}\r\n");
    ["/metrics", "/metrics/prometheus", "/api/openapi.yaml", "/api/asyncapi.yaml"]
        .map(|path| server.get_with(path, &header).0)
}

/// The codes of what is refused, and `ok`.
async fn codes(connection: &mut Connection, programs: &[&str]) -> Vec<String> {
    let mut codes = Vec::new();
    for program in programs {
        let reply = connection.execute(program).await;
        codes.push(reply["code"].as_str().unwrap_or("ok").to_owned());
    }
    codes
}

#[tokio::test]
async fn a_key_for_metrics_opens_metrics_and_documents_and_no_session() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    let key = key(&mut admin, "monitor metrics").await;
    assert_eq!(http(&server, &key), [200; 4]);
    assert!(refusal(&server, &key).await.contains("`metrics`"));
    admin.rows(".apikey revoke monitor").await;
    assert_eq!(http(&server, &key), [401; 4]);
}

#[tokio::test]
async fn keys_give_what_their_scope_says_of_what_their_owner_has() {
    const DENIED: &str = "access_denied";
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create vic {LACE} viewer\n+fact(1)\n.kg create lab\n.kg use default")).await;
    let programs = [
        "?fact(X)",
        "own(X) <- fact(X)",
        ".kg use lab\n.kg use default",
        "+fact(2)",
        "-fact(2)",
        "+seen(X) <- fact(X)",
        ".rule drop seen",
        ".kg create more",
        ".kg drop lab",
        ".kg acl grant lab vic viewer",
        ".user list",
        ".apikey create other",
        ".backup b",
        ".compact",
        "// x\n.status\n.user list",
        ".user password another-1",
        ".session kill 6b6f4c9e-0f3a-4bd2-9f3c-8a1d5f0f2c11",
    ];
    let reads = key(&mut admin, "r read").await;
    let mut reader = robot(&server, &reads).await;
    let given = codes(&mut reader, &programs).await;
    assert_eq!(given, [vec!["ok"; 3], vec![DENIED; 14]].concat());
    let insert = json!({"type": "insert", "relation": "fact", "rows": [[3]]});
    assert_eq!(reader.ask(insert.clone()).await["code"], DENIED);
    assert_eq!(http(&server, &reads), [200; 4]);

    let mut writer = robot(&server, &key(&mut admin, "w WRITE").await).await;
    let given = codes(&mut writer, &programs).await;
    assert_eq!(given, [vec!["ok"; 7], vec![DENIED; 10]].concat());
    assert_eq!(writer.ask(insert).await["type"], "result");

    // Nobody has more by a key than without it.
    let mut lent = robot(&server, &key(&mut admin, "lent for vic write").await).await;
    assert_eq!(codes(&mut lent, &["?fact(X)", "+fact(9)", ".kg use lab"]).await, ["ok", DENIED, "not_found"]);
    admin.rows(".kg acl grant lab vic editor").await;
    assert_eq!(codes(&mut lent, &[".kg use lab\n+a(1)", ".kg acl list lab"]).await, ["ok", DENIED]);
    // A key that is not for administration does not get into the sessions of others.
    let id = admin.rows(".session open").await[0][0].as_str().expect("an id").to_owned();
    let mut spy = server.connect_to(&format!("/sessions/{id}/ws")).await.expect("the session is there");
    let outcome = spy.authenticate(&key(&mut admin, "spy for vic").await).await;
    assert_eq!(outcome["code"], DENIED, "{outcome}");
}

#[tokio::test]
async fn a_key_that_opens_less_than_its_owner_may_do_is_told_so() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    for (terms, scope) in [("all", None), ("w write", Some("write")), ("r read", Some("read"))] {
        let key = key(&mut admin, terms).await;
        let greeting = server.connect().await.authenticate(&key).await;
        assert_eq!((greeting["role"].as_str(), greeting["scope"].as_str()), (Some("admin"), scope));
    }
}

#[tokio::test]
async fn a_key_is_listed_with_its_owner_its_end_and_its_scope() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create vic {LACE} viewer")).await;
    let old = key(&mut admin, "old").await;
    let mut robot = robot(&server, &old).await;
    robot.rows(".user list").await;
    key(&mut admin, "dated expires 2999-12-31T23:59:59Z metrics").await;
    key(&mut admin, "lent read for vic").await;
    key(&mut admin, "month Expires 30d FOR vic").await;
    let listed = admin.execute(".apikey list").await;
    assert_eq!(listed["columns"], json!(["label", "owner", "created", "expires", "scope"]));
    let row = |number: usize| &listed["rows"][number];
    assert_eq!((&row(0)[0], &row(0)[1], &row(0)[4]), (&json!("dated"), &json!("admin"), &json!("metrics")));
    assert_eq!(row(0)[3], json!(32_503_679_999_000_i64));
    assert_eq!((&row(1)[1], &row(1)[3], &row(1)[4]), (&json!("vic"), &Json::Null, &json!("read")));
    let (created, expires) = (row(2)[2].as_i64().expect("a time"), row(2)[3].as_i64().expect("a time"));
    let month = 30 * 86_400_000;
    assert!((month - 60_000..month + 60_000).contains(&(expires - created)), "{listed}");
    assert_eq!((&row(3)[0], &row(3)[3], &row(3)[4]), (&json!("old"), &Json::Null, &json!("all")));
    for wrong in [
        "x reed",
        "x read write",
        "x read read",
        "x for",
        "x expires",
        "x expires yesterday",
        "x expires 0s",
        "x expires 2001-01-01T00:00:00Z",
        "x for vic for vic",
        "x expires 1d expires 2d",
        "x vic",
    ] {
        let reply = admin.execute(&format!(".apikey create {wrong}")).await;
        assert_eq!(
            (&reply["code"], reply["help"].is_string()),
            (&json!("parse_error"), true),
            "{wrong}: {reply}"
        );
    }
    assert_eq!(admin.execute(".apikey create x for nobody").await["code"], "not_found");
    assert_eq!(admin.rows(".apikey list").await.as_array().map(Vec::len), Some(4));
    // Others' keys go with them.
    admin.rows(".user drop vic").await;
    assert_eq!(admin.rows(".apikey list").await.as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn an_expired_key_opens_nothing_and_what_it_opened_ends() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let server = Server::start_in(folder.path(), &[]);
    let mut admin = server.log_in().await;
    let short = key(&mut admin, "short expires 8s").await;
    let mut robot = robot(&server, &short).await;
    robot.rows("+a(1)").await;
    assert_eq!(http(&server, &short), [200; 4]);
    robot.assert_ended("expired").await;
    assert!(refusal(&server, &short).await.contains("expired"));
    assert_eq!(http(&server, &short), [401; 4]);
    let listed = admin.rows(".apikey list").await;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "it is listed until it is revoked");
    // So it is after a restart, and a scope stays one.
    let reads = key(&mut admin, "reads read").await;
    drop((admin, server));
    let server = Server::start_in(folder.path(), &[]);
    assert!(refusal(&server, &short).await.contains("expired"));
    let mut robot = self::robot(&server, &reads).await;
    assert_eq!(codes(&mut robot, &["?a(X)", "+a(2)"]).await, ["ok", "access_denied"]);
}

#[tokio::test]
async fn users_change_their_own_password_and_nobody_elses() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create eve {LACE} viewer\n.user create bob {LACE} viewer")).await;
    let (mut eve, mut other) = (server.log_in_as("eve", LACE).await, server.log_in_as("eve", LACE).await);
    let mut robot = robot(&server, &key(&mut admin, "lent for eve").await).await;
    assert_eq!(codes(&mut robot, &[".user password by-a-key-1"]).await, ["access_denied"]);
    let wrong = [
        (".user password bob stolen-1", "access_denied"),
        (".user password two words", "access_denied"),
        (".user password", "parse_error"),
        (".user password eve", "parse_error"),
        (".user password a\u{1b}[2J", "parse_error"),
    ];
    for (program, code) in wrong {
        let reply = eve.execute(program).await;
        assert_eq!((&reply["code"], reply["help"].is_string()), (&json!(code), true), "{program}: {reply}");
    }
    assert_eq!(eve.rows("// mine\n.USER Password new-1").await, json!([["changed your password"]]));
    other.assert_ended("password").await;
    robot.assert_ended("password").await;
    eve.rows(".status").await;
    assert_eq!(server.connect().await.log_in_as("eve", LACE).await["type"], "auth_error");
    server.log_in_as("eve", "new-1").await;
    server.log_in_as("bob", LACE).await;
    // Who leaves the password out does not become somebody with the password `bob`.
    assert_eq!(admin.execute(".user password bob").await["code"], "parse_error");
    server.log_in().await;
}

#[tokio::test]
async fn a_new_password_is_in_no_listing_and_no_log() {
    const SECRET: &str = "s3cret-analysis";
    let server =
        Server::start_with(&[("SERVICE_LOGGING__SLOW_QUERY_MS", "1"), ("SERVICE_LOGGING__LEVEL", "debug")]);
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create eve {LACE} viewer\n+n(0)")).await;
    admin.rows("+n(Y) <- n(X), Y = X + 1").await;
    let mut eve = server.log_in_as("eve", LACE).await;
    let program = format!(".user password {SECRET}\n?n(X)");
    eve.send_json(json!({"type": "execute", "program": program, "timeout_ms": 3000})).await;
    let until = Instant::now() + PATIENCE;
    let shown = loop {
        let listed = admin.rows(".query list").await.to_string();
        if listed.contains(".user password") {
            break listed;
        }
        assert!(Instant::now() < until, "{listed}");
    };
    assert!(!shown.contains(SECRET), "{shown}");
    assert_eq!(eve.receive_json().await["code"], "timeout");
    server.log_in_as("eve", SECRET).await;
    assert!(server.log().contains("a slow query"), "{}", server.log());
    assert!(!server.log().contains(SECRET), "{}", server.log());
}

/// The sessions that somebody sees: id and user.
async fn open_sessions(connection: &mut Connection) -> Vec<(String, String)> {
    let rows = connection.rows(".session open").await;
    let text = |value: &Json| value.as_str().expect("a text").to_owned();
    rows.as_array().expect("rows").iter().map(|row| (text(&row[0]), text(&row[1]))).collect()
}

async fn log_in(server: &Server, user: &str) -> (Connection, String) {
    let mut connection = server.connect().await;
    let reply = connection.log_in_as(user, LACE).await;
    (connection, reply["session_id"].as_str().expect("an id").to_owned())
}

#[tokio::test]
async fn sessions_are_ended_by_their_users_and_by_administrators() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create eve {LACE} viewer\n.user create bob {LACE} viewer")).await;
    let ((mut eve, own), (mut second, id), (mut bob, of_bob)) =
        (log_in(&server, "eve").await, log_in(&server, "eve").await, log_in(&server, "bob").await);
    let mut seen = open_sessions(&mut eve).await;
    seen.sort();
    let mut expected = vec![(own.clone(), "eve".to_owned()), (id.clone(), "eve".to_owned())];
    expected.sort();
    assert_eq!(seen, expected, "only one's own");
    assert_eq!(open_sessions(&mut admin).await.len(), 4);
    // Of another one's, not even that it exists.
    for unknown in [of_bob.as_str(), "none", "6b6f4c9e-0f3a-4bd2-9f3c-8a1d5f0f2c11"] {
        let reply = eve.execute(&format!(".session kill {unknown}")).await;
        assert_eq!((&reply["code"], reply["help"].is_string()), (&json!("not_found"), true), "{reply}");
        assert_eq!(reply["message"], format!("there is no session {unknown}"));
    }
    // Both sockets of the session go, with what runs.
    let mut beside = server.connect_to(&format!("/sessions/{id}/ws")).await.expect("the session is there");
    beside.log_in_as("eve", LACE).await;
    admin.rows("+n(0)").await;
    admin.rows("+n(Y) <- n(X), Y = X + 1").await;
    second.send_json(json!({"type": "execute", "program": "?n(X)", "id": 1})).await;
    assert_eq!(second.receive_within(Duration::from_millis(200)).await, None);
    eve.rows(&format!(".session kill {id}")).await;
    beside.assert_ended("by its user").await;
    assert_eq!(second.receive_json().await["code"], "cancelled");
    second.assert_ended("by its user").await;
    assert!(server.connect_to(&format!("/sessions/{id}/ws")).await.is_err(), "it is gone");
    admin.rows(&format!(".session kill {of_bob}")).await;
    bob.assert_ended("by an administrator").await;
    // One's own, last.
    let reply = eve.execute(&format!(".session kill {own}")).await;
    assert_eq!(reply["type"], "result", "{reply}");
    eve.assert_ended("by its user").await;
    assert_eq!(open_sessions(&mut admin).await.len(), 1);
}

#[tokio::test]
async fn a_socket_that_is_refused_does_not_keep_a_session() {
    let server = Server::start_with(&[("SERVICE_HTTP__SESSION_GRACE_MS", "1500")]);
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create eve {LACE} viewer\n.user create bob {LACE} viewer")).await;
    // Checking a password takes longer than the grace on a busy machine, so somebody comes with a key.
    let key = key(&mut admin, "bob for bob").await;
    let (eve, id) = log_in(&server, "eve").await;
    drop(eve);
    let path = format!("/sessions/{id}/ws");
    let until = Instant::now() + PATIENCE;
    while let Ok(mut spy) = server.connect_to(&path).await {
        let reply = spy.authenticate(&key).await;
        assert!(["access_denied", "not_found"].map(Json::from).contains(&reply["code"]), "{reply}");
        assert!(Instant::now() < until, "those who are refused keep the session alive");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
