//! Relations whose rows all have smallest proofs of one height, whatever is stored: nobody has to look for those heights.
//!
//! That is so where no recursion is, and all rules of a relation, and of those that it reads, go equally deep.

use std::collections::BTreeMap;

use super::STORED;
use crate::analysis::program::{Relation, Rule, Stratum};
use crate::data::RelationId;

/// Derived relations, and the height of their rows, where it is the same for all of them.
#[derive(Debug, Default)]
pub(super) struct Levels(BTreeMap<RelationId, Option<u32>>);

impl Levels {
    /// The relations of one more stratum; those that it reads are known.
    pub(super) fn learn(&mut self, stratum: &Stratum, relations: &[Relation]) {
        for relation in &stratum.relations {
            let rules: Vec<&Rule> = stratum.rules.iter().filter(|rule| rule.head == *relation).collect();
            let is_made = relations[relation.index()].name.starts_with('?');
            // What makes groups beside other rules has rows of its own for them, which are asked for with their heights.
            let is_simple = rules.len() == 1 || rules.iter().all(|rule| !rule.aggregates());
            let is_level = !stratum.recursive && is_simple;
            let level = if is_level { self.of_all(rules, u32::from(!is_made)) } else { None };
            self.0.insert(*relation, level);
        }
    }

    pub(super) fn set(&mut self, relation: RelationId, level: u32) {
        self.0.insert(relation, Some(level));
    }

    /// The height of all rows of a relation.
    pub(super) fn of(&self, relation: RelationId) -> Option<u32> {
        self.0.get(&relation).copied().unwrap_or(Some(0))
    }

    /// The height of what all these rules make, so much above the rows that they read.
    pub(super) fn of_all<'r>(&self, rules: impl IntoIterator<Item = &'r Rule>, step: u32) -> Option<u32> {
        let mut levels = rules.into_iter().map(|rule| {
            let step = if rule.text == STORED { 0 } else { step };
            let read = rule.atoms().map(|atom| self.of(atom.relation));
            let highest = read.reduce(|a, b| Some(a?.max(b?))).unwrap_or(Some(0));
            highest.map(|highest| highest + step)
        });
        let first = levels.next()??;
        levels.all(|level| level == Some(first)).then_some(first)
    }
}
