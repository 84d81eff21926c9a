//! The programs for Differential Dataflow, on two workers: `differential PROGRAM FOLDER [check]`.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use differential_dataflow::algorithms::graphs::propagate::propagate_at;
use differential_dataflow::input::Input;
use differential_dataflow::operators::iterate::VecVariable;
use differential_dataflow::operators::*;
use differential_dataflow::{ExchangeData, VecCollection};
use stratalog_peers::{Facts, Program, Report, Row, main as peer, measure};
use timely::dataflow::Scope;
use timely::order::Product;

const WORKERS: usize = 2;

/// A relation in a dataflow that runs once.
type Relation<'scope, R> = VecCollection<'scope, (), R>;
type Numbers<'scope> = Relation<'scope, u32>;
type Pairs<'scope> = Relation<'scope, (u32, u32)>;
type Triples<'scope> = Relation<'scope, (u32, u32, u32)>;

fn closure(edge: Pairs) -> Pairs {
    edge.clone().iterate(|scope, reach| {
        let edge = edge.enter(scope);
        reach.map(|(x, y)| (y, x)).join_map(edge.clone(), |_, &x, &z| (x, z)).concat(edge).distinct()
    })
}

fn same_generation(parent: Pairs) -> Pairs {
    let child = parent.map(|(x, p)| (p, x));
    let siblings =
        child.clone().join_map(child.clone(), |_, &x, &y| (x, y)).filter(|(x, y)| x != y).distinct();
    siblings.clone().iterate(|scope, same| {
        let child = child.enter(scope).arrange_by_key();
        same.join_core(child.clone(), |_, &b, &x| Some((b, x)))
            .join_core(child, |_, &x, &y| Some((x, y)))
            .concat(siblings.enter(scope))
            .distinct()
    })
}

fn points_to<'s>(new: Pairs<'s>, assign: Pairs<'s>, load: Pairs<'s>, store: Pairs<'s>) -> Pairs<'s> {
    new.clone().iterate(|scope, pt| {
        let pt = pt.arrange_by_key();
        let assign = assign.enter(scope).map(|(y, z)| (z, y));
        let loaded = load.enter(scope).map(|(y, x)| (x, y)).join_core(pt.clone(), |_, &y, &z| Some((z, y)));
        let stored = store.enter(scope).join_core(pt.clone(), |_, &y, &z| Some((y, z)));
        let copies = assign.concat(loaded).concat(stored).distinct();
        copies.join_core(pt, |_, &y, &w| Some((y, w))).concat(new.enter(scope)).distinct()
    })
}

fn value_flow<'s>(assign: Pairs<'s>, dereference: Pairs<'s>) -> Pairs<'s> {
    let outer = assign.scope();
    outer.iterative::<u32, _, _>(|scope| {
        let assign = assign.enter(scope);
        let dereference = dereference.enter(scope).arrange_by_key();
        let itself = assign.clone().flat_map(|(x, y)| [(x, x), (y, y)]).distinct();
        let (flow_variable, flow) = VecVariable::new(scope, Product::new((), 1));
        let (memory_variable, memory) = VecVariable::new(scope, Product::new((), 1));

        let from = flow.clone().arrange_by_key();
        let along = flow.clone().map(|(x, z)| (z, x)).join_core(from.clone(), |_, &x, &y| Some((x, y)));
        let assigned = assign.clone().map(|(x, z)| (z, x)).join_map(memory.clone(), |_, &x, &y| (x, y));
        flow_variable.set(assign.concat(itself.clone()).concat(along).concat(assigned).distinct());

        let common = from.clone().join_core(from.clone(), |_, &x, &y| Some((x, y)));
        let through = memory.join_core(from.clone(), |_, &w, &x| Some((w, x)));
        let alias = common.concat(through.join_core(from, |_, &x, &y| Some((x, y)))).distinct();

        let pointed = alias.clone().join_core(dereference.clone(), |_, &z, &x| Some((z, x)));
        let met = pointed.join_core(dereference, |_, &x, &w| Some((x, w)));
        memory_variable.set(met.concat(itself).distinct());
        alias.leave(outer)
    })
}

