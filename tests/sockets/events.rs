//! Notifications: what is told, to whom, in which order, and what becomes of those who were away or are slow.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value as Json, json};
use stratalog_tests::cli;
use stratalog_tests::server::{Connection, Frame, PASSWORD, Server};
use tempfile::TempDir;

/// The password of every user but `admin`.
const LACE: &str = "lace-1815";

/// A connection of `admin` that begins after a notification.
async fn since(server: &Server, seq: u64) -> Connection {
    let mut connection = server.connect_to(&format!("/ws?last_seq={seq}")).await.expect("a connection");
    assert_eq!(connection.log_in(PASSWORD).await["type"], "authenticated");
    connection
}

/// A connection of a user on a graph.
async fn on(server: &Server, user: &str, graph: &str) -> Connection {
    let mut connection = server.connect_to(&format!("/ws?kg={graph}")).await.expect("a connection");
    let reply = connection.log_in_as(user, LACE).await;
    assert_eq!(reply["type"], "authenticated", "{reply}");
    connection
}

/// What was told: type, name, operation, and of facts the count.
fn told(notification: &Json) -> (String, String, String, Option<u64>) {
    let text = |field: &str| notification[field].as_str().unwrap_or_default().to_owned();
    let name = ["relation", "rule_name", "entity", "knowledge_graph"];
    let name = name.iter().find(|field| notification[**field].is_string()).expect("a name");
    (text("type"), text(name), text("operation"), notification["count"].as_u64())
}

fn seq(notification: &Json) -> u64 {
    notification["seq"].as_u64().unwrap_or_else(|| panic!("no number in {notification}"))
}

/// The numbers of the next notifications.
async fn numbers(connection: &mut Connection, count: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    while numbers.len() < count {
        numbers.push(seq(&connection.notification().await));
    }
    numbers
}

fn gap(message: &Json) -> (u64, u64) {
    assert_eq!((&message["type"], &message["code"]), (&json!("error"), &json!("not_found")), "{message}");
    let number = |field: &str| message["gap"][field].as_u64().unwrap_or_else(|| panic!("no gap: {message}"));
    (number("from"), number("to"))
}

// What is told.

#[tokio::test]
async fn every_change_is_told_once_in_order_to_everybody_on_the_graph() {
    let server = Server::start();
    let mut watchers = [server.log_in().await, server.log_in().await];
    let mut writer = server.connect().await;
    let session = writer.log_in(PASSWORD).await["session_id"].clone();
    let insert = |relation: &str, count| ("persistent_update", relation.to_owned(), "insert", Some(count));
    let delete = |relation: &str, count| ("persistent_update", relation.to_owned(), "delete", Some(count));
    let rule = |name: &str, operation| ("rule_change", name.to_owned(), operation, None);
    let schema = |name: &str, operation| ("schema_change", name.to_owned(), operation, None);
    let programs = [
        ("+edge[(1, 2), (2, 3), (1, 2)]", vec![insert("edge", 2)]),
        ("+edge(1, 2)", vec![]),
        ("own(1)\nown(X) <- edge(X, _)", vec![]),
        ("own(1)", vec![]),
        ("-edge(9, 9)", vec![]),
        ("-edge(1, 2)", vec![delete("edge", 1)]),
        (
            "-edge(X, Y), +edge(Y, X), +seen(X) <- edge(X, Y)",
            vec![("persistent_update", "multiple".to_owned(), "update", Some(3))],
        ),
        ("+person(name: string, age: int)", vec![schema("person", "declared")]),
        ("+person(name: string, age: int)", vec![]),
        ("+person(\"ada\", 36)", vec![insert("person", 1)]),
        ("type Age: int", vec![schema("Age", "declared")]),
        ("+path(X, Y) <- edge(X, Y)", vec![rule("path", "registered")]),
        ("+path(X, Y) <- edge(X, Y)", vec![]),
        ("+path(X, Z) <- path(X, Y), edge(Y, Z)", vec![rule("path", "registered")]),
        (".rule replace\n+path(X, Y) <- edge(Y, X)", vec![rule("path", "dropped")]),
        // As many clauses as before, and another one.
        (".rule replace\n+path(X, Y) <- edge(X, Y)", vec![rule("path", "registered")]),
        (".rule replace\n+path(X, Y) <- edge(X, Y)", vec![]),
        ("+path(X, Z) <- path(X, Y), edge(Y, Z)", vec![rule("path", "registered")]),
        (".rule remove path 1", vec![rule("path", "dropped")]),
        (".rule clear path", vec![rule("path", "dropped")]),
        (".rule drop path", vec![rule("path", "dropped")]),
        (
            "+q1(X) <- edge(X, _)\n+q2(X) <- edge(_, X)",
            vec![rule("q1", "registered"), rule("q2", "registered")],
        ),
        ("-q1", vec![rule("q1", "dropped")]),
        (".rule drop prefix q", vec![rule("q2", "dropped")]),
        ("+a1(1)\n+a2(1)\n+b(1)", vec![insert("a1", 1), insert("a2", 1), insert("b", 1)]),
        (".clear prefix a", vec![delete("a1", 1), delete("a2", 1)]),
        (".rel drop b", vec![schema("b", "dropped")]),
        (".compact", vec![]),
    ];
    let mut last = 0;
    for (program, expected) in programs {
        writer.rows(program).await;
        for (kind, name, operation, count) in expected {
            for watcher in &mut watchers {
                let notification = watcher.notification().await;
                let expected = (kind.to_owned(), name.clone(), operation.to_owned(), count);
                assert_eq!(told(&notification), expected, "{program}: {notification}");
                assert_eq!(seq(&notification), last + 1, "{program}");
                assert_eq!(notification["knowledge_graph"], "default");
                assert_eq!(notification["session_id"], session);
                assert!(notification["timestamp_ms"].as_u64().is_some_and(|time| time > 1_700_000_000_000));
                assert!(notification.get("id").is_none());
            }
            last += 1;
        }
    }
}

