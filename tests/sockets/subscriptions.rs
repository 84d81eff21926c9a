//! Live queries over the socket: whoever applies what is told has, at each version that is told, what a query answers there.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arrow::array::AsArray as _;
use arrow::datatypes::Int8Type;
use arrow::ipc::reader::StreamReader;
use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, Frame, Server};
use stratalog_tests::subscriber::{RowSet, Subscriber, set};
use tempfile::TempDir;

const RULES: &str = "+reach(X, Y) <- edge(X, Y)
+reach(X, Z) <- reach(X, Y), edge(Y, Z)
+apart(X, Y) <- node(X), node(Y), !reach(X, Y)
+degree(X, count<Y>, sum<Y>) <- edge(X, Y)
+furthest(X, max<Y>) <- reach(X, Y)";

const FACTS: &str = "+edge[(1, 2), (2, 3)]\n+node[(1), (2)]\n+said[(1, \"a\"), (2, 5)]";

const QUESTIONS: [&str; 8] = [
    "?reach(X, Y)",
    "?reach($from, Y)",
    "?apart(X, Y)",
    "?degree(X, N, S)",
    "?furthest(X, Y)",
    "?said(X, Y)",
    "?degree(X, N:desc, _), limit(2)",
    "?edge(X, Y), said(Y, T), !node(X)",
];

async fn start() -> (Server, Connection) {
    let server = Server::start();
    let mut writer = server.log_in().await;
    writer.rows(FACTS).await;
    writer.rows(RULES).await;
    (server, writer)
}

#[tokio::test]
async fn rows_come_and_go() {
    let (server, mut writer) = start().await;
    let mut live = Subscriber::new(&server, "?reach(1, Y)").await;
    live.next().await.expect("the first answer");
    assert_eq!(live.copy, set(&json!([[1, 2], [1, 3]])));
    writer.rows("+edge(3, 4)").await;
    live.next().await.expect("a delta");
    assert_eq!(live.copy, set(&json!([[1, 2], [1, 3], [1, 4]])));
    writer.rows("+other(1)\n-edge(2, 3)").await;
    live.next().await.expect("a delta");
    assert_eq!(live.copy, set(&json!([[1, 2]])));
    // What changes nothing is not told.
    writer.rows("+edge(7, 8)").await;
    let reply =
        live.connection.ask(json!({"type": "unsubscribe", "subscription": live.number, "id": 5})).await;
    assert_eq!(reply, json!({"type": "unsubscribed", "subscription": live.number, "id": 5}));
    writer.rows("+edge(1, 9)").await;
    assert_eq!(live.connection.rows("?edge(1, Y)").await, json!([[1, 2], [1, 9]]));
    let reply = live.connection.ask(json!({"type": "unsubscribe", "subscription": live.number})).await;
    assert_eq!(reply["code"], "not_found", "{reply}");
}

#[tokio::test]
async fn an_answer_comes_before_what_it_has_changed() {
    let (_server, mut connection) = start().await;
    let reply = connection.ask(json!({"type": "subscribe", "query": "?edge(X, Y)"})).await;
    assert_eq!(reply["type"], "subscribed", "{reply}");
    assert_eq!(reply["columns"], json!(["X", "Y"]));
    assert_eq!(connection.receive_json().await["reset"], true);
    for n in 10..60 {
        let reply = connection.execute(&format!("+edge({n}, {n})")).await;
        assert_eq!(reply["type"], "result", "{reply}");
        let delta = connection.receive_json().await;
        assert_eq!((&delta["version"], &delta["added"]), (&reply["version"], &json!([[n, n]])), "{delta}");
    }
    let reply = connection.ask(json!({"type": "insert", "relation": "edge", "rows": [[0, 0]]})).await;
    assert_eq!(reply["type"], "result", "{reply}");
    assert_eq!(connection.receive_json().await["version"], reply["version"]);
}

#[tokio::test]
async fn many_rows_come_in_parts_and_changes_after_them() {
    let (server, mut writer) = start().await;
    let rows: Vec<Json> = (0..3_000).map(|n| json!([n, n])).collect();
    writer.ask(json!({"type": "insert", "relation": "large", "rows": rows})).await;
    let mut live = Subscriber::new(&server, "?large(X, Y)").await;
    writer.rows("-large(5, 5)\n+large(5000, 5000)").await;
    while live.copy.len() != 3_000 || live.copy.contains("[5,5]") {
        live.next().await.expect("an answer");
    }
    assert!(live.copy.contains("[5000,5000]"));
    let reply = writer.execute("-large(X, Y) <- large(X, Y), X < 2000").await;
    live.next().await.expect("a delta");
    assert_eq!((json!(live.version), live.copy.len()), (reply["version"].clone(), 1_001));
}

