//! What durability costs: commits a second by the number of writers, beside what redb itself does with the same bytes
//! on the same disk; loading a million facts to disk; and opening a folder of a million and of ten million facts.
//! Writers that wait together share one sync, so throughput should grow with their number.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use criterion::{BatchSize, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use redb::{Database, TableDefinition};
use stratalog_benches::{answer_rows, define, load, wide_facts};
use stratalog_engine::{DEFAULT_GRAPH, Engine, EngineOptions, Session, StorageOptions};
use tempfile::TempDir;

fn open(folder: &Path) -> Engine {
    Engine::open(EngineOptions::default(), StorageOptions::new(folder)).expect("the folder opens")
}

fn session(engine: &Engine) -> Session {
    engine.open_session(DEFAULT_GRAPH).expect("the graph is served")
}

fn commits(c: &mut Criterion) {
    let mut group = c.benchmark_group("commits");
    group.sample_size(10).measurement_time(Duration::from_secs(5)).throughput(Throughput::Elements(1));
    group.bench_function("redb_alone", |b| {
        const TABLE: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("table");
        let folder = TempDir::new().expect("a temporary folder");
        let database = Database::create(folder.path().join("alone.redb")).expect("a database");
        let content = [7_u8; 900];
        let mut next = 0;
        b.iter(|| {
            let transaction = database.begin_write().expect("a transaction");
            transaction
                .open_table(TABLE)
                .expect("a table")
                .insert(next, content.as_slice())
                .expect("an insert");
            transaction.commit().expect("a commit");
            next += 1;
        });
    });
    for writers in [1, 8, 64] {
        let (before, made) = (written(), AtomicU64::new(0));
        group.bench_function(format!("writers/{writers}"), |b| {
            let folder = TempDir::new().expect("a temporary folder");
            let engine = open(folder.path());
            let next = AtomicU64::new(0);
            // The time of one commit of all writers together.
            b.iter_custom(|iterations| {
                let until = next.load(Ordering::Relaxed) + iterations;
                let started = Instant::now();
                std::thread::scope(|scope| {
                    for _ in 0..writers {
                        scope.spawn(|| {
                            let mut session = session(&engine);
                            loop {
                                let n = next.fetch_add(1, Ordering::Relaxed);
                                if n >= until {
                                    break;
                                }
                                define(&mut session, &format!("+fact({n}, \"text\")"));
                            }
                        });
                    }
                });
                next.store(until, Ordering::Relaxed);
                made.fetch_add(iterations, Ordering::Relaxed);
                started.elapsed()
            });
        });
        if let Some(bytes) = (written() - before).checked_div(made.into_inner()) {
            eprintln!("{writers} writers: {bytes} bytes written a commit of one fact");
        }
    }
    group.finish();
}

fn bulk(c: &mut Criterion) {
    const FACTS: usize = 1_000_000;
    let mut group = c.benchmark_group("stored");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(FACTS as u64));
    let batch = [wide_facts(FACTS)];
    group.bench_function("load", |b| {
        let fresh = || {
            let folder = TempDir::new().expect("a temporary folder");
            let engine = open(folder.path());
            (session(&engine), engine, folder)
        };
        b.iter_batched(
            fresh,
            |(mut session, engine, folder)| {
                load(&mut session, "fact", &batch);
                (session, engine, folder)
            },
            BatchSize::PerIteration,
        );
    });
    for facts in [FACTS, 10 * FACTS] {
        let folder = TempDir::new().expect("a temporary folder");
        let before = written();
        {
            let engine = open(folder.path());
            let mut session = session(&engine);
            load(&mut session, "fact", &[wide_facts(facts)]);
            define(&mut session, ".compact");
        }
        let written = (written() - before) as f64 / facts as f64;
        let kept = size_of(folder.path()) as f64 / facts as f64;
        eprintln!("{facts} facts: {written:.1} bytes written a fact, {kept:.1} bytes a fact on disk");
        group.throughput(Throughput::Elements(facts as u64));
        group.bench_function(format!("open/{facts}"), |b| b.iter(|| open(folder.path())));
    }
    group.finish();
}

/// Bytes that this process has passed to the kernel to write so far.
fn written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").expect("the kernel counts");
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: ")).expect("a count");
    line.parse().expect("a number")
}

fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

/// How long a point lookup takes while nothing else happens, and while ten million facts are being stored in the same
/// graph by another session. Prints the percentiles; the criterion figure is the mean.
fn lookups(c: &mut Criterion) {
    const FACTS: usize = 10_000_000;
    const KNOWN: usize = 100_000;
    let batches: Vec<RecordBatch> = vec![wide_facts(FACTS)];
    let mut group = c.benchmark_group("lookup");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for loading in [false, true] {
        let name = if loading { "during_a_load" } else { "idle" };
        let latencies = Mutex::new(Vec::new());
        group.bench_function(name, |b| {
            b.iter_custom(|iterations| {
                let folder = TempDir::new().expect("a temporary folder");
                let engine = open(folder.path());
                let mut reader = session(&engine);
                load(&mut reader, "known", &[wide_facts(KNOWN)]);
                let done = AtomicBool::new(!loading);
                let mut total = Duration::ZERO;
                let mut count = 0_u32;
                std::thread::scope(|scope| {
                    if loading {
                        scope.spawn(|| {
                            load(&mut session(&engine), "fact", &batches);
                            done.store(true, Ordering::Relaxed);
                        });
                    }
                    while count < 2_000 || !done.load(Ordering::Relaxed) {
                        let key = count as usize % KNOWN;
                        let started = Instant::now();
                        answer_rows(&mut reader, &format!("?known({key}, X, Y)"));
                        let elapsed = started.elapsed();
                        total += elapsed;
                        count += 1;
                        latencies.lock().expect("no panic").push(elapsed);
                    }
                });
                total / count * u32::try_from(iterations).expect("few iterations")
            });
        });
        let mut latencies = latencies.into_inner().expect("no panic");
        latencies.sort_unstable();
        if latencies.is_empty() {
            continue;
        }
        let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
        eprintln!("{name}: p50 {:?}, p99 {:?}, p99.9 {:?}, most {:?}", at(0.5), at(0.99), at(0.999), at(1.0));
    }
    group.finish();
}

criterion_group!(benches, commits, bulk, lookups);
criterion_main!(benches);
