//! Who may do what: every role and level against every statement and command, in every form that a program can take.

use std::fmt::Write as _;

use arrow::array::{Int64Array, RecordBatch};
use arrow::ipc::writer::StreamWriter;
use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, PASSWORD, Server};
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
    /// The same on the graph `spare`.
    OwnSpare,
    /// To see `lab`.
    SeeLab,
    /// The role editor.
    CreateGraph,
    /// The role admin.
    Administer,
}

use Asks::{Administer, CreateGraph, Nothing, Own, OwnLab, OwnSpare, Read, SeeLab, Write};

impl Asks {
    /// In the words of `.help`.
    fn right(self) -> &'static str {
        match self {
            Nothing => "nothing",
            Read | SeeLab => "level viewer",
            Write => "level editor",
            Own | OwnLab | OwnSpare => "level owner",
            CreateGraph => "role editor",
            Administer => "role admin",
        }
    }
}

/// What has an index.
const INDEX: &str = "+indexed(id: int, v: vector(2))\n.index create near on indexed(v)";

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
    (".kg level", "", Nothing),
    (".kg cluster", "", Read),
    (".kg cluster on", "", Own),
    (".kg cluster off", "", Own),
    (".kg create fresh", "", CreateGraph),
    (".kg use lab", "", SeeLab),
    (".kg drop spare", ".kg create spare\n.kg acl grant spare PERSON LEVEL", OwnSpare),
    (".kg acl list", "", Own),
    (".kg acl list lab", "", OwnLab),
    (".kg acl grant lab zoe viewer", "", OwnLab),
    (".kg acl revoke lab zoe", ".kg acl grant lab zoe editor", OwnLab),
    (".rel", "", Read),
    (".rel fact", "", Read),
    (".rel describe fact", "", Read),
    (".rel describe", "", Read),
    (".rel drop scratch", "+scratch(1)", Write),
    (".rel add widened b int 1", "+widened(a: int)", Write),
    (".rel rename renamed a b", "+renamed(a: int)", Write),
    (".rel derived", "", Read),
    (".rule", "", Read),
    (".rule rule1", "", Read),
    (".rule list", "", Read),
    (".rule columns", "", Read),
    (".rule graph", "", Read),
    (".rule def rule1", "", Read),
    (".rule drop rule2", "+rule2(X) <- fact(X)", Write),
    (".rule drop prefix rule2", "+rule2(X) <- fact(X)", Write),
    (".rule remove rule2 1", "+rule2(X) <- fact(X)", Write),
    (".rule clear rule2", "+rule2(X) <- fact(X)", Write),
    (".rule replace", "", Read),
    (".view list", "", Read),
    (".view keep rule2", "+rule2(X) <- fact(X)", Write),
    (".view drop rule2", "+rule2(X) <- fact(X)\n.view keep rule2", Write),
    (".index", "", Read),
    (".index list", "", Read),
    (".index create near on indexed(v)", "+indexed(id: int, v: vector(2))\n.index drop near", Write),
    (".index stats near", INDEX, Read),
    (".index rebuild near", INDEX, Write),
    (".index drop near", INDEX, Write),
    ("?hnsw_nearest(\"near\", [0, 1], 1, Id, D)", INDEX, Read),
    (".session", "", Read),
    (".session list", "", Read),
    (".session clear", "", Read),
    (".session forget none", "", Read),
    (".session drop none", "", Read),
    (".session open", "", Nothing),
    (".clear prefix scratch", "+scratch(1)", Write),
    (".compact", "", Administer),
    (".backup CELL", "", Administer),
    (".backup", "", Administer),
    (".backup list", "", Administer),
    (".explain ?fact(X)", "", Read),
    (".explain json ?fact(X)", "", Read),
    (".profile ?fact(X)", "", Read),
    (".profile json ?fact(X)", "", Read),
    (".why ?fact(X)", "", Read),
    (".why full ?fact(X)", "", Read),
    (".why all ?fact(X)", "", Read),
    (".why_not fact(77)", "", Read),
    (".what_if +fact(77) ?fact(X)", "", Read),
    (".impact +fact(77)", "", Read),
    (".status", "", Nothing),
    (".help", "", Nothing),
    (".help kg", "", Nothing),
    (".quit", "", Nothing),
    (".user list", "", Administer),
    (".user role zoe editor", ".user role zoe viewer", Administer),
    (".user create tmp pw viewer", ".user drop tmp", Administer),
    (".user drop tmp", ".user create tmp pw viewer", Administer),
    (".user password tmp pw2", ".user create tmp pw viewer", Administer),
    (".apikey create tmp", ".apikey revoke tmp", Administer),
    (".apikey create tmp for zoe expires 1d read", ".apikey revoke tmp", Administer),
    (".apikey list", "", Administer),
    (".apikey revoke spare", ".apikey create spare", Administer),
    (".query list", "", Administer),
    (".live list", "", Administer),
    (".metrics", "", Administer),
];

