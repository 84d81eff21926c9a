//! Recursions: closures (L1, L2), points-to (L3), shortest paths (L5), what is not reached (L6), and closures from a thousand nodes (L8). How
//! far a fact reaches decides what a step costs: most change a few rows or none, a few change tens of thousands.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::compute::concat_batches;
use criterion::Criterion;
use stratalog_benches::{
    Changes, distinct_edges, edges_batch, package_dependencies, pointer_statements, roads,
};

use crate::case::{Case, Facts, run};

const CASES: [Case; 6] = [
    Case {
        name: "live/closure",
        rules: "+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)",
        question: "?path(X, Y)",
        followers: 1,
        facts: || held_back("edge", &edges_batch(&distinct_edges(2_000, 4_400, 1)), 400),
        sizes: &[1, 10, 100],
    },
    Case {
        name: "live/packages",
        rules: "+needs(X, Y) <- edge(X, Y)\n+needs(X, Z) <- needs(X, Y), edge(Y, Z)",
        question: "?needs(X, Y)",
        followers: 1,
        facts: || {
            let batches = package_dependencies();
            let edges = concat_batches(&batches[0].schema(), &batches).expect("one schema");
            held_back("edge", &edges, 2_000)
        },
        sizes: &[1, 10, 100],
    },
    Case {
        name: "live/points_to",
        rules: "+pt(Y, X) <- new(Y, X)\n\
                +pt(Y, W) <- assign(Y, Z), pt(Z, W)\n\
                +pt(Y, W) <- load(Y, X), pt(X, Z), pt(Z, W)\n\
                +pt(Z, W) <- store(X, Y), pt(X, Z), pt(Y, W)",
        question: "?pt(X, Y)",
        followers: 1,
        facts: || {
            let mut changes = Changes::at_random();
            let statements = pointer_statements(180_000).into_iter();
            let facts = statements.map(|(relation, rows)| {
                // The same share of each kind.
                (relation, changes.hold_back(relation, &rows, rows.num_rows() / 50))
            });
            (facts.collect(), changes)
        },
        sizes: &[1, 100, 1_800],
    },
    Case {
        name: "live/roads",
        rules: "+distance(Y, min<D>) <- road(0, Y, D)\n\
                +distance(Y, min<D>) <- distance(X, E), road(X, Y, W), D = E + W",
        question: "?distance(X, D)",
        followers: 1,
        facts: || held_back("road", &roads(200_000, 1_010_000), 10_000),
        sizes: &[1, 100],
    },
    Case {
        name: "live/unreachable",
        rules: "+reached(X) <- start(X)\n+reached(Y) <- reached(X), edge(X, Y)\n\
                +unreached(X) <- node(X), !reached(X)",
        question: "?unreached(X)",
        followers: 1,
        facts: || {
            const NODES: i64 = 1_000_000;
            let edges = edges_batch(&distinct_edges(NODES as u64, 5_010_000, 2));
            let (mut facts, changes) = held_back("edge", &edges, 10_000);
            facts.push(("node", nodes(0..NODES)));
            facts.push(("start", nodes(0..1)));
            (facts, changes)
        },
        sizes: &[1],
    },
    Case {
        name: "live/parameters",
        rules: "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)",
        question: "?reach({}, Y)",
        followers: 1_000,
        facts: || held_back("edge", &edges_batch(&distinct_edges(100_000, 91_000, 3)), 1_000),
        sizes: &[1],
    },
];

/// One relation, of which so many rows come later.
fn held_back(relation: &'static str, rows: &RecordBatch, count: usize) -> (Facts, Changes) {
    let mut changes = Changes::at_random();
    (vec![(relation, changes.hold_back(relation, rows, count))], changes)
}

fn nodes(numbers: Range<i64>) -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers));
    RecordBatch::try_from_iter([("node", numbers)]).expect("one column")
}

pub(crate) fn steps(c: &mut Criterion) {
    CASES.iter().for_each(|case| run(c, case));
}