#[tokio::test]
async fn arrow_tells_the_same() {
    let (server, mut writer) = start().await;
    writer.rows("+mixed[(1, \"a\"), (2, 2.5)]").await;
    let mut connection = server.log_in().await;
    let request = json!({"type": "subscribe", "query": "?mixed(X, Y)", "format": "arrow"});
    assert_eq!(connection.ask(request).await["type"], "subscribed");
    let mut told = Vec::new();
    for program in ["", "+mixed(3, 7)\n-mixed(1, \"a\")", "-mixed(2, 2.5)"] {
        if !program.is_empty() {
            assert_eq!(
                writer.ask(json!({"type": "execute", "program": program, "atomic": true})).await["type"],
                "result"
            );
        }
        let header = connection.receive_json().await;
        assert_eq!((&header["type"], &header["format"]), (&json!("delta"), &json!("arrow")), "{header}");
        assert_eq!((&header["added"], &header["last"]), (&Json::Null, &json!(true)));
        let Frame::Binary(bytes) = connection.receive().await else { panic!("a binary frame") };
        let reader = StreamReader::try_new(std::io::Cursor::new(bytes), None).expect("an Arrow stream");
        for batch in reader {
            let batch = batch.expect("a batch");
            assert_eq!(batch.schema().field(0).name(), "_diff");
            let diffs = batch.column(0).as_primitive::<Int8Type>();
            told.extend((0..diffs.len()).map(|row| diffs.value(row)));
        }
    }
    assert_eq!(told, [1, 1, -1, 1, -1]);
}

#[tokio::test]
async fn who_comes_back_goes_on() {
    let (server, mut writer) = start().await;
    let mut live = Subscriber::new(&server, "?reach(X, Y)").await;
    live.next().await.expect("the first answer");
    // Nothing has happened, then something, then much.
    assert!(live.resume(server.log_in().await).await.expect("it is subscribed"));
    writer.rows("+edge(3, 4)").await;
    assert!(live.resume(server.log_in().await).await.expect("it is subscribed"));
    live.next().await.expect("a delta");
    assert_eq!(live.copy.len(), 6);
    for n in 5..40 {
        writer.rows(&format!("+edge({n}, {})\n-edge({}, {n})", n + 1, n - 1)).await;
    }
    assert!(live.resume(server.log_in().await).await.expect("it is subscribed"));
    live.all(Duration::from_millis(300)).await.expect("deltas");
    assert_eq!(live.copy, set(&writer.rows("?reach(X, Y)").await));
    // With the token of another question, or none of ours, all rows come.
    let token = std::mem::replace(&mut live.token, json!("0-0"));
    assert!(!live.resume(server.log_in().await).await.expect("it is subscribed"));
    live.next().await.expect("all rows");
    let mut other = Subscriber::new(&server, "?edge(X, Y)").await;
    other.next().await.expect("the first answer");
    other.token = token;
    assert!(!other.resume(server.log_in().await).await.expect("it is subscribed"));
}

#[tokio::test]
async fn who_comes_back_to_another_process_goes_on() {
    let folder = TempDir::new().expect("a folder");
    let mut server = Server::start_in(folder.path(), &[]);
    let mut writer = server.log_in().await;
    writer.rows("+edge[(1, 2), (2, 3)]\n+said[(1, \"a\"), (2, 5)]").await;
    writer.rows("+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)").await;
    let mut reach = Subscriber::new(&server, "?reach(X, Y)").await;
    let mut said = Subscriber::new(&server, "?said(X, Y)").await;
    reach.next().await.expect("the first answer");
    said.next().await.expect("the first answer");
    // Nothing that they ask about changes after what they know.
    writer.rows("+edge(3, 4)").await;
    reach.next().await.expect("a delta");
    writer.rows("+other(1)").await;
    for end in ["stopped", "killed", "compacted"] {
        if end == "compacted" {
            writer.rows(".compact").await;
        }
        match end {
            "stopped" => server.stop(),
            _ => drop(server),
        }
        server = Server::start_in(folder.path(), &[]);
        writer = server.log_in().await;
        for live in [&mut reach, &mut said] {
            assert!(live.resume(server.log_in().await).await.expect("it is subscribed"), "{end}");
            assert_eq!(live.all(Duration::from_millis(100)).await.expect("deltas"), [], "{end}");
        }
    }
    // And then what does change is told.
    writer.rows("-edge(3, 4)").await;
    reach.next().await.expect("a delta");
    assert_eq!(reach.copy, set(&writer.rows("?reach(X, Y)").await));
}

