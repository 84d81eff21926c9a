//! What evaluation by plans costs beside evaluation in memory: `figures CASE here|POOL_MB`, one case a process, so that its peak
//! of memory is its own. `make cluster-figures` runs all of them.

#![allow(clippy::print_stdout, reason = "what it measures is what it is for")]

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use stratalog_cluster::{Evaluator, Settings};
use stratalog_engine::{
    Budget, Cluster, ClusterUse, Content, Engine, EngineOptions, Parameters, RunOptions, Scope, Session,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A question about facts that are made up.
struct Case {
    name: &'static str,
    fill: fn(&mut Session),
    program: &'static str,
    /// Whether a recursion that falls apart is evaluated in rounds all the same.
    in_rounds: bool,
}

const CLOSURE: &str =
    "path(X, Y) <- edge(X, Y)\npath(X, Z) <- path(X, Y), edge(Y, Z)\n?count<X> <- path(X, _)";

const CASES: &[Case] = &[
    Case { name: "closure-10000-30000", fill: random_graph, program: CLOSURE, in_rounds: false },
    Case { name: "closure-10000-30000-rounds", fill: random_graph, program: CLOSURE, in_rounds: true },
    Case { name: "closure-dag", fill: scale_free_dag, program: CLOSURE, in_rounds: false },
    Case { name: "closure-dag-rounds", fill: scale_free_dag, program: CLOSURE, in_rounds: true },
    Case {
        name: "sums-of-40m-groups",
        fill: orders,
        program: "sum_of(C, P, sum<Q>) <- order(N, C, P, Q)\n?count<C> <- sum_of(C, _, _)",
        in_rounds: false,
    },
    Case {
        name: "sums-of-1m-groups",
        fill: orders,
        program: "sum_of(C, sum<Q>) <- order(N, C, _, Q)\n?count<C> <- sum_of(C, _)",
        in_rounds: false,
    },
    Case {
        name: "star",
        fill: orders,
        program: "?G, K, sum<Q> <- order(N, C, P, Q), customer(C, G), product(P, K)",
        in_rounds: false,
    },
];

/// A generator of numbers that look drawn (Steele, Lea and Flood's SplitMix64).
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        i64::try_from((mixed ^ (mixed >> 31)) % end.unsigned_abs()).unwrap_or(0)
    }
}

fn insert(session: &mut Session, relation: &str, columns: Vec<Vec<i64>>) {
    let names = ["a", "b", "c", "d"];
    let arrays = columns.into_iter().map(|column| Arc::new(Int64Array::from(column)) as ArrayRef);
    let batch = RecordBatch::try_from_iter(names.into_iter().zip(arrays)).expect("columns of one length");
    let budget = Budget::unlimited();
    session.insert_batches(relation, Scope::Persistent, vec![batch], &budget).expect("rows");
}

fn random_graph(session: &mut Session) {
    let mut draws = Draws(1);
    let edges: Vec<(i64, i64)> = (0..30_000).map(|_| (draws.below(10_000), draws.below(10_000))).collect();
    let (from, to) = edges.into_iter().unzip();
    insert(session, "edge", vec![from, to]);
}

/// Earlier nodes point to each node, drawn by how many edges they have (Barabási and Albert).
fn scale_free_dag(session: &mut Session) {
    let mut draws = Draws(2);
    let mut ends = vec![0; 3];
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for node in 1..50_000 {
        for _ in 0..3 {
            let earlier = ends[usize::try_from(draws.below(ends.len() as i64)).unwrap_or(0)];
            from.push(earlier);
            to.push(node);
            ends.push(earlier);
        }
        ends.extend([node; 3]);
    }
    insert(session, "edge", vec![from, to]);
}

fn orders(session: &mut Session) {
    const ORDERS: i64 = 40_000_000;
    const CUSTOMERS: i64 = 1_000_000;
    const PRODUCTS: i64 = 100_000;
    let mut draws = Draws(3);
    for part in 0..40 {
        let numbers = part * (ORDERS / 40)..(part + 1) * (ORDERS / 40);
        let mut drawn = |end| -> Vec<i64> { numbers.clone().map(|_| draws.below(end)).collect() };
        let columns = vec![drawn(CUSTOMERS), drawn(PRODUCTS), drawn(1_000)];
        insert(session, "order", [vec![numbers.clone().collect()], columns].concat());
    }
    let mut drawn =
        |count: i64, end| vec![(0..count).collect(), (0..count).map(|_| draws.below(end)).collect()];
    insert(session, "customer", drawn(CUSTOMERS, 100));
    insert(session, "product", drawn(PRODUCTS, 100));
}

/// The most memory that this process has had, in MB.
fn peak_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kilobytes = line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap_or_default();
    kilobytes / 1024
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(place)) = (arguments.next(), arguments.next()) else {
        CASES.iter().for_each(|case| println!("{}", case.name));
        return;
    };
    let case = CASES.iter().find(|case| case.name == name).expect("one of the cases");
    let folder = tempfile::tempdir().expect("a folder for a while");
    let cluster = place.parse::<usize>().ok().map(|pool_mb| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut settings = Settings { pool_bytes: pool_mb << 20, ..Settings::new(folder.path(), threads) };
        if case.in_rounds {
            settings.carried_bytes = 0;
        }
        let evaluator = Arc::new(Evaluator::new(settings).expect("an evaluator"));
        Cluster { evaluator, over_bytes: 0, default_use: ClusterUse::Only }
    });
    let options = EngineOptions { cluster, view_memory: 0, ..EngineOptions::default() };
    let engine = Engine::in_memory(options).expect("an engine");
    let mut session = engine.open_session("default").expect("the graph `default`");
    (case.fill)(&mut session);
    // What loading took is not of interest.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let loaded = peak_mb();
    let prepared = session.prepare(case.program, &Parameters::new()).expect("a program");
    let begun = Instant::now();
    let answer = session.run(prepared, &RunOptions::default(), &Budget::unlimited()).expect("an answer");
    let seconds = begun.elapsed().as_secs_f64();
    let Content::Rows(rows) = answer.content else { panic!("no rows") };
    let numbers = rows.batch(0, rows.row_count());
    let total: i64 =
        numbers.columns().last().map_or(0, |column| column.as_primitive::<Int64Type>().values().iter().sum());
    println!(
        "{name}\t{place}\t{seconds:.2} s\tpeak {} MB, {loaded} MB of them before\tin all {total}",
        peak_mb()
    );
}
