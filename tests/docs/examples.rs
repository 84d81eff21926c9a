//! The examples of the documentation, run on the engine as they stand.
//!
//! ````text
//! ```stratalog            a program; the blocks of one page run one after the other in one session
//! ?edge($from, X)
//! ```
//! ```json                 its parameters, if it has any
//! {"from": 1}
//! ```
//! ```text                 its answer
//! 1 | X
//! 1 | 2
//! ```
//! ````
//!
//! An answer is the column names and then the rows (sorted, unless the program is a command or asks for an order), the
//! lines of a plan as they are (with any times), messages (`: text`), or errors (`! code: message`, and `  help: text` below). Warnings (`~ code: message`) and
//! `(2 of 9 rows)` follow. Messages, help and the text after a code may be left out; a program without an answer must
//! not fail. After `stratalog` may stand `fresh` (a new engine), a limit such as `timeout_ms=0`, or `cancelled`.
//! `UPDATE_DOCS=1` writes the answers that the engine gives now into the pages, and those pages that are made from lists.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value as Json;
use stratalog_engine::functions::{self, FAMILIES, ScalarFunction};
use stratalog_engine::{
    Budget, Content, Diagnostic, Engine, EngineOptions, Error, Parameters, Rows, RunOptions, Session, Value,
};
use stratalog_tests::answers::rows_of;
use stratalog_tests::cli;
use stratalog_tests::server::{PASSWORD, Server};
use stratalog_tests::times::without_times;
use stratalog_tests::value::{Row, Value as Shown};

#[test]
fn readme() {
    check("README.md");
}

#[test]
fn language() {
    check("docs/language.md");
}

#[test]
fn why() {
    check("docs/why.md");
}

#[test]
fn plans() {
    check("docs/plans.md");
}

#[test]
fn indexes() {
    check("docs/indexes.md");
}

#[test]
fn first_page() {
    check("docs/index.md");
}

#[test]
fn other_systems() {
    check("docs/coming-from.md");
}

#[test]
fn agents() {
    check("docs/agents.md");
}

/// The language in a page, from the lists of the engine.
#[test]
fn the_page_for_language_models_is_that_of_this_version() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/llms.txt");
    let page = stratalog_language::primer();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).expect("a page can be written");
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|written| written == page),
        "UPDATE_DOCS=1 writes docs/llms.txt"
    );
}

#[test]
fn errors() {
    check("docs/errors.md");
}

#[test]
fn protocol() {
    check("docs/protocol.md");
}

/// Run on a server, as it is about users: ` ```stratalog as=NAME:PASSWORD `, or else `admin`.
#[tokio::test]
async fn access() {
    const NAME: &str = "docs/access.md";
    let server = Server::start();
    let page = read(NAME);
    let mut outcomes = Vec::new();
    let mut blocks = blocks(&page).into_iter().peekable();
    while let Some(block) = blocks.next() {
        let (language, words) = block.info.split_once(' ').unwrap_or((&block.info, ""));
        if language != "stratalog" {
            continue;
        }
        let user = words.strip_prefix("as=").and_then(|user| user.split_once(':'));
        let (user, password) = user.unwrap_or(("admin", PASSWORD));
        let found = json_answer(&server.log_in_as(user, password).await.execute(&block.text).await);
        let answer = blocks.next_if(|next| next.info == "text");
        outcomes.push((block.first, block.text, answer, found));
    }
    settle(NAME, &page, outcomes);
}

/// Conversations with a server: `NAME connects to PATH`, `NAME → PROGRAM`, `NAME ← NOTIFICATION`. Times and sessions
/// differ from run to run.
#[tokio::test]
async fn events() {
    const NAME: &str = "docs/events.md";
    let server = Server::start();
    let mut connections = HashMap::new();
    let page = read(NAME);
    for block in blocks(&page).into_iter().filter(|block| block.info == "events") {
        for (number, line) in block.text.lines().enumerate() {
            let place = format!("{NAME}:{}", block.first + number + 1);
            let (name, rest) = line.split_once(' ').expect("a name");
            if let Some(path) = rest.strip_prefix("connects to ") {
                let mut connection = server.connect_to(path).await.expect("a connection");
                assert_eq!(connection.log_in(PASSWORD).await["type"], "authenticated", "{place}");
                connections.insert(name.to_owned(), connection);
                continue;
            }
            let connection = connections.get_mut(name).unwrap_or_else(|| panic!("{place}: who is {name}?"));
            if let Some(program) = rest.strip_prefix("→ ") {
                connection.rows(program).await;
                continue;
            }
            let expected = rest.strip_prefix("← ").unwrap_or_else(|| panic!("{place}: {line}"));
            let mut expected: Json = serde_json::from_str(expected).expect("a message is JSON");
            let mut found = connection.notification().await;
            for field in ["timestamp_ms", "session_id"] {
                let (written, found) = (expected.get_mut(field), found.get_mut(field));
                assert_eq!(written.is_some(), found.is_some(), "{place}: {field}");
                written.into_iter().chain(found).for_each(|value| *value = Json::Null);
            }
            assert_eq!(found, expected, "{place}");
        }
    }
    assert_eq!(connections.len(), 4);
}

