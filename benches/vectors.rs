//! Nearest vectors, by how they are found and what has to be fulfilled; ranges and single rows of other columns. The
//! exact search reads every vector, so its throughput is in bytes; an index should not care how many there are.

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stratalog_benches::{
    answer, answer_rows, define, load, session, settle, vector_rows, vectors, wide_facts,
};

const ROWS: usize = 100_000;
const DIMENSION: usize = 128;

fn literal(vector: &[f32]) -> String {
    format!("{vector:?}")
}

fn nearest(c: &mut Criterion) {
    let mut session = session();
    define(&mut session, &format!("+doc(id: int, v: vector({DIMENSION}))\n+visible(user: int, id: int)"));
    load(&mut session, "doc", &[vector_rows(vectors(ROWS, DIMENSION, 1), DIMENSION)]);
    // A user who sees a fiftieth, and one who sees half.
    define(
        &mut session,
        "+visible(1, Id) <- doc(Id, _), Id % 50 = 0\n+visible(2, Id) <- doc(Id, _), Id % 2 = 0",
    );
    let query = literal(&vectors(1, DIMENSION, 2));
    let bytes = Throughput::Bytes((ROWS * DIMENSION * size_of::<f32>()) as u64);

    let mut group = c.benchmark_group("exact");
    group.throughput(bytes);
    for metric in ["cosine", "euclidean", "dot", "manhattan"] {
        define(
            &mut session,
            &format!("near_{metric}(top_k<10, Id, D:asc>) <- doc(Id, V), D = {metric}(V, {query})"),
        );
        let question = format!("?near_{metric}(Id, D)");
        group.bench_function(format!("top_k/{metric}"), |b| {
            b.iter(|| assert_eq!(answer_rows(&mut session, &question), 10));
        });
    }
    let limited = format!("?Id, D:asc <- doc(Id, V), D = euclidean(V, {query}), limit(10)");
    group.bench_function("limit/euclidean", |b| {
        b.iter(|| assert_eq!(answer_rows(&mut session, &limited), 10));
    });
    group.finish();

    define(&mut session, ".session clear\n.index create near on doc(v) metric l2");
    settle(&mut session);
    let mut group = c.benchmark_group("indexed");
    for (name, condition) in [
        ("alone", ""),
        ("half", ", visible(2, Id)"),
        ("fiftieth", ", visible(1, Id)"),
        ("ids", ", Id > 90000"),
    ] {
        let question = format!("?hnsw_nearest(\"near\", {query}, 10, Id, D){condition}");
        group.bench_function(name, |b| b.iter(|| assert_eq!(answer_rows(&mut session, &question), 10)));
    }
    group.finish();
}

fn columns(c: &mut Criterion) {
    const ROWS: usize = 10_000_000;
    let mut session = session();
    define(&mut session, "+m(key: int, name: string, number: int)");
    load(&mut session, "m", &[wide_facts(ROWS)]);
    let mut group = c.benchmark_group("column");
    group.sample_size(10);
    // A hundredth of the numbers, which are below 2^40.
    let range = "?count<X> <- m(_, _, X), X >= 100000000000, X < 110995116278";
    group.bench_function("range/scan", |b| b.iter(|| assert_eq!(answer_rows(&mut session, range), 1)));
    define(
        &mut session,
        ".index create numbers on m(number) type sorted\n.index create keys on m(key) type hash\n\
         .index create by_number on m(number) type hash\n.index create names on m(name) type hash",
    );
    settle(&mut session);
    group.bench_function("range/sorted", |b| b.iter(|| assert_eq!(answer_rows(&mut session, range), 1)));
    let batch = answer(&mut session, "?m(7777777, X, Y)").batch(0, 1);
    let number = batch.column(2).as_primitive::<Int64Type>().value(0);
    // Of each name there are ten thousand rows.
    for (name, question) in [
        ("key", "?m(7777777, X, Y)".to_owned()),
        ("number", format!("?m(X, Y, {number})")),
        ("key_and_name", "?m(7777777, \"name 7\", Y)".to_owned()),
        ("absent_name", "?m(X, \"nobody\", Y)".to_owned()),
    ] {
        group.bench_function(format!("row/{name}"), |b| b.iter(|| answer_rows(&mut session, &question)));
    }
    group.finish();
}

criterion_group!(benches, nearest, columns);
criterion_main!(benches);
