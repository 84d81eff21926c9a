//! Recursions in which the round that finds a row says how high its smallest proof is.
//!
//! A round finds what follows from rows of the rounds before it, if it leaves nothing for later. So a row is found in as many
//! rounds after the first as its smallest proof is higher than that of a row which does not depend on the recursion, where all of
//! those stand at one height and whatever else the rules read is no higher.

use std::collections::HashSet;

use super::heights::{self, Heights};
use super::levels::Levels;
use super::whole::Whole;
use super::{InRounds, Origins, STORED, apart_from_stored, paths};
use crate::analysis::program::{Program, Relation, Rule, Stratum};
use crate::data::RelationId;

/// The relations of such recursions in a program, of which stored rows and closures stand apart.
pub(super) fn all(program: &Program, levels: &Levels, origins: &Origins) -> impl Iterator<Item = InRounds> {
    let is_path = |relation: &RelationId| origins.step_height(*relation).is_some();
    let strata = program.strata.iter().filter(move |stratum| !stratum.relations.iter().any(is_path));
    strata.flat_map(|stratum| {
        let lowest = lowest(stratum, &program.relations, levels).into_iter();
        lowest.flat_map(|lowest| {
            stratum.relations.iter().map(move |relation| InRounds { relation: *relation, lowest })
        })
    })
}

/// What derives all relations of such recursions that rows of the goal may rest on, and that are not `known` with their heights.
/// Nothing if there are none.
pub(crate) fn derived_in_rounds(
    program: &Program,
    at_hand: &HashSet<RelationId>,
    known: &HashSet<RelationId>,
) -> Option<(Whole, Vec<InRounds>)> {
    let written = program;
    let mut program = program.clone();
    apart_from_stored(&mut program);
    let (closures, levels) = paths::apart(&mut program);
    let origins = Origins(closures);
    let Heights { derived, .. } = heights::of(&program, &origins, &levels);
    let is_wanted = |of: &InRounds| derived.contains_key(&of.relation) && !known.contains(&of.relation);
    let wanted: Vec<InRounds> = all(&program, &levels, &origins).filter(is_wanted).collect();
    if wanted.is_empty() {
        return None;
    }
    let relations: HashSet<RelationId> = wanted.iter().map(|of| of.relation).collect();
    let whole = Whole::of(written, &(at_hand - &relations), relations.iter().copied())?;
    Some((whole, wanted))
}

fn lowest(stratum: &Stratum, relations: &[Relation], levels: &Levels) -> Option<u32> {
    let is_plain = |relation: &RelationId| {
        let relation = &relations[relation.index()];
        // What was made for alternatives is no higher than what it stands for.
        !relation.stored && relation.best.is_none() && !relation.name.starts_with('?')
    };
    let adds_one = |rule: &Rule| !rule.aggregates() && rule.ranking.is_none() && rule.text != STORED;
    if !stratum.recursive || !stratum.relations.iter().all(is_plain) || !stratum.rules.iter().all(adds_one) {
        return None;
    }
    let is_own = |relation: RelationId| stratum.relations.contains(&relation);
    let recurs = |rule: &&Rule| rule.atoms().any(|atom| is_own(atom.relation));
    let (recursive, first): (Vec<&Rule>, Vec<&Rule>) = stratum.rules.iter().partition(recurs);
    let lowest = levels.of_all(first, 1)?;
    let mut others =
        recursive.into_iter().flat_map(|rule| rule.atoms()).filter(|atom| !is_own(atom.relation));
    let is_low = others.all(|atom| levels.of(atom.relation).is_some_and(|level| level <= lowest));
    is_low.then_some(lowest)
}
