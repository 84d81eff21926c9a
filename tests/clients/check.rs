//! `stratalog check` as people and scripts call it; and one diagnostic on its three ways: to the socket as JSON, to the
//! terminal, and to Python (`python/tests/test_errors.py` reads the same program).

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value as Json, json};
use stratalog_client::{Client, Credentials, ExecuteOptions};
use stratalog_tests::cli;
use stratalog_tests::server::{PASSWORD, Server};
use tempfile::TempDir;

/// What goes wrong with `misspelt.dl` is the same everywhere.
const MISSPELT: &str = include_str!("../check/misspelt.dl");

/// Runs `stratalog check` in a folder that holds these files, with some standard input.
fn check(files: &[(&str, &str)], arguments: &[&str], input: &str) -> Output {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("the file is written");
    }
    let mut process = cli::command()
        .arg("check")
        .args(arguments)
        .current_dir(folder.path())
        // Where a server should be, nobody listens: nothing is run.
        .env("STRATALOG_URL", "ws://127.0.0.1:1/ws")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command line starts");
    let mut stdin = process.stdin.take().expect("standard input is piped");
    // Where it reads no standard input, it may have ended already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    process.wait_with_output().expect("the command line ends")
}

fn status(output: &Output) -> Option<i32> {
    output.status.code()
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("standard output is UTF-8")
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("standard error is UTF-8")
}

#[test]
fn a_program_without_faults_is_silent_and_fine() {
    let program = "+edge[(1, 2), (2, 3)]\n+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)\n\
        ?path(1, X), X > $low\n.rel";
    let output = check(&[("good.dl", program)], &["good.dl"], "");
    assert_eq!((status(&output), out(&output), err(&output)), (Some(0), "", ""));
}

#[test]
fn a_parameter_may_stand_wherever_a_server_takes_one_and_an_index_that_is_made_above_is_known() {
    let program = "+sale(region: string, amount: int)\n+doc(id: int, v: vector(2))\n.index create near on doc(v)\n\
        .rel add doc title string\n\
        +q(R, quantile<A, $p>) <- sale(R, A)\n+s(string_agg<R, $s>) <- sale(R, _)\n\
        +t(R, top_k<$k, A:desc>) <- sale(R, A)\n+u(R, top_k_threshold<$k, $t, A:desc>) <- sale(R, A)\n\
        +r(R, rrf<A, $o>) <- sale(R, A)\n+n(Id, T) <- hnsw_nearest(\"near\", $v, $k, Id, _), doc(Id, _, T)\n\
        +w(R) <- sale(R, A), A in $ids\n+d(R) <- sale(R, _), regex_match(R, $pattern)";
    let output = check(&[("good.dl", program)], &["good.dl"], "");
    assert_eq!((status(&output), out(&output), err(&output)), (Some(0), "", ""));
}

#[test]
fn errors_show_their_line_with_a_caret_on_standard_error() {
    let output = check(&[("bad.dl", "+edge(1, 2)\n?edgee(X, Y)\n")], &["bad.dl"], "");
    assert_eq!((status(&output), out(&output)), (Some(1), ""));
    assert_eq!(
        err(&output),
        "error[unknown_relation]: there is no relation `edgee`\n\
         \x20--> bad.dl:2:2\n\
         \x20 |\n\
         2 | ?edgee(X, Y)\n\
         \x20 |  ^^^^^\n\
         \x20 |\n\
         \x20 = help: did you mean `edge`?\n"
    );
}

#[test]
fn commands_of_the_server_are_accepted_and_misspelt_ones_are_not() {
    let output = check(&[("people.dl", ".user list\n.kg acl list\n.apikey list\n")], &["people.dl"], "");
    assert_eq!((status(&output), out(&output), err(&output)), (Some(0), "", ""));
    let output = check(&[("people.dl", ".user list\n.usr list\n")], &["people.dl"], "");
    assert_eq!((status(&output), out(&output)), (Some(1), ""));
    assert!(err(&output).contains("--> people.dl:2:2\n"), "{}", err(&output));
}

#[test]
fn the_query_of_a_command_is_judged_as_a_query() {
    let program = "+edge(1, 2)\n.explain ?edge(X, $to)\n.explain ?edgee(X, Y)\n";
    let output = check(&[("plan.dl", program)], &["plan.dl"], "");
    assert_eq!((status(&output), out(&output)), (Some(1), ""));
    assert!(err(&output).contains("--> plan.dl:3:11\n"), "{}", err(&output));
}

