//! Searches of texts, by how frequent their words are and what has to be fulfilled. How many rows hold the words decides
//! how long a search takes; conditions should cost little, as they are asked of the best rows first.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use stratalog_benches::{answer_rows, define, edges_batch, load, session, settle, text_rows};
use stratalog_engine::Session;

const ROWS: usize = 200_000;
const WORDS: usize = 100_000;

fn loaded() -> Session {
    let mut session = session();
    define(&mut session, "+doc(id: int, body: string)\n+visible(user: int, id: int)");
    load(&mut session, "doc", &[text_rows(ROWS, WORDS, 1)]);
    session
}

fn texts(c: &mut Criterion) {
    let mut session = loaded();
    // A user who sees a fiftieth, and one who sees half.
    let ids = 0..ROWS as i64;
    let fiftieth = ids.clone().filter(|id| id % 50 == 0).map(|id| (1, id));
    let visible: Vec<(i64, i64)> = fiftieth.chain(ids.filter(|id| id % 2 == 0).map(|id| (2, id))).collect();
    load(&mut session, "visible", &[edges_batch(&visible)]);
    define(&mut session, ".index create about on doc(body) type text");
    settle(&mut session);
    let mut group = c.benchmark_group("found");
    group.throughput(Throughput::Elements(ROWS as u64));
    for (name, query, condition) in [
        ("rare", "w30001 w40000 w50000", ""),
        ("usual", "w100 w200 w300 w400 w500", ""),
        ("frequent", "w1 w2 w3", ""),
        ("question", "w1 w2 w7 w900 w12000", ""),
        ("phrase", "\\\"w1 w2\\\"", ""),
        ("question/half", "w1 w2 w7 w900 w12000", ", visible(2, Id)"),
        ("question/fiftieth", "w1 w2 w7 w900 w12000", ", visible(1, Id)"),
    ] {
        let question = format!("?text_search(\"about\", \"{query}\", 10, Id, Score){condition}");
        group.bench_function(name, |b| b.iter(|| assert_eq!(answer_rows(&mut session, &question), 10)));
    }
    group.finish();
}

fn built(c: &mut Criterion) {
    let mut group = c.benchmark_group("index");
    group.sample_size(10).throughput(Throughput::Elements(ROWS as u64));
    group.bench_function("built", |b| {
        b.iter_batched(
            || {
                let mut session = loaded();
                define(&mut session, ".index create about on doc(body) type text");
                session
            },
            // A search that comes before the thread builds what it needs, and waits for what is being built.
            |mut session| answer_rows(&mut session, "?text_search(\"about\", \"w1\", 10, Id, Score)"),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, texts, built);
criterion_main!(benches);
