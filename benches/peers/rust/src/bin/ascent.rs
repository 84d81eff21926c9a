//! The programs for Ascent, each evaluated by one thread or by all: `ascent serial|parallel PROGRAM FOLDER [check]`.

use stratalog_peers::{Facts, Report, main as peer, measure};

/// One set of rules as two functions, `serial` and `parallel`.
macro_rules! program {
    ($name:ident($($input:ident),+) -> $answer:ident { $($rules:tt)+ }) => {
        mod $name {
            program!(@compile serial, ascent, ($($input),+) -> $answer { $($rules)+ });
            program!(@compile parallel, ascent_par, ($($input),+) -> $answer { $($rules)+ });
        }
    };
    (@compile $how:ident, $compiler:ident, ($($input:ident),+) -> $answer:ident { $($rules:tt)+ }) => {
        pub mod $how {
            #[allow(unused_imports, reason = "few programs have aggregates")]
            use ascent::{Dual, aggregators::{count, sum}};

            ascent::$compiler! {
                pub struct Program;
                $($rules)+
            }

            pub fn run(facts: &crate::Facts, check: bool) -> crate::Report {
                let mut program = Program::default();
                $(program.$input = facts.read(stringify!($input)).into_iter().collect();)+
                let ((), evaluation) = crate::measure(|| program.run());
                crate::Report::of(&program.$answer, evaluation, check)
            }
        }
    };
}

program! { closure(edge) -> reach {
    relation edge(u32, u32);
    relation reach(u32, u32);
    reach(x, y) <-- edge(x, y);
    reach(x, z) <-- reach(x, y), edge(y, z);
} }

program! { same_generation(parent) -> same {
    relation parent(u32, u32);
    relation same(u32, u32);
    same(x, y) <-- parent(x, p), parent(y, p), if x != y;
    same(x, y) <-- parent(x, a), same(a, b), parent(y, b);
} }

program! { points_to(new, assign, load, store) -> pt {
    relation new(u32, u32);
    relation assign(u32, u32);
    relation load(u32, u32);
    relation store(u32, u32);
    relation pt(u32, u32);
    pt(y, x) <-- new(y, x);
    pt(y, w) <-- assign(y, z), pt(z, w);
    pt(y, w) <-- load(y, x), pt(x, z), pt(z, w);
    pt(z, w) <-- store(x, y), pt(x, z), pt(y, w);
} }

program! { value_flow(assign, dereference) -> alias {
    relation assign(u32, u32);
    relation dereference(u32, u32);
    relation flow(u32, u32);
    relation memory(u32, u32);
    relation alias(u32, u32);
    flow(y, x) <-- assign(y, x);
    flow(x, x) <-- assign(x, _);
    flow(x, x) <-- assign(_, x);
    flow(x, y) <-- flow(x, z), flow(z, y);
    flow(x, y) <-- assign(x, z), memory(z, y);
    memory(x, w) <-- dereference(y, x), alias(y, z), dereference(z, w);
    memory(x, x) <-- assign(_, x);
    memory(x, x) <-- assign(x, _);
    alias(x, y) <-- flow(z, x), flow(z, y);
    alias(x, y) <-- flow(z, x), memory(z, w), flow(w, y);
} }

program! { reach(edge, start) -> reached {
    relation edge(u32, u32);
    relation start(u32);
    relation reached(u32);
    reached(x) <-- start(x);
    reached(y) <-- reached(x), edge(x, y);
} }

program! { unreachable(edge, start, node) -> unreached {
    relation edge(u32, u32);
    relation start(u32);
    relation node(u32);
    relation reached(u32);
    relation unreached(u32);
    reached(x) <-- start(x);
    reached(y) <-- reached(x), edge(x, y);
    unreached(x) <-- node(x), !reached(x);
} }

program! { components(edge) -> label {
    relation edge(u32, u32);
    lattice label(u32, Dual<u32>);
    label(x, Dual(*y)) <-- edge(x, y);
    label(y, Dual(*x)) <-- edge(x, y);
    label(y, l) <-- label(x, l), edge(x, y);
    label(x, l) <-- label(y, l), edge(x, y);
} }

program! { shortest_paths(weighted) -> distance {
    relation weighted(u32, u32, u32);
    lattice distance(u32, Dual<u32>);
    distance(y, Dual(*w)) <-- weighted(0, y, w);
    distance(y, Dual(d + w)) <-- distance(x, ?Dual(d)), weighted(x, y, w);
} }

