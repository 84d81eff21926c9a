//! A three-way join with an aggregate, by the number of facts. Orders meet customers and products, a tenth of which
//! pass a filter; the group count stays small, so the axis is how fast rows flow through two probes. Throughput is
//! orders a second.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use stratalog_benches::{answer_rows, define, edges_batch, load, orders_batch, session};

const CUSTOMERS: u64 = 10_000;
const PRODUCTS: u64 = 1_000;

fn three_way_join(c: &mut Criterion) {
    let mut group = c.benchmark_group("three_way_join");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for orders in [100_000, 1_000_000] {
        let mut session = session();
        load(&mut session, "order", &[orders_batch(orders, CUSTOMERS, PRODUCTS)]);
        let regions: Vec<(i64, i64)> = (0..CUSTOMERS as i64).map(|c| (c, c % 25)).collect();
        let kinds: Vec<(i64, i64)> = (0..PRODUCTS as i64).map(|p| (p, p % 10)).collect();
        load(&mut session, "region", &[edges_batch(&regions)]);
        load(&mut session, "kind", &[edges_batch(&kinds)]);
        define(
            &mut session,
            "+sold(R, sum<Q>) <- order(C, P, Q), region(C, R), kind(P, 3)\n+wide(C, P, R, K) <- order(C, P, _), region(C, R), kind(P, K)",
        );
        group.throughput(Throughput::Elements(orders as u64));
        group.bench_function(format!("sum_by_region/{orders}"), |b| {
            b.iter(|| assert_eq!(answer_rows(&mut session, "?sold(R, S)"), 25));
        });
        group.bench_function(format!("all_rows/{orders}"), |b| {
            b.iter(|| answer_rows(&mut session, "?wide(C, P, R, K)"));
        });
    }
    group.finish();
}

criterion_group!(benches, three_way_join);
criterion_main!(benches);
