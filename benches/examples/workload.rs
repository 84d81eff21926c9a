//! One workload through the engine: `workload FOLDER RULES QUESTION`, with a tab-separated file of integers a relation
//! in the folder. Prints the rows of the answer and the seconds that loading and evaluating took, as JSON.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the command line")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use stratalog_benches::{answer_rows, define, load, session};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rules, question] = arguments.as_slice() else {
        eprintln!("usage: workload FOLDER RULES QUESTION");
        std::process::exit(2);
    };
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
    let mut times = Vec::new();
    let mut rows = 0;
    for _ in 0..2 {
        let start = Instant::now();
        rows = answer_rows(&mut session, question);
        times.push(start.elapsed().as_secs_f64());
    }
    println!(
        "{{\"answer\":{rows},\"load_s\":{load_s:.4},\"evaluate_s\":{:.5},\"again_s\":{:.5},\"peak_mb\":{}}}",
        times[0],
        times[1],
        peak_mb()
    );
}

/// The most memory that the process has had, in MB.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

fn tables(folder: &Path) -> Vec<(String, RecordBatch)> {
    let files = std::fs::read_dir(folder).expect("a folder of facts");
    let paths = files.map(|file| file.expect("a file").path());
    let tables =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "tsv")).map(|path| {
            let name = path.file_stem().and_then(|stem| stem.to_str()).expect("the name of a relation");
            (name.to_owned(), table(&std::fs::read_to_string(&path).expect("facts")))
        });
    tables.collect()
}

fn table(text: &str) -> RecordBatch {
    let mut columns: Vec<Vec<i64>> = Vec::new();
    for line in text.lines() {
        for (column, field) in line.split('\t').enumerate() {
            if columns.len() <= column {
                columns.push(Vec::new());
            }
            columns[column].push(field.parse().expect("an integer"));
        }
    }
    let columns = columns
        .into_iter()
        .enumerate()
        .map(|(number, values)| (format!("c{number}"), Arc::new(Int64Array::from(values)) as ArrayRef));
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}