#[tokio::test]
async fn a_folder_of_an_earlier_time_gives_other_versions() {
    let place = TempDir::new().expect("a folder");
    let at = |name: &str| place.path().join(name);
    let said = |n: u64| format!("+said({n}, {n})");
    std::fs::create_dir(at("data")).expect("a folder");
    let server = Server::start_in(&at("data"), &[]);
    let mut writer = server.log_in().await;
    writer.rows(&said(1)).await;
    let mut before = Subscriber::new(&server, "?said(X, Y)").await;
    before.next().await.expect("the first answer");
    server.stop();
    let copied = Command::new("cp").arg("-r").arg(at("data")).arg(at("copy")).status().expect("cp");
    assert!(copied.success());
    // What happens now is not in the copy, in which its version is one of something else.
    let server = Server::start_in(&at("data"), &[]);
    let mut writer = server.log_in().await;
    let mut after = Subscriber::new(&server, "?said(X, Y)").await;
    after.next().await.expect("the first answer");
    writer.rows(&said(2)).await;
    after.next().await.expect("a delta");
    drop(server);
    let server = Server::start_in(&at("copy"), &[]);
    let mut writer = server.log_in().await;
    assert!(before.resume(server.log_in().await).await.expect("it is subscribed"));
    let version = writer.ask(json!({"type": "execute", "program": said(3)})).await["version"].clone();
    assert_eq!(version, after.version);
    before.next().await.expect("a delta");
    assert!(!after.resume(server.log_in().await).await.expect("it is subscribed"));
    after.next().await.expect("all rows");
    let rows = set(&writer.rows("?said(X, Y)").await);
    assert_eq!((&after.copy, &before.copy), (&rows, &rows));
}

#[tokio::test]
async fn rights_are_asked_when_something_is_told() {
    let (server, mut admin) = start().await;
    admin.rows(".kg create lab\n+secret(1)\n.user create eve secret123 viewer").await;
    admin.rows(".kg acl grant lab eve viewer").await;
    let mut eve = server.connect_to("/ws?kg=lab").await.expect("a connection");
    assert_eq!(eve.log_in_as("eve", "secret123").await["type"], "authenticated");
    let mut live = Subscriber::with(eve, json!({"query": "?secret(X)"})).await.expect("it is subscribed");
    live.next().await.expect("the first answer");
    admin.rows(".kg acl revoke lab eve").await;
    admin.rows("+secret(2)").await;
    let ended = live.next().await.expect_err("the right is gone");
    assert_eq!(ended["error"]["code"], "not_found", "the graph is not there for her: {ended}");
    admin.rows("+secret(3)").await;
    assert!(
        live.connection.receive_within(Duration::from_millis(300)).await.is_none(),
        "nothing comes after it"
    );
    let request = json!({"type": "subscribe", "query": "?secret(X)"});
    assert_eq!(live.connection.ask(request).await["type"], "error");
}

#[tokio::test]
async fn a_subscription_ends_where_its_question_has_no_answer() {
    let (server, mut writer) = start().await;
    writer.rows(".kg create lab\n+p(1)\n+q(X) <- p(X)").await;
    let subscriber = async |question: &str| {
        let mut connection = server.log_in().await;
        connection.rows(".kg use lab").await;
        let mut live =
            Subscriber::with(connection, json!({"query": question})).await.expect("it is subscribed");
        live.next().await.expect("the first answer");
        live
    };
    let (mut of_rule, mut of_graph) = (subscriber("?q(X)").await, subscriber("?p(X)").await);
    let reply = writer.execute(".rule drop q").await;
    let ended = of_rule.next().await.expect_err("the rule is gone");
    assert_eq!(ended["error"]["code"], "unknown_relation", "{ended}");
    assert_eq!(ended["version"], reply["version"], "{ended}");
    writer.rows("+p(2)").await;
    of_graph.next().await.expect("a delta");
    writer.rows(".kg use default\n.kg drop lab").await;
    let ended = of_graph.next().await.expect_err("the graph is gone");
    assert_eq!(ended["error"]["code"], "not_found", "{ended}");
    // The connection goes on.
    of_graph.connection.rows(".kg use default").await;
    assert_eq!(of_graph.connection.rows("?edge(1, Y)").await, json!([[1, 2]]));
}

