//! Users, API keys and access entries: their commands, and what becomes of open connections when they change.

use std::time::Duration;

use serde_json::json;
use stratalog_tests::server::{PASSWORD, Server};

/// The password of every user but `admin`.
const LACE: &str = "lace-1815";

// Open connections.

#[tokio::test]
async fn a_dropped_user_is_out_at_once_and_never_comes_back() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create eve {LACE} editor\n.kg create lab\n.kg acl grant lab eve owner")).await;
    let (mut idle, mut busy) = (server.log_in_as("eve", LACE).await, server.log_in_as("eve", LACE).await);
    busy.rows("+n(0)").await;
    busy.rows("+n(Y) <- n(X), Y = X + 1").await;
    busy.send_json(json!({"type": "execute", "program": "?n(X)", "id": 1})).await;
    busy.send_json(json!({"type": "execute", "program": "+late(1)", "id": 2})).await;
    assert_eq!(busy.receive_within(Duration::from_millis(300)).await, None);
    admin.rows(".user drop eve").await;
    idle.assert_ended("dropped").await;
    for id in [1, 2] {
        let reply = busy.receive_json().await;
        assert_eq!((&reply["id"], &reply["code"]), (&json!(id), &json!("cancelled")), "{reply}");
    }
    busy.assert_ended("dropped").await;
    admin.rows(".kg use default").await;
    assert_eq!(admin.execute("?late(X)").await["code"], "unknown_relation");
    assert_eq!(server.connect().await.log_in_as("eve", LACE).await["type"], "auth_error");
    // Somebody else of that name has nothing of it.
    admin.rows(&format!(".user create eve {LACE} viewer")).await;
    assert_eq!(admin.rows(".kg acl list lab").await, json!([["admin", "owner"]]));
    assert_eq!(server.log_in_as("eve", LACE).await.execute("+a(1)").await["code"], "access_denied");
}

#[tokio::test]
async fn a_changed_password_ends_the_other_sessions() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create eve {LACE} editor")).await;
    let (mut eve, mut other) = (server.log_in_as("eve", LACE).await, server.log_in().await);
    admin.rows(".user password eve new-1").await;
    eve.assert_ended("password").await;
    assert_eq!(server.connect().await.log_in_as("eve", LACE).await["type"], "auth_error");
    server.log_in_as("eve", "new-1").await;
    // One's own: this session stays, the others go.
    admin.rows(".user password admin new-2").await;
    other.assert_ended("password").await;
    assert_eq!(admin.rows(".kg").await, json!([["default"]]));
    assert_eq!(server.connect().await.log_in(PASSWORD).await["type"], "auth_error");
    server.log_in_as("admin", "new-2").await;
}

#[tokio::test]
async fn roles_and_levels_change_at_once() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create eve {LACE} viewer\n.kg create lab")).await;
    let mut eve = server.log_in_as("eve", LACE).await;
    let denied = json!("access_denied");
    assert_eq!(eve.execute("+a(1)").await["code"], denied);
    admin.rows(".user role eve EDITOR").await;
    eve.rows("+a(1)").await;
    assert_eq!(eve.execute(".user list").await["code"], denied);
    admin.rows(".user role eve admin").await;
    eve.rows(".user list\n.kg use lab\n+a(1)").await;
    admin.rows(".user role eve viewer").await;
    assert_eq!(eve.execute("?a(X)").await["code"], "not_found", "lab is not for eve any more");
    admin.rows(".kg acl grant lab eve editor").await;
    eve.rows("+a(2)").await;
    admin.rows(".kg acl grant lab eve viewer").await;
    assert_eq!(eve.execute("+a(3)").await["code"], denied);
    let insert = json!({"type": "insert", "relation": "a", "rows": [[3]]});
    assert_eq!(eve.ask(insert.clone()).await["code"], denied);
    assert_eq!(eve.rows("?a(X:asc)").await, json!([[1], [2]]));
    admin.rows(".kg acl revoke lab eve").await;
    for program in ["?a(X)", "+a(3)", "a(X) <- a(X)", ".rel", ".session", ".session clear", "// x\n?a(X)"] {
        assert_eq!(eve.execute(program).await["code"], "not_found", "{program}");
    }
    assert_eq!(eve.ask(insert).await["code"], "not_found");
    eve.rows(".kg use default\n?a(X)").await;
    // An entry on `default` takes the place of the role, also downwards.
    admin.rows(".user role eve editor\n.kg acl grant default eve viewer").await;
    assert_eq!(eve.execute("+a(4)").await["code"], denied);
}

