//! Who may do what: every role and level against every statement and command, in every form that a program can take.
//! And what becomes of open connections when users, keys and rights change.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use arrow::array::{Int64Array, RecordBatch};
use arrow::ipc::writer::StreamWriter;
use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, Frame, PASSWORD, Server};
use tokio_tungstenite::tungstenite::Message;

/// The password of every user but `admin`.
const LACE: &str = "lace-1815";

/// What a statement asks for, and of which graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// To be logged in.
    Nothing,
    /// The level viewer on the session's graph.
    Read,
    /// The level editor.
    Write,
    /// The level owner.
    Own,
    /// The same on the graph `lab`, wherever the session is.
    OwnLab,
    /// To see `lab`.
    SeeLab,
    /// The role editor.
    CreateGraph,
    /// The role admin.
    Administer,
}

use Asks::{Administer, CreateGraph, Nothing, Own, OwnLab, Read, SeeLab, Write};

/// A statement; what admin runs before it on the same graph, so that it can succeed; what it asks for.
const STATEMENTS: &[(&str, &str, Asks)] = &[
    ("?fact(X)", "", Read),
    ("?(X) <- fact(X)", "", Read),
    ("seen(X) <- fact(X)", "", Read),
    ("own(7)", "", Write),
    ("own2(a: int)", "", Write),
    ("+fact(1)", "", Write),
    ("+fact[(1), (2)]", "", Write),
    ("-fact(99)", "", Write),
    ("-fact(X) <- fact(X), X > 50", "", Write),
    ("-fact(X), +fact(Y) <- fact(X), X > 50, Y = X + 1", "", Write),
    ("+rule0(X) <- fact(X)", "", Write),
    ("-rule0", "+rule0(X) <- fact(X)", Write),
    ("+declared(a: int)", "", Write),
    ("type Age: int", "", Write),
    (".kg", "", Nothing),
    (".kg list", "", Nothing),
    (".kg create fresh", "", CreateGraph),
    (".kg use lab", "", SeeLab),
    (".kg acl list", "", Own),
    (".kg acl list lab", "", OwnLab),
    (".kg acl grant lab zoe viewer", "", OwnLab),
    (".kg acl revoke lab zoe", ".kg acl grant lab zoe editor", OwnLab),
    (".rel", "", Read),
    (".rel fact", "", Read),
    (".rel describe fact", "", Read),
    (".rel drop scratch", "+scratch(1)", Write),
    (".rule", "", Read),
    (".rule rule1", "", Read),
    (".rule list", "", Read),
    (".rule def rule1", "", Read),
    (".rule drop rule2", "+rule2(X) <- fact(X)", Write),
    (".rule drop prefix rule2", "+rule2(X) <- fact(X)", Write),
    (".rule remove rule2 1", "+rule2(X) <- fact(X)", Write),
    (".rule clear rule2", "+rule2(X) <- fact(X)", Write),
    (".session", "", Read),
    (".session list", "", Read),
    (".session clear", "", Read),
    (".session drop none", "", Read),
    (".clear prefix scratch", "+scratch(1)", Write),
    (".compact", "", Administer),
    (".status", "", Nothing),
    (".help", "", Nothing),
    (".quit", "", Nothing),
    (".user list", "", Administer),
    (".user role zoe editor", ".user role zoe viewer", Administer),
    (".apikey list", "", Administer),
    (".apikey revoke spare", ".apikey create spare", Administer),
];

/// Commands of `.help` that stand in tests of their own, or that fail for everybody.
const ELSEWHERE: &[&str] = &[
    ".kg drop KG",
    ".rule edit NAME NUMBER TEXT",
    ".session remove NAME NUMBER",
    ".load FILE",
    ".agent",
    ".user create NAME PASSWORD ROLE",
    ".user drop NAME",
    ".user password NAME PASSWORD",
    ".apikey create LABEL",
];

/// How a statement may be dressed up. `at` is the graph that the statement is to work on.
fn forms(statement: &str, at: &str) -> Vec<(bool, String)> {
    let broken = statement.replacen(' ', "\n    ", 1);
    let mut forms = vec![
        (true, statement.to_owned()),
        (true, format!("// a comment\n% another\n/* and one more */ {statement}")),
        (true, format!(".status\n{statement}")),
        (true, format!("{statement}\n.status")),
        // The session starts elsewhere.
        (false, format!(".kg use {at}\n{statement}")),
        (false, format!("/* x */\n.kg use default\n.KG USE {at} // there\n{statement}\n.kg use default")),
    ];
    if statement.starts_with('.') && broken != statement {
        forms.push((true, broken));
    }
    forms
}

