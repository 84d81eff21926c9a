//! A million rows on their way out of the engine: decoded into Arrow batches and written as a stream, by what the columns
//! hold; beside Arrow's own writer with batches that are there already, which is what cannot be saved. Then sorted, and
//! the first ten. Throughput is rows a second.

use arrow::array::RecordBatch;
use arrow::ipc::writer::StreamWriter;
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use stratalog_benches::{answer, answer_rows, load, orders_batch, session, wide_facts};
use stratalog_engine::Rows;

const ROWS: usize = 1_000_000;
/// As many as the server sends at once.
const BATCH: usize = 65_536;

fn batches(rows: &Rows) -> impl Iterator<Item = RecordBatch> + '_ {
    (0..rows.row_count()).step_by(BATCH).map(|offset| rows.batch(offset, BATCH))
}

/// Bytes of a stream of these batches.
fn written(batches: impl Iterator<Item = RecordBatch>, rows: &Rows) -> usize {
    let mut stream = StreamWriter::try_new(Vec::new(), &rows.schema()).expect("a stream begins");
    batches.for_each(|batch| stream.write(&batch).expect("a batch is written"));
    stream.into_inner().expect("a stream ends").len()
}

fn rows_out(c: &mut Criterion) {
    let mut group = c.benchmark_group("rows_out");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(ROWS as u64));
    for (name, facts) in [("ints", orders_batch(ROWS, 1 << 40, 1 << 20)), ("text", wide_facts(ROWS))] {
        let mut session = session();
        load(&mut session, "fact", &[facts]);
        let rows = answer(&mut session, "?fact(A, B, C)");
        let decoded: Vec<RecordBatch> = batches(&rows).collect();
        group.bench_function(format!("decoded/{name}"), |b| b.iter(|| batches(&rows).count()));
        group.bench_function(format!("written/{name}"), |b| b.iter(|| written(batches(&rows), &rows)));
        group.bench_function(format!("written_by_arrow_alone/{name}"), |b| {
            b.iter(|| written(decoded.iter().cloned(), &rows));
        });
        group.bench_function(format!("sorted/{name}"), |b| {
            b.iter(|| answer_rows(&mut session, "?fact(A, B:desc, C:asc)"));
        });
        group.bench_function(format!("first_ten/{name}"), |b| {
            b.iter(|| assert_eq!(answer_rows(&mut session, "?fact(A, B:desc, C), limit(10)"), 10));
        });
    }
    group.finish();
}

criterion_group!(benches, rows_out);
criterion_main!(benches);