#[tokio::test]
async fn an_atomic_program_is_told_whole_or_not_at_all() {
    let server = Server::start();
    let mut watcher = server.log_in().await;
    let mut writer = server.log_in().await;
    let atomic = |program: &str| json!({"type": "execute", "program": program, "atomic": true});
    assert_eq!(writer.ask(atomic("+a(1)\n+r(X) <- a(X)\n+a(1, 2)")).await["type"], "error");
    assert_eq!(writer.ask(atomic("+a(1)\n+r(X) <- a(X)\n-a(1)")).await["type"], "result");
    let mut names = Vec::new();
    for _ in 0..3 {
        let notification = watcher.notification().await;
        names.push((seq(&notification), told(&notification).1, told(&notification).2));
    }
    let expected = [(1, "a", "insert"), (2, "r", "registered"), (3, "a", "delete")];
    assert_eq!(names, expected.map(|(seq, name, done)| (seq, name.to_owned(), done.to_owned())));
}

#[tokio::test]
async fn inserts_without_program_text_are_told_too() {
    let server = Server::start();
    let mut watcher = server.log_in().await;
    let mut writer = server.log_in().await;
    let rows = json!({"type": "insert", "relation": "edge", "rows": [[1, 2], [2, 3]]});
    assert_eq!(writer.ask(rows).await["type"], "result");
    let own = json!({"type": "insert", "relation": "own", "scope": "session", "rows": [[1]]});
    assert_eq!(writer.ask(own).await["type"], "result");
    writer.rows("+end(1)").await;
    assert_eq!(told(&watcher.notification().await).3, Some(2));
    assert_eq!(told(&watcher.notification().await).1, "end");
}

#[tokio::test]
async fn nobody_hears_of_their_own_change_before_its_answer() {
    let server = Server::start();
    let mut writer = server.log_in().await;
    for n in 0..100 {
        writer.send_json(json!({"type": "execute", "program": format!("+a({n})\n+b({n})"), "id": n})).await;
    }
    let mut answered = 0;
    let mut heard = 0;
    while heard < 200 {
        match writer.next().await {
            Frame::Text(json) if json["type"] == "result" => answered += 1,
            Frame::Text(json) => {
                heard += 1;
                assert_eq!(seq(&json), heard);
                assert!(answered >= heard.div_ceil(2), "{json} came before the answer");
            }
            other => panic!("{other:?}"),
        }
    }
}

// Who is told.

