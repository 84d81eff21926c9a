//! Nothing that anybody sends makes the engine panic, hang or overflow a stack, and the server outlives all of it.

use std::time::{Duration, Instant};

use serde_json::Value as Json;
use stratalog_engine::{Budget, Error, Parameters, RunOptions, Session};
use stratalog_tests::fuzzed::{parse_and_print, run, session};
use stratalog_tests::mutate::{Mutations, corpus};
use stratalog_tests::server::{Frame, Server};
use stratalog_tests::times::PATIENCE;

/// What a mutated program may use. It would be content with far less, but test machines are busy.
const TIME: Duration = Duration::from_secs(2);
const MEMORY: u64 = 256 << 20;

/// Runs a program, which ends soon after its time at the latest; answers its error, if there is one.
fn outcome(session: &mut Session, text: &str, time: Duration, memory: u64) -> Option<Error> {
    let start = Instant::now();
    let budget = Budget::new(Some(time), memory);
    let result = session
        .prepare(text, &Parameters::new())
        .and_then(|prepared| session.run(prepared, &RunOptions::default(), &budget));
    let result = result.err();
    // What it left behind counts: rows are freed here.
    let took = start.elapsed();
    assert!(took < time + PATIENCE, "{:?} took {took:?}: {result:?}", beginning(text));
    result
}

fn code(error: &Option<Error>) -> &'static str {
    error.as_ref().map_or("", |error| error.code().as_str())
}

fn beginning(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Refuses a text, and shows the error. Answers the code.
fn refused(text: &str) -> &'static str {
    let error = outcome(&mut session(), text, PATIENCE, MEMORY);
    if let Some(error) = &error {
        let start = Instant::now();
        error.render(text);
        assert!(start.elapsed() < PATIENCE, "{:?}: rendering took {:?}", beginning(text), start.elapsed());
    }
    code(&error)
}

#[test]
fn mutated_programs_are_answered_or_refused() {
    let mut shared = session();
    let mut answered = 0;
    for (number, text) in Mutations::new(corpus(), 1).take(3_000).enumerate() {
        if number % 100 == 0 {
            shared = session();
        }
        let start = Instant::now();
        answered += usize::from(run(&mut shared, &text, TIME, MEMORY));
        assert!(start.elapsed() < TIME + PATIENCE, "{text:?} took {:?}", start.elapsed());
    }
    assert!(answered > 200, "only {answered} of the mutations run, so they show little");
}

