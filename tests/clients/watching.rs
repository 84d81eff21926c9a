//! `stratalog watch`: the rows that come and go, and going on after an end.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use portable_pty::CommandBuilder;
use serde_json::{Value as Json, json};
use stratalog_tests::cli::{self, ok, run_at};
use stratalog_tests::prompt::Prompt;
use stratalog_tests::restarting::Restarting;
use stratalog_tests::server::Server;
use stratalog_tests::times::PATIENCE;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::Request;

const REACH: &str = "+edge(1, 2)\n+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)";

/// Somebody who watches, and what they see.
struct Watching {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(server: &Server, arguments: &[&str]) -> Watching {
        Watching::of(cli::at(server), arguments)
    }

    fn of(mut command: Command, arguments: &[&str]) -> Watching {
        command.arg("watch").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Watching { process, lines }
    }

    fn line(&mut self) -> String {
        match self.lines.next() {
            Some(line) => line.unwrap(),
            None => panic!("it has ended: {}", self.err()),
        }
    }

    /// So many lines of JSON, in any order, without their versions.
    fn changes(&mut self, count: usize) -> Vec<Json> {
        let mut changes: Vec<Json> = (0..count)
            .map(|_| {
                let mut change: Json = serde_json::from_str(&self.line()).unwrap();
                change.as_object_mut().unwrap().remove("version").expect("a version");
                change
            })
            .collect();
        changes.sort_by_key(Json::to_string);
        changes
    }

    /// Ends it with Ctrl-C; what it wrote to standard error.
    fn interrupt(mut self) -> String {
        Command::new("kill").args(["-INT", &self.process.id().to_string()]).status().unwrap();
        assert_eq!(self.process.wait().unwrap().code(), Some(130));
        self.err()
    }

    fn err(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut err) = self.process.stderr.take() {
            err.read_to_string(&mut text).unwrap();
        }
        text
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.process.kill(); // it may have ended
        let _ = self.process.wait();
    }
}