#[tokio::test]
async fn an_administrator_sees_and_ends_live_queries() {
    let (server, mut admin) = start().await;
    let mut lives =
        [Subscriber::new(&server, "?edge(1, X)").await, Subscriber::new(&server, "?edge(2, X)").await];
    for live in &mut lives {
        live.next().await.expect("the first answer");
    }
    let key = admin.new_key("metrics").await;
    let metric = |name: &str| {
        let (status, _, text) =
            server.get_with("/metrics/prometheus", &format!("Authorization: Bearer {key}\r\n"));
        assert_eq!(status, 200);
        let line = text.lines().find(|line| line.starts_with(name)).expect("the metric").to_owned();
        line.split(' ').next_back().and_then(|value| value.parse::<u64>().ok()).expect("a number")
    };
    assert_eq!((metric("service_live_queries "), metric("service_live_subscriptions ")), (2, 2));
    admin.rows("+edge(1, 5)").await;
    lives[0].next().await.expect("a delta");
    server.until("it is counted", || metric("service_live_deltas_total ") == 1).await;
    assert!(metric("service_live_memory_bytes ") > 0);
    let listed = admin.rows(".live list").await;
    let listed = listed.as_array().expect("rows");
    let number = |query: &str| listed.iter().find(|row| row[7] == query).map(|row| row[0].clone());
    assert_eq!(listed.len(), 2, "{listed:?}");
    let ended = admin.rows(&format!(".live kill {}", number("?edge(1, X)").expect("it is listed"))).await;
    assert!(ended.to_string().contains("with 1 subscriber"), "{ended}");
    let end = lives[0].next().await.expect_err("it is ended");
    assert_eq!(end["error"]["code"], "cancelled", "{end}");
    // The other goes on, and whoever comes back begins anew.
    admin.rows("+edge(2, 5)").await;
    lives[1].next().await.expect("a delta");
    assert!(!lives[0].resume(server.log_in().await).await.expect("it is subscribed"));
    assert_eq!(admin.execute(".live kill 999999").await["code"], "not_found");
}

#[tokio::test]
async fn what_cannot_be_subscribed_to_is_refused() {
    let (server, mut connection) = start().await;
    let refused = async |connection: &mut Connection, query: &str| {
        let reply = connection.ask(json!({"type": "subscribe", "query": query, "id": "s"})).await;
        assert_eq!((&reply["type"], &reply["id"]), (&json!("error"), &json!("s")), "{reply}");
        reply["code"].as_str().expect("a code").to_owned()
    };
    assert_eq!(refused(&mut connection, "?edge(X, Y), T = time_now()").await, "not_live");
    assert_eq!(refused(&mut connection, "?edge(X, Y)\n?node(X)").await, "not_live");
    assert_eq!(refused(&mut connection, "+edge(8, 8)").await, "not_live");
    assert_eq!(refused(&mut connection, ".status").await, "not_live");
    assert_eq!(refused(&mut connection, "?edges(X, Y)").await, "unknown_relation");
    assert_eq!(refused(&mut connection, "?edge(X").await, "parse_error");
    assert_eq!(refused(&mut connection, "?edge($x, Y)").await, "invalid_parameter");
    assert_eq!(connection.rows("?edge(8, Y)").await, json!([]));
    let settings = [("SERVICE_LIVE__MAX_PER_CONNECTION", "2"), ("SERVICE_LIVE__MAX_QUERIES", "3")];
    drop(server);
    let server = Server::start_with(&settings);
    let (mut one, mut two) = (server.log_in().await, server.log_in().await);
    one.rows("+p(1)\n+q(1)").await;
    let subscribe = async |connection: &mut Connection, query: &str| {
        let reply = connection.ask(json!({"type": "subscribe", "query": query})).await;
        if reply["type"] == "subscribed" {
            assert_eq!(connection.receive_json().await["reset"], true);
        }
        reply["limit"]["name"].as_str().map(str::to_owned)
    };
    assert_eq!(subscribe(&mut one, "?p(X)").await, None);
    assert_eq!(subscribe(&mut one, "?q(X)").await, None);
    assert_eq!(subscribe(&mut one, "?p(X)").await.as_deref(), Some("live.max_per_connection"));
    assert_eq!(subscribe(&mut two, "?p(X)").await, None);
    assert_eq!(subscribe(&mut two, "?p(1)").await, None);
    let mut three = server.log_in().await;
    assert_eq!(subscribe(&mut three, "?q(1)").await.as_deref(), Some("live.max_queries"));
    assert_eq!(subscribe(&mut three, "?q(X)").await, None);
}

