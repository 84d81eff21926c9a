//! To refuse or to take sixteen times as much costs about sixteen times the processor, and not 256 times. This has an
//! executable of its own, so that the processor time of the process is that of the one test.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use stratalog_engine::{Budget, Parameters, RunOptions};
use stratalog_tests::fuzzed::session;

/// Processor time that this process has used.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).expect("less than a second"))
}

/// What a program costs, accepted or refused, with its error rendered.
fn cost(text: &str) -> Duration {
    let mut session = session();
    let before = processor_time();
    let result = session
        .prepare(text, &Parameters::new())
        .and_then(|prepared| session.run(prepared, &RunOptions::default(), &Budget::unlimited()));
    if let Err(error) = result {
        error.render(text);
    }
    processor_time() - before
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

/// What it is, so many of it cost enough to be measured, and the text of so many.
type Shape = (&'static str, usize, fn(usize) -> String);

const SHAPES: &[Shape] = &[
    ("errors", 40_000, |n| lines(n, |_| "+p(X\n".to_owned())),
    ("facts", 40_000, |n| lines(n, |i| format!("+p({i})\n"))),
    ("tuples", 100_000, |n| format!("+p[{}]", lines(n, |i| format!("({i}),")).trim_end_matches(','))),
    ("chain of rules", 4_000, |n| lines(n, |i| format!("+r{}(X) <- r{i}(X)\n", i + 1))),
    ("chain from its end", 4_000, |n| lines(n, |i| format!("+r{}(X) <- r{}(X)\n", n - i, n - i - 1))),
    ("clauses of one head", 4_000, |n| lines(n, |i| format!("+r(X) <- r(X), p(X, {i})\n"))),
    ("negated chain", 4_000, |n| lines(n, |i| format!("+r{}(X) <- n(X), !r{i}(X)\n", i + 1))),
    ("a long name", 400_000, |n| format!("?{}(X)", "x".repeat(n))),
    ("a long string", 400_000, |n| format!("+p(\"{}\")", "x".repeat(n))),
    ("open strings", 40_000, |n| "+p(\"a\n".repeat(n)),
    ("open comments", 40_000, |n| "+p(1) /* a\n".repeat(n)),
    ("open brackets", 40_000, |n| format!("?p({}", "(".repeat(n))),
    ("commands", 40_000, |n| ".nothing at all\n".repeat(n)),
];

#[test]
fn the_cost_grows_no_faster_than_the_text() {
    for (what, size, text) in SHAPES {
        let (little, much) = (text(size / 8), text(size * 2));
        cost(&little);
        // Four times what it should be, for caches that no longer hold it all, and for other work on the machine, which
        // seldom comes three times.
        let seen: Vec<_> = (0..3)
            .map(|_| (cost(&little), cost(&much)))
            .take_while(|(once, many)| *many > *once * 64)
            .collect();
        assert!(seen.len() < 3, "{what}: sixteen times as much of it takes, and three times, {seen:?}");
    }
}
