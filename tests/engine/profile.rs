//! `.profile`: rows of each operator against counts known beforehand, and a query that is profiled against the same
//! query alone.

use std::time::Duration;

use serde_json::{Value as Json, json};
use stratalog_engine::{
    Answer, Budget, Code, Content, Engine, EngineOptions, Error, Parameters, RunOptions, Session, Thresholds,
    Value,
};
use stratalog_tests::answers::{from_json, rows_of};
use stratalog_tests::server::Server;
use stratalog_tests::value::Value as Shown;

const CLOSURE: &str = "+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)";

/// A session in which closures stay with their operators, however large they grow.
fn session(threads: usize) -> Session {
    session_with(
        threads,
        Thresholds { walk_rows: usize::MAX, lone_walk_rows: usize::MAX, ..Thresholds::default() },
    )
}

fn session_with(threads: usize, thresholds: Thresholds) -> Session {
    let options = EngineOptions { threads: Some(threads), thresholds, ..EngineOptions::default() };
    let engine = Engine::in_memory(options).expect("an engine in memory");
    engine.open_session("default").expect("the graph `default` exists")
}

fn try_run(session: &mut Session, program: &str, budget: &Budget) -> Result<Answer, Error> {
    let prepared = session.prepare(program, &Parameters::new())?;
    session.run(prepared, &RunOptions::default(), budget)
}

fn run(session: &mut Session, program: &str) -> Content {
    let answer = try_run(session, program, &Budget::unlimited());
    answer.unwrap_or_else(|error| panic!("{}", error.render(program))).content
}

/// What `.profile json` tells of a query.
fn profile(session: &mut Session, query: &str) -> Json {
    let Content::Rows(rows) = run(session, &format!(".profile json {query}")) else {
        panic!("a plan is rows")
    };
    let rows = rows_of(&rows.batch(0, rows.row_count()));
    let [row] = rows.as_slice() else { panic!("{} rows", rows.len()) };
    let Shown::Text(text) = &row[0] else { panic!("a plan is text") };
    serde_json::from_str(text).expect("the plan is JSON")
}

/// Operator and measured rows of each step of a rule.
fn steps(rule: &Json) -> Vec<(&str, u64)> {
    let steps = rule["steps"].as_array().expect("a rule has steps").iter();
    steps
        .map(|step| {
            let operator = step["operator"].as_str().expect("an operator has a name");
            (operator, step["measured_rows"].as_u64().expect("it was measured"))
        })
        .collect()
}

/// The same of each rule of each stratum.
fn operators(profile: &Json) -> Vec<Vec<Vec<(&str, u64)>>> {
    let strata = profile["strata"].as_array().expect("strata").iter();
    strata.map(|stratum| stratum["rules"].as_array().expect("rules").iter().map(steps).collect()).collect()
}

/// `+edge[(1, 2), (2, 3), ..]`: a chain of `n` nodes.
fn chain(n: u64) -> String {
    let edges: Vec<String> = (1..n).map(|node| format!("({node}, {})", node + 1)).collect();
    format!("+edge[{}]\n{CLOSURE}", edges.join(", "))
}

/// The one step of a stratum that only shares.
fn shares(rows: u64) -> Vec<Vec<(&'static str, u64)>> {
    vec![vec![("share", rows)]]
}

// Known counts.

#[test]
fn the_rounds_of_a_closure_add_up() {
    for (threads, n) in [(1, 2), (1, 50), (2, 50), (2, 300)] {
        let mut session = session(threads);
        run(&mut session, &chain(n));
        let profile = profile(&mut session, "?path(X, Y)");
        let (edges, pairs) = (n - 1, n * (n - 1) / 2);
        // Every pair is once among the new rows, and goes on unless it ends at the last node.
        let longer = pairs - edges;
        assert_eq!(
            operators(&profile),
            [
                vec![
                    vec![("scan", edges), ("emit", edges)],
                    vec![("scan", pairs), ("probe", longer), ("emit", longer)],
                ],
                shares(pairs),
            ]
        );
        let stratum = &profile["strata"][0];
        assert_eq!(stratum["rounds"], json!(edges));
        assert_eq!(stratum["relations"], json!([{"name": "path", "measured_rows": pairs}]));
        assert_eq!(profile["answer"]["rows"], json!(pairs));
    }
}