/// A user of the matrix.
struct Person {
    name: String,
    role: &'static str,
    /// 0: no entry; then viewer, editor, owner.
    entry: usize,
}

const LEVELS: [&str; 4] = ["", "viewer", "editor", "owner"];

impl Person {
    /// 0: none; 1 viewer, 2 editor, 3 owner.
    fn level(&self, graph: &str) -> usize {
        match (self.role, self.entry, graph) {
            ("admin", _, _) => 3,
            ("editor", 0, "default") => 2,
            ("viewer", 0, "default") => 1,
            (_, entry, _) => entry,
        }
    }

    /// The code of the refusal, if there is one.
    fn refused(&self, asks: Asks, at: &str) -> Option<&'static str> {
        let by_level = |graph: &str, least: usize| match self.level(graph) {
            level if level >= least => None,
            0 if graph != "default" => Some("not_found"),
            _ => Some("access_denied"),
        };
        let by_role = |roles: &[&str]| (!roles.contains(&self.role)).then_some("access_denied");
        match asks {
            Nothing => None,
            Read => by_level(at, 1),
            Write => by_level(at, 2),
            Own => by_level(at, 3),
            SeeLab => by_level("lab", 1),
            OwnLab => by_level("lab", 3),
            CreateGraph => by_role(&["editor", "admin"]),
            Administer => by_role(&["admin"]),
        }
    }
}

/// The people of the matrix, created on a server.
async fn people(admin: &mut Connection) -> Vec<Person> {
    let mut people = vec![Person { name: "boss".to_owned(), role: "admin", entry: 0 }];
    for role in ["editor", "viewer"] {
        for entry in 0..4 {
            people.push(Person { name: format!("{role}{entry}"), role, entry });
        }
    }
    for person in &people {
        admin.rows(&format!(".user create {} {LACE} {}", person.name, person.role)).await;
        if person.entry > 0 {
            for graph in ["default", "lab"] {
                let level = LEVELS[person.entry];
                admin.rows(&format!(".kg acl grant {graph} {} {level}", person.name)).await;
            }
        }
    }
    people
}

/// A server with the graph `lab`, and the same in both graphs.
async fn laboratory() -> (Server, Connection) {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(".kg create lab").await;
    for graph in ["lab", "default"] {
        admin.rows(&format!(".kg use {graph}")).await;
        admin.rows("+fact[(1), (2)]\n+rule1(X) <- fact(X)").await;
    }
    admin.rows(&format!(".user create zoe {LACE} viewer")).await;
    (server, admin)
}