#[tokio::test]
async fn a_right_that_goes_while_a_program_runs_is_gone() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin
        .rows(&format!(".user create eve {LACE} editor\n.kg create lab\n.kg acl grant lab eve editor"))
        .await;
    // Allowed as a whole, but its own second statement takes the ground from under the third.
    let mut eve = server.log_in_as("eve", LACE).await;
    eve.rows(".kg create mine").await;
    let reply = eve.execute("+a(1)\n.kg acl revoke mine eve\n+a(2)").await;
    assert_eq!((&reply["code"], &reply["statement_index"]), (&json!("not_found"), &json!(2)), "{reply}");
    admin.rows(".kg use mine").await;
    assert_eq!(admin.rows("?a(X)").await, json!([[1]]));
}

// API keys.

#[tokio::test]
async fn a_key_opens_sessions_with_the_rights_of_its_owner_until_it_is_revoked() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create eve {LACE} admin")).await;
    let mut eve = server.log_in_as("eve", LACE).await;
    let key = eve.new_key("ci").await;
    assert!(
        key.len() == 64 && key.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)),
        "{key}"
    );
    assert_ne!(key, eve.new_key("other").await);
    let mut robot = server.connect().await;
    let reply = robot.authenticate(&key).await;
    assert_eq!((&reply["type"], &reply["role"]), (&json!("authenticated"), &json!("admin")), "{reply}");
    robot.rows("+a(1)\n.user list").await;
    // It follows its owner.
    admin.rows(".user role eve viewer").await;
    assert_eq!(robot.execute("+a(2)").await["code"], "access_denied");
    let listed = admin.execute(".apikey list").await;
    assert_eq!(listed["columns"], json!(["label", "owner", "created", "expires", "scope"]));
    assert_eq!((&listed["rows"][0][0], &listed["rows"][0][1]), (&json!("ci"), &json!("eve")), "{listed}");
    assert!(listed["rows"][0][2].as_i64().is_some_and(|created| created > 1_700_000_000_000), "{listed}");
    assert!(!listed.to_string().contains(&key));
    admin.rows(".apikey revoke ci").await;
    robot.assert_ended("revoked").await;
    assert_eq!(eve.rows(".kg").await, json!([["default"]]), "the password's session stays");
    assert_eq!(server.connect().await.authenticate(&key).await["type"], "auth_error");
    assert_eq!(admin.rows(".apikey list").await.as_array().map(Vec::len), Some(1));
    // The other key goes with the user.
    admin.rows(".user drop eve").await;
    assert_eq!(admin.rows(".apikey list").await, json!([]));
}

#[tokio::test]
async fn a_session_may_revoke_its_own_key_and_hears_so() {
    let server = Server::start();
    let key = server.log_in().await.new_key("ci").await;
    let mut robot = server.connect().await;
    robot.authenticate(&key).await;
    let reply = robot.execute("+a(1)\n.apikey revoke ci").await;
    assert_eq!(reply["rows"][1], json!(["revoked API key ci"]), "{reply}");
    robot.assert_ended("revoked").await;
}

#[tokio::test]
async fn what_is_no_key_opens_nothing() {
    let server = Server::start();
    let key = server.log_in().await.new_key("ci").await;
    let wrong = [
        String::new(),
        "0".repeat(64),
        key.to_uppercase(),
        format!("{key} "),
        key[1..].to_owned(),
        "ci".to_owned(),
    ];
    for wrong in &wrong {
        let reply = server.connect().await.authenticate(wrong).await;
        assert_eq!(reply["type"], "auth_error", "{wrong:?}: {reply}");
        assert!(!reply.to_string().contains(&key[..8]));
    }
    let mut connection = server.connect().await;
    for wrong in &wrong[1..] {
        assert_eq!(connection.authenticate(wrong).await["type"], "auth_error");
    }
    assert_eq!(connection.closed(&[]).await, Some(1008), "five failures close the connection");
}

#[tokio::test]
async fn http_takes_a_key_as_bearer() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    let key = admin.new_key("ci").await;
    let status = |header: &str| server.get_with("/nothing", header).0;
    assert_eq!(status(&format!("Authorization: Bearer {key}\r\n")), 404);
    assert_eq!(status(&format!("Authorization: bearer {key}\r\n")), 404);
    for wrong in [
        String::new(),
        "Authorization: Bearer\r\n".to_owned(),
        "Authorization: Bearer 00\r\n".to_owned(),
        format!("Authorization: Basic {key}\r\n"),
        format!("Authorization: {key}\r\n"),
        format!("Authorization: Bearer x{key}\r\n"),
        format!("Authorization: Bearer 00\r\nAuthorization: Bearer {key}\r\n"),
    ] {
        assert_eq!(status(&wrong), 401, "{wrong}");
    }
    admin.rows(".apikey revoke ci").await;
    assert_eq!(status(&format!("Authorization: Bearer {key}\r\n")), 401);
}

