//! Changes for Differential Dataflow, on two workers: `differential_live PROGRAM FOLDER CHANGES`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Instant;

use differential_dataflow::input::Input;
use differential_dataflow::operators::*;
use differential_dataflow::{ExchangeData, Hashable, VecCollection};
use stratalog_peers::live::{Step, Steps, steps};
use stratalog_peers::{Facts, Fields};
use timely::dataflow::Scope;
use timely::dataflow::operators::probe::Handle;

const WORKERS: usize = 2;

/// A relation in a dataflow that goes on.
type Relation<'scope, R> = VecCollection<'scope, u32, R>;
type Numbers<'scope> = Relation<'scope, u32>;
type Pairs<'scope> = Relation<'scope, (u32, u32)>;
type Pair = (u32, u32);
type Four = (u32, u32, u32, u32);

fn closure(edge: Pairs) -> Pairs {
    edge.clone().iterate(|scope, reach| {
        let edge = edge.enter(scope);
        reach.map(|(x, y)| (y, x)).join_map(edge.clone(), |_, &x, &z| (x, z)).concat(edge).distinct()
    })
}

fn two_steps(edge: Pairs) -> Pairs {
    edge.clone().map(|(x, y)| (y, x)).join_map(edge, |_, &x, &z| (x, z)).distinct()
}

fn one_way(edge: Pairs) -> Pairs {
    let back = edge.clone().map(|(x, y)| (y, x)).distinct();
    edge.map(|pair| (pair, ())).antijoin(back).map(|(pair, ())| pair)
}

fn unreachable<'s>(edge: Pairs<'s>, start: Numbers<'s>, node: Numbers<'s>) -> Numbers<'s> {
    let reached = start.clone().iterate(|scope, reached| {
        let step = reached.map(|x| (x, ())).join_map(edge.enter(scope), |_, (), &y| y);
        step.concat(start.enter(scope)).distinct()
    });
    node.map(|x| (x, ())).antijoin(reached).map(|(x, ())| x)
}

fn group_sum(order: Relation<'_, Four>) -> Pairs<'_> {
    order.explode(|(_, c, _, q)| Some((c, q as isize))).count().map(|(c, sum)| (c, sum as u32))
}

fn total<'s>(order: Relation<'s, Four>) -> Relation<'s, (u32, u32, u32)> {
    let count = order.clone().map(|_| ()).count().map(|((), count)| ((), count as u32));
    let sum = order.clone().explode(|(_, _, _, q)| Some(((), q as isize))).count().map(|((), sum)| ((), sum as u32));
    // Few of them are different.
    let amounts = order.map(|(_, _, _, q)| q).distinct().map(|q| ((), q));
    let largest = amounts.reduce(|(), amounts, largest| largest.push((*amounts[amounts.len() - 1].0, 1)));
    let both = count.join_map(sum, |(), &count, &sum| ((), (count, sum)));
    both.join_map(largest, |(), &(count, sum), &largest| (count, sum, largest))
}