/// The token in what is said at the end.
fn token(err: &str) -> String {
    let (_, rest) = err.split_once("go on with --since ").unwrap_or_else(|| panic!("no token: {err}"));
    rest.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn it_tells_the_rows_that_come_and_go() {
    let server = Server::start();
    ok(&server, &["-c", REACH]);
    let mut watch = Watching::start(&server, &["?reach($from, X)", "--param", "from=1", "--format", "jsonl"]);
    assert_eq!(watch.line(), r#"{"change":"+","version":3,"A":1,"X":2}"#);
    ok(&server, &["-c", "+edge(2, 3)"]);
    assert_eq!(watch.line(), r#"{"change":"+","version":4,"A":1,"X":3}"#);
    ok(&server, &["-c", "+nothing_to_do_with_it(7)"]);
    ok(&server, &["-c", "-edge(1, 2)\n+edge(1, 9)"]);
    assert_eq!(
        watch.changes(3),
        [
            json!({"change": "+", "A": 1, "X": 9}),
            json!({"change": "-", "A": 1, "X": 2}),
            json!({"change": "-", "A": 1, "X": 3})
        ]
    );
    assert!(token(&watch.interrupt()).ends_with("@7"));
}

#[test]
fn formats_are_as_those_of_answers() {
    let server = Server::start();
    ok(&server, &["-c", "+n[(1), (2)]"]);
    let watched = |format: &str, first: &[&str], then: &[&str]| {
        let mut watch = Watching::start(&server, &["?n(X)", "--format", format]);
        first.iter().for_each(|line| assert_eq!(watch.line(), *line, "{format}"));
        ok(&server, &["-c", "-n(2)"]);
        then.iter().for_each(|line| assert_eq!(watch.line(), *line, "{format}"));
        ok(&server, &["-c", "+n(2)"]);
    };
    watched("csv", &["change,X", "+,1", "+,2"], &["-,2"]);
    watched("tsv", &["change\tX", "+\t1", "+\t2"], &["-\t2"]);
    watched(
        "line",
        &["change = +", "     X = 1", "", "change = +", "     X = 2"],
        &["change = -", "     X = 2"],
    );
    watched(
        "table",
        &["+--------+---+", "| change | X |", "+============+", "| +      | 1 |"],
        &[
            "| +      | 2 |",
            "+--------+---+",
            "+--------+---+",
            "| change | X |",
            "+============+",
            "| -      | 2 |",
        ],
    );
    for format in ["json", "parquet", "arrow", "nt", "ttl", "nq"] {
        let refused = run_at(&server, &["watch", "?n(X)", "--format", format, "-o", "/nonexistent/x"]);
        assert_eq!(refused.code, Some(1), "{format}: {}", refused.err);
    }
    let refused = run_at(&server, &["watch", "?n(X)", "--format", "nq"]);
    assert!(refused.err.contains("choose jsonl"), "{}", refused.err);
}

#[test]
fn columns_may_be_called_as_those_before_them() {
    let server = Server::start();
    ok(&server, &["-c", "+log(change: int, version: int, message: string)\n+log(1, 2, \"m\")"]);
    let mut watch = Watching::start(&server, &["?log(A, B, C)", "--format", "jsonl"]);
    assert_eq!(watch.line(), r#"{"change":"+","version":2,"change_2":1,"version_2":2,"message":"m"}"#);
    let mut watch = Watching::start(&server, &["?log(A, B, C)", "--format", "csv"]);
    assert_eq!([watch.line(), watch.line()], ["change,change,version,message", "+,1,2,m"]);
    // Nor does one become a message.
    ok(&server, &["-c", "+said(message: string)\n+said(\"m\")"]);
    let mut watch = Watching::start(&server, &["?said(X)", "--format", "line"]);
    assert_eq!([watch.line(), watch.line()], [" change = +", "message = m"]);
}

#[test]
fn a_time_goes_as_it_came_whatever_stands_beside_it() {
    let server = Server::start();
    ok(&server, &["-c", "+at(t\"2024-01-05\")"]);
    let mut watch = Watching::start(&server, &["?at(X)", "--format", "csv"]);
    assert_eq!([watch.line(), watch.line()], ["change,X", "+,2024-01-05T00:00:00Z"]);
    ok(&server, &["-c", "+at(\"late\")"]);
    assert_eq!(watch.line(), "+,late");
    ok(&server, &["-c", "-at(X) <- at(X), X != \"late\""]);
    assert_eq!(watch.line(), "-,2024-01-05T00:00:00Z");
}

#[test]
fn a_limit_holds_at_each_version() {
    let server = Server::start();
    ok(&server, &["-c", "+n[(1), (2), (3)]"]);
    let mut watch = Watching::start(&server, &["?n(X:desc)", "--limit", "2", "--format", "csv"]);
    assert_eq!([watch.line(), watch.line(), watch.line()], ["change,X", "+,2", "+,3"]);
    ok(&server, &["-c", "+n(4)"]);
    assert_eq!([watch.line(), watch.line()], ["-,2", "+,4"]);
}

#[test]
fn it_goes_on_after_an_end() {
    let server = Server::start();
    ok(&server, &["-c", REACH]);
    let mut watch = Watching::start(&server, &["?reach(1, X)", "--format", "csv"]);
    assert_eq!([watch.line(), watch.line()], ["change,A,X", "+,1,2"]);
    let since = token(&watch.interrupt());
    ok(&server, &["-c", "+edge(2, 3)"]);
    let arguments = ["?reach(1, X)", "--format", "csv", "--since", &since];
    let mut watch = Watching::start(&server, &arguments);
    assert_eq!([watch.line(), watch.line()], ["change,A,X", "+,1,3"]);
    ok(&server, &["-c", "-edge(1, 2)"]);
    assert_eq!([watch.line(), watch.line()], ["-,1,2", "-,1,3"]);
    let since = token(&watch.interrupt());
    // Where nothing is known of it, it is not begun anew in silence.
    let refused = run_at(&server, &["watch", "?reach(2, X)", "--since", &since]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("error[not_found]: what has changed since then"), "{}", refused.err);
    assert!(!refused.err.contains("--since"), "{}", refused.err);
    let wrong = run_at(&server, &["watch", "?reach(1, X)", "--since", "yesterday"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    assert!(wrong.err.contains("`yesterday` is no token"), "{}", wrong.err);
}

#[test]
fn a_file_keeps_the_place() {
    let server = Server::start();
    ok(&server, &["-c", REACH]);
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (place, out) = (path("place"), path("changes.csv"));
    let arguments = ["?reach(1, X)", "--token-file", &place, "-o", &out];
    fs::write(&place, "").unwrap(); // as `mktemp` leaves it
    let until = |text: &str| wait_for_file(&out, |found| found == text);
    let watch = Watching::start(&server, &arguments);
    until("change,A,X\n+,1,2\n");
    ok(&server, &["-c", "+edge(2, 3)"]);
    until("change,A,X\n+,1,2\n+,1,3\n");
    wait_for_file(&place, |token| token.ends_with("@4\n"));
    drop(watch); // it is killed
    ok(&server, &["-c", "+edge(3, 4)"]);
    let watch = Watching::start(&server, &arguments);
    until("change,A,X\n+,1,2\n+,1,3\n+,1,4\n");
    wait_for_file(&place, |token| token.ends_with("@5\n"));
    assert!(!watch.interrupt().contains("--since"), "the file has it");
    let both = ["watch", "?reach(1, X)", "--token-file", &place, "--since", "t@1"];
    assert_eq!(run_at(&server, &both).code, Some(2));
}

/// Waits until a file holds what it should.
fn wait_for_file(file: &str, is_there: impl Fn(&str) -> bool) {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if is_there(&text) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE * 2, "{file}: {text}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn after_a_restart_only_what_is_new_is_written() {
    let mut place = Restarting::start();
    ok(place.server(), &["-c", "+edge[(1, 2), (2, 3)]"]);
    let mut watch = Watching::start(place.server(), &["?edge(X, Y)", "--format", "jsonl"]);
    let row = |change: &str, x: i64, y: i64| json!({"change": change, "X": x, "Y": y});
    assert_eq!(watch.changes(2), [row("+", 1, 2), row("+", 2, 3)]);
    let since = {
        let mut other = Watching::start(place.server(), &["?edge(X, Y)", "--format", "csv"]);
        assert_eq!(other.line(), "change,X,Y");
        assert_eq!([other.line(), other.line()], ["+,1,2", "+,2,3"]);
        token(&other.interrupt())
    };
    let mut goes_on =
        Watching::start(place.server(), &["?edge(X, Y)", "--since", &since, "--format", "jsonl"]);
    ok(place.server(), &["-c", "+edge(5, 6)"]);
    assert_eq!(watch.changes(1), [row("+", 5, 6)]);
    assert_eq!(goes_on.changes(1), [row("+", 5, 6)]);
    place.restart();
    // Whoever is back before the next commit goes on, also who never saw all rows.
    let begun = Instant::now();
    while ok(place.server(), &["-c", ".live list", "--csv", "--no-header"]).split(',').nth(2) != Some("2") {
        assert!(begun.elapsed() < PATIENCE * 2, "they come back");
    }
    for (program, told) in [("-edge(1, 2)", row("-", 1, 2)), ("+edge(3, 4)", row("+", 3, 4))] {
        ok(place.server(), &["-c", program]);
        assert_eq!((watch.changes(1), goes_on.changes(1)), (vec![told.clone()], vec![told]));
    }
}

#[test]
fn who_never_saw_all_rows_does_not_pretend_to_know_what_is_new() {
    let mut place = Restarting::start();
    ok(place.server(), &["-c", "+edge(1, 2)"]);
    let since = {
        let mut other = Watching::start(place.server(), &["?edge(X, Y)", "--format", "csv"]);
        assert_eq!([other.line(), other.line()], ["change,X,Y", "+,1,2"]);
        token(&other.interrupt())
    };
    place.restart();
    ok(place.server(), &["-c", "+edge(3, 4)"]);
    // Another process does not know what was there before that.
    let mut late = Watching::start(place.server(), &["?edge(X, Y)", "--since", &since, "--format", "jsonl"]);
    assert!(late.lines.next().is_none());
    assert_eq!(late.process.wait().unwrap().code(), Some(1));
    assert!(late.err().contains("what has changed since then is not known any more"), "it says why");
}

#[test]
fn several_statements_are_asked_again_only_where_a_change_touches_the_answer() {
    let server = Server::start();
    ok(&server, &["-c", "+edge(1, 2)\n+log(0)\n+reach(X, Y) <- edge(X, Y)\n+other(X) <- log(X)"]);
    let key = ok(&server, &["key", "create", "metrics", "--csv", "--no-header"]);
    let bearer = format!("Authorization: Bearer {}\r\n", key.split(',').next().unwrap());
    let programs = || {
        let (_, _, body) = server.get_with("/metrics", &bearer);
        let body: Json = serde_json::from_str(&body).unwrap();
        body["data"]["query_count"].as_u64().unwrap()
    };
    let program = "from_one(X) <- reach(1, X)\n?from_one(X)";
    let mut watch = Watching::start(&server, &[program, "--format", "jsonl"]);
    assert_eq!(watch.line(), r#"{"change":"+","version":4,"X":2}"#);
    let before = programs();
    for n in 1..=5 {
        ok(&server, &["-c", &format!("+log({n})")]);
        ok(&server, &["-c", &format!("+other(X) <- log(X), X > {n}")]);
    }
    ok(&server, &["-c", "+edge(1, 3)"]);
    assert_eq!(watch.line(), r#"{"change":"+","version":15,"X":3}"#);
    // Eleven programs, and the one question that the last of them gave cause to.
    assert_eq!(programs() - before, 12);
    // What a new rule adds is depended on from then on.
    ok(&server, &["-c", "+reach(X, Y) <- bridge(X, Y)\n+bridge(1, 7)"]);
    assert_eq!(watch.changes(1), [json!({"change": "+", "X": 7})]);
    ok(&server, &["-c", "+bridge(1, 8)"]);
    assert_eq!(watch.changes(1), [json!({"change": "+", "X": 8})]);
    // There is nothing to go on with.
    assert!(!watch.interrupt().contains("--since"));
    let refused = run_at(&server, &["watch", program, "--since", "t@1"]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("error[not_live]"), "{}", refused.err);
}

#[test]
fn it_changes_nothing_and_keeps_up_with_steady_changes() {
    let server = Server::start();
    ok(&server, &["-c", "+n(0)"]);
    let refused = run_at(&server, &["watch", "+n(1)\n?n(X)"]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    // What is no program is told as such.
    for command in ["watch", "export"] {
        let more: &[&str] = if command == "export" { &["-"] } else { &[] };
        let refused = run_at(&server, &[&[command, "?n(X"], more].concat());
        assert_eq!(refused.code, Some(1), "{}", refused.err);
        assert!(refused.err.contains("error[parse_error]"), "{command}: {}", refused.err);
        assert!(
            refused.err.contains("1 | ?n(X") && !refused.err.contains("may change"),
            "{command}: {}",
            refused.err
        );
    }
    let folder = TempDir::new().unwrap();
    let program: String = (1..400).map(|n| format!("+n({n})\n")).collect();
    let programs: Vec<String> = (1..400).map(|n| format!("-c=+m({n})")).collect();
    for watched in ["?n(X)", "q(X) <- n(X)\n?q(X)"] {
        let file = folder.path().join("changes.csv").to_str().unwrap().to_owned();
        let watch = Watching::start(&server, &[watched, "-o", &file]);
        let mut writer = cli::at(&server).args(["-q", "-c", &program]).stdout(Stdio::null()).spawn().unwrap();
        let mut steady = cli::at(&server).args(&programs).stdout(Stdio::null()).spawn().unwrap();
        // Before the writers have ended, or after: in any case they do not keep the rows back for ever.
        wait_for_file(&file, |found| found.starts_with("change,X\n+,0\n+,1\n"));
        drop(watch);
        for process in [&mut writer, &mut steady] {
            process.wait().unwrap();
        }
        ok(&server, &["-q", "-c", "-n(X) <- n(X), X > 0"]);
    }
}

/// Stands before a server, and has never heard of `subscribe`.
async fn older(server: &Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (url, behind) = (format!("ws://{}/ws", listener.local_addr().unwrap()), server.address().to_owned());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let behind = behind.clone();
            tokio::spawn(async move {
                let mut path = String::new();
                #[allow(clippy::result_large_err, reason = "the signature is of the library")]
                let note = |request: &Request, response| {
                    path = request.uri().to_string();
                    Ok(response)
                };
                let client = tokio_tungstenite::accept_hdr_async(stream, note).await.unwrap();
                let (server, _) =
                    tokio_tungstenite::connect_async(format!("ws://{behind}{path}")).await.unwrap();
                let (mut to_client, from_client) = client.split();
                let (mut to_server, from_server) = server.split();
                let older = from_client.map(|message| match message {
                    Ok(Message::Text(text)) => Ok(Message::text(text.replace("\"subscribe\"", "\"follow\""))),
                    other => other,
                });
                tokio::select! {
                    _ = older.forward(&mut to_server) => {}
                    _ = from_server.forward(&mut to_client) => {}
                }
                let _ = to_client.close().await; // it may be gone
            });
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_live_queries_is_asked_again() {
    let server = Server::start();
    let url = older(&server).await;
    tokio::task::spawn_blocking(move || {
        ok(&server, &["-c", REACH]);
        let mut command = cli::at(&server);
        command.env("STRATALOG_URL", &url);
        let mut watch = Watching::of(command, &["?reach(1, X)", "--format", "jsonl"]);
        assert_eq!(watch.line(), r#"{"change":"+","version":3,"A":1,"X":2}"#);
        ok(&server, &["-c", "+edge(2, 3)"]);
        assert_eq!(watch.line(), r#"{"change":"+","version":4,"A":1,"X":3}"#);
        let err = watch.interrupt();
        assert!(err.contains("this server has no live queries"), "{err}");
        assert!(!err.contains("--since"), "{err}");
    })
    .await
    .unwrap();
}

#[test]
fn the_prompt_watches_until_ctrl_c_and_goes_on() {
    let server = Server::start();
    let prompt = Prompt::open(&server);
    prompt.type_line("+n(1)", "inserted 1 fact");
    let reads = prompt.reads();
    prompt.keys(".watch ?n(X)\r");
    prompt.wait("│ +      │ 1 │");
    ok(&server, &["-c", "-n(1)"]);
    prompt.wait("│ -      │ 1 │");
    prompt.keys("\u{3}");
    prompt.wait_for_reads(reads + 1);
    prompt.type_line("+n(2)", "inserted 1 fact");
    assert!(!prompt.seen().contains("--since"), "it has no such option: {}", prompt.seen());
    assert_eq!(prompt.end(), 0);
}

/// The demo's rules, as they stand there.
fn rules_of_the_demo() -> &'static str {
    let questions = include_str!("../../demo/questions.py");
    let (_, rest) = questions.split_once("RULES = \"\"\"\\\n").expect("the rules");
    rest.split_once("\"\"\"").expect("their end").0
}

/// Some packages, with the relations of the demo.
const PACKAGES: &str = "
+package(name: string, version: string, section: string, installed_kib: int, maintainer: string, source: string, priority: string)
+depends(package: string, on: string)
+provides(package: string, virtual: string)
+package[(\"gnome\", \"43\", \"gnome\", 1, \"d\", \"gnome\", \"optional\"), (\"gnome-core\", \"43\", \"gnome\", 2, \"d\", \"gnome\", \"optional\"),
  (\"gvfs\", \"1.50\", \"libs\", 3, \"d\", \"gvfs\", \"optional\"), (\"libglib\", \"2.74\", \"libs\", 4, \"d\", \"glib\", \"optional\"),
  (\"exim4\", \"4.96\", \"mail\", 5, \"d\", \"exim4\", \"optional\"), (\"postfix\", \"3.7\", \"mail\", 6, \"d\", \"postfix\", \"optional\"),
  (\"libssl\", \"3.0\", \"libs\", 7, \"d\", \"openssl\", \"optional\")]
+depends[(\"gnome\", \"gnome-core\"), (\"gnome-core\", \"gvfs\"), (\"gvfs\", \"libglib\"), (\"gnome\", \"mail-transport-agent\"),
  (\"postfix\", \"libssl\")]
+provides[(\"exim4\", \"mail-transport-agent\"), (\"postfix\", \"mail-transport-agent\")]
";

/// A package is taken out in one terminal, and the rows leave in another: those of what needed it, and of what was needed for it alone.
#[test]
fn in_one_terminal_a_package_goes_and_in_another_the_rows() {
    let server = Server::start();
    let done = cli::run(cli::at(&server), &["-q", "run", "-"], &format!("{PACKAGES}{}", rules_of_the_demo()));
    assert_eq!(done.code, Some(0), "{}", done.err);
    let known = cli::at(&server);
    let mut watch = CommandBuilder::new(known.get_program());
    watch.args(["watch", "?needs(\"gnome\", Package)"]);
    let watching = Prompt::run(&known, watch, Arc::new(TempDir::new().unwrap()), &[]);
    let is_told = |change: &'static str, package: &'static str| {
        move |screen: &str| {
            let row = [change, "gnome", package];
            screen.lines().any(|line| line.split('│').map(str::trim).filter(|cell| !cell.is_empty()).eq(row))
        }
    };
    for package in ["exim4", "gnome-core", "gvfs", "libglib"] {
        watching.wait_for(package, is_told("+", package));
    }
    assert!(!is_told("+", "libssl")(&watching.seen()), "{}", watching.seen());
    let typing = Prompt::open(&server);
    let take_out = |relation: &str, row: &str| {
        let begun = Instant::now();
        typing.type_line(&format!("-{relation}{row} <- {relation}{row}"), "");
        begun
    };
    let begun = take_out("package", "(\"gvfs\", V, S, K, M, O, P)");
    watching.wait_for("gvfs", is_told("-", "gvfs"));
    eprintln!("the row has left {:?} after the line was typed", begun.elapsed());
    watching.wait_for("libglib", is_told("-", "libglib"));
    typing.wait("deleted 1 fact from package");
    assert!(!is_told("-", "gnome-core")(&watching.seen()), "{}", watching.seen());
    // For what it provided another one stands in, which needs something itself.
    take_out("package", "(\"exim4\", V, S, K, M, O, P)");
    take_out("provides", "(\"exim4\", V)");
    watching.wait_for("exim4", is_told("-", "exim4"));
    for package in ["postfix", "libssl"] {
        watching.wait_for(package, is_told("+", package));
    }
    watching.keys("\u{3}");
    watching.wait("go on with --since ");
    assert_eq!(typing.end(), 0);
}