#[test]
fn warnings_alone_are_no_failure() {
    let output = check(&[("odd.dl", "+e(1, 2)\n+p(X) <- e(X, Y)\n")], &["odd.dl"], "");
    assert_eq!((status(&output), out(&output)), (Some(0), ""));
    assert!(err(&output).starts_with("warning[unused_variable]: "), "{}", err(&output));
    assert!(err(&output).contains("2 | +p(X) <- e(X, Y)\n  |               ^\n"), "{}", err(&output));
}

#[test]
fn every_fault_of_a_program_is_told() {
    let program = "+e(1, 2)\n+p(X, Z) <- e(X, _), !e(W, X)\n?q(X), e(X)\n?e(X, Y), Z = lenn(X)\n.rule lst\n";
    let output = check(&[("all.dl", program)], &["--format", "json", "all.dl"], "");
    assert_eq!((status(&output), err(&output)), (Some(1), ""));
    let found: Json = serde_json::from_str(out(&output)).expect("JSON");
    let places: Vec<Json> = found
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| json!([one["code"], one["span"]["line"], one["span"]["column"], one["span"]["length"]]))
        .collect();
    assert_eq!(
        places,
        [
            json!(["unsafe_rule", 2, 25, 1]),
            json!(["unsafe_rule", 2, 7, 1]),
            json!(["unknown_relation", 3, 2, 1]),
            json!(["arity_mismatch", 3, 8, 4]),
            json!(["unknown_function", 4, 15, 4]),
        ]
    );
    assert!(found.as_array().is_some_and(|all| all.iter().all(|one| one["help"].is_string())), "{found}");
}

#[test]
fn a_text_that_does_not_parse_is_judged_by_its_text_alone() {
    let output = check(&[("text.dl", "+a(1\n?nothing(X)\n+b(x)\n")], &["text.dl"], "");
    assert_eq!(status(&output), Some(1));
    let errors = err(&output).matches("error[parse_error]").count();
    assert_eq!((errors, err(&output).matches("error[").count()), (2, 2), "{}", err(&output));
}

#[test]
fn several_files_each_stand_for_themselves() {
    let files = [("one.dl", "+e(1)\n"), ("two.dl", "?e(X)\n"), ("three.dl", "?e(X\n")];
    let output = check(&files, &["--format", "jsonl", "one.dl", "two.dl", "three.dl"], "");
    assert_eq!(status(&output), Some(1));
    let found = out(&output).lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let found: Vec<(String, String)> = found
        .map(|one: Json| {
            (one["file"].as_str().unwrap_or("").into(), one["code"].as_str().unwrap_or("").into())
        })
        .collect();
    let pair = |file: &str, code: &str| (file.to_owned(), code.to_owned());
    assert_eq!(found, [pair("two.dl", "unknown_relation"), pair("three.dl", "parse_error")]);
}

#[test]
fn a_dash_reads_standard_input() {
    let output = check(&[], &["-"], "+e(1)\n?f(X)\n");
    assert_eq!(status(&output), Some(1));
    assert!(err(&output).contains("--> <stdin>:2:2"), "{}", err(&output));
    let output = check(&[], &["-"], "+e(1)\n?e(X)\n");
    assert_eq!((status(&output), err(&output)), (Some(0), ""));
}

#[test]
fn what_cannot_be_read_is_another_status() {
    let output = check(&[], &["missing.dl"], "");
    assert_eq!(status(&output), Some(2));
    assert!(err(&output).contains("missing.dl"), "{}", err(&output));
    assert_eq!(status(&check(&[], &[], "")), Some(2));
}

#[test]
fn what_is_about_a_database_names_one() {
    for option in ["--kg=lab", "--user=ada", "--password-file=word", "--api-key=k"] {
        let output = check(&[("a.dl", "?e(X)\n")], &["a.dl", option], "");
        assert_eq!(status(&output), Some(2), "{option}");
        let name = option.split('=').next().unwrap();
        assert!(err(&output).contains(&format!("{name} is about a database")), "{}", err(&output));
    }
}

#[test]
fn nothing_is_run() {
    // It would take forever.
    let endless = "+n(0)\n+n(Y) <- n(X), Y = X + 1\n?n(X)\n-n(X) <- n(X)\n";
    let output = check(&[("endless.dl", endless)], &["endless.dl"], "");
    assert_eq!((status(&output), err(&output)), (Some(0), ""));
}

/// Checks a program where it would run.
fn check_on(server: &Server, program: &str) -> Output {
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("a.dl"), program).expect("the file is written");
    let mut command = cli::command();
    command.args(["--url", &server.url(), "--user", "admin", "check", "a.dl"]).current_dir(folder.path());
    command.env("STRATALOG_PASSWORD", PASSWORD).output().expect("the command line runs")
}

