//! Rows that rest on nothing but rows that are at hand: what each may stand by is looked up from the top down, and nothing is
//! evaluated.

use std::collections::HashSet;

use super::heights::{self, Heights};
use super::{Explained, Kind, Origins, Way, apart_from_stored, paths, replaced};
use crate::analysis::program::Program;
use crate::data::RelationId;

/// What explains rows of a goal from the top down, where all rows of the relations are at hand that its proofs go through. Nothing
/// if they are not, or where rows may rest on what is not: paths of which only their ends are kept, best values that were replaced.
pub(crate) fn top_down(program: &Program, at_hand: &HashSet<RelationId>) -> Option<Explained> {
    let mut program = program.clone();
    apart_from_stored(&mut program);
    if !replaced::unsure(&program).is_empty() {
        return None;
    }
    let (closures, levels) = paths::apart(&mut program);
    let origins = Origins(closures);
    let Heights { mut relations, derived, .. } = heights::of(&program, &origins, &levels);
    let has_rules = |relation: &RelationId| {
        let is_made = relation.index() >= program.relations.len();
        is_made || program.strata.iter().any(|stratum| stratum.relations.contains(relation))
    };
    let reads_what_is_known = |way: &Way| {
        let rows = match way.kind {
            Kind::Chosen(rows) | Kind::Group(rows) => Some(rows),
            Kind::Stored | Kind::Solution | Kind::Path => None,
        };
        let mut read = way.rule.reads().chain(rows.filter(|rows| *rows != program.goal));
        read.all(|relation| at_hand.contains(&relation) || !has_rules(&relation))
    };
    let is_known = derived
        .values()
        .all(|derived| derived.with_lengths.is_none() && derived.ways.iter().all(reads_what_is_known));
    if !is_known {
        return None;
    }
    for relation in at_hand {
        let relation = &mut relations[relation.index()];
        (relation.stored, relation.best) = (true, None);
    }
    Some(Explained::at_hand(program.goal, relations, derived, origins))
}
