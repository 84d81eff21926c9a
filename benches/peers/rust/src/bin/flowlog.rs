//! The programs for FlowLog, on two workers: `flowlog PROGRAM FOLDER [check]`. It counts its answers and keeps them to
//! itself, which is fastest, so there is no checksum.

use stratalog_peers::{Facts, Program, Report, main as peer, measure};

const WORKERS: usize = 2;

/// A program of the folder `flowlog`, as `build.rs` has compiled it, with the relations that it takes.
macro_rules! program {
    ($name:ident($($insert:ident $input:ident),+) -> $size:ident) => {
        #[allow(warnings, reason = "generated code")]
        mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));

            pub(super) fn run(facts: &crate::Facts, _check: bool) -> crate::Report {
                let mut engine = BatchEngine::new(crate::WORKERS);
                $(engine.$insert(facts.read(stringify!($input)));)+
                let (results, evaluation) = crate::measure(|| engine.run());
                crate::Report { rows: results.$size as u64, checksum: None, evaluation }
            }
        }
    };
}

program! { closure(insert_edge edge) -> reach_size }
program! { same_generation(insert_parent parent) -> same_size }
program! { points_to(insert_new new, insert_assign assign, insert_load load, insert_store store) -> pt_size }
program! { value_flow(insert_assign assign, insert_dereference dereference) -> alias_size }
program! { reach(insert_edge edge, insert_start start) -> reached_size }
program! { unreachable(insert_edge edge, insert_start start, insert_node node) -> unreached_size }
program! { components(insert_edge edge) -> label_size }
program! { shortest_paths(insert_weighted weighted) -> distance_size }
program! { triangles(insert_edge edge) -> triangle_size }
program! { two_steps(insert_edge edge) -> two_size }
program! { difference(insert_left left, insert_right right) -> rest_size }
program! { bound(insert_edge edge, insert_start start) -> reached_size }
program! { virtual_calls(insert_class class, insert_extends extends, insert_implements implements, insert_declares declares, insert_this this, insert_formal formal, insert_returned returned, insert_allocated allocated, insert_made made, insert_moved moved, insert_cast cast, insert_load load, insert_store store, insert_virtual_call virtual_call, insert_direct_call direct_call, insert_actual actual, insert_result result, insert_main main) -> points_size }
program! { borrow_checker(insert_flows flows, insert_defined defined, insert_origin origin, insert_used used, insert_issued issued, insert_outlives outlives, insert_killed killed, insert_invalidated invalidated) -> error_size }
program! { triples(insert_triple triple) -> t_size }
program! { classification(insert_concept concept, insert_subsumed subsumed, insert_has has, insert_some some, insert_both both, insert_broader_role broader_role, insert_chain chain) -> below_size }
program! { dyck(insert_plain plain, insert_opens opens, insert_closes closes) -> flow_size }
program! { access_control(insert_member member, insert_within within, insert_inside inside, insert_granted granted, insert_denied denied, insert_clearance clearance, insert_classified classified) -> access_size }
program! { timed_paths(insert_origin origin, insert_connection connection) -> reached_size }
program! { earliest_arrival(insert_origin origin, insert_connection connection) -> reached_size }
program! { bill_of_materials(insert_bought bought, insert_uses uses) -> need4_size }

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    peer(&arguments, |program| {
        let run: Program = match program {
            "closure" => closure::run,
            "same-generation" => same_generation::run,
            "points-to" => points_to::run,
            "value-flow" => value_flow::run,
            "reach" => reach::run,
            "unreachable" => unreachable::run,
            "components" => components::run,
            "shortest-paths" => shortest_paths::run,
            "triangles" => triangles::run,
            "two-steps" => two_steps::run,
            "difference" => difference::run,
            "bound" => bound::run,
            "virtual-calls" => virtual_calls::run,
            "borrow-checker" => borrow_checker::run,
            "triples" => triples::run,
            "classification" => classification::run,
            "dyck" => dyck::run,
            "access-control" => access_control::run,
            "timed-paths" => timed_paths::run,
            "earliest-arrival" => earliest_arrival::run,
            "bill-of-materials" => bill_of_materials::run,
            _ => return None,
        };
        Some(run)
    });
}
