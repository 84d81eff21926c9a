//! Debian's package graph, from the demo's Parquet files.

use std::fs::File;
use std::path::Path;

use arrow::array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// The dependency edges: (package, on).
pub fn package_dependencies() -> Vec<RecordBatch> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo/data/depends.parquet");
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.build());
    let reader = reader.expect("the demo's file is Parquet");
    reader.collect::<Result<_, _>>().expect("the demo's file is whole")
}
