//! What tests of storage share: statements of every kind, and everything that a graph holds as text.

use std::path::Path;

use stratalog_engine::{
    Answer, Budget, Content, Engine, EngineOptions, Error, Parameters, RunOptions, Session, StorageOptions,
};

use crate::answers::rows_of;
use crate::value::{Row, Value};

/// Runs a program without bounds.
pub fn run(session: &mut Session, program: &str) -> Result<Answer, Error> {
    let prepared = session.prepare(program, &Parameters::default())?;
    session.run(prepared, &RunOptions::default(), &Budget::unlimited())
}

/// What is stored in a folder, all of it whole.
pub fn open(folder: &Path) -> Engine {
    let engine = Engine::open(EngineOptions::default(), StorageOptions::new(folder)).expect("it opens");
    assert!(engine.storage_troubles().is_empty(), "{:?}", engine.storage_troubles());
    engine
}

/// How many numbers the relation `n` has, and the largest, as text.
pub fn numbers(engine: &Engine, graph: &str) -> String {
    let mut here = engine.open_session(graph).expect("the graph is served");
    table(&run(&mut here, "?count<N>, max<N> <- n(N)").expect("an answer")).join(" ")
}

/// A session on the graph `default`.
pub fn session(engine: &Engine) -> Session {
    engine.open_session("default").expect("the graph is served")
}

/// Everything that a program can see of a graph, as text.
pub fn contents(session: &mut Session) -> Result<Vec<String>, Error> {
    let uses = table(&run(session, ".kg cluster")?).into_iter();
    // Where nothing is said, nothing is stored.
    let said = uses.filter(|row| !row.contains("off"));
    let mut all: Vec<String> = said.map(|row| format!(".kg cluster: {row}")).collect();
    for listing in [".rel", ".rule list"] {
        let names = run(session, listing)?;
        all.extend(table(&names).into_iter().map(|row| format!("{listing}: {row}")));
        for name in first_column(&names) {
            let commands: &[&str] = match listing {
                ".rel" => &[".rel describe", ".rel"],
                _ => &[".rule def"],
            };
            for command in commands {
                if let Ok(answer) = run(session, &format!("{command} {name}")) {
                    all.extend(table(&answer).into_iter().map(|row| format!("{command} {name}: {row}")));
                }
            }
        }
    }
    Ok(all)
}

fn first_column(answer: &Answer) -> Vec<String> {
    let Content::Rows(rows) = &answer.content else { return Vec::new() };
    let rows = rows_of(&rows.batch(0, rows.row_count()));
    let name = |row: Row| match row.into_iter().next() {
        Some(Value::Text(name)) => String::from(&*name),
        other => panic!("{other:?} is no name"),
    };
    rows.into_iter().map(name).collect()
}

/// The lines of an answer, sorted.
pub fn table(answer: &Answer) -> Vec<String> {
    match &answer.content {
        Content::Messages(messages) => messages.clone(),
        Content::Rows(rows) => {
            let rows = rows_of(&rows.batch(0, rows.row_count()));
            let line = |row: &Row| row.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join("|");
            let mut lines: Vec<String> = rows.iter().map(line).collect();
            lines.sort();
            lines
        }
    }
}

/// Statements of every kind that changes a graph, with values of every kind.
pub const STATEMENTS: &[&str] = &[
    "+edge[(1, 2), (2, 3), (3, 4)]",
    "+edge(1, 2)",
    "+person(name: string, age: int, joined: timestamp)",
    "+person(\"Ada\", 36, 1700000000000)",
    "+mixed[(1), (1.0), (\"1\"), (true), (null), ([1.0, -0.5]), (-0.0), (9223372036854775807)]",
    "+note[(\"quote \\\" and \\\\ and \\n\"), (\"żółw 🐢\"), (\"\")]",
    "+embedding(1, [0.1, 0.2, 0.3])",
    "+embedding(2, [])",
    "+path(X, Y) <- edge(X, Y)",
    "+path(X, Z) <- path(X, Y), edge(Y, Z), Z != 99",
    "+best(X, min<Y>) <- path(X, Y)",
    "+gone(1)",
    "-gone(1)",
    "-edge(2, 3)",
    "+edge(2, 3)",
    "-edge(X, Y) <- edge(X, Y), X > 2",
    "-mixed(X), +mixed_copy(X) <- mixed(X), X != 1",
    "+flag(X) <- edge(X, _)",
    "-flag",
    ".rule clear best",
    ".kg cluster on",
    ".rel drop note",
    ".clear prefix pers",
];
