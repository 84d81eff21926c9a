//! The engine against the oracle: random programs, the same answer however facts arrive, whatever is switched off, and
//! after a restart.
//!
//! A failure tells the seed of the run; `PROPTEST_RNG_SEED=` repeats it. `make test` sets one, `make random` tries others.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use stratalog_tests::oracle;
use stratalog_tests::programs::cases;
use stratalog_tests::ways::{any_way, check};

/// How many programs a run tries, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 3000;

/// In how many ways each is run.
const WAYS: usize = 3;

#[test]
fn the_engine_answers_as_the_oracle_does() {
    let number = |name| std::env::var(name).ok().and_then(|n: String| n.parse::<u64>().ok());
    let cases_wanted = number("PROPTEST_CASES").and_then(|n| u32::try_from(n).ok()).unwrap_or(CASES);
    let seed = number("PROPTEST_RNG_SEED").unwrap_or_else(|| RandomState::new().hash_one(0) % 1_000_000);
    let config = Config {
        cases: cases_wanted,
        failure_persistence: None,
        max_shrink_iters: 4_000,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let (tried, skipped, answered) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let outcome = runner.run(&(cases(), vec(any_way(), WAYS)), |(case, ways)| {
        tried.set(tried.get() + 1);
        let Ok(expected) = oracle::answer(&case.program) else {
            skipped.set(skipped.get() + 1);
            return Ok(());
        };
        answered.set(answered.get() + u32::from(expected.answer.total > 0));
        ways.iter().try_for_each(|way| check(&case, &expected, *way)).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        // The reason holds the program as text; nobody wants to read it as a structure.
        Err(TestError::Fail(reason, _)) if reason.message().contains("this program") => {
            panic!("seed {seed}: {reason}")
        }
        Err(TestError::Fail(reason, (case, _))) => {
            panic!("seed {seed}: {reason}, with this program\n\n{}", case.program)
        }
        Err(TestError::Abort(reason)) => panic!("seed {seed}: {reason}"),
    }
    let (tried, skipped, answered) = (tried.get(), skipped.get(), answered.get());
    assert!(skipped * 10 < tried, "seed {seed}: {skipped} of {tried} programs were skipped");
    assert!(answered * 3 > tried, "seed {seed}: only {answered} of {tried} programs have an answer");
}
