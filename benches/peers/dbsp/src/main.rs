//! Changes for DBSP, on two workers: `dbsp PROGRAM FOLDER CHANGES`.

#[path = "../../rust/src/facts.rs"]
mod facts;
#[path = "../../rust/src/live.rs"]
mod live;
#[path = "../../rust/src/memory.rs"]
mod memory;

use std::time::Instant;

use dbsp::mimalloc::MiMalloc;
use dbsp::operator::{Max, Min};
use dbsp::typed_batch::SpineSnapshot;
use dbsp::utils::{Tup2, Tup3, Tup4};
use dbsp::{
    DBData, DBSPHandle, IndexedZSetReader, OrdZSet, OutputHandle, RootCircuit, Runtime, Stream, ZSetHandle, ZWeight,
};
use facts::Facts;
use live::{Step, Steps, steps};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const WORKERS: usize = 2;

type Pair = Tup2<u32, u32>;
type Road = Tup3<u32, u32, u32>;
type Order = Tup4<u32, u32, u32, u32>;

/// A circuit that has been built: its input, and what changes of its answer.
struct Built<C: DBData, R: DBData> {
    circuit: DBSPHandle,
    input: ZSetHandle<C>,
    output: OutputHandle<SpineSnapshot<OrdZSet<R>>>,
}

/// Builds a circuit of a relation that changes.
macro_rules! built {
    ($changing:ident: $row:ty, $circuit:ident => $dataflow:expr) => {{
        let built = Runtime::init_circuit(WORKERS, |$circuit: &mut RootCircuit| {
            let ($changing, input) = $circuit.add_input_zset::<$row>();
            let answer = $dataflow;
            Ok((input, answer.accumulate_output()))
        });
        let (circuit, (input, output)) = built.expect("a circuit");
        Built { circuit, input, output }
    }};
}

fn closure() -> Built<Pair, Pair> {
    built!(edge: Pair, circuit => circuit.recursive(|child, reach: Stream<_, OrdZSet<Pair>>| {
        let edge = edge.delta0(child);
        let by_end = reach.map_index(|Tup2(x, y)| (*y, *x));
        let by_start = edge.map_index(|Tup2(x, y)| (*x, *y));
        Ok(edge.plus(&by_end.join(&by_start, |_, x, z| Tup2(*x, *z))))
    })?)
}

fn two_steps() -> Built<Pair, Pair> {
    built!(edge: Pair, circuit => {
        let by_end = edge.map_index(|Tup2(x, y)| (*y, *x));
        let by_start = edge.map_index(|Tup2(x, y)| (*x, *y));
        by_end.join(&by_start, |_, x, z| Tup2(*x, *z)).distinct()
    })
}

fn one_way() -> Built<Pair, Pair> {
    built!(edge: Pair, circuit => {
        let forth = edge.map_index(|pair| (pair.clone(), ()));
        let back = edge.map_index(|Tup2(x, y)| (Tup2(*y, *x), ()));
        forth.antijoin(&back).map(|(pair, ())| pair.clone())
    })
}

fn group_sum() -> Built<Order, Tup2<u32, i64>> {
    built!(order: Order, circuit => {
        let by_customer = order.map_index(|Tup4(_, c, _, q)| (*c, *q));
        by_customer.aggregate_linear(|q| *q as ZWeight).map(|(c, sum)| Tup2(*c, *sum))
    })
}

fn total() -> Built<Order, Tup3<i64, i64, u32>> {
    built!(order: Order, circuit => {
        let amounts = order.map_index(|Tup4(_, _, _, q)| ((), *q));
        let count = amounts.aggregate_linear(|_| 1 as ZWeight);
        let sum = amounts.aggregate_linear(|q| *q as ZWeight);
        let both = count.join_index(&sum, |(), count, sum| Some(((), Tup2(*count, *sum))));
        both.join(&amounts.aggregate(Max), |(), Tup2(count, sum), largest| Tup3(*count, *sum, *largest))
    })
}

