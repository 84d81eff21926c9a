//! Sessions that are loaded, taught rules, and asked.

use arrow::array::{AsArray, RecordBatch};
use stratalog_engine::{
    Budget, Content, Engine, EngineOptions, Parameters, Rows, RunOptions, Scope, Session,
};

/// A session of a fresh engine that derives everything anew for each question.
pub fn session() -> Session {
    session_of(EngineOptions { view_memory: 0, ..EngineOptions::default() })
}

/// A session of a fresh engine.
pub fn session_of(options: EngineOptions) -> Session {
    let engine = Engine::in_memory(options).expect("an engine starts");
    engine.open_session("default").expect("the default graph exists")
}

/// Loads batches into a relation.
pub fn load(session: &mut Session, relation: &str, batches: &[RecordBatch]) {
    let inserted =
        session.insert_batches(relation, Scope::Persistent, batches.to_vec(), &Budget::unlimited());
    inserted.unwrap_or_else(|error| panic!("{relation}: {error}"));
}

/// Runs a program for its effect.
pub fn define(session: &mut Session, program: &str) {
    run(session, program);
}

/// Runs a query; answers the number of its rows.
pub fn answer_rows(session: &mut Session, query: &str) -> usize {
    answer(session, query).row_count()
}

/// Runs a query.
pub fn answer(session: &mut Session, query: &str) -> Rows {
    match run(session, query) {
        Content::Rows(rows) => rows,
        Content::Messages(messages) => panic!("{query} is no query: {messages:?}"),
    }
}

/// What each operator does for a query, a line each.
pub fn profile(session: &mut Session, query: &str) -> String {
    let plan = answer(session, &format!(".profile {}", query.trim()));
    let lines = plan.batch(0, plan.row_count());
    lines.column(0).as_string::<i32>().iter().flatten().map(|line| format!("{line}\n")).collect()
}

fn run(session: &mut Session, program: &str) -> Content {
    let prepared = session.prepare(program, &Parameters::new());
    let answer = prepared.and_then(|p| session.run(p, &RunOptions::default(), &Budget::unlimited()));
    answer.unwrap_or_else(|error| panic!("{}", error.render(program))).content
}
