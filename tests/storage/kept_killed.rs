//! `kill -9` at random moments while facts change, relations are kept and readers ask for them: no reader sees a state that is
//! half brought forward, and after the restart everything follows from the facts that are there. Rounds:
//! `STRATALOG_CRASH_ROUNDS`, 4 by default.

use std::time::Duration;

use serde_json::Value as Json;
use stratalog_engine::{Budget, Content, Engine, EngineOptions, Parameters, RunOptions};
use stratalog_tests::answers::rows_of;
use stratalog_tests::server::{Connection, Server};
use tempfile::TempDir;

/// A walk, what is reached from one node, shortest paths, groups, negation.
const RULES: &str = "+reach(X, Y) <- edge(X, Y, _)
+reach(X, Z) <- reach(X, Y), edge(Y, Z, _)
+near(X) <- X = 0
+near(Y) <- near(X), edge(X, Y, _)
+far(X, min<D>) <- X = 0, D = 0
+far(Y, min<D>) <- far(X, C), edge(X, Y, W), D = C + W
+degree(X, count<Y>) <- reach(X, Y)
+apart(X, Y) <- node(X), node(Y), !reach(X, Y)
+on(X, Y) <- edge(X, Y, _)
+on(X, Z) <- edge(X, Y, _), reach(Y, Z)";
const KEPT: [&str; 5] = ["reach", "near", "far", "degree", "apart"];
const QUESTIONS: [&str; 5] = ["?reach(X, Y)", "?near(X)", "?far(X, D)", "?degree(X, N)", "?apart(X, Y)"];
const NODES: u64 = 40;

/// What nobody may ever see, as all of it is of one version: a row that follows and is not there, or is there and does not follow.
const NEVER: [&str; 6] = [
    "?edge(X, Y, _), !reach(X, Y)",
    "?reach(X, Y), edge(Y, Z, _), !reach(X, Z)",
    "?reach(X, Y), !on(X, Y)",
    "?far(X, C), edge(X, Y, W), far(Y, D), D > C + W",
    "?near(X), !far(X, _)",
    "?apart(X, Y), reach(X, Y)",
];

/// A sequence of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Changes edges until the server dies. Answers how often.
async fn write(url: String, seed: u64) -> u64 {
    let (mut numbers, mut changes) = (Numbers(seed), 0);
    let Ok(mut connection) = Connection::open(&url).await else { return 0 };
    loop {
        let (x, y, weight) = (numbers.next(NODES), numbers.next(NODES), numbers.next(5));
        let program = match numbers.next(5) {
            0 | 1 => format!("+edge({x}, {y}, {weight})"),
            2 | 3 => format!("-edge(X, Y, W) <- edge(X, Y, W), X = {x}"),
            _ => format!("-edge(X, Y, W) <- edge(X, Y, W), Y = {y}\n+edge[({x}, {y}, 1), ({y}, {x}, 2)]"),
        };
        let Some(reply) = connection.try_execute(&program).await else { return changes };
        assert_eq!(reply["type"], "result", "{program}: {reply}");
        changes += 1;
    }
}

/// Asks until the server dies. Answers how often.
async fn read(url: String, first: usize) -> u64 {
    let Ok(mut connection) = Connection::open(&url).await else { return 0 };
    let mut asked = 0;
    for question in NEVER.iter().cycle().skip(first) {
        let Some(reply) = connection.try_execute(question).await else { break };
        assert_eq!(reply["type"], "result", "{question}: {reply}");
        assert_eq!(reply["rows"], Json::Array(Vec::new()), "{question}");
        asked += 1;
    }
    asked
}

/// What an engine without views derives from these edges.
fn derived(edges: &Json) -> Vec<Vec<String>> {
    let options = EngineOptions { view_memory: 0, ..EngineOptions::default() };
    let engine = Engine::in_memory(options).expect("an engine in memory");
    let mut session = engine.open_session("default").expect("the graph `default` exists");
    let mut run = |program: &str| {
        let prepared = session.prepare(program, &Parameters::new()).expect(program);
        let answer = session.run(prepared, &RunOptions::default(), &Budget::unlimited()).expect(program);
        let Content::Rows(rows) = answer.content else { return Vec::new() };
        let rows = rows_of(&rows.batch(0, rows.row_count()));
        let mut lines: Vec<String> = rows
            .iter()
            .map(|row| row.iter().map(|value| value.to_string()).collect::<Vec<_>>().join(","))
            .collect();
        lines.sort();
        lines
    };
    run(&nodes());
    // A relation that once had rows is there without any.
    let edges = edges.as_array().expect("rows").iter();
    let edges: Vec<String> =
        edges.map(|row| format!("\n+edge({}, {}, {})", row[0], row[1], row[2])).collect();
    run(&format!("+edge(-1, -1, 0)\n-edge(-1, -1, 0){}", edges.concat()));
    run(RULES);
    QUESTIONS.iter().map(|question| run(question)).collect()
}

fn nodes() -> String {
    let nodes: Vec<String> = (0..NODES).step_by(4).map(|node| format!("({node})")).collect();
    format!("+node[{}]", nodes.join(", "))
}

fn lines(rows: &Json) -> Vec<String> {
    let rows = rows.as_array().expect("rows");
    let line =
        |row: &Json| row.as_array().expect("a row").iter().map(Json::to_string).collect::<Vec<_>>().join(",");
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.sort();
    lines
}

async fn compare(connection: &mut Connection) {
    let edges = connection.rows("?edge(X, Y, W)").await;
    let expected = derived(&edges);
    for (question, expected) in QUESTIONS.iter().zip(expected) {
        assert_eq!(lines(&connection.rows(question).await), expected, "{question} of {edges}");
    }
    let list = connection.rows(".view list").await;
    for relation in KEPT {
        let is_kept = |row: &Json| row[0] == relation && row[1] == true;
        assert!(list.as_array().expect("rows").iter().any(is_kept), "{relation} is kept: {list}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_kept_follows_from_what_is_there_whenever_the_server_is_killed() {
    let rounds =
        std::env::var("STRATALOG_CRASH_ROUNDS").map_or(4, |n| n.parse().expect("a number of rounds"));
    let folder = TempDir::new().expect("a temporary folder");
    let settings = [("SERVICE_STORAGE__CHECKPOINT_BYTES", "200000")];
    let (mut changes, mut asked) = (0, 0);
    for round in 0..rounds {
        let server = Server::start_in(folder.path(), &settings);
        let mut connection = server.log_in().await;
        if round == 0 {
            connection.rows(&format!("{}\n+edge[(0, 1, 1), (1, 2, 1)]\n{RULES}", nodes())).await;
            for relation in KEPT {
                connection.rows(&format!(".view keep {relation}")).await;
            }
        }
        compare(&mut connection).await;
        let writers: Vec<_> =
            (0..3).map(|writer| tokio::spawn(write(server.url(), round * 10 + writer))).collect();
        let readers: Vec<_> = (0..3).map(|reader| tokio::spawn(read(server.url(), 2 * reader))).collect();
        // Different moments, the same in every run.
        tokio::time::sleep(Duration::from_millis(300 + (round * 7919) % 900)).await;
        drop(connection);
        drop(server);
        for writer in writers {
            changes += writer.await.expect("a writer does not panic");
        }
        for reader in readers {
            asked += reader.await.expect("a reader does not panic");
        }
    }
    let server = Server::start_in(folder.path(), &settings);
    compare(&mut server.log_in().await).await;
    assert!(changes > 10 * rounds && asked > 10 * rounds, "{changes} changes, {asked} questions");
}