#[tokio::test]
async fn only_sessions_on_the_graph_of_users_with_access_are_told() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    for program in [
        &format!(".user create ada {LACE} editor"),
        &format!(".user create bob {LACE} viewer"),
        &format!(".user create eve {LACE} viewer"),
        ".kg create lab",
        ".kg acl grant lab ada editor",
        ".kg acl grant lab bob viewer",
        ".kg create between",
        ".kg acl grant between bob viewer",
        ".kg use default",
    ] {
        admin.rows(program).await;
    }
    let mut ada = on(&server, "ada", "lab").await;
    let mut bob = on(&server, "bob", "lab").await;
    let mut eve = on(&server, "eve", "default").await;
    ada.rows("+fact(1)").await;
    assert_eq!(told(&bob.notification().await).1, "fact");
    admin.rows(".kg acl revoke lab bob").await;
    ada.rows("+fact(2)").await;
    // When he hears of this, he has been passed over.
    admin.rows(".kg drop between").await;
    assert_eq!(told(&bob.notification().await).1, "between");
    admin.rows(".kg acl grant lab bob viewer").await;
    ada.rows("+after(3)").await;
    assert_eq!(told(&bob.notification().await).1, "after", "what happened without access is not told");
    // Eve has never seen the graph.
    admin.rows("+marker(1)").await;
    assert_eq!(told(&eve.notification().await).1, "marker");
}

#[tokio::test]
async fn a_graph_of_the_same_name_is_another_one() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    for user in ["ada", "bob"] {
        admin.rows(&format!(".user create {user} {LACE} editor")).await;
    }
    let mut ada = on(&server, "ada", "default").await;
    let mut bob = on(&server, "bob", "default").await;
    ada.rows(".kg create lab").await;
    ada.rows("+secret(1)").await;
    ada.rows(".kg use default\n.kg drop lab").await;
    bob.rows(".kg create lab").await;
    bob.rows("+open(1)").await;
    // Of all that happened, bob may know of his own graph only.
    let mut again = server.connect_to("/ws?kg=lab&last_seq=0").await.expect("a connection");
    assert_eq!(again.log_in_as("bob", LACE).await["type"], "authenticated");
    let created = again.notification().await;
    assert_eq!(told(&created), ("kg_change".to_owned(), "lab".to_owned(), "created".to_owned(), None));
    assert_eq!(told(&again.notification().await).1, "open");
    bob.rows("+more(1)").await;
    assert_eq!(told(&again.notification().await).1, "more");
    // Ada made the first one, saw it go, and knows nothing of the second.
    let mut ada = server.connect_to("/ws?last_seq=0").await.expect("a connection");
    assert_eq!(ada.log_in_as("ada", LACE).await["type"], "authenticated");
    admin.rows("+marker(1)").await;
    let dropped = ada.notification().await;
    assert_eq!(told(&dropped), ("kg_change".to_owned(), "lab".to_owned(), "dropped".to_owned(), None));
    assert_eq!(told(&ada.notification().await).1, "marker");
    assert!(seq(&dropped) < seq(&created));
}

#[tokio::test]
async fn graphs_that_come_and_go_are_told_on_every_graph_to_those_who_see_them() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    for user in ["ada", "bob", "eve"] {
        admin.rows(&format!(".user create {user} {LACE} editor")).await;
    }
    let mut watcher = server.log_in().await;
    let mut bob = on(&server, "bob", "default").await;
    let mut eve = on(&server, "eve", "default").await;
    let mut ada = on(&server, "ada", "default").await;
    ada.rows(".kg create lab").await;
    admin.rows("+before(1)").await;
    assert_eq!(told(&bob.notification().await).1, "before", "of the new graph bob knows nothing");
    ada.rows(".kg acl grant lab bob viewer").await;
    ada.rows(".kg use default").await;
    ada.rows(".kg drop lab").await;
    ada.rows("+marker(1)").await;
    let mut heard = Vec::new();
    for connection in [&mut watcher, &mut bob, &mut eve] {
        let mut operations = Vec::new();
        loop {
            let notification = connection.notification().await;
            if told(&notification).1 == "marker" {
                break;
            }
            operations.push(told(&notification).2);
        }
        heard.push(operations);
    }
    assert_eq!(heard, [vec!["created", "insert", "dropped"], vec!["dropped"], vec!["insert"]]);
}