fn reach<'s>(edge: Pairs<'s>, start: Numbers<'s>) -> Numbers<'s> {
    start.clone().iterate(|scope, reached| {
        let step = reached.map(|x| (x, ())).join_map(edge.enter(scope), |_, (), &y| y);
        step.concat(start.enter(scope)).distinct()
    })
}

fn bound<'s>(edge: Pairs<'s>, start: Numbers<'s>) -> Numbers<'s> {
    let first = edge.clone().semijoin(start).map(|(_, y)| y);
    reach(edge, first.distinct())
}

fn unreachable<'s>(edge: Pairs<'s>, start: Numbers<'s>, node: Numbers<'s>) -> Numbers<'s> {
    difference(node, reach(edge, start))
}

fn difference<'s>(left: Numbers<'s>, right: Numbers<'s>) -> Numbers<'s> {
    left.map(|x| (x, ())).antijoin(right).map(|(x, ())| x)
}

/// Small labels set out first, which spares most of the others the way.
fn components(edge: Pairs) -> Pairs {
    let edge = edge.clone().concat(edge.map(|(x, y)| (y, x)));
    let node = edge.clone().map(|(x, _)| (x, x)).distinct();
    propagate_at(edge, node, |&label| u64::from(label))
}

fn shortest_paths(weighted: Triples) -> Pairs {
    let first = weighted.clone().filter(|&(x, _, _)| x == 0).map(|(_, y, w)| (y, w));
    let weighted = weighted.map(|(x, y, w)| (x, (y, w)));
    first.clone().iterate(|scope, distance| {
        let further = distance.join_map(weighted.enter(scope), |_, d, (y, w)| (*y, d + w));
        further.concat(first.enter(scope)).reduce(|_, distances, least| least.push((*distances[0].0, 1)))
    })
}

fn triangles(edge: Pairs) -> Triples {
    let wedges = edge.clone().map(|(x, y)| (y, x)).join_map(edge.clone(), |&y, &x, &z| ((x, z), y));
    wedges.semijoin(edge).map(|((x, z), y)| (x, y, z))
}

fn triangles_counted(edge: Pairs) -> Numbers {
    triangles(edge).map(|_| ()).count().map(|((), number)| number as u32)
}

fn two_steps(edge: Pairs) -> Pairs {
    edge.clone().map(|(x, y)| (y, x)).join_map(edge, |_, &x, &z| (x, z)).distinct()
}

/// As in the star.
fn group_sum(order: Relation<'_, (u32, u32, u32, u32)>) -> Pairs<'_> {
    order.explode(|(_, c, _, q)| Some((c, q as isize))).count().map(|(c, sum)| (c, sum as u32))
}

fn group_sum_fine(order: Relation<'_, (u32, u32, u32, u32)>) -> Triples<'_> {
    order.explode(|(_, c, p, q)| Some(((c, p), q as isize))).count().map(|((c, p), sum)| (c, p, sum as u32))
}

/// The quantity travels as the number of times that its groups occur, so that it is added up on the way.
fn star_sum<'s>(
    order: Relation<'s, (u32, u32, u32, u32)>,
    customer: Pairs<'s>,
    product: Pairs<'s>,
) -> Triples<'s> {
    let by_customer = order.explode(|(_, c, p, q)| Some(((c, p), q as isize)));
    let by_product = by_customer.join_map(customer, |_, &p, &r| (p, r));
    let groups = by_product.join_map(product, |_, &r, &g| (r, g));
    groups.count().map(|((r, g), sum)| (r, g, sum as u32))
}