// The commands.

#[tokio::test]
async fn commands_about_people_say_what_is_wrong() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(".user create eve a(\"b;' editor\n.kg create lab\n.apikey create ci").await;
    assert_eq!(admin.execute(".user list").await["columns"], json!(["username", "role"]));
    assert_eq!(admin.rows(".user list").await, json!([["admin", "admin"], ["eve", "editor"]]));
    server.log_in_as("eve", "a(\"b;'").await;
    let long = "x".repeat(2000);
    let cases = [
        (".user create eve pw viewer", "already_exists"),
        (".user create bob pw root", "parse_error"),
        (".user create bob pw", "parse_error"),
        (".user create bob my pass word admin", "parse_error"),
        (".user create ../bob pw viewer", "parse_error"),
        (".user create -- pw viewer", "parse_error"),
        (&format!(".user create {long} pw viewer"), "parse_error"),
        (&format!(".user create bob {long} viewer"), "parse_error"),
        (".user drop bob", "not_found"),
        (".user drop admin", "access_denied"),
        (".user drop", "parse_error"),
        (".user password bob pw", "not_found"),
        (".user password eve", "parse_error"),
        (".user password eve two words", "parse_error"),
        (".user role bob viewer", "not_found"),
        (".user role eve king", "parse_error"),
        (".user role admin viewer", "access_denied"),
        (".user role admin editor", "access_denied"),
        (".user", "parse_error"),
        (".user lst", "parse_error"),
        (".apikey create ci", "already_exists"),
        (".apikey create a/b", "parse_error"),
        (".apikey create", "parse_error"),
        (".apikey revoke none", "not_found"),
        (".apikey", "parse_error"),
        (".kg acl grant lab bob viewer", "not_found"),
        (".kg acl grant bal eve viewer", "not_found"),
        (".kg acl grant lab eve king", "parse_error"),
        (".kg acl grant lab eve", "parse_error"),
        (".kg acl revoke lab eve", "not_found"),
        (".kg acl revoke bal eve", "not_found"),
        (".kg acl list bal", "not_found"),
        (".kg acl", "parse_error"),
    ];
    for (program, code) in cases {
        let reply = admin.execute(program).await;
        assert_eq!((&reply["type"], &reply["code"]), (&json!("error"), &json!(code)), "{program}: {reply}");
        assert!(reply["help"].is_string(), "{program}: {reply}");
    }
    assert_eq!(admin.rows(".user list").await, json!([["admin", "admin"], ["eve", "editor"]]));
    // One list, also without naming the graph; the words in any case.
    admin.rows(".KG ACL GRANT lab eve Owner").await;
    let reply = admin.execute(".kg acl list").await;
    assert_eq!(
        (&reply["columns"], &reply["rows"]),
        (&json!(["username", "level"]), &json!([["admin", "owner"], ["eve", "owner"]]))
    );
    assert_eq!(admin.rows(".kg acl list default").await, json!([]));
    admin.rows(".user role admin ADMIN").await;
    // Another administrator may do everything but drop itself.
    admin.rows(&format!(".user create boss {LACE} admin")).await;
    let mut boss = server.log_in_as("boss", LACE).await;
    assert_eq!(boss.execute(".user drop boss").await["code"], "access_denied");
    boss.rows(".user role eve viewer").await;
    boss.rows(".user drop eve").await;
}

#[tokio::test]
async fn people_are_managed_in_the_midst_of_programs() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    let program = format!(
        "// the new ones\n+staff[(\"ann\"), (\"ben\")]\n.user create ann {LACE} editor\n.user create ben {LACE} viewer\n\
         .kg create lab\n.kg acl grant lab ben editor\n+a(1)\n?a(X)"
    );
    assert_eq!(admin.rows(&program).await, json!([[1]]));
    let mut ben = server.log_in_as("ben", LACE).await;
    assert_eq!(ben.rows(".kg use lab\n+a(2)\n?a(X:asc)").await, json!([[1], [2]]));
    // What runs before a failure stays, as in every program that is not atomic.
    let reply =
        admin.execute(&format!(".user create cid {LACE} viewer\n.user create ann {LACE} viewer")).await;
    assert_eq!((&reply["code"], &reply["statement_index"]), (&json!("already_exists"), &json!(1)));
    assert_eq!(admin.rows(".user list").await.as_array().map(Vec::len), Some(4));
    let atomic = json!({"type": "execute", "program": ".user drop cid", "atomic": true});
    assert_eq!(admin.ask(atomic).await["code"], "parse_error");
}
