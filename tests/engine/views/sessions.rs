//! Sessions, and what they answer.

use stratalog_engine::{Budget, Content, Engine, EngineOptions, Parameters, RunOptions, Session};
use stratalog_tests::answers::rows_of;
use stratalog_tests::value::{Row, Value};

/// Two sessions of one engine.
pub(crate) fn sessions_of(options: EngineOptions) -> Vec<Session> {
    let engine = engine_of(options);
    (0..2).map(|_| engine.open_session("default").expect("the graph `default` exists")).collect()
}

pub(crate) fn engine_of(options: EngineOptions) -> Engine {
    Engine::in_memory(EngineOptions { threads: Some(1), ..options }).expect("an engine in memory")
}

/// The sorted rows of an answer, or what was said.
pub(crate) fn run(session: &mut Session, program: &str, atomic: bool) -> Result<Vec<Row>, String> {
    run_within(session, program, atomic, &Budget::unlimited())
}

/// The same, for so much.
pub(crate) fn run_within(
    session: &mut Session,
    program: &str,
    atomic: bool,
    budget: &Budget,
) -> Result<Vec<Row>, String> {
    let answer = session.prepare(program, &Parameters::new()).and_then(|prepared| {
        let options = RunOptions { atomic, ..RunOptions::default() };
        session.run(prepared, &options, budget)
    });
    match answer {
        Ok(answer) => Ok(match answer.content {
            Content::Rows(rows) => {
                let mut rows = rows_of(&rows.batch(0, rows.row_count()));
                rows.sort();
                rows
            }
            Content::Messages(messages) => messages.into_iter().map(|m| vec![Value::Text(m)]).collect(),
        }),
        Err(error) => Err(error.render(program)),
    }
}