fn shortest_paths(weighted: Relation<'_, (u32, u32, u32)>) -> Pairs<'_> {
    let start = weighted.clone().filter(|(x, _, _)| *x == 0).map(|(_, y, w)| (y, w));
    let weighted = weighted.map(|(x, y, w)| (x, (y, w)));
    start.clone().iterate(|scope, distance| {
        let further = distance.join_map(weighted.enter(scope), |_, &d, &(y, w)| (y, d + w));
        further.concat(start.enter(scope)).reduce(|_, distances, least| least.push((*distances[0].0, 1)))
    })
}

/// Follows a relation that changes through a dataflow.
fn follow<C: ExchangeData + Copy + Sync, R: ExchangeData + Hashable>(
    facts: Vec<C>,
    changes: Vec<Step<C>>,
    dataflow: impl for<'s> Fn(Scope<'s, u32>, Relation<'s, C>, usize) -> Relation<'s, R> + Send + Sync + 'static,
) {
    let (facts, changes) = (Arc::new(facts), Arc::new(changes));
    let (rows, told) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicU64::new(0)));
    let workers = timely::execute(timely::Config::process(WORKERS), move |worker| {
        let (index, mut probe) = (worker.index(), Handle::new());
        let (more, count) = (Arc::clone(&rows), Arc::clone(&told));
        let mut input = worker.dataflow(|scope| {
            let (input, changing) = scope.new_collection();
            dataflow(scope, changing, index)
                .consolidate()
                .inspect(move |(_, _, change)| {
                    more.fetch_add(*change as i64, Ordering::Relaxed);
                    count.fetch_add(change.unsigned_abs() as u64, Ordering::Relaxed);
                })
                .probe_with(&mut probe);
            input
        });
        let mut measured = Steps::default();
        let started = Instant::now();
        if index == 0 {
            facts.iter().for_each(|row| input.insert(*row));
        }
        input.advance_to(1);
        input.flush();
        worker.step_while(|| probe.less_than(input.time()));
        let take = || (rows.swap(0, Ordering::Relaxed), told.swap(0, Ordering::Relaxed));
        if index == 0 {
            measured.first(started.elapsed(), take().0);
        }
        for (number, step) in changes.iter().enumerate() {
            let started = Instant::now();
            if index == 0 {
                step.iter().for_each(|(row, sign)| input.update(*row, *sign as isize));
            }
            input.advance_to(number as u32 + 2);
            input.flush();
            worker.step_while(|| probe.less_than(input.time()));
            if index == 0 {
                let (more, count) = take();
                measured.step(started.elapsed(), more, count);
            }
        }
        if index == 0 {
            measured.print();
        }
    });
    workers.expect("workers start").join().into_iter().for_each(|worker| worker.expect("it ends well"));
}

/// The changes of a relation of two columns.
fn pairs(changes: &Facts, relation: &str) -> Vec<Step<Pair>> {
    let rows = changes.read::<Four>(relation).into_iter();
    steps(rows.map(|(step, comes, x, y)| (step, comes, (x, y))))
}

/// Rows that one worker alone hands to all.
fn fixed<R: Fields + ExchangeData + Copy + Sync>(facts: &Facts, relation: &str) -> impl Fn(usize) -> Vec<R> + use<R> {
    let rows: Vec<R> = facts.read(relation);
    move |worker| if worker == 0 { rows.clone() } else { Vec::new() }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, folder, changes] = arguments.as_slice() else {
        panic!("expected PROGRAM FOLDER CHANGES, found {arguments:?}");
    };
    let (facts, changes) = (Facts::of(folder), Facts::of(changes));
    match program.as_str() {
        "closure" => follow(facts.read("edge"), pairs(&changes, "edge"), |_, edge, _| closure(edge)),
        "two-steps" => follow(facts.read("edge"), pairs(&changes, "edge"), |_, edge, _| two_steps(edge)),
        "one-way" => follow(facts.read("edge"), pairs(&changes, "edge"), |_, edge, _| one_way(edge)),
        "unreachable" => {
            let (start, node) = (fixed::<u32>(&facts, "start"), fixed::<u32>(&facts, "node"));
            follow(facts.read("edge"), pairs(&changes, "edge"), move |scope, edge, worker| {
                let (_, start) = scope.new_collection_from(start(worker));
                let (_, node) = scope.new_collection_from(node(worker));
                unreachable(edge, start, node)
            });
        }
        "shortest-paths" => {
            let rows = changes.read::<(u32, u32, u32, u32, u32)>("weighted").into_iter();
            let rows = rows.map(|(step, comes, x, y, w)| (step, comes, (x, y, w)));
            follow(facts.read("weighted"), steps(rows), |_, weighted, _| shortest_paths(weighted));
        }
        "group-sum" | "total" => {
            let rows = changes.read::<(u32, u32, u32, u32, u32, u32)>("order").into_iter();
            let rows = steps(rows.map(|(step, comes, o, c, p, q)| (step, comes, (o, c, p, q))));
            match program.as_str() {
                "total" => follow(facts.read("order"), rows, |_, order, _| total(order)),
                _ => follow(facts.read("order"), rows, |_, order, _| group_sum(order)),
            }
        }
        _ => std::process::exit(3),
    }
}
