//! What must hold for any text: the bodies of the fuzz targets below `fuzz/`, run on stable Rust by `hostile.rs`.

use std::time::Duration;

use stratalog_engine::Limits;
use stratalog_engine::syntax::{ast::Statement, parse};
use stratalog_engine::{
    Budget, Content, Diagnostic, Engine, EngineOptions, Error, Parameters, RunOptions, Session, SourceMap,
};

/// Parsing never fails but with errors that can be shown, and what was read is read again from its own print.
pub fn parse_and_print(text: &str) {
    let (statements, errors) = parse(text, &Limits::default());
    let source = SourceMap::new(text);
    for error in &errors {
        use stratalog_engine::diagnostic::{Diagnose, render};
        render(&error.diagnose(), &source);
    }
    let printed = print(&statements);
    // Printing may write out what was short, and so reach a limit that the text did not.
    let (again, errors) = parse(&printed, &Limits::default());
    if !statements.is_empty() {
        assert!(errors.is_empty(), "{text:?} is printed as {printed:?}, which is refused: {errors:?}");
        assert_eq!(print(&again), printed, "{text:?}");
    }
}

fn print(statements: &[Statement]) -> String {
    let lines: Vec<String> = statements.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// An engine with one thread, and a session on it.
pub fn session() -> Session {
    let engine = Engine::in_memory(EngineOptions { threads: Some(1), ..EngineOptions::default() })
        .expect("an engine in memory");
    engine.open_session("default").expect("the graph `default` exists")
}

/// Any program is answered or refused within its budget, and both can be shown. Answers whether it was answered.
pub fn run(session: &mut Session, text: &str, time: Duration, memory: u64) -> bool {
    let budget = Budget::new(Some(time), memory);
    let outcome = session
        .prepare(text, &Parameters::new())
        .and_then(|prepared| session.run(prepared, &RunOptions::default(), &budget));
    match outcome {
        Ok(answer) => {
            if let Content::Rows(rows) = &answer.content {
                rows.batch(0, 1_000);
            }
            show(&answer.warnings, text);
            true
        }
        Err(error) => {
            assert!(!matches!(error, Error::Internal { .. }), "{text:?}: {error:?}");
            assert!(!error.diagnostics().is_empty(), "{text:?}");
            show(&error.diagnostics(), text);
            false
        }
    }
}

fn show(diagnostics: &[Diagnostic], text: &str) {
    let source = SourceMap::new(text);
    for diagnostic in diagnostics {
        stratalog_engine::diagnostic::render(diagnostic, &source);
    }
}