#[test]
fn command_line() {
    console("docs/command-line.md");
}

#[test]
fn files() {
    console("docs/files.md");
}

/// Runs the lines of ` ```console ` blocks that begin with `$` in a shell, one after the other, on one server and in one
/// folder. Below each stands what it writes, to either output, and `[exit N]` if that is not 0.
fn console(name: &str) {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let known = cli::at(&server);
    let executables = Path::new(known.get_program()).parent().expect("a folder").to_owned();
    let path = format!("{}:{}", executables.display(), std::env::var("PATH").unwrap_or_default());
    let page = read(name);
    let mut outcomes = Vec::new();
    for block in blocks(&page).into_iter().filter(|block| block.info == "console") {
        let lines: Vec<&str> = block.text.lines().collect();
        let mut at = 0;
        while at < lines.len() {
            let command = lines[at].strip_prefix("$ ").unwrap_or_else(|| panic!("{name}: {}", lines[at]));
            let end =
                (at + 1..lines.len()).find(|line| lines[*line].starts_with("$ ")).unwrap_or(lines.len());
            let mut shell = std::process::Command::new("bash");
            for (variable, value) in known.get_envs() {
                match value {
                    Some(value) => shell.env(variable, value),
                    None => shell.env_remove(variable),
                };
            }
            let script = format!("exec 2>&1; set -o pipefail\n{command}");
            let shell = shell.args(["-c", &script]).env("PATH", &path).current_dir(folder.path());
            let output = shell.stdin(std::process::Stdio::null()).output().expect("a shell runs");
            let mut found: Vec<String> = String::from_utf8_lossy(&output.stdout)
                .lines()
                .map(|line| line.trim_end().to_owned())
                .collect();
            if let Some(code @ 1..) = output.status.code() {
                found.push(format!("[exit {code}]"));
            }
            let first = block.first + at + 1;
            let expected = Block {
                info: String::new(),
                text: lines[at + 1..end].join("\n"),
                first,
                end: block.first + end,
            };
            outcomes.push((first - 1, command.to_owned(), Some(expected), found));
            at = end;
        }
    }
    assert!(!outcomes.is_empty());
    settle(name, &page, outcomes);
}

#[test]
fn every_command_of_the_prompt_is_documented() {
    const NAME: &str = "docs/command-line.md";
    let source = read("client/src/repl/commands.rs");
    let quoted = |text: &str, after: &str| {
        let (_, rest) = text.split_once(after).expect("an entry has all its parts");
        rest.split("\",\n")
            .next()
            .and_then(|rest| rest.split("\", ").next())
            .expect("the text ends")
            .to_owned()
    };
    let (_, list) = source.split_once("const COMMANDS").expect("the commands are a list");
    let (list, _) = list.split_once("\n];").expect("the list ends");
    let row = |entry: &str| {
        let (names, rest) = entry.split_once(']').expect("names are a list");
        let names: Vec<&str> = names.split('"').skip(1).step_by(2).collect();
        let (usage, doc) = (quoted(rest, "usage: \""), quoted(rest, "doc: \""));
        let others: Vec<String> = names[1..].iter().map(|name| format!("`{name}`")).collect();
        let others = if others.is_empty() { String::new() } else { format!(" (or {})", others.join(", ")) };
        let command = format!("{} {}", names[0], usage).trim().replace('|', "\\|");
        format!("| `{command}`{others} | {doc} |\n")
    };
    let table: String = list.split("names: &[").skip(1).map(row).collect();
    let page = read(NAME);
    let (before, rest) = page.split_once("<!-- commands of the prompt -->\n").expect("a mark");
    let (_, after) = rest.split_once("<!-- end -->").expect("a mark");
    let new = format!(
        "{before}<!-- commands of the prompt -->\n| command | |\n|---|---|\n{table}<!-- end -->{after}"
    );
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path(NAME), &new).expect("a page can be written");
    }
    assert!(page == new, "the commands of the prompt in {NAME} are stale: UPDATE_DOCS=1 writes them anew");
}