/// Everything that a program could have changed.
async fn fingerprint(admin: &mut Connection, at: &str) -> String {
    let mut print = String::new();
    admin.rows(&format!(".kg use {at}")).await;
    for question in [
        "?fact(X)",
        ".rel",
        ".rule list",
        ".kg list",
        ".user list",
        ".apikey list",
        ".kg acl list lab",
        ".kg acl list default",
    ] {
        writeln!(print, "{question}: {}", admin.rows(question).await).expect("text can be written");
    }
    print
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_role_and_level_may_do_this_and_no_more() {
    let (server, mut admin) = laboratory().await;
    let people = people(&mut admin).await;
    let mut cells = 0;
    for person in &people {
        let mut connection = server.log_in_as(&person.name, LACE).await;
        for at in ["default", "lab"] {
            for (statement, before, asks) in STATEMENTS {
                for (bound, program) in forms(statement, at) {
                    // To be bound to a graph that one does not see takes a revocation: a test of its own.
                    if bound && person.level(at) == 0 {
                        continue;
                    }
                    prepare(&mut admin, at, before).await;
                    let start = if bound { at } else { "default" };
                    connection.rows(&format!(".kg use {start}")).await;
                    let refused = match bound {
                        // The switch itself may be what is refused.
                        false => person.refused(Read, at).filter(|code| *code == "not_found"),
                        true => None,
                    };
                    let refused = refused.or_else(|| person.refused(*asks, at));
                    let print = match refused {
                        Some(_) => fingerprint(&mut admin, at).await,
                        None => String::new(),
                    };
                    let reply = connection.execute(&program).await;
                    let whom = format!("{} on {at}: {program:?}: {reply}", person.name);
                    match refused {
                        None if reply["type"] == "result" => {}
                        None => panic!("refused: {whom}"),
                        Some(code) => {
                            assert_eq!(
                                (&reply["type"], &reply["code"]),
                                (&json!("error"), &json!(code)),
                                "{whom}"
                            );
                            assert!(reply["help"].is_string() && reply["span"].is_object(), "{whom}");
                            assert_eq!(fingerprint(&mut admin, at).await, print, "after {whom}");
                        }
                    }
                    cells += 1;
                }
            }
        }
    }
    assert!(cells > 3000, "only {cells} cells");
}

/// Sees to it that the statement could succeed.
async fn prepare(admin: &mut Connection, at: &str, before: &str) {
    admin.rows(&format!(".kg use {at}")).await;
    // It exists only where somebody was allowed to create it.
    admin.execute(".kg drop fresh").await;
    if !before.is_empty() {
        let reply = admin.execute(before).await;
        assert!(reply["type"] == "result" || reply["code"] == "already_exists", "{before}: {reply}");
    }
}

#[tokio::test]
async fn every_command_has_its_place_in_the_matrix() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    for row in admin.rows(".help").await.as_array().expect("rows") {
        let command = row[0].as_str().expect("a command");
        let words: Vec<&str> = command.split(' ').take_while(|word| word.to_lowercase() == *word).collect();
        let takes = command.split(' ').count() - words.len();
        let covered = STATEMENTS.iter().any(|(statement, _, _)| {
            let given: Vec<&str> = statement.split(' ').collect();
            given.starts_with(&words) && given.len() == words.len() + takes
        });
        assert!(covered || ELSEWHERE.contains(&command), "`{command}` is not in the matrix");
    }
}

fn arrow_stream() -> Vec<u8> {
    let column = Int64Array::from(vec![1, 2]);
    let batch = RecordBatch::try_from_iter([("x", std::sync::Arc::new(column) as _)]).expect("one column");
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a stream begins");
    writer.write(&batch).expect("a batch is written");
    writer.into_inner().expect("a stream ends")
}

#[tokio::test]
async fn inserts_without_text_ask_for_the_same_as_those_with() {
    let (server, mut admin) = laboratory().await;
    for person in people(&mut admin).await {
        let mut connection = server.log_in_as(&person.name, LACE).await;
        for at in ["default", "lab"] {
            if person.level(at) == 0 {
                continue;
            }
            connection.rows(&format!(".kg use {at}")).await;
            let mut replies = Vec::new();
            for scope in ["persistent", "session"] {
                let insert =
                    json!({"type": "insert", "relation": "bulk", "scope": scope, "rows": [[1], [2]]});
                replies.push(connection.ask(insert).await);
            }
            connection.send_json(json!({"type": "insert", "relation": "bulk", "format": "arrow"})).await;
            connection.send(Message::binary(arrow_stream())).await;
            replies.push(connection.receive_json().await);
            let program = json!({"type": "execute", "program": "+bulk(3)\n+bulk(4)", "atomic": true});
            replies.push(connection.ask(program).await);
            let allowed = person.refused(Write, at).is_none();
            for reply in replies {
                let expected = if allowed {
                    (json!("result"), Json::Null)
                } else {
                    (json!("error"), json!("access_denied"))
                };
                assert_eq!(
                    (&reply["type"], &reply["code"]),
                    (&expected.0, &expected.1),
                    "{} on {at}: {reply}",
                    person.name
                );
            }
            admin.rows(&format!(".kg use {at}")).await;
            assert_eq!(admin.execute(".rel drop bulk").await["type"] == "result", allowed);
        }
    }
}