#[tokio::test]
async fn a_session_hears_of_the_graph_that_it_is_bound_to() {
    let server = Server::start();
    let mut writer = server.log_in().await;
    writer.rows(".kg create lab").await;
    let mut watcher = server.log_in().await;
    writer.rows("+inside(1)").await;
    writer.rows(".kg use default\n+outside(1)").await;
    assert_eq!(told(&watcher.notification().await).1, "outside");
    watcher.rows(".kg use lab").await;
    writer.rows("+outside(2)\n.kg use lab\n+inside(2)").await;
    assert_eq!(told(&watcher.notification().await).1, "inside");
}

// Who was away.

#[tokio::test]
async fn a_reconnect_goes_on_where_it_was_without_loss_and_without_repetition() {
    let server = Server::start();
    let mut writer = server.log_in().await;
    let writing = tokio::spawn(async move {
        for n in 0..300 {
            writer.rows(&format!("+fact({n})")).await;
        }
        writer
    });
    let mut heard = Vec::new();
    while heard.len() < 300 {
        let mut connection = since(&server, heard.last().copied().unwrap_or(0)).await;
        heard.extend(numbers(&mut connection, (300 - heard.len()).min(37)).await);
    }
    assert_eq!(heard, (1..=300).collect::<Vec<u64>>());
    writing.await.expect("all was written");
}

#[tokio::test]
async fn what_is_not_kept_any_more_is_a_gap_and_then_comes_what_is() {
    let server = Server::start_with(&[("SERVICE_HTTP__RATE_LIMIT__NOTIFICATION_BUFFER_SIZE", "10")]);
    let mut writer = server.log_in().await;
    for n in 0..30 {
        writer.rows(&format!("+fact({n})")).await;
    }
    let mut late = since(&server, 4).await;
    assert_eq!(gap(&late.notification().await), (5, 20));
    assert_eq!(numbers(&mut late, 10).await, (21..=30).collect::<Vec<u64>>());
    assert_eq!(numbers(&mut since(&server, 25).await, 5).await, [26, 27, 28, 29, 30]);
    let mut future = since(&server, 99).await;
    assert_eq!(gap(&future.notification().await), (31, 99));
    writer.rows("+fact(30)").await;
    for connection in [&mut late, &mut future] {
        assert_eq!(numbers(connection, 1).await, [31]);
    }
    let (status, _, body) = server.get("/ws?last_seq=x");
    assert_eq!(status, 400);
    assert!(body.contains("BAD_REQUEST"), "{body}");
}

#[tokio::test]
async fn numbers_go_on_after_a_restart() {
    let folder = TempDir::new().expect("a folder");
    let mut server = Server::start_in(folder.path(), &[]);
    let mut writer = server.log_in().await;
    writer.rows("+fact(1)\n+fact(2)").await;
    drop(writer);
    server.terminate();
    assert_eq!(server.wait(), Some(0));
    // After an orderly stop nobody has missed anything who was there to the end.
    let server = Server::start_in(folder.path(), &[]);
    let (mut there, mut away) = (since(&server, 2).await, since(&server, 1).await);
    let mut writer = server.log_in().await;
    writer.rows("+fact(3)").await;
    assert_eq!(numbers(&mut there, 1).await, [3]);
    assert_eq!(gap(&away.notification().await), (2, 2));
    assert_eq!(numbers(&mut away, 1).await, [3]);
    drop((there, away, writer));
    // After a crash nobody knows, so there is a gap; no number comes twice.
    drop(server);
    let server = Server::start_in(folder.path(), &[]);
    let mut there = since(&server, 3).await;
    let (from, to) = gap(&there.notification().await);
    assert_eq!(from, 4);
    assert!(to > 3);
    server.log_in().await.rows("+fact(4)").await;
    assert_eq!(numbers(&mut there, 1).await, [to + 1]);
}

// The command line.