#[tokio::test]
async fn who_asks_is_told_how_far_everything_is() {
    let (server, mut writer) = start().await;
    let request = json!({"query": "?edge(X, Y)", "progress": true});
    let mut live = Subscriber::with(server.log_in().await, request).await.expect("it is subscribed");
    live.next().await.expect("the first answer");
    let reply = writer.execute("+unrelated(1)").await;
    loop {
        let message = live.connection.receive_json().await;
        assert_eq!((&message["type"], &message["knowledge_graph"]), (&json!("progress"), &json!("default")));
        if message["version"] == reply["version"] {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_reads_nothing_holds_up_nobody() {
    let (server, mut writer) = start().await;
    let rows: Vec<Json> = (0..20_000).map(|n| json!([n, "x".repeat(100)])).collect();
    writer.ask(json!({"type": "insert", "relation": "wide", "rows": rows})).await;
    let mut stalled = Vec::new();
    for _ in 0..20 {
        let mut connection = server.connect_narrow("/ws").await;
        assert_eq!(connection.log_in(stratalog_tests::server::PASSWORD).await["type"], "authenticated");
        stalled.push(Subscriber::unread(connection, json!({"query": "?wide(X, Y)"})).await);
    }
    let mut live = Subscriber::new(&server, "?wide(X, Y), X < 10").await;
    live.next().await.expect("the first answer");
    let before = server.resident();
    for n in 0..300 {
        writer.rows(&format!("+wide({n}, \"y\")")).await;
    }
    writer.rows("+wide(9, \"z\")").await;
    while !live.copy.contains("[9,\"z\"]") {
        live.next().await.expect("a delta");
    }
    let more = server.resident().saturating_sub(before);
    assert!(more < 300 << 20, "{more} bytes more");
    // Whoever reads again has everything.
    let mut reader = stalled.remove(0);
    reader.begin().await.expect("it is subscribed");
    while reader.copy.len() < 20_301 {
        reader.next().await.expect("rows");
    }
}

/// How long the judge sits, from the environment.
struct Sitting {
    seed: u64,
    /// The server is killed after each.
    rounds: u64,
    /// How long a round takes at least; without it, one lap.
    time: Duration,
    /// Commits after which everything is judged, and subscribers go and come.
    commits: u64,
}

impl Sitting {
    fn read() -> Sitting {
        let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
        let rounds = number("STRATALOG_LIVE_ROUNDS").unwrap_or(3);
        let seconds = number("STRATALOG_LIVE_SECONDS");
        Sitting {
            seed: number("STRATALOG_LIVE_SEED").unwrap_or(3),
            rounds,
            time: Duration::from_secs(seconds.unwrap_or_default())
                / u32::try_from(rounds).expect("few rounds"),
            commits: if seconds.is_some() { 600 } else { 60 },
        }
    }
}

/// The judge: random commits, subscribers of all questions who read at different speeds, lose connections and come back,
/// and a server that is killed in between. `STRATALOG_LIVE_SECONDS` lets it sit so long: `make soak-live`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_copy_is_right_at_every_version() {
    let folder = TempDir::new().expect("a folder");
    let mut sitting = Sitting::read();
    for round in 0..sitting.rounds {
        let server = Arc::new(Server::start_in(folder.path(), &[]));
        let mut writer = server.log_in().await;
        if round == 0 {
            writer.rows(FACTS).await;
            writer.rows(RULES).await;
        }
        let begun = Instant::now();
        let mut memory = Vec::new();
        while memory.is_empty() || begun.elapsed() < sitting.time {
            lap(&server, &mut writer, &mut sitting).await;
            memory.push((begun.elapsed(), server.resident()));
            // At once: a long sitting that is broken off has told this much.
            let (at, resident) = memory[memory.len() - 1];
            eprintln!("round {round}, after {} s: memory {} MiB", at.as_secs(), resident >> 20);
        }
        judge_memory(&memory);
        // The server is killed here, and begins again with what is on disk.
    }
}

async fn lap(server: &Arc<Server>, writer: &mut Connection, sitting: &mut Sitting) {
    let mut answers: BTreeMap<u64, Vec<RowSet>> = BTreeMap::new();
    let is_over = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..QUESTIONS.len() * 2)
        .map(|n| {
            let (server, is_over) = (Arc::clone(server), Arc::clone(&is_over));
            tokio::spawn(read(server, n, sitting.seed + n as u64, is_over))
        })
        .collect();
    for _ in 0..sitting.commits {
        let program = commit(&mut sitting.seed);
        let reply = writer.execute(&program).await;
        assert_eq!(reply["type"], "result", "{program}: {reply}");
        let (version, found) = ask_all(writer).await;
        answers.insert(version, found);
        tokio::time::sleep(Duration::from_millis(next(&mut sitting.seed, 12))).await;
    }
    is_over.store(true, Ordering::SeqCst);
    let mut judged = 0;
    for reader in readers {
        let (question, told) = reader.await.expect("a reader");
        let (_, end) = told.last().expect("the first answer");
        let (_, expected) = answers.last_key_value().expect("an answer");
        assert_eq!(*end, expected[question], "{} in the end", QUESTIONS[question]);
        for (version, copy) in told {
            // Nobody has asked between the statements of one program.
            if let Some(expected) = answers.get(&version) {
                assert_eq!(copy, expected[question], "{} at {version}", QUESTIONS[question]);
                judged += 1;
            }
        }
    }
    assert!(judged > 40, "only {judged} copies were compared");
}

/// What memory does in the second half of a round is what it does for ever.
fn judge_memory(memory: &[(Duration, u64)]) {
    let (end, last) = memory.last().expect("a lap");
    let half = memory.iter().find(|(at, _)| *at >= *end / 2).map_or(*last, |(_, resident)| *resident);
    assert!(*last <= half + half / 10 + (16 << 20), "memory grows: {half} bytes, then {last}");
}

fn next(seed: &mut u64, n: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % n
}

fn commit(seed: &mut u64) -> String {
    let (x, y) = (next(seed, 6), next(seed, 6));
    match next(seed, 8) {
        0..=2 => format!("+edge({x}, {y})"),
        3 | 4 => format!("-edge({x}, {y})"),
        5 => format!("+said({x}, \"at {y}\")\n-node({y})"),
        6 => format!("-said({x}, \"at {y}\")\n+node({y})"),
        _ => ".compact".to_owned(),
    }
}

fn params(question: &str) -> Json {
    if question.contains("$from") { json!({"from": 1}) } else { json!({}) }
}

/// Asks everything at the present version; nobody else writes.
async fn ask_all(writer: &mut Connection) -> (u64, Vec<RowSet>) {
    let (mut found, mut version) = (Vec::new(), 0);
    for question in QUESTIONS {
        let request = json!({"type": "execute", "program": question, "params": params(question)});
        let reply = writer.ask(request).await;
        version = reply["version"].as_u64().expect("a version");
        found.push(set(&reply["rows"]));
    }
    (version, found)
}

async fn read(
    server: Arc<Server>,
    number: usize,
    mut seed: u64,
    is_over: Arc<AtomicBool>,
) -> (usize, Vec<(u64, RowSet)>) {
    let question = number % QUESTIONS.len();
    let (query, every_version) = (QUESTIONS[question], number.is_multiple_of(3));
    let request = json!({"query": query, "params": params(query), "every_version": every_version});
    let mut live = Subscriber::with(server.log_in().await, request).await.expect("it is subscribed");
    live.next().await.expect("the first answer");
    let mut told = vec![(live.version, live.copy.clone())];
    loop {
        let over = is_over.load(Ordering::SeqCst);
        // In the end, until nothing comes any more.
        let pause = Duration::from_millis(if over { 2_000 } else { 20 });
        told.extend(live.all(pause).await.expect("deltas"));
        if over {
            return (question, told);
        }
        match next(&mut seed, 12) {
            0 => {
                let resumed = live.resume(server.log_in().await).await.expect("it is subscribed");
                assert!(resumed, "the log is long enough");
            }
            1..=3 => tokio::time::sleep(Duration::from_millis(next(&mut seed, 80))).await,
            _ => {}
        }
    }
}