#[tokio::test]
async fn a_program_is_refused_whole_wherever_it_goes() {
    let (server, mut admin) = laboratory().await;
    admin.rows(".kg use default").await;
    admin.rows(&format!(".user create eve {LACE} editor\n.user create vic {LACE} viewer")).await;
    admin.rows(".kg acl grant lab eve viewer").await;
    let mut eve = server.log_in_as("eve", LACE).await;
    // Each begins with something that is allowed.
    for program in [
        "+mark(1)\n.kg use lab\n+mark(1)",
        "+mark(1)\n.kg use lab\n?fact(X)\n.kg acl list",
        "+mark(1)\n.kg create mine\n+mark(1)\n.kg use lab\n-fact(1)",
        "+mark(1)\n.user list",
        "+mark(1)\n.kg drop lab",
        "+mark(1)\n.kg acl grant lab eve owner",
    ] {
        let reply = eve.execute(program).await;
        assert_eq!(reply["code"], "access_denied", "{program:?}: {reply}");
    }
    // Where the statement stands is told.
    let reply = eve.execute("+mark(1)\n.kg use lab\n// here\n+mark(1)").await;
    assert_eq!((&reply["statement_index"], &reply["span"]["line"]), (&json!(2), &json!(4)), "{reply}");
    assert_eq!(admin.execute("?mark(X)").await["code"], "unknown_relation");
    assert_eq!(admin.rows(".kg list").await, json!([["default", true], ["lab", false]]));
    // What is allowed on each graph runs.
    let reply = eve.execute("+mark(1)\n.kg use lab\n?fact(X:asc)").await;
    assert_eq!((&reply["rows"], &reply["switched_kg"]), (&json!([[1], [2]]), &json!("lab")), "{reply}");
    // A graph of one's own is one's own from the first statement on.
    eve.rows(".kg create mine\n+a(1)\n.kg acl grant mine vic viewer\n.kg use default\n.kg use mine\n-a(1)")
        .await;
    assert_eq!(eve.rows(".kg acl list").await, json!([["eve", "owner"], ["vic", "viewer"]]));
    // But a graph that exists already does not become one's own by asking for it.
    let mut vic = server.log_in_as("vic", LACE).await;
    admin.rows(".user role vic editor\n+secret(1)").await;
    let reply = vic.execute(".kg create lab\n+mark(1)").await;
    assert_eq!(reply["code"], "already_exists", "{reply}");
    assert!(!reply.to_string().contains(".kg use"), "{reply}");
    assert_eq!(vic.execute(".kg create mine\n+mark(1)").await["code"], "already_exists");
    assert_eq!(eve.execute("?mark(X)").await["code"], "unknown_relation");
}

#[tokio::test]
async fn a_graph_that_one_may_not_see_is_like_one_that_does_not_exist() {
    let (server, mut admin) = laboratory().await;
    admin.rows(&format!(".user create vic {LACE} viewer\n.kg use default")).await;
    let mut vic = server.log_in_as("vic", LACE).await;
    for program in [
        ".kg use GRAPH",
        ".status\n.kg use GRAPH\n?fact(X)",
        "// x\n.kg use default\n  \n.kg use GRAPH",
        ".kg drop GRAPH",
        ".kg acl list GRAPH",
        ".kg acl grant GRAPH vic owner",
        ".kg acl revoke GRAPH vic",
    ] {
        let of = |graph: &str| program.replace("GRAPH", graph);
        let hidden = vic.execute(&of("lab")).await;
        let absent = vic.execute(&of("bal")).await;
        assert_eq!(hidden["code"], "not_found", "{hidden}");
        assert_eq!(hidden.to_string(), absent.to_string().replace("bal", "lab"), "{program}");
    }
    assert_eq!(vic.rows(".kg list").await, json!([["default", true]]));
    assert_eq!(vic.rows(".status").await[0][2], 1, "the number of graphs");
    let mut replies = Vec::new();
    for graph in ["lab", "bal"] {
        let mut connection = server.connect_to(&format!("/ws?kg={graph}")).await.expect("a socket opens");
        replies.push(connection.log_in_as("vic", LACE).await.to_string().replace(graph, ""));
        assert_eq!(connection.closed(&[]).await, Some(1008));
    }
    assert_eq!(replies[0], replies[1]);
    assert!(replies[0].contains("not_found"), "{}", replies[0]);
    // With a level it is there.
    admin.rows(".kg acl grant lab vic viewer").await;
    assert_eq!(vic.rows(".kg list").await, json!([["default", true], ["lab", false]]));
    let mut connection = server.connect_to("/ws?kg=lab").await.expect("a socket opens");
    assert_eq!(connection.log_in_as("vic", LACE).await["knowledge_graph"], "lab");
}

