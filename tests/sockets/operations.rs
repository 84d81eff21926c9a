//! What an operator sees: the configuration, the log, probes, and the end. Against the real executable.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, Frame, Server};
use tempfile::TempDir;

/// Runs the executable to its end.
fn run(arguments: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let executable = std::env::var("STRATALOG_SERVER").unwrap_or_else(|_| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/stratalog-server");
        path.to_string_lossy().into_owned()
    });
    let output = Command::new(executable).args(arguments).envs(variables.iter().copied()).output();
    let output = output.expect("the server runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_configuration_tells_where_each_value_is_from() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("server.toml");
    std::fs::write(&file, "[http]\nhost = \"0.0.0.0\"\nport = 9000\n[limits]\nthreads = 3\n")
        .expect("written");
    let file = file.to_string_lossy().into_owned();
    let (code, text, problems) = run(
        &["--print-config", &file, "--port", "9002"],
        &[("SERVICE_LIMITS__THREADS", "2"), ("SERVICE_ADMIN_PASSWORD", "hush-hush")],
    );
    assert_eq!((code, problems.as_str()), (Some(0), ""));
    let found: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in [
        "http.host = \"0.0.0.0\" # file",
        "http.port = 9002 # flag",
        "limits.threads = 2 # environment",
        "http.auth.bootstrap_admin_password = \"******\" # environment",
        "logging.level = \"info\" # default",
    ] {
        assert!(found.iter().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("hush"));
}

#[test]
fn an_unknown_variable_or_key_is_refused_with_the_nearest() {
    let (code, text, problem) = run(&["--print-config"], &[("SERVICE_HTTP__PROT", "1")]);
    assert_eq!((code, text.as_str()), (Some(2), ""));
    assert_eq!(
        problem,
        "stratalog-server: unknown environment variable `SERVICE_HTTP__PROT`; did you mean `SERVICE_HTTP__PORT`?\n"
    );
}

#[tokio::test]
async fn settings_of_a_cluster_count_for_nothing_where_there_is_none_and_that_is_told() {
    const TOLD: &str = "the settings of `cluster` count in `stratalog-cluster server`";
    let server = Server::start_with(&[("SERVICE_CLUSTER__OVER_BYTES", "1000")]);
    server.until("a warning", || server.log().contains(TOLD)).await;
    // It serves all the same.
    let mut admin = server.log_in().await;
    admin.rows("+n(1)").await;
    assert_eq!(admin.rows("?n(X)").await, json!([[1]]));
    let silent = Server::start();
    silent.log_in().await;
    assert!(!silent.log().contains(TOLD), "{}", silent.log());
}

/// The lines of a JSON log.
fn lines(server: &Server) -> Vec<Json> {
    server.log().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[tokio::test]
async fn a_slow_query_is_logged_with_request_session_user_and_graph() {
    let server =
        Server::start_with(&[("SERVICE_LOGGING__FORMAT", "json"), ("SERVICE_LOGGING__SLOW_QUERY_MS", "100")]);
    let mut admin = server.log_in().await;
    admin.rows(".kg create lab").await;
    admin.rows("+n(0)").await;
    admin.rows("+n(Y) <- n(X), Y = X + 1").await;
    let reply = admin.ask(json!({"type": "execute", "program": "?n(X)", "timeout_ms": 200})).await;
    assert_eq!(reply["code"], "timeout");
    let mut slow = Vec::new();
    for _ in 0..100 {
        slow = lines(&server).into_iter().filter(|line| line["target"] == "stratalog_server::slow").collect();
        if !slow.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let [slow] = slow.as_slice() else { panic!("one slow query, not {slow:?}") };
    assert_eq!((&slow["level"], &slow["fields"]["program"]), (&json!("WARN"), &json!("?n(X)")));
    assert!(slow["fields"]["elapsed_ms"].as_u64().is_some_and(|ms| (200..5000).contains(&ms)), "{slow}");
    let span = &slow["span"];
    assert_eq!(
        (&span["name"], &span["user"], &span["graph"]),
        (&json!("request"), &json!("admin"), &json!("lab"))
    );
    assert!(span["request"].as_u64().is_some_and(|number| number >= 4), "{span}");
    assert!(span["session"].as_str().is_some_and(|session| session.len() == 36), "{span}");
}

/// Starts a request that would never end.
async fn run_endlessly(connection: &mut Connection) {
    connection.rows("+n(0)").await;
    connection.rows("+n(Y) <- n(X), Y = X + 1").await;
    connection.send_json(json!({"type": "execute", "program": "?n(X)", "id": 1})).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
}

#[tokio::test]
async fn a_server_that_stops_is_alive_and_not_ready_until_its_requests_have_ended() {
    let mut server = Server::start_with(&[("SERVICE_HTTP__SHUTDOWN_GRACE_MS", "1500")]);
    let mut connection = server.log_in().await;
    run_endlessly(&mut connection).await;
    assert_eq!(server.get("/ready").0, 200);
    server.terminate();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!((server.get("/live").0, server.get("/ready").0, server.get("/v1/ready").0), (200, 503, 503));
    let (status, _, body) = server.get("/metrics");
    let body: Json = serde_json::from_str(&body).expect("JSON");
    assert_eq!((status, &body["error"]["code"]), (503, &json!("SERVICE_UNAVAILABLE")));
    assert!(server.connect_to("/ws").await.is_err());
    // What has not ended by then is cancelled, told so, and only then is the connection closed.
    let reply = connection.receive_json().await;
    assert_eq!((&reply["code"], &reply["id"]), (&json!("cancelled"), &json!(1)), "{reply}");
    assert_eq!(connection.receive().await, Frame::Closed(Some(1001)));
    drop(connection);
    assert_eq!(server.wait(), Some(0));
}

#[tokio::test]
async fn requests_that_run_may_end_and_everything_is_checkpointed() {
    let folder = TempDir::new().expect("a folder");
    let mut server = Server::start_in(folder.path(), &[]);
    let mut connection = server.log_in().await;
    connection.rows("+edge[(1,2),(2,3)]").await;
    // It ends by itself, with its own limit, well within the grace.
    connection.rows("+n(0)").await;
    connection.rows("+n(Y) <- n(X), Y = X + 1").await;
    connection.send_json(json!({"type": "execute", "program": "?n(X)", "timeout_ms": 700})).await;
    connection.send_json(json!({"type": "execute", "program": "+edge(3,4)"})).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.terminate();
    assert_eq!(connection.receive_json().await["code"], "timeout");
    assert_eq!(connection.receive_json().await["type"], "result");
    assert_eq!(connection.receive().await, Frame::Closed(Some(1001)));
    drop(connection);
    assert_eq!(server.wait(), Some(0));
    let mut sealed = Vec::new();
    find(folder.path(), &mut sealed);
    assert!(sealed.iter().any(|name| name.starts_with("edge-") && name.ends_with(".parquet")), "{sealed:?}");
    let server = Server::start_in(folder.path(), &[]);
    assert_eq!(server.log_in().await.rows("?edge(X, Y)").await, json!([[1, 2], [2, 3], [3, 4]]));
}

/// The names of all files below a folder.
fn find(folder: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        if entry.path().is_dir() {
            find(&entry.path(), names);
        } else {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
}

#[test]
fn a_probe_tells_whether_a_server_is_ready() {
    let server = Server::start();
    let port = server.address().rsplit(':').next().expect("a port").to_owned();
    // As in a container, where the server listens on all addresses.
    let probe =
        |port: &str| run(&["probe"], &[("SERVICE_HTTP__PORT", port), ("SERVICE_HTTP__HOST", "0.0.0.0")]);
    let (code, _, told) = probe(&port);
    assert_eq!((code, told.as_str()), (Some(0), "stratalog-server: ready\n"));
    drop(server);
    let (code, _, told) = probe(&port);
    assert_eq!(code, Some(1));
    assert!(told.contains("no answer from 127.0.0.1:"), "{told}");
}
