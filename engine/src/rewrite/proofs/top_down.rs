//! Rows that rest on nothing but rows of which all are at hand, or can be derived first: what each may stand by is looked up from
//! the top down, and no heights are evaluated.

use std::collections::HashSet;

use super::heights::{self, Heights};
use super::whole::Whole;
use super::{Explained, Kind, Origins, Way, apart_from_stored, paths, replaced};
use crate::analysis::program::Program;
use crate::data::RelationId;

/// What explains rows of a goal from the top down.
#[derive(Debug)]
pub(crate) struct TopDown {
    pub(crate) explained: Explained,
    /// What derives the relations that proofs go through and that are not at hand.
    pub(crate) lacking: Option<Whole>,
}

/// What explains rows of a goal from the top down. Nothing where rows may rest on what is no whole relation: paths of which only
/// their ends are kept, best values that were replaced, facts that are stored beside what rules derive.
pub(crate) fn top_down(program: &Program, at_hand: &HashSet<RelationId>) -> Option<TopDown> {
    let written = program;
    let mut program = program.clone();
    apart_from_stored(&mut program);
    if !replaced::unsure(&program).is_empty() {
        return None;
    }
    let (closures, levels) = paths::apart(&mut program);
    let origins = Origins(closures);
    let Heights { mut relations, derived, .. } = heights::of(&program, &origins, &levels);
    if derived.values().any(|derived| derived.with_lengths.is_some()) {
        return None;
    }
    let has_rules = |relation: &RelationId| {
        let is_made = relation.index() >= program.relations.len();
        is_made || program.strata.iter().any(|stratum| stratum.relations.contains(relation))
    };
    let read = |way: &Way| {
        let rows = match way.kind {
            Kind::Chosen(rows) | Kind::Group(rows) => Some(rows),
            Kind::Stored | Kind::Solution | Kind::Path => None,
        };
        let rows = rows.filter(|rows| *rows != program.goal);
        way.rule.reads().chain(rows).collect::<Vec<RelationId>>()
    };
    let read: HashSet<RelationId> =
        derived.values().flat_map(|derived| &derived.ways).flat_map(read).filter(has_rules).collect();
    let lacking = match read.is_subset(at_hand) {
        true => None,
        false => Some(Whole::of(written, at_hand, read.difference(at_hand).copied())?),
    };
    let mut known = at_hand.clone();
    known.extend(lacking.iter().flat_map(|whole| &whole.relations));
    if !read.is_subset(&known) {
        return None;
    }
    for relation in known {
        let relation = &mut relations[relation.index()];
        (relation.stored, relation.best) = (true, None);
    }
    Some(TopDown { explained: Explained::at_hand(program.goal, relations, derived, origins), lacking })
}
