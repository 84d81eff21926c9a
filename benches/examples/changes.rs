//! A question that is followed while facts come and go: `changes FOLDER CHANGES RULES QUESTION [anew]`, with a tab-separated file of
//! integers for each relation in the folder, and in the other one for each that changes: the step, 1 for a row that comes or 0 for one
//! that goes, and the row. Prints as JSON how long the first answer and each step took, from before its commit until what has changed of
//! the answer is known, and how many rows there are in the end. `anew` derives the answer from scratch each time.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the command line")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use stratalog_benches::{define, load, peak_mb, session_of, tables};
use stratalog_engine::{
    Advance, Budget, EngineOptions, Next, Parameters, RunOptions, Session, Subscription, Waker,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, changes, rules, question, options @ ..] = arguments.as_slice() else {
        eprintln!("usage: changes FOLDER CHANGES RULES QUESTION [anew]");
        std::process::exit(2);
    };
    let advance = match options {
        [anew] if anew == "anew" => Advance::Never,
        _ => Advance::WhereFaster,
    };
    let view_memory = 4 << 30;
    let mut session = session_of(EngineOptions { advance, view_memory, ..EngineOptions::default() });
    for (relation, batch) in tables(Path::new(folder)) {
        load(&mut session, &relation, &[batch]);
    }
    define(&mut session, rules);
    let started = Instant::now();
    let mut follower = Follower::of(&session, question);
    let first = started.elapsed();
    let mut times = Vec::new();
    for program in programs(tables(Path::new(changes))) {
        let started = Instant::now();
        follower.follow(&mut session, &program);
        times.push(started.elapsed());
    }
    times.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let at = |part: usize| times.get(times.len() * part / 100).copied().map_or(0.0, ms);
    println!(
        "{{\"rows\": {}, \"first_ms\": {:.3}, \"p50_ms\": {:.4}, \"p99_ms\": {:.4}, \"max_ms\": {:.4}, \"told\": {}, \"peak_mb\": {}}}",
        follower.rows,
        ms(first),
        at(50),
        at(99),
        times.last().copied().map_or(0.0, ms),
        follower.told,
        peak_mb()
    );
}

/// The programs of the steps, in their order.
fn programs(tables: Vec<(String, RecordBatch)>) -> impl Iterator<Item = String> {
    let mut steps: BTreeMap<i64, BTreeMap<(i64, String), Vec<String>>> = BTreeMap::new();
    for (relation, batch) in tables {
        let columns: Vec<&[i64]> =
            batch.columns().iter().map(|column| &**column.as_primitive::<Int64Type>().values()).collect();
        for row in 0..batch.num_rows() {
            let values: Vec<String> = columns[2..].iter().map(|column| column[row].to_string()).collect();
            let step = steps.entry(columns[0][row]).or_default();
            let rows = step.entry((columns[1][row], relation.clone())).or_default();
            rows.push(format!("({})", values.join(", ")));
        }
    }
    steps.into_values().map(|step| {
        let statements = step.into_iter().map(|((comes, relation), rows)| {
            let sign = if comes == 1 { '+' } else { '-' };
            format!("{sign}{relation}[{}]", rows.join(", "))
        });
        statements.collect::<Vec<_>>().join("\n")
    })
}

/// Somebody who is told what changes of an answer.
struct Follower {
    subscription: Subscription,
    woken: Receiver<()>,
    version: u64,
    rows: usize,
    told: usize,
}

impl Follower {
    fn of(session: &Session, question: &str) -> Follower {
        let (wake, woken) = channel();
        let waker = Waker::new(move || {
            // Whoever is gone needs not be woken.
            let _ = wake.send(());
        });
        let prepared = session.prepare(question, &Parameters::new()).expect("a question");
        let subscription = session.subscribe(prepared, waker, &Budget::unlimited()).expect("an answer");
        let begun = subscription.begun();
        let (version, rows) = (begun.version, begun.rows.row_count());
        Follower { subscription, woken, version, rows, told: 0 }
    }

    /// Commits, and waits until it is known what that has changed of the answer.
    fn follow(&mut self, session: &mut Session, program: &str) {
        let prepared = session.prepare(program, &Parameters::new()).expect("a program");
        let options = RunOptions { atomic: true, ..RunOptions::default() };
        let committed = session.run(prepared, &options, &Budget::unlimited()).expect("it is done").version;
        while self.subscription.version() < committed {
            // Where the answer stays as it is, nobody is woken.
            let _ = self.woken.recv_timeout(Duration::from_micros(20));
        }
        while self.version < committed {
            match self.subscription.next(self.version, false).expect("an answer") {
                Next::Delta { version, delta } => {
                    self.version = version;
                    self.rows = self.rows + delta.added.row_count() - delta.removed.row_count();
                    self.told += delta.row_count();
                }
                Next::Nothing { version } => self.version = version,
                Next::Reset { version, rows } => (self.version, self.rows) = (version, rows.row_count()),
                Next::Ended { error, .. } => panic!("{error}"),
            }
        }
    }
}
