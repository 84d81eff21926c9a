//! The engine against the oracle: random programs, the same answer however facts arrive and whatever is switched off.

use std::cell::Cell;
use std::fmt;

use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use stratalog_engine::{Budget, Content, Parameters, RunOptions, Scope, Session, Value as EngineValue};
use stratalog_tests::answers::{batches_of, rows_of};
use stratalog_tests::model::{Facts, Program};
use stratalog_tests::modes::{Mode, modes};
use stratalog_tests::oracle::{self, Answer};
use stratalog_tests::programs::{Case, cases};
use stratalog_tests::value::{Row, Value};

/// How many programs a run tries, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 5000;

#[test]
fn the_engine_answers_as_the_oracle_does() {
    let cases_wanted = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES);
    let config = Config { cases: cases_wanted, failure_persistence: None, ..Config::default() };
    let (tried, skipped, answered) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let outcome = TestRunner::new(config).run(&cases(), |case| {
        tried.set(tried.get() + 1);
        let Ok(expected) = oracle::answer(&case.program) else {
            skipped.set(skipped.get() + 1);
            return Ok(());
        };
        answered.set(answered.get() + u32::from(expected.total > 0));
        ways().iter().try_for_each(|way| check(&case, &expected, *way))
    });
    match outcome {
        Ok(()) => {}
        // The reason holds the program as text; nobody wants to read it as a structure.
        Err(TestError::Fail(reason, _)) if reason.message().contains("this program") => panic!("{reason}"),
        Err(TestError::Fail(reason, case)) => panic!("{reason}, with this program\n\n{}", case.program),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
    assert!(skipped.get() * 10 < tried.get(), "{} of {} programs were skipped", skipped.get(), tried.get());
    assert!(
        answered.get() * 3 > tried.get(),
        "only {} of {} programs have an answer",
        answered.get(),
        tried.get()
    );
}

/// How facts get in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// One program with everything.
    Whole,
    /// Piece by piece, around the rules and between queries, with deletes and inserts that take each other back.
    Pieces,
    /// Rows without program text.
    Rows,
    /// Arrow batches.
    Batches,
}

#[derive(Debug, Clone, Copy)]
struct Way {
    mode: Mode,
    arrival: Arrival,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, facts as {:?}", self.mode, self.arrival)
    }
}

fn ways() -> Vec<Way> {
    let plain = modes()[0];
    let whole = modes().into_iter().map(|mode| Way { mode, arrival: Arrival::Whole });
    let others =
        [Arrival::Pieces, Arrival::Rows, Arrival::Batches].map(|arrival| Way { mode: plain, arrival });
    whole.chain(others).collect()
}

fn check(case: &Case, expected: &Answer, way: Way) -> Result<(), TestCaseError> {
    let found = Run::new(way.mode).answer(case, way.arrival);
    let program = &case.program;
    let complaint = match found {
        Err(refused) => format!("was refused:\n{refused}"),
        Ok(found) => match difference(program, expected, &found) {
            None => return Ok(()),
            Some(difference) => difference,
        },
    };
    let passing = match way.arrival {
        Arrival::Pieces => format!("\ninserted for a while: {:?}", case.passing),
        _ => String::new(),
    };
    Err(TestCaseError::fail(format!("with {way}, this program\n\n{program}{passing}\n{complaint}")))
}

/// What is wrong with an answer.
fn difference(program: &Program, expected: &Answer, found: &Answer) -> Option<String> {
    if found.columns != expected.columns {
        return Some(format!("has columns {:?} instead of {:?}", found.columns, expected.columns));
    }
    let order = &program.goal.order;
    if !found.rows.is_sorted_by(|a, b| oracle::in_order(order, a, b).is_le()) {
        return Some(format!("answers out of order:\n{}", print(&found.rows)));
    }
    let sorted = |rows: &[Row]| {
        let mut rows = rows.to_vec();
        rows.sort();
        rows
    };
    let (wanted, rows) = (sorted(&expected.rows), sorted(&found.rows));
    if wanted != rows {
        return Some(format!("answers\n{}\ninstead of\n{}", print(&rows), print(&wanted)));
    }
    (found.total != expected.total)
        .then(|| format!("counts {} rows instead of {}", found.total, expected.total))
}

fn print(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| row.iter().map(Value::to_string).collect::<Vec<_>>().join(", "));
    lines.map(|line| format!("  ({line})\n")).collect()
}

/// One session in which a case runs.
struct Run {
    session: Session,
}