#[tokio::test]
async fn the_command_line_writes_a_line_for_each_event_until_nobody_reads() {
    let server = Server::start();
    let mut writer = server.log_in().await;
    writer.rows("+edge[(1, 2), (2, 3)]\n-edge(1, 2)").await;
    let mut watching = cli::command()
        .args(["events", "--since", "0", "--url", &server.url()])
        .envs([("STRATALOG_USER", "admin"), ("STRATALOG_PASSWORD", PASSWORD)])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command line starts");
    let mut lines = BufReader::new(watching.stdout.take().expect("a pipe")).lines();
    for (number, operation) in [(1, "insert"), (2, "delete")] {
        let line = lines.next().expect("a line").expect("text");
        let event: Json = serde_json::from_str(&line).expect("JSON");
        assert_eq!((seq(&event), told(&event).2.as_str()), (number, operation), "{line}");
    }
    drop(lines);
    for n in 0..200 {
        writer.rows(&format!("+edge({n}, 0)")).await;
        if let Some(status) = watching.try_wait().expect("it can be asked") {
            assert!(status.success(), "{status}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    watching.kill().expect("it still runs");
    panic!("it writes to nobody");
}

// Who is slow.

/// Programs of many statements that are one commit each.
async fn flood(writer: &mut Connection, programs: usize, statements: usize) {
    let name = "n".repeat(200);
    for program in 0..programs {
        let text: Vec<String> =
            (0..statements).map(|n| format!("+{name}({})", program * statements + n)).collect();
        let message = json!({"type": "execute", "program": text.join("\n"), "atomic": true});
        let reply = writer.ask(message).await;
        assert_eq!(reply["type"], "result", "{reply}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_a_hundred_that_never_reads_disturbs_neither_the_others_nor_the_writer() {
    let server = Server::start();
    let mut sleeper = server.connect_narrow("/ws").await;
    assert_eq!(sleeper.log_in(PASSWORD).await["type"], "authenticated");
    let mut readers = Vec::new();
    for _ in 0..99 {
        let mut reader = server.log_in().await;
        readers.push(tokio::spawn(async move { numbers(&mut reader, 3_000).await }));
    }
    let mut writer = server.log_in().await;
    flood(&mut writer, 10, 300).await;
    for reader in readers {
        assert_eq!(reader.await.expect("a reader"), (1..=3_000).collect::<Vec<u64>>());
    }
    drop(sleeper);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_falls_behind_is_told_exactly_what_they_have_missed() {
    const CAPACITY: u64 = 20_000;
    const ALL: u64 = 50_000;
    let server =
        Server::start_with(&[("SERVICE_HTTP__RATE_LIMIT__NOTIFICATION_BUFFER_SIZE", &CAPACITY.to_string())]);
    let mut sleeper = server.connect_narrow("/ws").await;
    assert_eq!(sleeper.log_in(PASSWORD).await["type"], "authenticated");
    let mut writer = server.log_in().await;
    let mut reader = server.log_in().await;
    let reading = tokio::spawn(async move { while seq(&reader.notification().await) < ALL {} });
    flood(&mut writer, 50, 1_000).await;
    reading.await.expect("who reads misses nothing");
    let mut at = 0;
    let mut missed = 0;
    let mut seen = BTreeSet::new();
    while at < ALL {
        let message = match sleeper.next().await {
            Frame::Text(message) => message,
            other => panic!("{other:?} after {at}"),
        };
        if message["type"] == "persistent_update" {
            assert_eq!(seq(&message), at + 1);
            at += 1;
            seen.insert(at);
        } else if message["code"] == "overloaded" {
            assert!(missed > CAPACITY, "{missed}");
            assert_eq!(sleeper.next().await, Frame::Closed(Some(1008)));
            break;
        } else {
            let (from, to) = gap(&message);
            assert_eq!(from, at + 1);
            missed += to - from + 1;
            at = to;
        }
    }
    assert!(missed > 0, "a socket does not hold {} notifications", seen.len());
}

#[tokio::test]
async fn the_greeting_tells_where_to_go_on_from() {
    let server = Server::start();
    let mut writer = server.log_in().await;
    assert_eq!(server.connect().await.log_in(PASSWORD).await.get("last_seq"), None);
    let mut away = server.connect_to("/ws?last_seq=").await.expect("a connection");
    let first = away.log_in(PASSWORD).await["last_seq"].as_u64().expect("a number");
    drop(away);
    writer.rows("+edge(1, 2)\n+edge(2, 3)").await;
    // Nothing was told on the connection that is lost, and yet nothing is missed.
    let mut again = server.connect_to(&format!("/ws?last_seq={first}")).await.expect("a connection");
    let greeting = again.log_in(PASSWORD).await;
    let told = [again.notification().await["seq"].as_u64(), again.notification().await["seq"].as_u64()];
    assert_eq!(told, [Some(first + 1), Some(first + 2)]);
    assert_eq!(greeting["last_seq"], first + 2, "{greeting}");
}