program! { triangles(edge) -> triangle {
    relation edge(u32, u32);
    relation triangle(u32, u32, u32);
    triangle(x, y, z) <-- edge(x, y), edge(y, z), edge(x, z);
} }

program! { triangles_counted(edge) -> counted {
    relation edge(u32, u32);
    relation triangle(u32, u32, u32);
    relation counted(u32);
    triangle(x, y, z) <-- edge(x, y), edge(y, z), edge(x, z);
    counted(n as u32) <-- agg n = count() in triangle(_, _, _);
} }

program! { two_steps(edge) -> two {
    relation edge(u32, u32);
    relation two(u32, u32);
    two(x, z) <-- edge(x, y), edge(y, z);
} }

program! { group_sum(order) -> total {
    relation order(u32, u32, u32, u32);
    relation group(u32);
    relation total(u32, u32);
    group(c) <-- order(_, c, _, _);
    total(c, s) <-- group(c), agg s = sum(q) in order(_, c, _, q);
} }

program! { group_sum_fine(order) -> total {
    relation order(u32, u32, u32, u32);
    relation group(u32, u32);
    relation total(u32, u32, u32);
    group(c, p) <-- order(_, c, p, _);
    total(c, p, s) <-- group(c, p), agg s = sum(q) in order(_, c, p, q);
} }

program! { difference(left, right) -> rest {
    relation left(u32);
    relation right(u32);
    relation rest(u32);
    rest(x) <-- left(x), !right(x);
} }

// Ascent evaluates all of a program; whoever wants the nodes after one node says so.
program! { bound(edge, start) -> reached {
    relation edge(u32, u32);
    relation start(u32);
    relation reached(u32);
    reached(y) <-- start(x), edge(x, y);
    reached(y) <-- reached(x), edge(x, y);
} }

// What objects a variable points to, in the context of the object that the method was called on; 0 where a program begins.
program! { virtual_calls(
    class, extends, implements, declares, this, formal, returned, allocated, made, moved, cast, load, store,
    virtual_call, direct_call, actual, result, main
) -> points {
    relation class(u32);
    relation extends(u32, u32);
    relation implements(u32, u32, u32);
    relation declares(u32, u32);
    relation this(u32, u32);
    relation formal(u32, u32);
    relation returned(u32, u32);
    relation allocated(u32, u32, u32);
    relation made(u32, u32);
    relation moved(u32, u32);
    relation cast(u32, u32, u32);
    relation load(u32, u32, u32);
    relation store(u32, u32, u32);
    relation virtual_call(u32, u32, u32);
    relation direct_call(u32, u32, u32);
    relation actual(u32, u32);
    relation result(u32, u32);
    relation main(u32);
    relation subclass(u32, u32);
    relation lookup(u32, u32, u32);
    relation reachable(u32, u32);
    relation calls(u32, u32, u32, u32);
    relation points(u32, u32, u32);
    relation holds(u32, u32, u32);
    subclass(c, c) <-- class(c);
    subclass(c, e) <-- subclass(d, e), extends(c, d);
    lookup(c, s, m) <-- implements(c, s, m);
    lookup(c, s, m) <-- lookup(d, s, m), extends(c, d), !declares(c, s);
    reachable(m, 0) <-- main(m);
    reachable(m, k) <-- calls(_, _, m, k);
    points(v, k, o) <-- reachable(m, k), allocated(v, o, m);
    points(v, k, o) <-- points(w, k, o), moved(v, w);
    points(v, k, o) <-- points(w, k, o), cast(v, w, c), made(o, d), subclass(d, c);
    points(v, k, o) <-- load(v, w, f), points(w, k, b), holds(b, f, o);
    holds(b, f, o) <-- store(v, f, w), points(v, k, b), points(w, k, o);
    calls(i, k, m, o) <-- points(v, k, o), virtual_call(v, s, i), made(o, c), lookup(c, s, m);
    calls(i, k, n, k) <-- reachable(m, k), direct_call(i, n, m);
    points(v, o, o) <-- reachable(m, o), this(m, v);
    points(v, l, o) <-- calls(i, k, m, l), actual(i, w), formal(m, v), points(w, k, o);
    points(v, k, o) <-- calls(i, k, m, l), result(i, v), returned(m, w), points(w, l, o);
} }