/// A reply of the server in the form of an answer on a page.
fn json_answer(reply: &Json) -> Vec<String> {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let line = |row: &Json| list(row).iter().map(text).collect::<Vec<_>>().join(" | ");
    if reply["type"] == "error" {
        let help = reply["help"].as_str().map(|help| format!("  help: {help}"));
        let first = format!("! {}: {}", text(&reply["code"]), text(&reply["message"]));
        return std::iter::once(first).chain(help).collect();
    }
    let rows = list(&reply["rows"]);
    match &reply["columns"] {
        columns if *columns == serde_json::json!(["message"]) => {
            rows.iter().map(|row| format!(": {}", line(row))).collect()
        }
        columns => std::iter::once(columns).chain(&rows).map(line).collect(),
    }
}

#[test]
fn functions() {
    let page = functions_page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path("docs/functions.md"), &page).expect("a page can be written");
    }
    assert!(read("docs/functions.md") == page, "docs/functions.md is stale: UPDATE_DOCS=1 writes it anew");
}

/// The list of functions as a page.
fn functions_page() -> String {
    let mut page = String::from(FUNCTIONS_HEADER);
    for family in FAMILIES {
        page += &format!("\n## {family}\n\n| function | gives | |\n|---|---|---|\n");
        for function in functions::functions().filter(|function| function.family == *family) {
            let (expression, value) = function.example;
            page += &format!(
                "| `{}`{} | {} | {} `{expression}` is `{value}`. |\n",
                function.signature(),
                takes(function),
                function.gives,
                function.doc
            );
        }
    }
    page
}

const FUNCTIONS_HEADER: &str = "\
# Functions

<!-- Made from engine/src/functions/table by `UPDATE_DOCS=1 cargo test -p stratalog-tests --test docs`. -->

A call may stand wherever an expression may: on either side of a comparison, in heads, in the arguments of other calls and
of atoms. A function that gives a `bool` may also stand as a condition of its own, `time_before(A, B)`, or negated. Names are
known in any case, and relations may have the same names.

* What a function is not made for gives null: null itself, a value of another type. Only where a declaration shows
  beforehand that a column never holds what a function takes, the program is refused with `type_mismatch`.
* A result that is no finite number is null. An integer beyond 64 bits stays at the end of the range, and the answer
  carries a warning.
* A string of more than a mebibyte ends the query with `limit_exceeded`.

