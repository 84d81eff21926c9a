//! The golden programs through the Rust client, as JSON and as Arrow, and through the command line: the same answers.
//! `python/tests/test_agreement.py` compares Python with the command line.

use std::path::Path;

use serde_json::Value as Json;
use stratalog_client::arrow::ipc::reader::StreamReader;
use stratalog_client::files::rows;
use stratalog_client::{Client, ClientError, Credentials, ExecuteOptions, Severity, Value, code_name};
use stratalog_tests::cli;
use stratalog_tests::golden::{self, Golden};
use stratalog_tests::server::{PASSWORD, Server};

/// The graph that programs begin in.
const GRAPH: &str = "golden";

/// What a program says.
#[derive(Debug, Clone, PartialEq)]
enum Said {
    /// Columns and rows.
    Rows(Vec<String>, Vec<String>),
    /// Codes, and the first lines of messages.
    Refused(Vec<(String, String)>),
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
        let ClientError::Refused(failure) = error else { panic!("{error}") };
        let error = |code, message: &str| {
            (code_name(code), message.lines().next().unwrap_or_default().trim_end().to_owned())
        };
        let errors = failure.diagnostics.iter().filter(|found| found.severity == Severity::Error);
        let errors: Vec<_> = errors.map(|found| error(found.code, &found.message)).collect();
        Said::Refused(if errors.is_empty() { vec![error(failure.code, &failure.message)] } else { errors })
    }
}

/// One of the ways to ask, with a server of its own: programs may create and drop graphs.
struct Way {
    server: Server,
    client: Client,
}

impl Way {
    async fn start() -> Way {
        let server = Server::start();
        let client = Client::connect(&server.url(), Credentials::password("admin", PASSWORD)).await.unwrap();
        Way { server, client }
    }

    /// A new graph, and none but it and the default one.
    async fn begin(&self) {
        let graphs = self.client.graphs();
        graphs.switch_to("default").await.unwrap();
        for old in graphs.all().await.unwrap().into_iter().filter(|old| old.name != "default") {
            graphs.drop(&old.name).await.unwrap();
        }
        graphs.create(GRAPH).await.unwrap();
    }
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

/// Programs with the same parameters in one call, which is one session. Answers are on standard output, errors on standard
/// error, each in their order; `expected` tells how many of them each program has.
fn by_command_line(
    server: &Server,
    key: &str,
    questions: &[(&str, Vec<(&str, &str)>)],
    expected: &[Said],
) -> Vec<Said> {
    let mut command = cli::at(server);
    // Checking a password would take its time.
    command.env("SERVICE_API_KEY", key).args(["--kg", GRAPH, "--format", "arrow", "-q", "-k"]);
    command.args(questions.iter().flat_map(|(program, _)| ["-c", program]));
    for (name, value) in questions.iter().take(1).flat_map(|(_, parameters)| parameters) {
        command.args(["--param", &format!("{name}={value}")]);
    }
    let output = command.output().expect("the command line runs");
    let err = String::from_utf8_lossy(&output.stderr);
    let mut errors = err.lines().filter_map(|line| line.strip_prefix("error[")?.split_once("]: "));
    let mut streams = output.stdout.as_slice();
    let next = |said: &Said| match said {
        Said::Rows(..) => {
            let reader = StreamReader::try_new(&mut streams, None)
                .unwrap_or_else(|error| panic!("{questions:?}: {error}\n{err}"));
            let columns = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
            let found: Vec<Vec<Value>> = reader.flat_map(|batch| rows(&batch.unwrap()).unwrap()).collect();
            Said::rows(columns, &found)
        }
        Said::Refused(of_program) => {
            let errors = errors.by_ref().take(of_program.len());
            Said::Refused(errors.map(|(code, message)| (code.to_owned(), message.to_owned())).collect())
        }
    };
    let said = expected.iter().map(next).collect();
    assert!(streams.is_empty() && errors.next().is_none(), "{questions:?}: {err}");
    said
}

/// What depends on when or how often something runs.
fn varies(program: &str) -> bool {
    let program = program.to_lowercase();
    [".profile", ".status", ".query", ".index", "time_now"].iter().any(|word| program.contains(word))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_golden_programs_say_the_same_in_every_way() {
    let (json, arrow, command_line) = (Way::start().await, Way::start().await, Way::start().await);
    let key = command_line.server.log_in().await.new_key("agreement").await;
    let mut compared = 0;
    for golden in &golden::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")) {
        for way in [&json, &arrow, &command_line] {
            way.begin().await;
        }
        let questions: Vec<_> = golden.questions().collect();
        let mut expected = Vec::new();
        for (program, parameters) in &questions {
            let said = as_json(&json.client, program, parameters).await;
            let found = as_arrow(&arrow.client, program, parameters).await;
            if !varies(program) {
                assert_eq!(found, said, "{}: as Arrow\n{program}", golden.name);
            }
            expected.push(said);
        }
        let mut found = Vec::new();
        for some in questions.chunk_by(|(_, one), (_, next)| one == next) {
            let expected = &expected[found.len()..][..some.len()];
            found.extend(by_command_line(&command_line.server, &key, some, expected));
        }
        for ((program, expected), found) in golden.programs().zip(expected).zip(found) {
            if !varies(program) {
                assert_eq!(found, expected, "{}: by the command line\n{program}", golden.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 700, "{compared}");
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