// The rules of the borrow checker that follow every loan to every point.
program! { borrow_checker(flows, defined, origin, used, issued, outlives, killed, invalidated) -> error {
    relation flows(u32, u32);
    relation defined(u32, u32);
    relation origin(u32, u32);
    relation used(u32, u32);
    relation issued(u32, u32, u32);
    relation outlives(u32, u32, u32);
    relation killed(u32, u32);
    relation invalidated(u32, u32);
    relation alive(u32, u32);
    relation live(u32, u32);
    relation subset(u32, u32, u32);
    relation contains(u32, u32, u32);
    relation loan_live(u32, u32);
    relation error(u32, u32);
    alive(v, p) <-- used(v, p);
    alive(v, p) <-- alive(v, q), flows(p, q), !defined(v, p);
    live(o, p) <-- alive(v, p), origin(v, o);
    subset(a, b, p) <-- outlives(a, b, p);
    subset(a, c, p) <-- subset(a, b, p), subset(b, c, p), if a != c;
    subset(a, b, q) <-- subset(a, b, p), flows(p, q), live(a, q), live(b, q);
    contains(o, l, p) <-- issued(o, l, p);
    contains(b, l, p) <-- contains(a, l, p), subset(a, b, p);
    contains(o, l, q) <-- contains(o, l, p), !killed(l, p), flows(p, q), live(o, q);
    loan_live(l, p) <-- contains(o, l, p), live(o, p);
    error(l, p) <-- invalidated(l, p), loan_live(l, p);
} }

// 0 to 8 are type, subclass, subproperty, domain, range, inverse, transitive, symmetric and same, as in ontologies.py.
program! { triples(triple) -> t {
    relation triple(u32, u32, u32);
    relation t(u32, u32, u32);
    t(s, p, o) <-- triple(s, p, o);
    t(c, 1, e) <-- t(c, 1, d), t(d, 1, e);
    t(x, 0, d) <-- t(x, 0, c), t(c, 1, d);
    t(p, 2, r) <-- t(p, 2, q), t(q, 2, r);
    t(x, q, y) <-- t(x, p, y), t(p, 2, q);
    t(x, 0, c) <-- t(x, p, _), t(p, 3, c);
    t(y, 0, c) <-- t(_, p, y), t(p, 4, c);
    t(p, 3, d) <-- t(p, 3, c), t(c, 1, d);
    t(p, 4, d) <-- t(p, 4, c), t(c, 1, d);
    t(p, 3, c) <-- t(q, 3, c), t(p, 2, q);
    t(p, 4, c) <-- t(q, 4, c), t(p, 2, q);
    t(y, q, x) <-- t(x, p, y), t(p, 5, q);
    t(y, p, x) <-- t(x, q, y), t(p, 5, q);
    t(x, p, z) <-- t(p, 0, 6), t(x, p, y), t(y, p, z);
    t(y, p, x) <-- t(x, p, y), t(p, 0, 7);
    t(y, 8, x) <-- t(x, 8, y);
    t(x, 8, z) <-- t(x, 8, y), t(y, 8, z);
    t(y, p, o) <-- t(x, p, o), t(x, 8, y);
    t(s, p, y) <-- t(s, p, x), t(x, 8, y);
} }

program! { classification(concept, subsumed, has, some, both, broader_role, chain) -> below {
    relation concept(u32);
    relation subsumed(u32, u32);
    relation has(u32, u32, u32);
    relation some(u32, u32, u32);
    relation both(u32, u32, u32);
    relation broader_role(u32, u32);
    relation chain(u32, u32, u32);
    relation below(u32, u32);
    relation link(u32, u32, u32);
    below(c, c) <-- concept(c);
    below(c, e) <-- below(c, d), subsumed(d, e);
    below(c, e) <-- below(c, a), both(a, b, e), below(c, b);
    link(c, r, d) <-- below(c, e), has(e, r, d);
    link(c, s, d) <-- link(c, r, d), broader_role(r, s);
    link(c, t, e) <-- link(c, r, d), chain(r, s, t), link(d, s, e);
    below(c, e) <-- link(c, r, d), below(d, f), some(r, f, e);
} }

program! { dyck(plain, opens, closes) -> flow {
    relation plain(u32, u32);
    relation opens(u32, u32, u32);
    relation closes(u32, u32, u32);
    relation flow(u32, u32);
    flow(x, y) <-- plain(x, y);
    flow(x, y) <-- opens(x, a, k), closes(a, y, k);
    flow(x, y) <-- opens(x, a, k), flow(a, b), closes(b, y, k);
    flow(x, z) <-- flow(x, y), flow(y, z);
} }

