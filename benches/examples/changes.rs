//! A question that is followed while facts come and go: `changes FOLDER CHANGES RULES QUESTION [anew] [at-once] [each]`, with a tab-separated file of
//! integers for each relation in the folder, and in the other one for each that changes: the step, 1 for a row that comes or 0 for one
//! that goes, and the row. Prints as JSON how long the first answer and each step took, from before its commit until what has changed of
//! the answer is known, and how many rows there are in the end. Between the answer and the first step a second passes, unless they follow
//! `at-once`. `anew` derives the answer from scratch each time, `each` prints how long
//! each step took, and how many rows it told, before the rest.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the command line")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use stratalog_benches::{
    Change, Follower, Steps, commit, define, load, peak_mb, program, session_of, tables,
};
use stratalog_engine::{Advance, EngineOptions, Next};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, changes, rules, question, options @ ..] = arguments.as_slice() else {
        eprintln!("usage: changes FOLDER CHANGES RULES QUESTION [anew] [at-once] [each]");
        std::process::exit(2);
    };
    let has = |name: &str| options.iter().any(|option| option == name);
    let advance = if has("anew") { Advance::Never } else { Advance::WhereFaster };
    let view_memory = 4 << 30;
    let mut session = session_of(EngineOptions { advance, view_memory, ..EngineOptions::default() });
    for (relation, batch) in tables(Path::new(folder)) {
        load(&mut session, &relation, &[batch]);
    }
    define(&mut session, rules);
    let started = Instant::now();
    let mut follower = Follower::of(&session, question);
    let first = started.elapsed();
    if !has("at-once") {
        std::thread::sleep(Duration::from_secs(1));
    }
    let (mut steps, mut rows, mut told) = (Steps::default(), follower.begun().row_count(), 0);
    for program in programs(tables(Path::new(changes))) {
        let started = Instant::now();
        let changed = follower.catch_up(commit(&mut session, &program));
        let took = started.elapsed();
        steps.took(took);
        let told_before = told;
        for next in &changed {
            match next {
                Next::Delta { delta, .. } => {
                    rows = rows + delta.added.row_count() - delta.removed.row_count();
                    told += delta.row_count();
                }
                Next::Reset { rows: all, .. } => rows = all.row_count(),
                Next::Nothing { .. } | Next::Ended { .. } => {}
            }
        }
        if has("each") {
            println!("{:.3} {}", took.as_secs_f64() * 1e3, told - told_before);
        }
    }
    let [p50, p99, max] = steps.ms([500, 990, 1_000]);
    println!(
        "{{\"rows\": {rows}, \"first_ms\": {:.3}, \"p50_ms\": {p50:.4}, \"p99_ms\": {p99:.4}, \"max_ms\": {max:.4}, \"told\": {told}, \"peak_mb\": {}}}",
        first.as_secs_f64() * 1e3,
        peak_mb()
    );
}

/// The programs of the steps, in their order.
fn programs(tables: Vec<(String, RecordBatch)>) -> impl Iterator<Item = String> {
    let mut steps: BTreeMap<i64, Vec<(Change, String, String)>> = BTreeMap::new();
    for (relation, batch) in tables {
        let columns: Vec<&[i64]> =
            batch.columns().iter().map(|column| &**column.as_primitive::<Int64Type>().values()).collect();
        for row in 0..batch.num_rows() {
            let change = if columns[1][row] == 1 { Change::Comes } else { Change::Goes };
            let values: Vec<String> = columns[2..].iter().map(|column| column[row].to_string()).collect();
            let step = steps.entry(columns[0][row]).or_default();
            step.push((change, relation.clone(), format!("({})", values.join(", "))));
        }
    }
    steps.into_values().map(|step| {
        program(step.iter().map(|(change, relation, row)| (*change, relation.as_str(), row.as_str())))
    })
}
