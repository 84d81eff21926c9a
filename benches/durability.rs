//! What durability costs: commits a second by the number of writers, beside what redb itself does with the same bytes
//! on the same disk; loading a million facts to disk; and opening a folder of a million and of ten million facts.
//! Writers that wait together share one sync, so throughput should grow with their number.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use redb::{Database, TableDefinition};
use stratalog_benches::{define, load, wide_facts};
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
                started.elapsed()
            });
        });
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
        {
            let engine = open(folder.path());
            let mut session = session(&engine);
            load(&mut session, "fact", &[wide_facts(facts)]);
            define(&mut session, ".compact");
        }
        eprintln!("{facts} facts take {} bytes on disk", size_of(folder.path()));
        group.throughput(Throughput::Elements(facts as u64));
        group.bench_function(format!("open/{facts}"), |b| b.iter(|| open(folder.path())));
    }
    group.finish();
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

criterion_group!(benches, commits, bulk);
criterion_main!(benches);