impl Run {
    fn new(mode: Mode) -> Run {
        Run { session: mode.engine().open_session("default").expect("the graph `default` exists") }
    }

    fn answer(&mut self, case: &Case, arrival: Arrival) -> Result<Answer, String> {
        let program = &case.program;
        match arrival {
            Arrival::Whole => return self.query(&program.to_string()),
            Arrival::Pieces => return self.in_pieces(case),
            Arrival::Rows => {
                for (relation, rows) in &program.facts {
                    let rows = rows.iter().map(|row| row.iter().map(engine_value).collect()).collect();
                    self.session
                        .insert_rows(relation, Scope::Persistent, rows, &Budget::unlimited())
                        .map_err(|error| error.to_string())?;
                }
            }
            Arrival::Batches => {
                for (relation, rows) in &program.facts {
                    let rows: Vec<Row> = rows.iter().cloned().collect();
                    for batch in batches_of(&rows) {
                        self.session
                            .insert_batches(relation, Scope::Persistent, &[batch], &Budget::unlimited())
                            .map_err(|error| error.to_string())?;
                    }
                }
            }
        }
        for rule in &program.rules {
            self.run(&format!("+{rule}"))?;
        }
        self.query(&program.goal.to_string())
    }

    /// Half the facts, the rules, a query; then the other half and what goes again, a query; then some rows leave and
    /// come back.
    fn in_pieces(&mut self, case: &Case) -> Result<Answer, String> {
        let program = &case.program;
        let goal = program.goal.to_string();
        let derived: Vec<&str> = program.rules.iter().map(|rule| rule.head.as_str()).collect();
        let mut later = Vec::new();
        for (relation, rows) in &program.facts {
            // Once there are rules, facts can no longer be inserted beside them.
            let now = if derived.contains(&relation.as_str()) { rows.len() } else { rows.len().div_ceil(2) };
            for row in rows.iter().take(now) {
                self.run(&Facts('+', relation, std::slice::from_ref(row)).to_string())?;
            }
            later.push((relation, rows.iter().skip(now).cloned().collect::<Vec<_>>()));
        }
        for rule in &program.rules {
            self.run(&format!("+{rule}"))?;
        }
        self.run(&goal)?;
        for (relation, rows) in &case.passing {
            self.write('+', relation, &rows.iter().cloned().collect::<Vec<_>>())?;
        }
        for (relation, rows) in &later {
            self.write('+', relation, rows)?;
        }
        self.run(&goal)?;
        for (relation, rows) in &case.passing {
            self.write('-', relation, &rows.iter().cloned().collect::<Vec<_>>())?;
        }
        for (relation, rows) in &later {
            self.write('-', relation, rows)?;
        }
        self.run(&goal)?;
        for (relation, rows) in &later {
            self.write('+', relation, rows)?;
        }
        self.query(&goal)
    }

    fn write(&mut self, sign: char, relation: &str, rows: &[Row]) -> Result<(), String> {
        if rows.is_empty() { Ok(()) } else { self.run(&Facts(sign, relation, rows).to_string()).map(drop) }
    }

    fn run(&mut self, text: &str) -> Result<Content, String> {
        let refused = |error: stratalog_engine::Error| error.render(text);
        let prepared = self.session.prepare(text, &Parameters::new()).map_err(refused)?;
        let answer =
            self.session.run(prepared, &RunOptions::default(), &Budget::unlimited()).map_err(refused)?;
        Ok(answer.content)
    }

    fn query(&mut self, text: &str) -> Result<Answer, String> {
        match self.run(text)? {
            Content::Messages(messages) => Err(format!("messages instead of rows: {messages:?}")),
            Content::Rows(rows) => {
                let batch = rows.batch(0, rows.row_count());
                Ok(Answer {
                    columns: rows.columns().iter().map(|column| column.name.clone()).collect(),
                    rows: rows_of(&batch),
                    total: rows.total_count(),
                })
            }
        }
    }
}

fn engine_value(value: &Value) -> EngineValue {
    match value {
        Value::Null => EngineValue::Null,
        Value::Bool(b) => EngineValue::Bool(*b),
        Value::Int(n) => EngineValue::Int(*n),
        Value::Float(x) => EngineValue::Float(*x),
        Value::Timestamp(t) => EngineValue::Timestamp(*t),
        Value::Text(text) => EngineValue::text(text.as_str()),
        Value::Vector(elements) => EngineValue::Vector(elements.as_slice().into()),
    }
}
