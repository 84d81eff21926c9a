//! Random programs, in any way: the answer is the oracle's. What is evaluated by plans is counted, so that it cannot be nothing.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::here::evaluator;
use crate::oracle;
use crate::programs::cases;
use crate::ways::{any_way, check};

/// How many programs a run tries, unless `PROPTEST_CASES` says otherwise.
const CASES: u32 = 500;

#[test]
fn random_programs_are_answered_as_the_oracle_does() {
    let number = |name| std::env::var(name).ok().and_then(|n: String| n.parse::<u64>().ok());
    let cases_wanted = number("PROPTEST_CASES").and_then(|n| u32::try_from(n).ok()).unwrap_or(CASES);
    let seed = number("PROPTEST_RNG_SEED").unwrap_or(20_261_129);
    let config =
        Config { cases: cases_wanted, failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let evaluator = evaluator();
    let tried = Cell::new(0);
    let outcome = runner.run(&(cases(), vec(any_way(), 1)), |(case, ways)| {
        let Ok(expected) = oracle::answer(&case.program) else { return Ok(()) };
        tried.set(tried.get() + 1);
        ways.iter().try_for_each(|way| check(&case, &expected, *way)).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => panic!("seed {seed}: {reason}"),
        Err(TestError::Abort(reason)) => panic!("seed {seed}: {reason}"),
    }
    let tally = evaluator.tally();
    assert!(tally.programs_by_plans * 10 >= tally.programs_at_work * 8, "{tally:?}");
    assert!(!evaluator.has_executors() || tally.plans_by_executors > tally.by_plans / 2, "{tally:?}");
}
