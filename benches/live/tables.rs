//! What tables are asked: aggregates above each other (L4), a join of many relations and a negation over it (L7). A row that changes
//! meets few others, however many there are.

use std::collections::BTreeMap;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use criterion::Criterion;
use stratalog_benches::{Changes, distinct_edges, edges_batch, priced_orders};

use crate::case::{Case, Facts, run};

const ORDERS: usize = 1_000_000;

const CASES: [Case; 6] = [
    Case {
        name: "live/sums",
        rules: "+spent(C, sum<A>) <- order(_, C, _, A)",
        question: "?spent(C, S)",
        followers: 1,
        facts: orders,
        sizes: &[1, 1_000],
    },
    Case {
        name: "live/regions",
        rules: "+spent(C, sum<A>) <- order(_, C, _, A)\n+earned(R, sum<S>) <- spent(C, S), customer(C, R)",
        question: "?earned(R, S)",
        followers: 1,
        facts: orders,
        sizes: &[1, 1_000],
    },
    Case {
        name: "live/top_ten",
        rules: "+spent(C, sum<A>) <- order(_, C, _, A)\n+earned(R, sum<S>) <- spent(C, S), customer(C, R)\n\
                +best(top_k<10, R, S:desc>) <- earned(R, S)",
        question: "?best(R, S)",
        followers: 1,
        facts: orders,
        sizes: &[1, 1_000],
    },
    Case {
        name: "live/largest",
        rules: "+largest(P, max<A>) <- order(_, _, P, A)",
        question: "?largest(P, A)",
        followers: 1,
        facts: || {
            let orders = priced_orders(ORDERS);
            let changes = Changes::one_by_one("order", &orders, largest_first(&orders).into_iter());
            (vec![("order", orders)], changes)
        },
        sizes: &[1],
    },
    Case {
        name: "live/join",
        rules: "+linked(A, F) <- one(A, B), two(B, C), three(C, D), four(D, E), five(E, F)",
        question: "?linked(A, F)",
        followers: 1,
        facts: chained,
        sizes: &[1],
    },
    Case {
        name: "live/negation",
        rules: "+linked(A, F) <- one(A, B), two(B, C), three(C, D), four(D, E), five(E, F)\n\
                +alone(A) <- one(A, _), !linked(A, _)",
        question: "?alone(A)",
        followers: 1,
        facts: chained,
        sizes: &[1],
    },
];

/// Orders of customers in a hundred regions.
fn orders() -> (Facts, Changes) {
    let mut changes = Changes::at_random();
    let orders = changes.hold_back("order", &priced_orders(ORDERS), 10_000);
    let regions: Vec<(i64, i64)> =
        (0..ORDERS as i64 / 100).map(|customer| (customer, customer % 100)).collect();
    (vec![("order", orders), ("customer", edges_batch(&regions))], changes)
}

/// Where the orders of each product are, down to the median, one product after the other.
fn largest_first(orders: &RecordBatch) -> Vec<usize> {
    let column = |number: usize| orders.column(number).as_primitive::<Int64Type>().values();
    let (products, amounts) = (column(2), column(3));
    let mut places: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (place, product) in products.iter().enumerate() {
        places.entry(*product).or_default().push(place);
    }
    for places in places.values_mut() {
        places.sort_unstable_by_key(|&place| std::cmp::Reverse(amounts[place]));
        places.truncate(places.len() / 2);
    }
    places.into_values().flatten().collect()
}

/// Five relations of which each row meets 1.4 of the next one: a million pairs of ends, some by several ways. A row of each of them changes.
fn chained() -> (Facts, Changes) {
    let mut changes = Changes::at_random();
    let names = ["one", "two", "three", "four", "five"];
    let facts = names.into_iter().zip(11..).map(|(relation, seed)| {
        let rows = edges_batch(&distinct_edges(200_000, 282_000, seed));
        (relation, changes.hold_back(relation, &rows, 2_000))
    });
    (facts.collect(), changes)
}

pub(crate) fn steps(c: &mut Criterion) {
    CASES.iter().for_each(|case| run(c, case));
}