/// Loans in origins at points, and the origins that are live there.
#[expect(clippy::too_many_arguments, reason = "a relation each")]
fn borrow_checker<'s>(
    flows: Pairs<'s>,
    defined: Pairs<'s>,
    origin: Pairs<'s>,
    used: Pairs<'s>,
    killed: Pairs<'s>,
    invalidated: Pairs<'s>,
    issued: Triples<'s>,
    outlives: Triples<'s>,
) -> Pairs<'s> {
    let back = flows.clone().map(|(p, q)| (q, p));
    let alive = used.clone().iterate(|scope, alive| {
        let before = alive.map(|(v, q)| (q, v)).join_map(back.enter(scope), |_, &v, &p| ((v, p), ()));
        let kept = before.antijoin(defined.enter(scope)).map(|(here, ())| here);
        kept.concat(used.enter(scope)).distinct()
    });
    let live = alive.join_map(origin, |_, &p, &o| (o, p)).distinct();
    let subset = outlives.clone().iterate(|scope, subset| {
        let below = subset.clone().map(|(a, b, p)| ((b, p), a));
        let above = subset.clone().map(|(b, c, p)| ((b, p), c));
        let through = below.join_map(above, |&(_, p), &a, &c| (a, c, p)).filter(|(a, c, _)| a != c);
        let next = subset
            .map(|(a, b, p)| (p, (a, b)))
            .join_map(flows.clone().enter(scope), |_, &(a, b), &q| ((a, q), b));
        let live = live.clone().enter(scope);
        let both = next.semijoin(live.clone()).map(|((a, q), b)| ((b, q), a)).semijoin(live);
        both.map(|((b, q), a)| (a, b, q)).concat(through).concat(outlives.enter(scope)).distinct()
    });
    let wider = subset.map(|(a, b, p)| ((a, p), b));
    let contains = issued.clone().iterate(|scope, contains| {
        let here = contains.clone().map(|(o, l, p)| ((o, p), l));
        let widened = here.join_map(wider.enter(scope), |&(_, p), &l, &b| (b, l, p));
        let kept = contains.map(|(o, l, p)| ((l, p), o)).antijoin(killed.enter(scope));
        let next =
            kept.map(|((l, p), o)| (p, (o, l))).join_map(flows.enter(scope), |_, &(o, l), &q| ((o, q), l));
        let onward = next.semijoin(live.clone().enter(scope)).map(|((o, q), l)| (o, l, q));
        widened.concat(onward).concat(issued.enter(scope)).distinct()
    });
    let held = contains.map(|(o, l, p)| ((o, p), l)).semijoin(live).map(|((_, p), l)| (l, p)).distinct();
    invalidated.map(|here| (here, ())).semijoin(held).map(|(here, ())| here)
}

fn dyck<'s>(plain: Pairs<'s>, opens: Triples<'s>, closes: Triples<'s>) -> Pairs<'s> {
    let closes = closes.map(|(b, y, k)| ((b, k), y));
    let empty = opens.clone().map(|(x, a, k)| ((a, k), x)).join_map(closes.clone(), |_, &x, &y| (x, y));
    let opens = opens.map(|(x, a, k)| (a, (x, k)));
    let first = plain.concat(empty).distinct();
    first.clone().iterate(|scope, flow| {
        let from = flow.clone().arrange_by_key();
        let along = flow.map(|(x, y)| (y, x)).join_core(from.clone(), |_, &x, &z| Some((x, z)));
        let opened = opens.enter(scope).join_core(from, |_, &(x, k), &b| Some(((b, k), x)));
        let around = opened.join_map(closes.enter(scope), |_, &x, &y| (x, y));
        along.concat(around).concat(first.enter(scope)).distinct()
    })
}