program! { access_control(member, within, inside, granted, denied, clearance, classified) -> access {
    relation member(u32, u32);
    relation within(u32, u32);
    relation inside(u32, u32);
    relation granted(u32, u32, u32, u32);
    relation denied(u32, u32, u32);
    relation clearance(u32, u32);
    relation classified(u32, u32);
    relation belongs(u32, u32);
    relation allowed(u32, u32, u32);
    relation refused(u32, u32, u32);
    relation access(u32, u32, u32);
    belongs(u, g) <-- member(u, g);
    belongs(u, h) <-- belongs(u, g), within(g, h);
    allowed(u, d, a) <-- belongs(u, g), granted(g, d, a, n), clearance(u, l), if l >= n;
    allowed(u, e, a) <-- allowed(u, d, a), inside(e, d);
    refused(u, d, a) <-- belongs(u, g), denied(g, d, a);
    refused(u, e, a) <-- refused(u, d, a), inside(e, d);
    access(u, d, a) <-- allowed(u, d, a), !refused(u, d, a), classified(d, n), clearance(u, l), if l >= n;
} }

// Nobody waits longer than half an hour.
program! { timed_paths(origin, connection) -> reached {
    relation origin(u32, u32);
    relation connection(u32, u32, u32, u32);
    relation reached(u32, u32, u32);
    reached(s, s, t) <-- origin(s, t);
    reached(s, y, a) <-- reached(s, x, t), connection(x, y, d, a), if t <= d && *d <= t + 30;
} }

program! { earliest_arrival(origin, connection) -> reached {
    relation origin(u32, u32);
    relation connection(u32, u32, u32, u32);
    lattice reached(u32, u32, Dual<u32>);
    reached(s, s, Dual(*t)) <-- origin(s, t);
    reached(s, y, Dual(*a)) <-- reached(s, x, ?Dual(t)), connection(x, y, d, a), if t <= d;
} }

// Ascent takes sums of what is stored: what is added up is a relation of its own on every level.
program! { bill_of_materials(bought, uses) -> need4 {
    relation bought(u32);
    relation uses(u32, u32, u32);
    relation part2(u32, u32, u32, u32);
    relation pair2(u32, u32);
    relation part3(u32, u32, u32, u32);
    relation pair3(u32, u32);
    relation part4(u32, u32, u32, u32);
    relation pair4(u32, u32);
    relation need1(u32, u32, u32);
    relation need2(u32, u32, u32);
    relation need3(u32, u32, u32);
    relation need4(u32, u32, u32);
    need1(a, p, q) <-- bought(p), uses(a, p, q);
    part2(a, p, b, n * m) <-- uses(a, b, n), need1(b, p, m);
    pair2(a, p) <-- part2(a, p, _, _);
    need2(a, p, s) <-- pair2(a, p), agg s = sum(q) in part2(a, p, _, q);
    part3(a, p, b, n * m) <-- uses(a, b, n), need2(b, p, m);
    pair3(a, p) <-- part3(a, p, _, _);
    need3(a, p, s) <-- pair3(a, p), agg s = sum(q) in part3(a, p, _, q);
    part4(a, p, b, n * m) <-- uses(a, b, n), need3(b, p, m);
    pair4(a, p) <-- part4(a, p, _, _);
    need4(a, p, s) <-- pair4(a, p), agg s = sum(q) in part4(a, p, _, q);
} }

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (how, arguments) = arguments.split_first().expect("serial or parallel");
    let serial = match how.as_str() {
        "serial" => true,
        "parallel" => false,
        _ => panic!("expected serial or parallel, found {how}"),
    };
    macro_rules! run {
        ($name:ident) => {
            Some(if serial { $name::serial::run } else { $name::parallel::run })
        };
    }
    peer(arguments, |program| match program {
        "closure" => run!(closure),
        "same-generation" => run!(same_generation),
        "points-to" => run!(points_to),
        "value-flow" => run!(value_flow),
        "reach" => run!(reach),
        "unreachable" => run!(unreachable),
        "components" => run!(components),
        "shortest-paths" => run!(shortest_paths),
        "triangles" => run!(triangles),
        "triangles-counted" => run!(triangles_counted),
        "two-steps" => run!(two_steps),
        "group-sum" => run!(group_sum),
        "group-sum-fine" => run!(group_sum_fine),
        "difference" => run!(difference),
        "bound" => run!(bound),
        "virtual-calls" => run!(virtual_calls),
        "borrow-checker" => run!(borrow_checker),
        "triples" => run!(triples),
        "classification" => run!(classification),
        "dyck" => run!(dyck),
        "access-control" => run!(access_control),
        "timed-paths" => run!(timed_paths),
        "earliest-arrival" => run!(earliest_arrival),
        "bill-of-materials" => run!(bill_of_materials),
        _ => None,
    });
}
