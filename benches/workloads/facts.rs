//! Facts as the programs of the command line read them.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};

/// The most memory that the process has had, in MB.
pub fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

/// The relations of a folder with a tab-separated file of integers for each.
pub fn tables(folder: &Path) -> Vec<(String, RecordBatch)> {
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
    columns_batch(columns)
}

/// Columns of integers, with names that say nothing.
pub(crate) fn columns_batch(columns: Vec<Vec<i64>>) -> RecordBatch {
    let columns = columns
        .into_iter()
        .enumerate()
        .map(|(number, values)| (format!("c{number}"), Arc::new(Int64Array::from(values)) as ArrayRef));
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}