fn access_control<'s>(
    member: Pairs<'s>,
    within: Pairs<'s>,
    inside: Pairs<'s>,
    clearance: Pairs<'s>,
    classified: Pairs<'s>,
    granted: Relation<'s, (u32, u32, u32, u32)>,
    denied: Triples<'s>,
) -> Triples<'s> {
    let member = member.map(|(u, g)| (g, u));
    let belongs = member.clone().iterate(|scope, belongs| {
        let outer = belongs.join_map(within.enter(scope), |_, &u, &h| (h, u));
        outer.concat(member.enter(scope)).distinct()
    });
    let granted = granted.map(|(g, d, a, n)| (g, (d, a, n)));
    let allowed = belongs.clone().join_map(granted, |_, &u, &(d, a, n)| (u, (d, a, n)));
    let allowed = at_least(allowed, clearance.clone()).map(|(u, (d, a))| (d, (u, a)));
    let refused = belongs.join_map(denied.map(|(g, d, a)| (g, (d, a))), |_, &u, &(d, a)| (d, (u, a)));
    let child = inside.map(|(e, d)| (d, e));
    let refused = inherited(refused, child.clone()).map(|(d, (u, a))| (u, d, a));
    let open = inherited(allowed, child).map(|(d, (u, a))| ((u, d, a), ())).antijoin(refused);
    let open = open.map(|((u, d, a), ())| (d, (u, a))).join_map(classified, |&d, &(u, a), &n| (u, (d, a, n)));
    at_least(open, clearance).map(|(u, (d, a))| (u, d, a))
}

/// What asks for no more than the level of its user.
fn at_least<'s>(
    asked: Relation<'s, (u32, (u32, u32, u32))>,
    clearance: Pairs<'s>,
) -> Relation<'s, (u32, (u32, u32))> {
    let found = asked.join_map(clearance, |&u, &(d, a, n), &l| (l >= n).then_some((u, (d, a))));
    found.flat_map(|found| found)
}

/// What holds for a document and all that is inside of it.
fn inherited<'s>(
    stated: Relation<'s, (u32, (u32, u32))>,
    child: Pairs<'s>,
) -> Relation<'s, (u32, (u32, u32))> {
    stated.clone().iterate(|scope, all| {
        let inner = all.join_map(child.enter(scope), |_, &action, &e| (e, action));
        inner.concat(stated.enter(scope)).distinct()
    })
}

fn timed_paths<'s>(origin: Pairs<'s>, connection: Relation<'s, (u32, u32, u32, u32)>) -> Triples<'s> {
    let first = origin.map(|(s, t)| (s, s, t));
    let connection = connection.map(|(x, y, d, a)| (x, (y, d, a)));
    first.clone().iterate(|scope, reached| {
        let by_station = reached.map(|(s, x, t)| (x, (s, t)));
        let met = by_station.join_map(connection.enter(scope), |_, &(s, t), &(y, d, a)| {
            (t <= d && d <= t + 30).then_some((s, y, a))
        });
        met.flat_map(|found| found).concat(first.enter(scope)).distinct()
    })
}

fn earliest_arrival<'s>(origin: Pairs<'s>, connection: Relation<'s, (u32, u32, u32, u32)>) -> Triples<'s> {
    let first = origin.map(|(s, t)| ((s, s), t));
    let connection = connection.map(|(x, y, d, a)| (x, (y, d, a)));
    let reached = first.clone().iterate(|scope, reached| {
        let by_station = reached.map(|((s, x), t)| (x, (s, t)));
        let met = by_station
            .join_map(connection.enter(scope), |_, &(s, t), &(y, d, a)| (t <= d).then_some(((s, y), a)));
        let found = met.flat_map(|found| found).concat(first.enter(scope));
        found.reduce(|_, times, least| least.push((*times[0].0, 1)))
    });
    reached.map(|((s, x), t)| (s, x, t))
}

/// Quantities are numbers of times here too; a join multiplies them.
fn bill_of_materials<'s>(bought: Numbers<'s>, uses: Triples<'s>) -> Triples<'s> {
    let uses = uses.explode(|(a, b, n)| Some(((b, a), n as isize)));
    let mut need = uses.clone().semijoin(bought).map(|(p, a)| (a, p));
    for _ in 0..3 {
        need = uses.clone().join_map(need, |_, &a, &p| (a, p));
    }
    need.count().map(|((a, p), sum)| (a, p, sum as u32))
}