/// The same under their other names.
const ALIASES: &[(&str, &str, Asks)] = &[
    (".relation", "", Read),
    (".relations fact", "", Read),
    (".relation drop scratch", "+scratch(1)", Write),
    (".rule show rule1", "", Read),
    (".rules", "", Read),
    (".idx", "", Read),
    (".idx list", "", Read),
    (".debug ?fact(X)", "", Read),
    (".? kg", "", Nothing),
    (".q", "", Nothing),
    (".exit", "", Nothing),
];

/// Statements that fail here for those who may run them, with the code.
const FAILING: &[(&str, Asks, &str)] = &[
    (".session remove none 1", Read, "not_found"),
    (".query kill 999999", Administer, "not_found"),
    (".live kill 999999", Administer, "not_found"),
    (".kg cluster only", Own, "cluster_unavailable"),
    (".rel attach files facts/*.parquet", Own, "invalid_parameter"),
    (".cluster ?fact(X)", Read, "cluster_unavailable"),
    (".session kill none", Nothing, "not_found"),
    (".user password pw\u{1b}", Nothing, "parse_error"),
    (".rule edit rule1 1 fact(X)", Nothing, "parse_error"),
    (".load file.dl", Nothing, "parse_error"),
    (".agent", Nothing, "parse_error"),
];

/// One row of the matrix.
#[derive(Debug, Clone, Copy)]
struct Row {
    statement: &'static str,
    /// What admin runs before.
    before: &'static str,
    asks: Asks,
    /// The code with which it fails for those who may.
    fails: Option<&'static str>,
}

fn rows() -> impl Iterator<Item = Row> {
    let good = STATEMENTS.iter().chain(ALIASES);
    let good = good.map(|&(statement, before, asks)| Row { statement, before, asks, fails: None });
    let failing = FAILING.iter();
    good.chain(failing.map(|&(statement, asks, code)| Row { statement, before: "", asks, fails: Some(code) }))
}