#[tokio::test]
async fn the_graph_default_can_be_one_like_any_other() {
    let server = Server::start_with(&[("SERVICE_HTTP__AUTH__DEFAULT_GRAPH", "acl")]);
    let mut admin = server.log_in().await;
    admin.rows(&format!("+fact(1)\n.user create eve {LACE} editor")).await;
    // The login succeeds; it is the requests that fail.
    let mut eve = server.log_in_as("eve", LACE).await;
    for program in ["?fact(X)", "+fact(2)", ".rel", "// x\n?fact(X)", ".status\n?fact(X)"] {
        assert_eq!(eve.execute(program).await["code"], "access_denied", "{program}");
    }
    assert_eq!(eve.rows(".kg list").await, json!([]));
    admin.rows(".kg acl grant default eve viewer").await;
    assert_eq!(eve.rows("?fact(X)").await, json!([[1]]));
    assert_eq!(eve.execute("+fact(2)").await["code"], "access_denied");
}

#[tokio::test]
async fn a_dropped_graph_leaves_no_rights_behind() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create eve {LACE} editor\n.user create bob {LACE} editor")).await;
    let (mut eve, mut bob) = (server.log_in_as("eve", LACE).await, server.log_in_as("bob", LACE).await);
    eve.rows(".kg create lab\n+a(1)\n.kg acl grant lab bob owner").await;
    bob.rows(".kg use lab\n?a(X)").await;
    assert_eq!(bob.execute(".kg drop lab").await["code"], "access_denied", "the session is bound to it");
    eve.rows(".kg use default\n.kg drop lab").await;
    // The session that was in it can go elsewhere, and only that.
    for program in ["?a(X)", "+a(2)", ".rel", ".session"] {
        assert_eq!(bob.execute(program).await["code"], "not_found", "{program}");
    }
    bob.rows(".kg use default").await;
    admin.rows(".kg create lab").await;
    assert_eq!(admin.rows(".kg acl list").await, json!([["admin", "owner"]]));
    for connection in [&mut eve, &mut bob] {
        assert_eq!(connection.execute(".kg use lab").await["code"], "not_found");
    }
    // The graph that has got the name is not the one that a session was bound to.
    admin.rows("+a(9)").await;
    let mut other = server.log_in().await;
    other.rows(".kg use lab").await;
    admin.rows(".kg use default\n.kg drop lab\n.kg create lab").await;
    for program in ["?a(X)", "+a(2)", ".compact"] {
        let reply = other.execute(program).await;
        assert_eq!(reply["code"], "not_found", "{program}: {reply}");
    }
    assert_eq!(other.rows(".kg use lab\n.rel").await, json!([]));
}

// Open connections.

/// What a session is told when it is ended; then it is closed.
async fn assert_ended(connection: &mut Connection, word: &str) {
    let Frame::Text(reply) = connection.receive().await else { panic!("a last word") };
    assert_eq!(reply["code"], "access_denied", "{reply}");
    assert!(reply["message"].as_str().is_some_and(|text| text.contains(word)), "{reply}");
    assert_eq!(connection.closed(&[]).await, Some(1008));
}

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
    assert_ended(&mut idle, "dropped").await;
    for id in [1, 2] {
        let reply = busy.receive_json().await;
        assert_eq!((&reply["id"], &reply["code"]), (&json!(id), &json!("cancelled")), "{reply}");
    }
    assert_ended(&mut busy, "dropped").await;
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
    assert_ended(&mut eve, "password").await;
    assert_eq!(server.connect().await.log_in_as("eve", LACE).await["type"], "auth_error");
    server.log_in_as("eve", "new-1").await;
    // One's own: this session stays, the others go.
    admin.rows(".user password admin new-2").await;
    assert_ended(&mut other, "password").await;
    assert_eq!(admin.rows(".kg").await, json!([["default"]]));
    assert_eq!(server.connect().await.log_in(PASSWORD).await["type"], "auth_error");
    server.log_in_as("admin", "new-2").await;
}