[language.md](language.md#functions) shows them at work. Every example here is run by `make test`.
";

/// `: int, string`, one a parameter.
fn takes(function: &ScalarFunction) -> String {
    let takes: Vec<String> =
        function.parameters.iter().map(|parameter| parameter.takes.to_string()).collect();
    match takes.as_slice() {
        [] => String::new(),
        [first, rest @ ..] if rest.iter().all(|other| other == first) => format!(": {first}"),
        _ => format!(": {}", takes.join("; ")),
    }
}

#[test]
fn every_code_has_its_section() {
    let source = read("protocol/src/failure.rs");
    let (_, body) = source.split_once("pub enum Code {").expect("the codes are an enum");
    let (body, _) = body.split_once("\n}").expect("the enum ends");
    let mut codes: Vec<String> = body
        .lines()
        .filter_map(|line| line.trim().strip_suffix(','))
        .filter(|name| name.chars().all(char::is_alphanumeric) && *name != "Unknown")
        .map(snake_case)
        .collect();
    codes.sort();
    let page = read("docs/errors.md");
    let mut sections: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`')).collect();
    sections.sort_unstable();
    assert_eq!(sections, codes);
}

/// `docs/security.md` names a test for each defence, as `folder::file::test`.
#[test]
fn the_tests_of_the_threat_model_exist() {
    let page = read("docs/security.md");
    let words = page.split('`').skip(1).step_by(2);
    let named: Vec<_> =
        words.filter_map(|word| word.rsplit_once("::")).filter(|(_, test)| !test.is_empty()).collect();
    let named: Vec<_> = named.into_iter().filter(|(suite, _)| *suite != "stratalog_server").collect();
    assert!(named.len() > 40, "{named:?}");
    for (suite, test) in named {
        let file = format!("tests/{}", suite.replace("::", "/"));
        let sources = match fs::read_dir(path(&file)) {
            Ok(files) => files.map(|file| file.expect("a file").path()).collect(),
            Err(_) => vec![path(&format!("{file}.rs"))],
        };
        let function = format!("fn {test}()");
        let is_there = |file: &PathBuf| fs::read_to_string(file).is_ok_and(|text| text.contains(&function));
        assert!(sources.iter().any(is_there), "there is no test `{suite}::{test}`");
    }
}

#[test]
fn every_setting_is_documented() {
    let source = read("server/src/config/settings.rs");
    let keys: Vec<&str> = source
        .split("key: \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .filter(|key| key.contains('.'))
        .collect();
    let page = read("docs/operations.md");
    let documented: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|key| key.contains('.') && !key.contains([' ', '=']))
        .collect();
    assert_eq!(documented, keys);
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// A fenced block: its info string, its text, and where the text stands among the lines of the page.
struct Block {
    info: String,
    text: String,
    first: usize,
    end: usize,
}

/// A program with its parameters and its answer.
struct Example {
    line: usize,
    options: Options,
    program: String,
    parameters: Parameters,
    answer: Option<Block>,
}

/// What the info string asks for.
#[derive(Default)]
struct Options {
    fresh: bool,
    cancelled: bool,
    timeout_ms: Option<u64>,
    memory_bytes: Option<u64>,
    insert_tuples: Option<usize>,
}

impl Options {
    fn parse(words: &str) -> Options {
        let mut options = Options::default();
        for word in words.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let number = || value.parse().unwrap_or_else(|_| panic!("`{word}` wants a number"));
            match name {
                "fresh" => options.fresh = true,
                "cancelled" => options.cancelled = true,
                "timeout_ms" => options.timeout_ms = Some(number()),
                "memory_bytes" => options.memory_bytes = Some(number()),
                "max_insert_tuples" => options.insert_tuples = Some(number() as usize),
                _ => panic!("`{word}` means nothing in the info string of a program"),
            }
        }
        options
    }

    fn budget(&self) -> Budget {
        let budget =
            Budget::new(self.timeout_ms.map(Duration::from_millis), self.memory_bytes.unwrap_or(1 << 30));
        if self.cancelled {
            budget.cancel();
        }
        budget
    }
}

fn open(options: &Options) -> Session {
    let mut engine = EngineOptions { threads: Some(1), ..EngineOptions::default() };
    if let Some(tuples) = options.insert_tuples {
        engine.limits.insert_tuples = tuples;
    }
    let engine = Engine::in_memory(engine).expect("an engine starts");
    engine.open_session("default").expect("the default graph exists")
}

fn blocks(page: &str) -> Vec<Block> {
    let lines: Vec<&str> = page.lines().collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        at += 1;
        let Some(info) = lines[at - 1].strip_prefix("```") else { continue };
        let end = (at..lines.len()).find(|line| lines[*line] == "```").expect("a fenced block ends");
        blocks.push(Block { info: info.to_owned(), text: lines[at..end].join("\n"), first: at, end });
        at = end + 1;
    }
    blocks
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut open = false;
    for block in blocks(page) {
        let (language, words) = block.info.split_once(' ').unwrap_or((&block.info, ""));
        match (language, examples.last_mut()) {
            ("stratalog", _) => {
                examples.push(Example {
                    line: block.first + 1,
                    options: Options::parse(words),
                    program: block.text,
                    parameters: Parameters::new(),
                    answer: None,
                });
                open = true;
                continue;
            }
            ("json", Some(example)) if open && example.answer.is_none() => {
                example.parameters = parameters(&block.text);
                continue;
            }
            ("text", Some(example)) if open => example.answer = Some(block),
            _ => {}
        }
        open = false;
    }
    examples
}

fn parameters(json: &str) -> Parameters {
    let json: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(json).expect("parameters are a JSON object");
    json.into_iter()
        .map(|(name, value)| {
            let value = match value {
                serde_json::Value::Null => Value::Null,
                serde_json::Value::Bool(b) => Value::Bool(b),
                serde_json::Value::String(text) => Value::text(text),
                serde_json::Value::Number(n) => match n.as_i64() {
                    Some(n) => Value::Int(n),
                    None => Value::Float(n.as_f64().expect("a number fits a float")),
                },
                other => panic!("examples have no parameter such as {other}"),
            };
            (name, value)
        })
        .collect()
}