#[test]
fn what_is_printed_is_read_again() {
    let corpus = corpus();
    assert!(corpus.len() > 200, "the golden files are found");
    corpus.iter().for_each(|text| parse_and_print(text));
    Mutations::new(corpus, 2).take(20_000).for_each(|text| parse_and_print(&text));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_answers_all_and_lives() {
    let mut server = Server::start();
    let corpus = corpus();
    let mut senders = Vec::new();
    for seed in 3..7 {
        let mut connection = server.log_in().await;
        let corpus = corpus.clone();
        senders.push(tokio::spawn(async move {
            for text in Mutations::new(corpus, seed).take(2_500) {
                let message =
                    serde_json::json!({"type": "execute", "program": text, "timeout_ms": 1000, "limit": 100});
                connection.send_json(message).await;
                match connection.receive().await {
                    Frame::Text(reply) if reply["type"] == "result_start" => loop {
                        match connection.receive().await {
                            Frame::Text(reply) if reply["type"] == "result_end" => break,
                            Frame::Text(_) => {}
                            other => panic!("{text:?}: {other:?}"),
                        }
                    },
                    Frame::Text(reply) => answered(&text, &reply),
                    other => panic!("{text:?}: {other:?}"),
                }
            }
        }));
    }
    for sender in senders {
        sender.await.expect("every program is answered");
    }
    assert!(server.is_running());
    let (status, _, body) = server.get("/health");
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("healthy"), "{body}");
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

fn answered(text: &str, reply: &Json) {
    assert!(reply["type"] == "result" || reply["type"] == "error", "{text:?}: {reply}");
    assert_ne!(reply["code"], "internal", "{text:?}: {reply}");
}

#[test]
fn large_texts_are_read_or_refused_in_linear_time() {
    let megabytes = |unit: &str| unit.repeat((10 << 20) / unit.len());
    for unit in [
        "(",
        "[",
        "{",
        "+p(",
        "?p(",
        "\"",
        "/*",
        "/* \" ",
        "*/",
        "X",
        "-",
        "- ",
        ",",
        "<-",
        "\\",
        "\n",
        "é",
        "+p(1)\n+q[",
        "?p(\"",
        ".\n",
        ". /* ",
        ". \"\\",
        ".a \"\\\"",
        ".a (\n",
        "type T: list[",
        "+p(a: list[",
        "-p, ",
        "?a(X), (",
        "p(X)<-",
        "count<",
        "$",
        "1",
        "1_",
        "%\n",
        "//\n",
        "+a(1), ",
        "\u{feff}",
        "+p(X) <- q(X),\n",
        ".a\n\n",
        ".a,\n%\n",
    ] {
        refused(&megabytes(unit));
    }
    for (before, unit) in [
        (".a ", "/* "),
        (".a ", "\"\\"),
        (".a ", "\\\" "),
        ("+p(\"", "x"),
        ("?p(X), ", "X="),
        ("+p(1", "+1"),
        ("+p([", "1,"),
        (".a ", "(\n"),
        ("?p(", "/**/"),
        ("+p", "a"),
        ("?p(X) /* ", "/* "),
    ] {
        refused(&(before.to_owned() + &megabytes(unit)));
    }
    assert_eq!(refused(&"x".repeat((16 << 20) + 1)), "limit_exceeded");
    assert_eq!(refused(&format!("+p(\"{}\")", "x".repeat(10 << 20))), "limit_exceeded");
}

#[test]
fn deep_and_wide_programs_meet_a_limit() {
    let deep =
        |open: &str, close: &str| format!("?p(X), X = {}1{}", open.repeat(100_000), close.repeat(100_000));
    assert_eq!(refused(&deep("(", ")")), "limit_exceeded");
    assert_eq!(refused(&deep("[", "]")), "limit_exceeded");
    assert_eq!(refused(&deep("abs(", ")")), "limit_exceeded");
    assert_eq!(refused(&format!("?p(X), X = 1{}", "+1".repeat(100_000))), "limit_exceeded");
    let columns = |n: usize| (0..n).map(|n| format!("X{n}")).collect::<Vec<_>>().join(", ");
    let head = |n: usize| format!("+a({0}) <- b({0})\n?a({0})", columns(n));
    assert_eq!(refused(&head(256)), "");
    assert_eq!(refused(&head(257)), "limit_exceeded");
    let body = |n: usize| format!("+q(1)\n+p(X) <- {}\n?p(X)", vec!["q(X)"; n].join(", "));
    assert_eq!(refused(&body(1_000)), "");
    assert_eq!(refused(&body(1_001)), "limit_exceeded");
    assert_eq!(refused(&body(20_000)), "limit_exceeded");
    assert_eq!(refused(&"+p(1)\n".repeat(100_001)), "limit_exceeded");
}

#[test]
fn a_limit_is_told_by_name_and_value() {
    let error = outcome(&mut session(), &format!("+p({})", "1, ".repeat(257)), TIME, MEMORY);
    let diagnostics = error.expect("too many columns").diagnostics();
    let limit = diagnostics[0].limit.expect("the limit is told");
    assert_eq!((limit.name, limit.value), ("max_columns", 256));
}

#[test]
fn bodies_at_the_limit_are_planned_within_the_budget() {
    let bodies = [
        // Every literal brings variables of its own.
        format!(
            "+q({0})\n?q({0}), {1}",
            vec!["_"; 64].join(", "),
            vec![format!("q({})", vec!["_"; 64].join(", ")); 300].join(", ")
        ),
        // A thousand plans.
        format!("+n(1)\n+n(X) <- {}\n?n(X)", vec!["n(X)"; 1_000].join(", ")),
        // A thousand questions to a derived relation.
        format!("+e(1)\n+p(X) <- e(X)\n+q(X) <- {}\n?q(1)", vec!["p(X)"; 1_000].join(", ")),
        format!(
            "+e(1, 2)\n?e(X0, X1), {}",
            (1..999).map(|n| format!("e(X{n}, X{})", n + 1)).collect::<Vec<_>>().join(", ")
        ),
        format!(
            "+e(1)\n?e(X0), {}",
            (1..999).map(|n| format!("X{n} = X{} + 1", n - 1)).collect::<Vec<_>>().join(", ")
        ),
        format!("+e(1)\n?e(X), {}", vec!["!e(X + 1)"; 999].join(", ")),
    ];
    for text in &bodies {
        outcome(&mut session(), text, TIME, MEMORY);
    }
}

#[test]
fn many_statements_and_rules_are_taken() {
    let facts: String = (0..100_000).map(|n| format!("+p({n})\n")).collect();
    assert_eq!(code(&outcome(&mut session(), &facts, PATIENCE, MEMORY)), "");
    let chain: String = (1..10_000).map(|n| format!("+r{n}(X) <- r{}(X)\n", n - 1)).collect();
    assert_eq!(code(&outcome(&mut session(), &format!("+r0(7)\n{chain}?r9999(7)"), PATIENCE, MEMORY)), "");
    let clauses: String = (1..10_000).map(|n| format!("+r(X) <- p(X, {n})\n")).collect();
    assert_eq!(code(&outcome(&mut session(), &format!("+p(7, 9)\n{clauses}?r(7)"), PATIENCE, MEMORY)), "");
}

#[test]
fn explosions_are_stopped_in_time_and_within_memory() {
    let mut session = session();
    let rows: Vec<String> = (0..100_000).map(|n| n.to_string()).collect();
    let rows = rows.join(", ");
    let facts = format!("+a[{rows}]\n+b[{rows}]");
    let error = outcome(&mut session, &facts, PATIENCE, MEMORY);
    assert_eq!(code(&error), "");
    let second = Duration::from_secs(1);
    let before = resident();
    for text in [
        "?a(X), b(Y)",
        "?a(X), b(Y), X + Y < 0",
        "?count<X> <- a(X), b(Y)",
        "?X, count<Y>, sum<Y>, min<Y>, max<Y> <- a(X), b(Y)",
        "?a(X), !b(X + 100000), a(Y), b(Z)",
        "+n(0)\n+n(Y) <- n(X), Y = X + 1\n?n(X)",
        "+m(0, 0)\n+m(Y, Z) <- m(X, Z), Y = X + 1\n+m(X, W) <- m(X, Z), W = Z + 1\n?m(X, Y)",
        "?a(X), a(Y), a(Z), X = Y + Z, X != Y",
    ] {
        let error = outcome(&mut session, text, second, MEMORY);
        assert!(["timeout", "limit_exceeded"].contains(&code(&error)), "{text}: {error:?}");
    }
    let error = outcome(&mut session, "?a(X), b(Y)", PATIENCE, 64 << 20);
    assert_eq!(code(&error), "limit_exceeded");
    let grown = resident().saturating_sub(before);
    assert!(grown < 1 << 30, "the process grew by {} MiB", grown >> 20);
}

/// The most memory that this process has had.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) << 10
}