#[tokio::test]
async fn roles_and_levels_change_at_once() {
    let (server, mut admin) = laboratory().await;
    admin.rows(&format!(".user create eve {LACE} viewer")).await;
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

async fn new_key(connection: &mut Connection, label: &str) -> String {
    let reply = connection.execute(&format!(".apikey create {label}")).await;
    assert_eq!(reply["columns"], json!(["api_key", "label"]), "{reply}");
    assert_eq!(reply["rows"][0][1], label);
    reply["rows"][0][0].as_str().expect("a key").to_owned()
}

#[tokio::test]
async fn a_key_opens_sessions_with_the_rights_of_its_owner_until_it_is_revoked() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create eve {LACE} admin")).await;
    let mut eve = server.log_in_as("eve", LACE).await;
    let key = new_key(&mut eve, "ci").await;
    assert!(
        key.len() == 64 && key.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)),
        "{key}"
    );
    assert_ne!(key, new_key(&mut eve, "other").await);
    let mut robot = server.connect().await;
    let reply = robot.authenticate(&key).await;
    assert_eq!((&reply["type"], &reply["role"]), (&json!("authenticated"), &json!("admin")), "{reply}");
    robot.rows("+a(1)\n.user list").await;
    // It follows its owner.
    admin.rows(".user role eve viewer").await;
    assert_eq!(robot.execute("+a(2)").await["code"], "access_denied");
    let listed = admin.execute(".apikey list").await;
    assert_eq!(listed["columns"], json!(["label", "owner", "created"]));
    assert_eq!((&listed["rows"][0][0], &listed["rows"][0][1]), (&json!("ci"), &json!("eve")), "{listed}");
    assert!(listed["rows"][0][2].as_i64().is_some_and(|created| created > 1_700_000_000_000), "{listed}");
    assert!(!listed.to_string().contains(&key));
    admin.rows(".apikey revoke ci").await;
    assert_ended(&mut robot, "revoked").await;
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
    let key = new_key(&mut server.log_in().await, "ci").await;
    let mut robot = server.connect().await;
    robot.authenticate(&key).await;
    let reply = robot.execute("+a(1)\n.apikey revoke ci").await;
    assert_eq!(reply["rows"][1], json!(["revoked API key ci"]), "{reply}");
    assert_ended(&mut robot, "revoked").await;
}

