//! Answers about answers, against the oracle: random programs, explained, supposed otherwise, and asked for what is missing.
//!
//! A failure tells the seed of the run; `PROPTEST_RNG_SEED=` repeats it.

mod replaced;
mod searched;
mod top_down;
mod what_if;
mod why;
mod why_not;

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use stratalog_engine::{Budget, Content, Parameters, Rows, RunOptions, Session};
use stratalog_tests::modes::{Mode, any_mode};
use stratalog_tests::oracle::Holding;
use stratalog_tests::programs::{Case, cases};
use stratalog_tests::value::Row;

/// Checks a case in a session that has all of it, and counts what was checked.
type Check = fn(&Case, &Holding, Session) -> Result<usize, String>;

/// Runs random programs, so many unless `PROPTEST_CASES` says otherwise; each of them has to be checked once at least, on
/// average.
fn with_random_programs(count: u32, check: Check) {
    let number = |name| std::env::var(name).ok().and_then(|n: String| n.parse::<u64>().ok());
    let wanted = number("PROPTEST_CASES").and_then(|n| u32::try_from(n).ok()).unwrap_or(count);
    let seed = number("PROPTEST_RNG_SEED").unwrap_or_else(|| RandomState::new().hash_one(0) % 1_000_000);
    let config =
        Config { cases: wanted, failure_persistence: None, max_shrink_iters: 4_000, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let (tried, skipped, checked) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let outcome = runner.run(&(cases(), any_mode()), |(case, mode)| {
        tried.set(tried.get() + 1);
        let holding = Holding::of(&case.program).ok();
        // A program that shrinking has made may be one that nobody can write.
        let Some((holding, session)) = holding.zip(session(&case, mode)) else {
            skipped.set(skipped.get() + 1);
            return Ok(());
        };
        let explain =
            |complaint| TestCaseError::fail(format!("{mode}, this program\n\n{}\n{complaint}", case.program));
        checked.set(checked.get() + check(&case, &holding, session).map_err(explain)?);
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => panic!("seed {seed}: {reason}"),
        Err(TestError::Abort(reason)) => panic!("seed {seed}: {reason}"),
    }
    let (tried, skipped, checked) = (tried.get(), skipped.get(), checked.get());
    assert!(skipped * 10 < tried, "seed {seed}: {skipped} of {tried} programs were skipped");
    assert!(checked > tried, "seed {seed}: only {checked} were checked in {tried} programs");
}

/// A session that has what a program says.
fn session(case: &Case, mode: Mode) -> Option<Session> {
    let mut session = mode.engine().open_session("default").ok()?;
    run(&mut session, &case.program.statements().join("\n")).ok()?;
    for statement in case.program.session.statements() {
        run(&mut session, &statement).ok()?;
    }
    Some(session)
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows
}

fn rows(session: &mut Session, text: &str) -> Result<Rows, String> {
    match run(session, text)? {
        Content::Rows(rows) => Ok(rows),
        Content::Messages(messages) => Err(format!("messages instead of rows: {messages:?}")),
    }
}

fn run(session: &mut Session, text: &str) -> Result<Content, String> {
    let refused =
        |error: stratalog_engine::Error| format!("{text} was refused:\n{}\n{error:?}", error.render(text));
    let prepared = session.prepare(text, &Parameters::new()).map_err(refused)?;
    Ok(session.run(prepared, &RunOptions::default(), &Budget::unlimited()).map_err(refused)?.content)
}