#[tokio::test]
async fn on_a_server_it_is_judged_by_what_is_there_and_nothing_is_run() {
    let server = Server::start();
    let credentials = Credentials::password("admin", PASSWORD);
    let client = Client::connect(&server.url(), credentials).await.expect("a connection");
    let before = "+edge(a: int, b: int)\n+edge(1, 2)\n+path(X, Y) <- edge(X, Y)\n\
        .index create by_a on edge(a) type sorted";
    client.execute(before, ExecuteOptions::default()).await.expect("a graph");
    let good = "?path(1, X), X > $low\n+path(X, Z) <- path(X, Y), edge(Y, Z)\n+edge(5, 6)\n-edge(1, 2)\n\
        .index drop by_a\n.user list";
    let output = check_on(&server, good);
    assert_eq!((status(&output), out(&output), err(&output)), (Some(0), "", ""));
    let bad = "+edge(1, \"x\")\n?path(X)\n?pth(X, Y)\n+new(1, 2)\n?new(X)\n.usr list";
    let output = check_on(&server, bad);
    assert_eq!(status(&output), Some(1));
    let places: Vec<&str> = err(&output).lines().filter(|line| line.contains("-->")).map(str::trim).collect();
    let expected = ["--> a.dl:1:10", "--> a.dl:2:2", "--> a.dl:3:2", "--> a.dl:5:2", "--> a.dl:6:2"];
    assert_eq!(places, expected, "{}", err(&output));
    // Nothing of all that has happened, and what the session has counts.
    let rows = client.execute("?edge(X, Y)", ExecuteOptions::default()).await.expect("an answer").rows;
    assert_eq!(rows.len(), 1);
    assert_eq!(client.check("?own(X)").await.expect("checked").len(), 1);
    client.execute("own(1)", ExecuteOptions::default()).await.expect("a fact of the session");
    assert_eq!(client.check("?own(X)").await.expect("checked"), []);
    let found = client.check("?owm(X)").await.expect("checked");
    assert_eq!(found[0].fixes.iter().map(|fix| fix.text.as_str()).collect::<Vec<_>>(), ["own"]);
}

#[test]
fn a_server_that_is_not_there_is_no_fault_of_the_program() {
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("a.dl"), "?p(X)").expect("the file is written");
    let mut command = cli::command();
    command.args(["check", "a.dl", "--url", "ws://127.0.0.1:1/ws", "--user", "admin"]);
    command.env("STRATALOG_PASSWORD", PASSWORD).current_dir(folder.path());
    let output = command.output().expect("the command line runs");
    assert_eq!(status(&output), Some(3), "{}", err(&output));
}

// The same diagnostic everywhere.

#[test]
fn the_terminal_shows_the_line_the_places_and_the_help() {
    let output = check(&[("misspelt.dl", MISSPELT)], &["misspelt.dl"], "");
    assert_eq!(status(&output), Some(1));
    assert_eq!(
        err(&output),
        "error[unknown_relation]: there is no relation `edgs`\n\
         \x20--> misspelt.dl:3:14\n\
         \x20 |\n\
         3 | ?edge(X, Y), edgs(Y, \"漢\"), Z = sqr(X)\n\
         \x20 |              ^^^^\n\
         \x20 |\n\
         \x20 = help: did you mean `edge`?\n\
         \n\
         error[unknown_function]: there is no function `sqr`\n\
         \x20--> misspelt.dl:3:32\n\
         \x20 |\n\
         3 | ?edge(X, Y), edgs(Y, \"漢\"), Z = sqr(X)\n\
         \x20 |                                 ^^^\n\
         \x20 |\n\
         \x20 = help: did you mean `sqrt`?\n"
    );
}

#[tokio::test]
async fn the_socket_sends_the_same_as_json() {
    let server = Server::start();
    let reply = server.log_in().await.execute(MISSPELT).await;
    let relation = json!({"line": 3, "column": 14, "length": 4, "offset": 75});
    let function = json!({"line": 3, "column": 32, "length": 3, "offset": 95});
    assert_eq!(
        reply,
        json!({
            "type": "error", "code": "unknown_relation", "message": "there is no relation `edgs`",
            "help": "did you mean `edge`?", "span": relation, "statement_index": 1,
            "diagnostics": [
                {
                    "severity": "error", "code": "unknown_relation", "message": "there is no relation `edgs`",
                    "help": "did you mean `edge`?", "span": relation,
                    "fixes": [{"span": relation, "text": "edge"}]
                },
                {
                    "severity": "error", "code": "unknown_function", "message": "there is no function `sqr`",
                    "help": "did you mean `sqrt`?", "span": function,
                    "fixes": [{"span": function, "text": "sqrt"}]
                }
            ]
        })
    );
}
