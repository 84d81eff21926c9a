//! Loading facts of three columns (key, text, large number), by the way in and by what is there already. Arrow batches
//! (a million facts) need interning and sorting only, beside what Arrow's own reader takes for their bytes; program text
//! (half a million: a program has at most 16 MiB) is parsed as well, and where each fact is a statement (20,000), there is
//! a commit for each; into a full relation, every fact is looked up. Throughput is facts a second. And what it takes to
//! delete one fact of many, each time another one: a commit in memory.

use std::fmt::Write;

use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use criterion::{
    BatchSize, BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use stratalog_benches::{define, edges_batch, load, session, wide_facts};

const FACTS: usize = 1_000_000;
const FACTS_AS_TEXT: usize = 500_000;
const FACTS_AS_STATEMENTS: usize = 20_000;

fn ingest(c: &mut Criterion) {
    let mut group = c.benchmark_group("ingest");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(FACTS as u64));
    let batch = [wide_facts(FACTS)];
    group.bench_function("arrow/into_empty", |b| {
        b.iter_batched(session, |mut session| load(&mut session, "fact", &batch), BatchSize::PerIteration);
    });
    let bytes = {
        let mut stream = StreamWriter::try_new(Vec::new(), &batch[0].schema()).expect("a stream begins");
        stream.write(&batch[0]).expect("a batch is written");
        stream.into_inner().expect("a stream ends")
    };
    let read = || {
        let stream = StreamReader::try_new(bytes.as_slice(), None).expect("a stream");
        stream.collect::<Result<Vec<_>, _>>().expect("batches")
    };
    group.bench_function("arrow/read_alone", |b| b.iter(|| assert_eq!(read().len(), 1)));
    group.bench_function("arrow/read_into_empty", |b| {
        b.iter_batched(session, |mut session| load(&mut session, "fact", &read()), BatchSize::PerIteration);
    });
    group.bench_function("arrow/again", |b| {
        let mut session = session();
        load(&mut session, "fact", &batch);
        b.iter(|| load(&mut session, "fact", &batch));
    });
    let mut text = String::from("+fact[");
    for i in 0..FACTS_AS_TEXT {
        let separator = if i == 0 { "" } else { "," };
        let _ = write!(text, "{separator}({i},\"n{}\",{})", i % 1_000, i * 7);
    }
    text.push(']');
    group.throughput(Throughput::Elements(FACTS_AS_TEXT as u64));
    group.bench_function("text/into_empty", |b| {
        b.iter_batched(session, |mut session| define(&mut session, &text), BatchSize::PerIteration);
    });
    let mut statements = String::new();
    for i in 0..FACTS_AS_STATEMENTS {
        let _ = writeln!(statements, "+fact({i}, \"n{}\", {})", i % 1_000, i * 7);
    }
    group.throughput(Throughput::Elements(FACTS_AS_STATEMENTS as u64));
    group.bench_function("statements/into_empty", |b| {
        b.iter_batched(session, |mut session| define(&mut session, &statements), BatchSize::PerIteration);
    });
    group.finish();
}

fn deletes(c: &mut Criterion) {
    let mut group = c.benchmark_group("deletes");
    for facts in [1_000_000_i64, 16_000_000] {
        let mut session = session();
        load(&mut session, "pair", &[edges_batch(&(0..facts).map(|n| (n, n)).collect::<Vec<_>>())]);
        let mut next = 0;
        group.bench_function(BenchmarkId::new("one_of", facts), |b| {
            b.iter(|| {
                // All over the relation.
                next = (next + 7_919_003) % facts;
                define(&mut session, &format!("-pair({next}, {next})"));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, ingest, deletes);
criterion_main!(benches);
