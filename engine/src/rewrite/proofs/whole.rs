//! Relations of which a search needs all rows, as far as they are not at hand.

use std::collections::HashSet;

use crate::analysis::program::{Program, Rule, Stratum};
use crate::data::RelationId;
use crate::rewrite;

/// What derives all rows of some relations.
#[derive(Debug)]
pub(crate) struct Whole {
    /// Derives them, and no row of its goal.
    pub(crate) program: Program,
    /// The relations that it derives.
    pub(crate) relations: HashSet<RelationId>,
}

impl Whole {
    /// What derives these relations and those that they rest on, where they are not at hand. Nothing if facts are stored beside
    /// what their rules derive.
    pub(super) fn of(
        program: &Program,
        at_hand: &HashSet<RelationId>,
        wanted: impl IntoIterator<Item = RelationId>,
    ) -> Option<Whole> {
        let mut program = program.clone();
        let mut relations = HashSet::new();
        let mut open: Vec<RelationId> = wanted.into_iter().collect();
        while let Some(relation) = open.pop() {
            let deriving = |stratum: &&Stratum| stratum.relations.contains(&relation);
            let deriving = program.strata.iter().find(deriving);
            let Some(stratum) = deriving.filter(|_| !at_hand.contains(&relation)) else { continue };
            if program.relations[relation.index()].stored {
                return None;
            }
            if relations.insert(relation) {
                open.extend(&stratum.relations);
                open.extend(stratum.rules.iter().flat_map(Rule::reads));
            }
        }
        let is_derived = |stratum: &Stratum| stratum.relations.iter().any(|head| relations.contains(head));
        program.strata.retain(is_derived);
        // Of a recursion either all relations are at hand, or all are derived.
        relations.extend(program.strata.iter().flat_map(|stratum| &stratum.relations));
        for relation in at_hand.difference(&relations) {
            let relation = &mut program.relations[relation.index()];
            (relation.stored, relation.best) = (true, None);
        }
        Some(Whole { program: rewrite::complete(program), relations })
    }
}
