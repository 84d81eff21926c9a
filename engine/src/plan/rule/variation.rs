//! `Variation`: which rows each atom of a rule reads.

use std::cmp::Ordering;

use foldhash::HashMap;

use super::range::BestAtom;
use crate::analysis::program::{Atom, Best, Reader, Rule};
use crate::data::RelationId;
use crate::plan::access::{Access, Version};

/// How rows that come twice are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distinct {
    /// None does.
    Unneeded,
    /// By a set of all rows.
    Rows,
    /// By the best row of each group, which alone is kept.
    Best(Best),
}

/// The relations of a fixpoint.
pub type Own = HashMap<RelationId, Distinct>;

/// How the head of a rule keeps the best rows, if it does.
pub(super) fn kept(rule: &Rule, own: &Own) -> Option<Best> {
    match own.get(&rule.head) {
        Some(Distinct::Best(best)) => Some(*best),
        Some(Distinct::Rows | Distinct::Unneeded) | None => None,
    }
}

/// A rule, and which rows its atoms read.
#[derive(Debug, Clone, Copy)]
pub struct Variation<'p> {
    /// The rule.
    pub rule: &'p Rule,
    /// The literal that reads what the last round has found, if one does. Those before it read everything, those after it only
    /// what is older: so each combination of rows is tried exactly once.
    pub delta: Option<usize>,
    /// The literal of which only rows count that are not composed of others, if the rule composes its relation with itself.
    pub generators: Option<usize>,
    /// How the head keeps the best rows, if it does.
    pub(super) kept: Option<Best>,
    /// What it may read in the place of some literals.
    pub reader: Option<&'p Reader>,
}

impl<'p> Variation<'p> {
    /// A rule that reads all rows.
    pub fn whole(rule: &'p Rule) -> Variation<'p> {
        Variation { rule, delta: None, generators: None, kept: None, reader: None }
    }

    /// The same where the auxiliary relation that it may read is there.
    pub fn reading(self, own: &Own) -> Variation<'p> {
        let Some(reader) = self.reader else { return self };
        let place =
            |literal: usize| literal - reader.literals.partition_point(|replaced| *replaced < literal);
        let (delta, generators) = (self.delta.map(place), self.generators.map(place));
        let kept = kept(&reader.with, own);
        Variation { rule: &reader.with, delta, generators, kept, reader: None }
    }

    /// The atoms of which only the best rows are wanted.
    pub(super) fn best_atoms(&self) -> Vec<BestAtom> {
        BestAtom::all(self.rule, self.kept)
    }

    /// The rows that an atom reads, inside the fixpoint of these relations.
    pub(super) fn access(&self, literal: usize, atom: &Atom, recursive: &Own) -> Access {
        let version = match self.delta {
            Some(delta) if recursive.contains_key(&atom.relation) => match literal.cmp(&delta) {
                Ordering::Less => Version::All,
                Ordering::Equal => Version::Delta,
                Ordering::Greater => Version::Old,
            },
            _ => Version::All,
        };
        Access { relation: atom.relation, version, generators: self.generators == Some(literal) }
    }

    /// The rows of an atom that matter to its cost.
    pub(super) fn costed(&self, literal: usize, atom: &Atom) -> Access {
        let version = if self.delta == Some(literal) { Version::Delta } else { Version::All };
        Access { relation: atom.relation, version, generators: self.generators == Some(literal) }
    }
}
