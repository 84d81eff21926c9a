//! One workload through the engine: `workload FOLDER RULES QUESTION [again] [check] [profile]`, with a tab-separated file of
//! integers for each relation in the folder. Prints as JSON how many rows the answer has and how many seconds it took to
//! load the facts and to evaluate the question; the second time too (`again`), and a checksum of the answer (`check`); or what each
//! operator has done instead (`profile`).

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the command line")]

use std::path::Path;
use std::time::Instant;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use stratalog_benches::{answer, define, load, peak_mb, profile, session, tables};
use stratalog_engine::Rows;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rules, question, options @ ..] = arguments.as_slice() else {
        eprintln!("usage: workload FOLDER RULES QUESTION [again] [check] [profile]");
        std::process::exit(2);
    };
    let wanted = |option: &str| options.iter().any(|given| given == option);
    let tables: Vec<_> = tables(Path::new(folder));
    let mut session = session();
    let start = Instant::now();
    for (relation, batch) in &tables {
        load(&mut session, relation, std::slice::from_ref(batch));
    }
    drop(tables);
    let load_s = start.elapsed().as_secs_f64();
    if !rules.trim().is_empty() {
        define(&mut session, rules);
    }
    if wanted("profile") {
        return print!("{}", profile(&mut session, question));
    }
    let mut evaluate = || {
        let start = Instant::now();
        let rows = answer(&mut session, question);
        (rows, start.elapsed().as_secs_f64())
    };
    let (rows, evaluate_s) = evaluate();
    let again = if wanted("again") { format!(", \"again_s\": {:.5}", evaluate().1) } else { String::new() };
    let count = rows.row_count();
    println!(
        "{{\"rows\": {count}, \"load_s\": {load_s:.4}, \"evaluate_s\": {evaluate_s:.6}{again}, \"peak_mb\": {}}}",
        peak_mb()
    );
    if wanted("check") {
        println!("{{\"checksum\": {}}}", checksum(&rows));
    }
}

/// A sum over the rows, by the formula of `peers/peer.py`. Constants of the question are no part of the answer.
fn checksum(rows: &Rows) -> i64 {
    const FACTORS: [i64; 3] = [1_000_003, 998_244_353, 16_777_619];
    const MODULUS: i64 = 2_147_483_647;
    const BATCH: usize = 100_000;
    let is_variable = |name: &str| name.starts_with(char::is_uppercase);
    let named = rows.columns().iter().enumerate().filter(|(_, column)| is_variable(&column.name));
    let variables: Vec<usize> = named.map(|(position, _)| position).collect();
    let mut sum = 0;
    for offset in (0..rows.row_count()).step_by(BATCH) {
        let batch = rows.batch(offset, BATCH);
        let columns: Vec<_> = variables
            .iter()
            .map(|&column| batch.column(column).as_primitive::<Int64Type>().values())
            .collect();
        let share = |row: usize| {
            columns.iter().zip(FACTORS).map(|(values, f)| values[row] * f).sum::<i64>() % MODULUS
        };
        sum += (0..batch.num_rows()).map(share).sum::<i64>();
    }
    sum
}