fn check(name: &str) {
    let page = read(name);
    let mut session = open(&Options::default());
    let mut outcomes = Vec::new();
    for example in examples(&page) {
        if example.options.fresh {
            session = open(&example.options);
        }
        let found = answer(&mut session, &example.program, &example.parameters, &example.options);
        outcomes.push((example.line - 1, example.program, example.answer, found));
    }
    settle(name, &page, outcomes);
}

/// Compares what stands on a page with what was found: the line of each program, the program, the answer that is
/// expected, and the one that came.
fn settle(name: &str, page: &str, outcomes: Vec<(usize, String, Option<Block>, Vec<String>)>) {
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    let mut differences = String::new();
    let mut updates = Vec::new();
    for (line, program, answer, found) in outcomes {
        let expected: Option<Vec<String>> =
            answer.as_ref().map(|block| block.text.lines().map(str::to_owned).collect());
        let agrees = match &expected {
            Some(expected) => agree(expected, &found),
            None => !found.iter().any(|line| line.starts_with('!')),
        };
        if !agrees {
            // Writing to a `String` cannot fail.
            let _ = writeln!(
                differences,
                "{name}:{}\n{program}\n--- expected\n{}\n--- found\n{}\n",
                line + 1,
                expected.unwrap_or_default().join("\n"),
                found.join("\n")
            );
            updates.extend(answer.map(|block| (block.first..block.end, found)));
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        for (range, found) in updates.into_iter().rev() {
            lines.splice(range, found);
        }
        fs::write(path(name), lines.join("\n") + "\n").expect("a page can be written");
    }
    assert!(differences.is_empty(), "\n{differences}");
}

fn answer(session: &mut Session, program: &str, parameters: &Parameters, options: &Options) -> Vec<String> {
    let ordered = program.starts_with('.') || program.contains(":asc") || program.contains(":desc");
    let answer = session
        .prepare(program, parameters)
        .and_then(|prepared| session.run(prepared, &RunOptions::default(), &options.budget()));
    match answer {
        Ok(answer) => {
            let mut lines = match &answer.content {
                Content::Messages(messages) => messages.iter().map(|text| format!(": {text}")).collect(),
                Content::Rows(rows) => print_rows(rows, ordered),
            };
            lines.extend(answer.warnings.iter().flat_map(|warning| print_diagnostic('~', warning)));
            lines
        }
        Err(error) => print_error(&error),
    }
}

fn print_error(error: &Error) -> Vec<String> {
    error.diagnostics().iter().flat_map(|found| print_diagnostic('!', found)).collect()
}

fn print_diagnostic(mark: char, diagnostic: &Diagnostic) -> Vec<String> {
    let first = format!("{mark} {}: {}", diagnostic.code.as_str(), diagnostic.message);
    let help = diagnostic.help.as_ref().map(|help| format!("  help: {help}"));
    std::iter::once(first).chain(help).collect()
}

fn print_rows(rows: &Rows, ordered: bool) -> Vec<String> {
    let names: Vec<&str> = rows.columns().iter().map(|column| column.name.as_str()).collect();
    let mut values = match names.is_empty() {
        true => vec![Row::new(); rows.row_count()],
        false => rows_of(&rows.batch(0, rows.row_count())),
    };
    if !ordered {
        values.sort();
    }
    if let ["message" | "plan"] = names[..] {
        return values.iter().map(|row| plain(&row[0])).collect();
    }
    let mut lines = vec![print_row(&names)];
    lines.extend(values.iter().map(|row| print_row(row)));
    if rows.truncated() {
        lines.push(format!("({} of {} rows)", rows.row_count(), rows.total_count()));
    }
    lines
}

fn plain(value: &Shown) -> String {
    match value {
        Shown::Text(text) => text.clone(),
        other => other.to_string(),
    }
}

fn print_row<T: ToString>(row: &[T]) -> String {
    if row.is_empty() {
        return "()".to_owned();
    }
    row.iter().map(T::to_string).collect::<Vec<_>>().join(" | ")
}

/// Whether the answer is the expected one, which may leave out help and the text after a code.
fn agree(expected: &[String], found: &[String]) -> bool {
    let is_help = |line: &&String| line.starts_with("  help: ");
    let found: Vec<&String> = match expected.iter().any(|line| is_help(&line)) {
        true => found.iter().collect(),
        false => found.iter().filter(|line| !is_help(line)).collect(),
    };
    expected.len() == found.len()
        && expected.iter().zip(found).all(|(expected, found)| {
            without_times(expected) == without_times(found)
                || (expected.starts_with(['!', '~']) && found.starts_with(&format!("{expected}: ")))
        })
}