/// How a statement may be dressed up. `at` is the graph that the statement is to work on.
fn forms(statement: &str, at: &str) -> Vec<(bool, String)> {
    let broken = statement.replacen(' ', "\n    ", 1);
    let mut forms = vec![
        (true, statement.to_owned()),
        (true, format!("// a comment\n% another\n/* and one more */ {statement}")),
        (true, format!(".status\n{statement}")),
        (true, format!("{statement}\n.status")),
        (true, format!("\u{feff}\r\n% x\r\n\t{statement} \r\n")),
        // The session starts elsewhere.
        (false, format!(".kg use {at}\n{statement}")),
        (false, format!("/* x */\n.kg use default\n.KG USE {at} // there\n{statement}\n.kg use default")),
    ];
    if statement.starts_with('.') && broken != statement {
        forms.push((true, broken));
        let (command, rest) = statement.split_once(' ').expect("it was broken there");
        forms.push((true, format!("{}\t{rest}", command.to_uppercase())));
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
            OwnSpare => by_level("spare", 3),
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
    // The matrix asks faster than anybody should.
    let server = Server::start_with(&[
        ("SERVICE_HTTP__RATE_LIMIT__WS_MAX_MESSAGES_PER_SEC", "0"),
        ("SERVICE_BACKUP__FOLDER", "archive"),
    ]);
    let mut admin = server.log_in().await;
    admin.rows(".kg create lab").await;
    for graph in ["lab", "default"] {
        admin.rows(&format!(".kg use {graph}")).await;
        admin.rows(&format!("+fact[(1), (2)]\n+rule1(X) <- fact(X)\n+treasure(\"{GOLD}\")")).await;
    }
    admin.rows(&format!(".user create zoe {LACE} viewer")).await;
    (server, admin)
}

/// What nobody is told who may not read it, beside the name of its relation.
const GOLD: &str = "gold-4711";

/// A user on a session of their own, with two sockets, and an administrator on the same session.
struct Seat {
    sockets: [Connection; 2],
    keeper: Connection,
}

impl Seat {
    async fn take(server: &Server, person: &Person) -> Seat {
        let mut first = server.connect().await;
        let greeting = first.log_in_as(&person.name, LACE).await;
        let path = format!("/sessions/{}/ws", greeting["session_id"].as_str().expect("an id"));
        let [mut second, mut keeper] = [server.connect_to(&path).await, server.connect_to(&path).await]
            .map(|socket| socket.expect("a socket"));
        for reply in [second.log_in_as(&person.name, LACE).await, keeper.log_in(PASSWORD).await] {
            assert_eq!(reply["session_id"], greeting["session_id"], "{reply}");
        }
        Seat { sockets: [first, second], keeper }
    }

    /// Binds the session to a graph, whether its user sees it or not.
    async fn bind(&mut self, graph: &str) {
        self.keeper.rows(&format!(".kg use {graph}")).await;
    }
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

/// Servers among which the people of the matrix are dealt out: each of them waits half of the time.
const SERVERS: usize = 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_role_and_level_may_do_this_and_no_more() {
    let shares: Vec<_> = (0..SERVERS).map(|share| tokio::spawn(check_share(share))).collect();
    let mut cells = 0;
    for share in shares {
        cells += share.await.expect("the share of a server holds");
    }
    assert!(cells > 15_000, "only {cells} cells");
}

/// Checks every row in every form for a share of the people, on a server of their own. Returns how many cells that is.
async fn check_share(share: usize) -> usize {
    let (server, mut admin) = laboratory().await;
    let people = people(&mut admin).await;
    let mut cells = 0;
    for person in people.iter().skip(share).step_by(SERVERS) {
        let mut seat = Seat::take(&server, person).await;
        for at in ["default", "lab"] {
            for row in rows() {
                for (bound, program) in forms(row.statement, at) {
                    for socket in 0..2 {
                        let program = program.replace("CELL", &format!("cell{cells}"));
                        seat.bind(if bound { at } else { "default" }).await;
                        check_cell(&mut admin, &mut seat, socket, person, at, row, bound, &program).await;
                        cells += 1;
                    }
                }
            }
        }
    }
    cells
}

/// Runs a program and compares what comes of it with what is specified.
#[allow(clippy::too_many_arguments, reason = "the axes of the matrix")]
async fn check_cell(
    admin: &mut Connection,
    seat: &mut Seat,
    socket: usize,
    person: &Person,
    at: &str,
    row: Row,
    bound: bool,
    program: &str,
) {
    prepare(admin, at, row.before, person).await;
    let unseen = || person.refused(Read, at).filter(|code| *code == "not_found");
    // The switch itself may be what is refused.
    let switch = if bound { None } else { unseen() };
    let code = switch.or_else(|| person.refused(row.asks, at)).or(row.fails);
    let print = match code {
        Some(_) => fingerprint(admin, at).await,
        None => String::new(),
    };
    let reply = seat.sockets[socket].execute(program).await;
    let whom = format!("{} on {at}, socket {socket}: {program:?}: {reply}", person.name);
    match code {
        None => assert_eq!(reply["type"], "result", "{whom}"),
        Some(code) => {
            assert_eq!((&reply["type"], &reply["code"]), (&json!("error"), &json!(code)), "{whom}");
            assert!(reply["help"].is_string() && reply["span"].is_object(), "{whom}");
            assert_eq!(fingerprint(admin, at).await, print, "after {whom}");
            for secret in [GOLD, "treasure"] {
                assert!(!reply.to_string().contains(secret), "{whom}");
            }
        }
    }
}

#[tokio::test]
async fn messages_of_session_sockets_ask_for_the_same_as_programs() {
    let (server, mut admin) = laboratory().await;
    for person in people(&mut admin).await {
        let mut seat = Seat::take(&server, &person).await;
        for (at, socket) in [("default", 0), ("default", 1), ("lab", 0), ("lab", 1)] {
            for (message, asks) in [
                (json!({"type": "query", "query": "?treasure(X)"}), Read),
                (json!({"type": "query", "query": "// x\n+fact(9)"}), Write),
                (json!({"type": "query", "query": ".status\n.user list"}), Administer),
                (json!({"type": "add_rule", "rule": "seen(X) <- treasure(X)"}), Read),
                (json!({"type": "insert_facts", "relation": "own", "tuples": [[1]]}), Write),
                (json!({"type": "retract_facts", "relation": "own", "tuples": [[1]]}), Read),
            ] {
                seat.bind(at).await;
                admin.rows(&format!(".kg use {at}\n-fact(9)")).await;
                let print = fingerprint(&mut admin, at).await;
                seat.keeper.rows("own(1)").await;
                let before = seat.keeper.rows(".session").await;
                let reply = seat.sockets[socket].ask(message.clone()).await;
                let whom = format!("{} on {at}, socket {socket}: {message}: {reply}", person.name);
                match person.refused(asks, at) {
                    None => assert!(["result", "ack"].map(Json::from).contains(&reply["type"]), "{whom}"),
                    Some(code) => {
                        assert_eq!(
                            (&reply["type"], &reply["code"]),
                            (&json!("error"), &json!(code)),
                            "{whom}"
                        );
                        assert_eq!(seat.keeper.rows(".session").await, before, "after {whom}");
                        assert_eq!(fingerprint(&mut admin, at).await, print, "after {whom}");
                        assert!(!reply.to_string().contains(GOLD), "{whom}");
                    }
                }
                seat.keeper.rows(".session clear").await;
            }
        }
    }
}

#[tokio::test]
async fn in_a_graph_that_does_not_exist_nobody_does_anything() {
    let (server, mut admin) = laboratory().await;
    for person in people(&mut admin).await {
        let mut connection = server.log_in_as(&person.name, LACE).await;
        for row in rows() {
            for (_, program) in forms(row.statement, "absent").iter().filter(|(bound, _)| !bound) {
                let reply = connection.execute(program).await;
                assert_eq!(reply["code"], "not_found", "{}: {program:?}: {reply}", person.name);
            }
        }
    }
    admin.rows(".kg use lab").await;
    assert_eq!(admin.rows(".kg list").await, json!([["default", false], ["lab", true]]));
    assert_eq!(admin.rows("?fact(X:asc)").await, json!([[1], [2]]));
}

/// Sees to it that the statement could succeed.
async fn prepare(admin: &mut Connection, at: &str, before: &str, person: &Person) {
    // It exists only where somebody was allowed to create it.
    admin.rows(&format!(".kg use {at}")).await;
    admin.execute(".kg drop fresh").await;
    for line in before.lines() {
        if line.contains("LEVEL") && person.entry == 0 {
            continue;
        }
        admin.rows(&format!(".kg use {at}")).await;
        let line = line.replace("PERSON", &person.name).replace("LEVEL", LEVELS[person.entry]);
        let reply = admin.execute(&line).await;
        let settled = reply["code"] == "already_exists" || reply["code"] == "not_found";
        assert!(reply["type"] == "result" || settled, "{line}: {reply}");
    }
    admin.rows(&format!(".kg use {at}")).await;
}

#[tokio::test]
async fn every_command_has_its_place_in_the_matrix() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    for row in admin.rows(".help").await.as_array().expect("rows") {
        let command = row[0].as_str().expect("a command");
        let words: Vec<&str> = command.split(' ').take_while(|word| word.to_lowercase() == *word).collect();
        let takes = command.split(' ').count() - words.len();
        let covered = rows().find(|row| {
            let given: Vec<&str> = row.statement.split(' ').collect();
            given.starts_with(&words) && given.len() == words.len() + takes
        });
        let covered = covered.unwrap_or_else(|| panic!("`{command}` is not in the matrix"));
        assert_eq!(row[2], covered.asks.right(), "`.help` tells another right of `{command}`");
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
    // A question is about the graph where it is asked, wherever the program goes from there.
    eve.rows(".kg create mine\n+fact(7)").await;
    for program in
        ["?fact(X)\n.kg use default", ".rel fact\n.kg use default", "?fact(X)\n.kg use default\n.status"]
    {
        assert_eq!(eve.rows(program).await, json!([[7]]), "{program}");
        eve.rows(".kg use mine").await;
    }
    admin.rows(".kg acl grant default eve viewer\n.kg use default").await;
    eve.rows(".kg use default").await;
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