fn shortest_paths() -> Built<Road, Pair> {
    built!(weighted: Road, circuit => {
        let start = weighted.filter(|Tup3(x, _, _)| *x == 0).map(|Tup3(_, y, w)| Tup2(*y, *w));
        let weighted = weighted.map_index(|Tup3(x, y, w)| (*x, Tup2(*y, *w)));
        circuit.recursive(|child, distance: Stream<_, OrdZSet<Pair>>| {
            let (start, weighted) = (start.delta0(child), weighted.delta0(child));
            let distance = distance.map_index(|Tup2(x, d)| (*x, *d));
            let further = distance.join(&weighted, |_, d, Tup2(y, w)| Tup2(*y, d + w));
            let all = start.plus(&further).map_index(|Tup2(y, d)| (*y, *d));
            Ok(all.aggregate(Min).map(|(y, d)| Tup2(*y, *d)))
        })?
    })
}

/// Follows a relation that changes through a circuit.
fn follow<C: DBData, R: DBData>(built: Built<C, R>, facts: Vec<C>, changes: Vec<Step<C>>) {
    let Built { mut circuit, input, output } = built;
    let mut measured = Steps::default();
    let mut told = |rows: Vec<Tup2<C, ZWeight>>| {
        let mut rows = rows;
        let started = Instant::now();
        input.append(&mut rows);
        circuit.transaction().expect("it runs");
        // A transaction may take several steps.
        let changed = output.concat().consolidate();
        let (mut more, mut count) = (0, 0);
        for (_, (), weight) in changed.iter() {
            more += weight;
            count += weight.unsigned_abs();
        }
        (started.elapsed(), more, count)
    };
    let (time, rows, _) = told(facts.into_iter().map(|row| Tup2(row, 1)).collect());
    measured.first(time, rows);
    for step in changes {
        let (time, more, count) = told(step.into_iter().map(|(row, sign)| Tup2(row, sign)).collect());
        measured.step(time, more, count);
    }
    measured.print();
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, folder, changes] = arguments.as_slice() else {
        panic!("expected PROGRAM FOLDER CHANGES, found {arguments:?}");
    };
    let (facts, changes) = (Facts::of(folder), Facts::of(changes));
    let edges = || facts.read::<(u32, u32)>("edge").into_iter().map(|(x, y)| Tup2(x, y)).collect();
    let edge_steps = || {
        let rows = changes.read::<(u32, u32, u32, u32)>("edge").into_iter();
        steps(rows.map(|(step, comes, x, y)| (step, comes, Tup2(x, y))))
    };
    match program.as_str() {
        "closure" => follow(closure(), edges(), edge_steps()),
        "two-steps" => follow(two_steps(), edges(), edge_steps()),
        "one-way" => follow(one_way(), edges(), edge_steps()),
        "shortest-paths" => {
            let rows = facts.read::<(u32, u32, u32)>("weighted").into_iter();
            let changed = changes.read::<(u32, u32, u32, u32, u32)>("weighted").into_iter();
            let changed = changed.map(|(step, comes, x, y, w)| (step, comes, Tup3(x, y, w)));
            follow(shortest_paths(), rows.map(|(x, y, w)| Tup3(x, y, w)).collect(), steps(changed));
        }
        "group-sum" | "total" => {
            let rows = facts.read::<(u32, u32, u32, u32)>("order").into_iter();
            let changed = changes.read::<(u32, u32, u32, u32, u32, u32)>("order").into_iter();
            let changed = changed.map(|(step, comes, o, c, p, q)| (step, comes, Tup4(o, c, p, q)));
            let rows = rows.map(|(o, c, p, q)| Tup4(o, c, p, q)).collect();
            match program.as_str() {
                "total" => follow(total(), rows, steps(changed)),
                _ => follow(group_sum(), rows, steps(changed)),
            }
        }
        _ => std::process::exit(3),
    }
}