#[test]
fn what_is_derived_again_reaches_the_head_but_is_not_new() {
    // A cycle of 7: each of the 49 pairs is derived by the recursive rule, 7 of them are known.
    let mut session = session(1);
    run(&mut session, &format!("+edge[(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 1)]\n{CLOSURE}"));
    let profile = profile(&mut session, "?path(X, Y)");
    assert_eq!(operators(&profile)[0][1], [("scan", 49), ("probe", 49), ("emit", 42)]);
    assert_eq!(profile["strata"][0]["rounds"], json!(7));
}

#[test]
fn a_join_multiplies_by_its_fan_out() {
    for threads in [1, 2] {
        // 20,000 orders of 100 customers, each of whom has 3 addresses; every second order is open.
        let mut session = session(threads);
        let orders: Vec<String> =
            (0..20_000).map(|n| format!("({n}, {}, {})", n % 100, n / 100 % 2)).collect();
        run(&mut session, &format!("+order[{}]", orders.join(", ")));
        let addresses: Vec<String> = (0..300).map(|n| format!("({}, {n})", n % 100)).collect();
        run(&mut session, &format!("+address[{}]\n+known[(0), (1)]", addresses.join(", ")));
        run(&mut session, "+pair(O, A) <- order(O, C, S), address(C, A), S = 1");
        run(&mut session, "+count(C, count<A>) <- order(O, C, S), address(C, A)");
        run(&mut session, "+stranger(O) <- order(O, C, S), !known(C)");
        run(&mut session, "+first(C, top_k<2, O:asc>) <- order(O, C, S)");
        let operators = |query: &str, session: &mut Session| {
            let profile = profile(session, query);
            let steps = operators(&profile).remove(0).remove(0);
            steps.into_iter().map(|(operator, rows)| (operator.to_owned(), rows)).collect::<Vec<_>>()
        };
        let wanted = |steps: &[(&str, u64)]| {
            steps.iter().map(|(operator, rows)| ((*operator).to_owned(), *rows)).collect::<Vec<_>>()
        };
        let pairs = operators("?pair(O, A)", &mut session);
        assert_eq!(pairs.last(), Some(&("emit".to_owned(), 30_000)), "{pairs:?}");
        assert!(pairs.contains(&("probe".to_owned(), 30_000)), "{pairs:?}");
        let counts = operators("?count(C, N)", &mut session);
        assert_eq!(counts[1..], wanted(&[("probe", 60_000), ("aggregate", 100)]));
        let strangers = operators("?stranger(O)", &mut session);
        assert_eq!(strangers, wanted(&[("scan", 20_000), ("antijoin", 19_600), ("emit", 19_600)]));
        let first = operators("?first(C, O)", &mut session);
        assert_eq!(first, wanted(&[("scan", 20_000), ("rank", 200)]));
    }
}

#[test]
fn a_recursion_that_walks_says_so() {
    for (nodes, switched) in [(10, false), (60, true)] {
        let mut session = session_with(1, Thresholds::default());
        run(&mut session, &chain(nodes));
        let profile = profile(&mut session, "?path(X, Y)");
        let stratum = &profile["strata"][0];
        assert_eq!(stratum["strategy"], json!({ "name": "walk", "column": 2 }));
        assert_eq!(stratum["switched"], json!(switched), "{nodes} nodes");
        assert_eq!(stratum["strategy_ms"].is_number(), switched);
        let rows = nodes * (nodes - 1) / 2;
        assert_eq!(stratum["relations"], json!([{ "name": "path", "measured_rows": rows }]));
        assert_eq!(profile["answer"]["rows"], json!(rows));
    }
}

#[test]
fn what_never_ran_was_not_measured() {
    let mut session = session_with(1, Thresholds::default());
    run(&mut session, &chain(10));
    let profile = profile(&mut session, "?path(1, Y)");
    let stratum =
        profile["strata"].as_array().and_then(|strata| strata.iter().find(|s| s["recursive"] == true));
    let stratum = stratum.expect("what is asked for is a recursion");
    assert_eq!((&stratum["switched"], &stratum["rounds"]), (&json!(true), &json!(0)), "{stratum}");
    let rules = stratum["rules"].as_array().expect("it has rules");
    let measured = |rule: &serde_json::Value| rule["steps"][0]["measured_rows"].is_number();
    assert!(rules.iter().any(|rule| rule["delta"].is_null() && measured(rule)), "{stratum}");
    assert!(rules.iter().all(|rule| rule["delta"].is_null() || !measured(rule)), "{stratum}");
}

