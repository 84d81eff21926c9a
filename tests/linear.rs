//! To refuse or to take four times as much costs about four times the processor, and not sixteen times. This has an
//! executable of its own, so that the processor time of the process is that of the one test.

use std::fs;

use stratalog_engine::{Budget, Parameters, RunOptions};
use stratalog_tests::fuzzed::session;

/// Processor time that this process has used, in ticks of the kernel: hundredths of a second.
fn ticks() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("the state of this process");
    let (_, fields) = stat.rsplit_once(") ").expect("the name of a process ends with a parenthesis");
    let number = |index: usize| -> u64 {
        fields.split(' ').nth(index).and_then(|field| field.parse().ok()).expect("a number")
    };
    // Fields 14 and 15, counted from 1 and from before the name: in user mode, and in the kernel.
    number(11) + number(12)
}

/// What a program costs, accepted or refused, with its error rendered.
fn cost(text: &str) -> u64 {
    let mut session = session();
    let before = ticks();
    let result = session
        .prepare(text, &Parameters::new())
        .and_then(|prepared| session.run(prepared, &RunOptions::default(), &Budget::unlimited()));
    if let Err(error) = result {
        error.render(text);
    }
    ticks() - before
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
        let of = |factor: usize| cost(&text(size * factor));
        of(1);
        let (once, four_times) = (of(1), of(4));
        // Eight times, as caches fill up, and some ticks, as little is counted in whole ticks.
        assert!(four_times <= once * 8 + 20, "{what}: {once} ticks, and four times as much {four_times}");
    }
}