/// Runs a dataflow that is made of each worker's shares of the facts, and counts what comes out.
fn evaluate<R: Row + ExchangeData>(
    check: bool,
    dataflow: impl for<'s> Fn(Scope<'s, ()>, Worker) -> Relation<'s, R> + Send + Sync + 'static,
) -> Report {
    let work = move || {
        let workers = timely::execute(timely::Config::process(WORKERS), move |worker| {
            let counted = Rc::new(Cell::new((0, 0)));
            let count = counted.clone();
            let here = Worker { index: worker.index(), all: worker.peers() };
            worker.dataflow(|scope| {
                dataflow(scope, here).inspect(move |(row, _, change)| {
                    let (rows, sum) = count.get();
                    let share = if check { row.checksum() as isize } else { 0 };
                    count.set((rows + change, sum + share * change));
                });
            });
            while worker.step_or_park(None) {}
            counted.get()
        });
        let answers = workers.expect("workers start").join().into_iter();
        answers.map(|answer| answer.expect("a worker ends well")).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    let ((rows, sum), evaluation) = measure(work);
    Report { rows: rows as u64, checksum: check.then_some(sum as u64), evaluation }
}

/// One worker of all.
#[derive(Clone, Copy)]
struct Worker {
    index: usize,
    all: usize,
}

impl Worker {
    /// Its share of a relation.
    fn share<R: Copy + 'static>(self, rows: &Arc<Vec<R>>) -> impl Iterator<Item = R> + 'static {
        let rows = rows.clone();
        (self.index..rows.len()).step_by(self.all).map(move |row| rows[row])
    }
}

/// A dataflow with the relations that it takes.
macro_rules! program {
    ($dataflow:ident($($input:ident: $row:ty),+)) => {{
        fn run(facts: &Facts, check: bool) -> Report {
            $(let $input: Arc<Vec<$row>> = Arc::new(facts.read(stringify!($input)));)+
            evaluate(check, move |scope, worker| {
                $(let (_, $input) = scope.new_collection_from(worker.share(&$input));)+
                $dataflow($($input),+)
            })
        }
        Some(run as Program)
    }};
}

fn main() {
    type Pair = (u32, u32);
    type Triple = (u32, u32, u32);
    type Four = (u32, u32, u32, u32);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    peer(&arguments, |program| match program {
        "closure" => program!(closure(edge: Pair)),
        "same-generation" => program!(same_generation(parent: Pair)),
        "points-to" => program!(points_to(new: Pair, assign: Pair, load: Pair, store: Pair)),
        "value-flow" => program!(value_flow(assign: Pair, dereference: Pair)),
        "reach" => program!(reach(edge: Pair, start: u32)),
        "unreachable" => program!(unreachable(edge: Pair, start: u32, node: u32)),
        "components" => program!(components(edge: Pair)),
        "shortest-paths" => program!(shortest_paths(weighted: (u32, u32, u32))),
        "triangles" => program!(triangles(edge: Pair)),
        "triangles-counted" => program!(triangles_counted(edge: Pair)),
        "star-sum" => program!(star_sum(order: (u32, u32, u32, u32), customer: Pair, product: Pair)),
        "two-steps" => program!(two_steps(edge: Pair)),
        "group-sum" => program!(group_sum(order: (u32, u32, u32, u32))),
        "group-sum-fine" => program!(group_sum_fine(order: (u32, u32, u32, u32))),
        "difference" => program!(difference(left: u32, right: u32)),
        "bound" => program!(bound(edge: Pair, start: u32)),
        "borrow-checker" => program!(borrow_checker(
            flows: Pair,
            defined: Pair,
            origin: Pair,
            used: Pair,
            killed: Pair,
            invalidated: Pair,
            issued: Triple,
            outlives: Triple
        )),
        "dyck" => program!(dyck(plain: Pair, opens: Triple, closes: Triple)),
        "access-control" => program!(access_control(
            member: Pair,
            within: Pair,
            inside: Pair,
            clearance: Pair,
            classified: Pair,
            granted: Four,
            denied: Triple
        )),
        "timed-paths" => program!(timed_paths(origin: Pair, connection: Four)),
        "earliest-arrival" => program!(earliest_arrival(origin: Pair, connection: Four)),
        "bill-of-materials" => program!(bill_of_materials(bought: u32, uses: Triple)),
        _ => None,
    });
}
