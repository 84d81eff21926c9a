//! A session that runs programs, and waits for indexes.

use std::time::{Duration, Instant};

use stratalog_engine::{Budget, Content, Engine, Parameters, RunOptions, Session};
use stratalog_tests::answers::rows_of;
use stratalog_tests::times::PATIENCE;
use stratalog_tests::value::{Row, Value};

pub(super) struct Asking(Session);

impl Asking {
    pub(super) fn on(engine: &Engine) -> Asking {
        Asking(engine.open_session("default").expect("the graph `default` exists"))
    }

    /// The rows that a program answers; none where it answers messages.
    pub(super) fn run(&mut self, program: &str) -> Vec<Row> {
        let shown = || program.chars().take(300).collect::<String>();
        let prepared = self.0.prepare(program, &Parameters::new());
        let prepared = prepared.unwrap_or_else(|error| panic!("{}: {error:?}", shown()));
        let answer = self.0.run(prepared, &RunOptions::default(), &Budget::unlimited());
        match answer.unwrap_or_else(|error| panic!("{}: {error:?}", shown())).content {
            Content::Rows(rows) => rows_of(&rows.batch(0, rows.row_count())),
            _ => Vec::new(),
        }
    }

    /// The plan of a query.
    pub(super) fn plan(&mut self, query: &str) -> String {
        let lines = self.run(&format!(".explain {query}"));
        lines.iter().map(|line| format!("{}\n", line[0])).collect()
    }
}

/// Waits until an index is built.
pub(super) fn settle(engine: &Engine, index: &str) {
    let deadline = Instant::now() + PATIENCE;
    let mut asking = Asking::on(engine);
    loop {
        let row = asking.run(".index list").into_iter().find(|row| row[0] == Value::text(index));
        if row.is_some_and(|row| row[6] == Value::Bool(true)) {
            return;
        }
        assert!(Instant::now() < deadline, "the index {index} is not built");
        std::thread::sleep(Duration::from_millis(5));
    }
}
