//! `Session::check` says of every golden program what running it says, as far as that is said before anything is evaluated.

use std::path::Path;

use stratalog_engine::syntax::ast::StatementKind;
use stratalog_engine::syntax::parse;
use stratalog_engine::{
    Budget, Code, Diagnostic, Engine, EngineOptions, Error, Limits, Parameters, RunOptions, Session,
    Severity, Span,
};
use stratalog_tests::golden::files;

/// Code and place of an error.
type Fault = (Code, Option<Span>);

/// What running a program says first, unless that is found only by running: it depends on rows, on limits, or on what a
/// command names.
fn fault_of(session: &mut Session, program: &str) -> Result<Option<Fault>, Error> {
    let prepared = session.prepare(program, &Parameters::default());
    let ran =
        prepared.and_then(|prepared| session.run(prepared, &RunOptions::default(), &Budget::unlimited()));
    let Err(error) = ran else { return Ok(None) };
    let Error::Refused(refused) = &error else { return Err(error) };
    let (statements, _) = parse(program, &Limits::default());
    let is_about_rows = |found: &Diagnostic| {
        let statement = found.statement.and_then(|at| statements.get(at));
        statement.is_some_and(|statement| {
            matches!(statement.kind, StatementKind::Command(_) | StatementKind::Declare(_))
        })
    };
    let shows_in_the_text = |found: &Diagnostic| {
        use Code::{ArityMismatch, ParseError, UnknownFunction, UnknownRelation, UnsafeRule, Unstratifiable};
        matches!(
            found.code,
            ParseError | UnknownRelation | ArityMismatch | UnknownFunction | UnsafeRule | Unstratifiable
        )
    };
    match refused.first() {
        Some(first) if refused.iter().all(shows_in_the_text) && !is_about_rows(first) => {
            Ok(Some((first.code, first.span)))
        }
        _ => Err(error),
    }
}

#[test]
fn every_golden_program_is_judged_as_it_runs() {
    let (mut right, mut wrong, mut differ) = (0, 0, Vec::new());
    for file in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")) {
        let engine = Engine::in_memory(EngineOptions::default()).expect("an engine");
        let mut session = engine.open_session("default").expect("the graph exists");
        for program in file.programs().filter(|program| !program.contains('$')) {
            let found = session.check(program, &Budget::unlimited()).expect("it can be checked");
            let first = found.iter().find(|one| one.severity == Severity::Error);
            let Ok(fault) = fault_of(&mut session, program) else { continue };
            *if fault.is_none() { &mut right } else { &mut wrong } += 1;
            if first.map(|one| (one.code, one.span)) != fault {
                let first = first.map(|one| (one.code, one.span, &one.message));
                differ.push(format!("{}: {program}\n  checked {first:?}\n  ran {fault:?}", file.name));
            }
        }
    }
    assert!(differ.is_empty(), "{} differ\n{}", differ.len(), differ.join("\n"));
    assert!(right > 1500 && wrong > 200, "{right} right, {wrong} wrong");
}