#[test]
fn a_recursion_that_goes_on_in_parts_says_so_and_loses_no_row() {
    // Nearly every pair of a random graph is in its closure.
    let (nodes, mut seed) = (1_000_u64, 7_u64);
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % nodes
    };
    let edges: Vec<String> = (0..4 * nodes).map(|_| format!("({}, {})", next(), next())).collect();
    // A condition on both ends: this is no walk.
    let program = format!(
        "+edge[{}]\n+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z), X + Z >= 0",
        edges.join(", ")
    );
    let mut counts = Vec::new();
    for threads in [1, 2] {
        let mut session = session(threads);
        run(&mut session, &program);
        let profile = profile(&mut session, "?path(X, Y)");
        let Content::Rows(rows) = run(&mut session, "?path(X, Y)") else { panic!("a query answers rows") };
        let stratum = &profile["strata"][0];
        assert_eq!(stratum["strategy"], json!({ "name": "partitions", "column": 1 }));
        assert_eq!(stratum["switched"], json!(true));
        assert!(stratum["rounds"].as_u64() > Some(3), "{stratum}");
        assert_eq!(profile["answer"]["rows"], json!(rows.row_count()));
        let found = operators(&profile);
        // Every row was new once, from one rule or the other, and drove the recursive one.
        let new: u64 = found[0].iter().map(|rule| rule.last().expect("a head").1).sum();
        assert_eq!(new, rows.row_count() as u64);
        assert_eq!(found[0][1][0], ("scan", new));
        counts.push(format!("{found:?}"));
    }
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn products_beside_rounds_say_so_and_lose_no_row() {
    // What matches at both ends joins a chain of chains, of which each is closed.
    let edges =
        |step: u64, kind: u64| (0..900_u64).map(move |n| format!("({}, {}, {kind})", n, (n + step) % 900));
    let links: Vec<String> = (0..900).filter(|n| n % 30 != 0).map(|n| format!("({n}, {})", n + 1)).collect();
    let kinds: Vec<String> = edges(97, 1).chain(edges(55, 2)).step_by(11).collect();
    let program = format!(
        "+link[{}]\n+side[{}]\n+near(X, Y) <- link(X, Y)\n+near(X, Z) <- near(X, Y), near(Y, Z)\n\
         +near(X, Y) <- side(X, A, K), near(A, B), side(Y, B, K)",
        links.join(", "),
        kinds.join(", ")
    );
    let mut counts = Vec::new();
    for (thresholds, is_mixed) in [(Thresholds::rounds_alone(), false), (Thresholds::default(), true)] {
        let mut session = session_with(2, thresholds);
        run(&mut session, &program);
        let profile = profile(&mut session, "?near(X, Y)");
        let stratum = &profile["strata"][0];
        assert_eq!(stratum["switched"], json!(is_mixed), "{stratum}");
        assert_eq!(stratum["strategy"], json!({ "name": "mixed", "rules": 1 }));
        counts.push(profile["answer"]["rows"].clone());
    }
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn a_pair_is_searched_from_both_of_its_ends() {
    let mut session = session_with(1, Thresholds::default());
    run(&mut session, &chain(400));
    for (question, rows) in [("?path(3, 390)", 1), ("?path(390, 3)", 0)] {
        let profile = profile(&mut session, question);
        let strata = profile["strata"].as_array().expect("strata");
        let reached =
            strata.iter().find(|stratum| stratum["is_alternative"] == json!(true)).expect("a search");
        assert_eq!(reached["strategy"], json!({ "name": "both_ends" }), "{profile}");
        assert_eq!(reached["relations"][0]["measured_rows"], json!(rows), "{profile}");
        assert_eq!(profile["answer"]["rows"], json!(rows));
    }
}

#[test]
fn times_of_operators_lie_within_that_of_the_query() {
    let mut session = session(1);
    run(&mut session, &chain(400));
    let profile = profile(&mut session, "?path(X, Y)");
    let ms = |value: &Json| value["time_ms"].as_f64().expect("a time");
    let strata = profile["strata"].as_array().expect("strata");
    for stratum in strata {
        let rules = stratum["rules"].as_array().expect("rules").iter();
        let steps = rules.flat_map(|rule| rule["steps"].as_array().expect("steps"));
        let steps: f64 = steps.map(ms).sum();
        assert!(steps <= ms(stratum), "{steps} ms in {stratum}");
    }
    let inside: f64 = strata.iter().map(ms).sum();
    let total = ms(&profile["answer"]);
    assert!(0.0 < inside && inside <= total, "{inside} of {total} ms");
    // Most of a closure's time is in its operators, or nobody would learn where it goes.
    let steps = strata[0]["rules"][1]["steps"].as_array().expect("steps");
    assert!(steps.iter().map(ms).sum::<f64>() > 0.3 * ms(&strata[0]), "{}", strata[0]);
}

// As the query alone.

#[test]
fn a_profile_sees_what_the_query_sees() {
    let mut session = session(1);
    run(&mut session, "+edge[(1, 2), (2, 3)]\n+path(X, Y) <- edge(X, Y)");
    run(&mut session, "edge(3, 4)");
    run(&mut session, "path(X, Z) <- path(X, Y), edge(Y, Z)");
    assert_eq!(profile(&mut session, "?path(X, Y)")["answer"]["rows"], json!(6));
    assert_eq!(profile(&mut session, "?path(X:desc, Y), limit(2, 1)")["answer"]["rows"], json!(2));
    assert_eq!(profile(&mut session, "?path(X:desc, Y), limit(2, 1)")["answer"]["total"], json!(6));
    run(&mut session, ".session clear");
    assert_eq!(profile(&mut session, "?path(X, Y)")["answer"]["rows"], json!(2));
    // It writes nothing and leaves the session as it is.
    let prepared = session
        .prepare(".profile json ?path($from, X)", &Parameters::from([("from".to_owned(), Value::Int(1))]))
        .expect("the parameter is filled in");
    session.run(prepared, &RunOptions::default(), &Budget::unlimited()).expect("it runs");
}

#[test]
fn a_profile_warns_as_the_query_does() {
    let mut session = session(1);
    run(&mut session, "+big(9223372036854775807)\n+n(1)");
    for query in ["?big(X), Y = X + 1", "?big(X), n(Y)"] {
        let warnings = |program: &str, session: &mut Session| {
            let answer = try_run(session, program, &Budget::unlimited()).expect("it runs");
            answer.warnings.into_iter().map(|warning| warning.message).collect::<Vec<_>>()
        };
        let alone = warnings(query, &mut session);
        assert_eq!(alone.len(), 1, "{query}: {alone:?}");
        assert_eq!(warnings(&format!(".profile {query}"), &mut session), alone);
    }
}

#[test]
fn a_profile_is_stopped_as_the_query_is() {
    let mut session = session(2);
    run(&mut session, &chain(2_000));
    let program = ".profile ?path(X, Y)";
    let cancelled = Budget::unlimited();
    cancelled.cancel();
    let late = Budget::new(Some(Duration::from_millis(5)), u64::MAX);
    let small = Budget::new(None, 1 << 20);
    for (budget, code) in [(cancelled, Code::Cancelled), (late, Code::Timeout), (small, Code::LimitExceeded)]
    {
        let error = try_run(&mut session, program, &budget).expect_err("it is stopped");
        assert_eq!(error.diagnostics()[0].code, code);
    }
}

// Over the socket.

#[tokio::test]
async fn the_server_profiles_for_whoever_may_query() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows(&chain(20)).await;
    admin.rows(".user create ada lovelace viewer").await;
    admin.rows("edge(20, 21)").await;
    let told = |reply: Json| -> Json {
        let Shown::Text(text) = from_json(&reply[0][0]) else { panic!("{reply}") };
        serde_json::from_str(&text).expect("the plan is JSON")
    };
    let profile = told(admin.rows(".profile json ?path(X, Y)").await);
    assert_eq!(profile["answer"]["rows"], json!(210));
    assert_eq!(operators(&profile)[0][1], [("scan", 210), ("probe", 190), ("emit", 190)]);
    // The session's fact is the administrator's own.
    let mut ada = server.log_in_as("ada", "lovelace").await;
    assert_eq!(told(ada.rows(".profile json ?path(X, Y)").await)["answer"]["rows"], json!(190));
    let text = ada.rows(".profile ?path(20, X)").await;
    let last = text.as_array().and_then(|lines| lines.last()).expect("lines")[0].clone();
    assert!(last.as_str().is_some_and(|line| line.starts_with("answer: 0 rows, ")), "{last}");

    admin.rows(".session clear").await;
    admin.rows(&chain(3_000)).await;
    let reply = admin
        .ask(json!({"type": "execute", "program": ".profile ?edge(A, _), edge(B, _), edge(C, _)", "timeout_ms": 20, "id": 1}))
        .await;
    assert_eq!((&reply["type"], &reply["code"]), (&json!("error"), &json!("timeout")), "{reply}");
    admin.rows(".kg create closed").await;
    let mut ada = server.log_in_as("ada", "lovelace").await;
    let reply = ada.execute(".kg use closed\n.profile ?path(X, Y)").await;
    assert_eq!(reply["type"], "error", "{reply}");
}