#[tokio::test]
async fn what_is_no_key_opens_nothing() {
    let server = Server::start();
    let key = new_key(&mut server.log_in().await, "ci").await;
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
    let key = new_key(&mut admin, "ci").await;
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

// Guessing.

#[tokio::test]
async fn guesses_are_slowed_down_and_nobody_is_locked_out() {
    let server = Server::start_with(&[
        ("SERVICE_HTTP__AUTH__FAILURES_PER_USER", "3"),
        ("SERVICE_HTTP__AUTH__FAILURES_PER_ADDRESS", "0"),
        ("SERVICE_HTTP__AUTH__LONGEST_DELAY_MS", "600"),
    ]);
    let mut admin = server.log_in().await;
    admin.rows(&format!(".user create eve {LACE} viewer\n.user create bob {LACE} viewer")).await;
    let mut connection = server.connect().await;
    for _ in 0..4 {
        assert_eq!(connection.log_in_as("eve", "wrong").await["type"], "auth_error");
    }
    // The fourth check waited 250 ms, this one 500 ms, further ones 600 ms; and then it succeeds.
    let start = Instant::now();
    assert_eq!(connection.log_in_as("eve", LACE).await["type"], "authenticated");
    assert!(start.elapsed() >= Duration::from_millis(500), "after {:?}", start.elapsed());
    // Many at once wait longer, not less: at most five checks a second.
    let start = Instant::now();
    let guesses: Vec<_> = (0..8)
        .map(|_| {
            let connecting = server.connect();
            async move { connecting.await.log_in_as("eve", "wrong").await }
        })
        .collect();
    for reply in futures_util::future::join_all(guesses).await {
        assert_eq!(reply["type"], "auth_error");
    }
    assert!(start.elapsed() >= Duration::from_millis(7 * 200), "after {:?}", start.elapsed());
    // Those who were not guessed at, and keys, do not wait: `bob` is there long before `eve`.
    let mut slow = server.connect().await;
    slow.send_json(json!({"type": "login", "username": "eve", "password": LACE})).await;
    server.log_in_as("bob", LACE).await;
    let key = new_key(&mut admin, "ci").await;
    assert_eq!(server.connect().await.authenticate(&key).await["type"], "authenticated");
    assert_eq!(slow.receive_within(Duration::from_millis(1)).await, None, "`eve` still waits");
    assert_eq!(slow.receive_json().await["type"], "authenticated");
}

#[tokio::test]
async fn an_address_that_fails_often_waits_for_any_user() {
    let server = Server::start_with(&[
        ("SERVICE_HTTP__AUTH__FAILURES_PER_ADDRESS", "3"),
        ("SERVICE_HTTP__AUTH__LONGEST_DELAY_MS", "300"),
    ]);
    let mut connection = server.connect().await;
    for name in ["a", "b", "c", "d"] {
        assert_eq!(connection.log_in_as(name, "wrong").await["type"], "auth_error");
    }
    let start = Instant::now();
    server.log_in().await;
    assert!(start.elapsed() >= Duration::from_millis(300), "after {:?}", start.elapsed());
}

#[tokio::test]
async fn unknown_users_take_as_long_as_known_ones() {
    let server = Server::start_with(&[
        ("SERVICE_HTTP__AUTH__FAILURES_PER_USER", "0"),
        ("SERVICE_HTTP__AUTH__FAILURES_PER_ADDRESS", "0"),
    ]);
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..40 {
        // A connection bears five failures.
        let mut connection = server.connect().await;
        for (name, fastest) in ["admin", "nobody"].into_iter().zip(&mut fastest) {
            let start = Instant::now();
            assert_eq!(connection.log_in_as(name, "wrong-1843").await["type"], "auth_error");
            *fastest = start.elapsed().min(*fastest);
        }
    }
    let [known, unknown] = fastest.map(|time| time.as_secs_f64());
    let ratio = known.max(unknown) / known.min(unknown);
    assert!(ratio <= 1.2, "known {:?}, unknown {:?}: ratio {ratio:.3}", fastest[0], fastest[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_logins_stalls_nobody() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows("+a[(1), (2), (3)]").await;
    let storm: Vec<_> = (0..50)
        .map(|n| {
            let connecting = server.connect();
            async move {
                let mut connection = connecting.await;
                connection
                    .send_json(json!({"type": "login", "username": format!("u{n}"), "password": "x"}))
                    .await;
                connection
            }
        })
        .collect();
    let storm = futures_util::future::join_all(storm).await;
    let mut times = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        assert_eq!(admin.rows("?a(2)").await, json!([[2]]));
        times.push(start.elapsed());
    }
    times.sort();
    drop(storm);
    // A query takes well under a millisecond; behind the storm it would wait for seconds.
    assert!(times[197] < Duration::from_millis(250), "p99 {:?}, longest {:?}", times[197], times[199]);
}

// Secrets.

#[tokio::test]
async fn secrets_are_in_no_log_and_no_reply() {
    let server = Server::start_with(&[("RUST_LOG", "trace")]);
    let mut replies = String::new();
    let mut admin = server.log_in().await;
    let programs = [
        ".user create eve s3cret-1 editor",
        ".user create eve s3cret-2 editor",
        ".user create bob s3cret-3 nobody",
        ".user create bob s3cret-4",
        ".user create bob s3cret-5 s3cret-6 viewer",
        ".user create bob/ s3cret-7 viewer",
        ".user create bob s3cret-8\u{7f} viewer",
        ".user password eve s3cret-9",
        ".user password nobody s3cret-10",
        ".user password eve s3cret-11 s3cret-12",
        ".user passwd eve s3cret-13",
        ".usr create bob s3cret-14 viewer",
        ".user role eve s3cret-15",
        "// first\n.user create cid s3cret-16 viewer\n+a(",
        ".user create dan s3cret-17 viewer\n?nothing(X)",
        ".user create\n  fay s3cret-18\n  viewer",
    ];
    for program in programs {
        writeln!(replies, "{}", admin.execute(program).await).expect("text can be written");
    }
    for (name, password) in [("eve", "s3cret-9"), ("eve", "s3cret-19"), ("nobody", "s3cret-20")] {
        let mut connection = server.connect().await;
        writeln!(replies, "{}", connection.log_in_as(name, password).await).expect("text can be written");
        writeln!(replies, "{}", connection.execute(".user create gus s3cret-21 viewer").await).expect("text");
    }
    let mut key = String::new();
    for label in ["ci", "cd"] {
        key = new_key(&mut admin, label).await;
        writeln!(replies, "{}", admin.execute(".apikey list").await).expect("text can be written");
        writeln!(replies, "{}", admin.execute(&format!(".apikey revoke {key}")).await.as_str().unwrap_or(""))
            .expect("text");
        server.connect().await.authenticate(&key).await;
        server.get_with("/nothing", &format!("Authorization: Bearer {key}\r\n"));
    }
    let log = server.log();
    assert!(log.contains("user eve created as editor"), "the audit log tells who came:\n{log}");
    assert!(log.contains("API key ci created"), "{log}");
    for secret in ["s3cret", PASSWORD, &key, "argon2id"] {
        assert!(!replies.contains(secret), "{secret} in a reply:\n{replies}");
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret} in the log");
    }
}
