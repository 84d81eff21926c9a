//! The golden programs through the Rust client, as JSON and as Arrow, and through the command line: the same answers.
//! `python/tests/test_agreement.py` compares Python with the command line.

use std::path::Path;

use serde_json::Value as Json;
use stratalog_client::arrow::ipc::reader::StreamReader;
use stratalog_client::files::rows;
use stratalog_client::{Client, ClientError, Credentials, ExecuteOptions, Value, code_name};
use stratalog_tests::cli;
use stratalog_tests::golden::{self, Golden};
use stratalog_tests::server::{PASSWORD, Server};

/// What a program says: columns and rows, or codes and messages.
#[derive(Debug, PartialEq)]
enum Said {
    Rows(Vec<String>, Vec<String>),
    Refused(String, String),
}

impl Said {
    /// Rows in an order of their own, as a query without an order has none.
    fn rows(columns: Vec<String>, rows: &[Vec<Value>]) -> Said {
        let text = |row: &Vec<Value>| serde_json::to_string(row).expect("values are JSON");
        let mut rows: Vec<String> = rows.iter().map(text).collect();
        rows.sort();
        Said::Rows(columns, rows)
    }

    fn refused(error: &ClientError) -> Said {
        match error {
            ClientError::Refused(failure) => Said::Refused(code_name(failure.code), failure.message.clone()),
            other => panic!("{other}"),
        }
    }
}

async fn client(server: &Server, graph: &str) -> Client {
    let client = Client::connect(&server.url(), Credentials::password("admin", PASSWORD)).await.unwrap();
    client.execute(&format!(".kg create {graph}"), ExecuteOptions::default()).await.unwrap();
    client
}

fn options(parameters: &[(&str, &str)]) -> ExecuteOptions {
    parameters.iter().fold(ExecuteOptions::default(), |options, (name, value)| {
        let value: Value = serde_json::from_str(value).expect("a parameter is JSON");
        options.param(*name, value)
    })
}

async fn as_json(client: &Client, program: &str, parameters: &[(&str, &str)]) -> Said {
    match client.execute(program, options(parameters)).await {
        Ok(answer) => Said::rows(answer.columns, &answer.rows),
        Err(error) => Said::refused(&error),
    }
}

async fn as_arrow(client: &Client, program: &str, parameters: &[(&str, &str)]) -> Said {
    let mut batches = match client.stream(program, options(parameters)).await {
        Ok(batches) => batches,
        Err(error) => return Said::refused(&error),
    };
    let columns = batches.header().columns.clone();
    let mut found = Vec::new();
    while let Some(batch) = batches.next().await.expect("the stream is whole") {
        found.extend(rows(&batch).expect("every type has values"));
    }
    Said::rows(columns, &found)
}

/// With an API key, as checking a password takes its time.
fn by_command_line(
    server: &Server,
    key: &str,
    graph: &str,
    program: &str,
    parameters: &[(&str, &str)],
) -> Said {
    let mut command = cli::at(server);
    command.env("SERVICE_API_KEY", key);
    command.args(["--kg", graph, "--format", "arrow", "-q", "-c", program]);
    for (name, value) in parameters {
        command.args(["--param", &format!("{name}={value}")]);
    }
    let output = command.output().expect("the command line runs");
    if !output.status.success() {
        let err = String::from_utf8_lossy(&output.stderr);
        let first =
            err.lines().find_map(|line| line.strip_prefix("error[")).unwrap_or_else(|| panic!("{err}"));
        let (code, message) = first.split_once("]: ").expect("a code and a message");
        return Said::Refused(code.to_owned(), message.to_owned());
    }
    let reader = StreamReader::try_new(output.stdout.as_slice(), None).expect("an Arrow stream");
    let columns = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    let found: Vec<Vec<Value>> = reader.flat_map(|batch| rows(&batch.unwrap()).unwrap()).collect();
    Said::rows(columns, &found)
}

/// What depends on when, where or how often something runs.
fn varies(program: &str) -> bool {
    let program = program.to_lowercase();
    let words = [".profile", ".status", ".session", ".query", "time_now", ".kg"];
    words.iter().any(|word| program.contains(word))
}

/// Facts or rules that a session keeps: each call of the command line is a session of its own.
fn needs_its_session(golden: &Golden) -> bool {
    golden.programs().any(|program| {
        let mut lines = program.lines();
        let of_session = lines
            .clone()
            .any(|line| line.starts_with(|c: char| c.is_alphabetic()) && !line.starts_with("type "));
        of_session && !lines.any(|line| line.starts_with('?'))
            || program.contains(".session")
            || program.contains(".kg")
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_golden_programs_say_the_same_in_every_way() {
    let server = Server::start();
    let key = server.log_in().await.new_key("agreement").await;
    let mut compared = (0, 0);
    for (number, golden) in
        golden::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")).iter().enumerate()
    {
        // Graphs are of all ways at once.
        if golden.programs().any(|program| program.to_lowercase().contains(".kg")) {
            continue;
        }
        let (json, arrow) = (
            client(&server, &format!("json{number}")).await,
            client(&server, &format!("arrow{number}")).await,
        );
        let graph = format!("cli{number}");
        drop(client(&server, &graph).await);
        let with_command_line = !needs_its_session(golden);
        for (program, parameters) in golden.questions() {
            let expected = as_json(&json, program, &parameters).await;
            let found = as_arrow(&arrow, program, &parameters).await;
            if !varies(program) {
                assert_eq!(found, expected, "{}: as Arrow\n{program}", golden.name);
                compared.0 += 1;
            }
            if with_command_line {
                let found = by_command_line(&server, &key, &graph, program, &parameters);
                if !varies(program) {
                    assert_eq!(found, shortened(expected), "{}: by the command line\n{program}", golden.name);
                    compared.1 += 1;
                }
            }
        }
        for graph in ["json", "arrow", "cli"].map(|way| format!("{way}{number}")) {
            let drop = format!(".kg use default\n.kg drop {graph}");
            json.execute(&drop, ExecuteOptions::default()).await.unwrap();
        }
    }
    assert!(compared.0 > 500 && compared.1 > 200, "{compared:?}");
}

/// As an error shows: the first line of its message.
fn shortened(said: Said) -> Said {
    match said {
        Said::Refused(code, message) => {
            Said::Refused(code, message.lines().next().unwrap_or_default().trim_end().to_owned())
        }
        rows => rows,
    }
}

#[test]
fn parameters_are_read_as_they_are_written() {
    let files = golden::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden"));
    let parameters: Vec<(&str, &str)> =
        files.iter().flat_map(Golden::questions).flat_map(|(_, parameters)| parameters).collect();
    assert!(!parameters.is_empty());
    assert!(
        parameters
            .iter()
            .all(|(name, value)| !name.is_empty() && serde_json::from_str::<Json>(value).is_ok()),
        "{parameters:?}"
    );
}
