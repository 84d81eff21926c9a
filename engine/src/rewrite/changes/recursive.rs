//! Strata that recur: what may be gone is everything that has used what is gone, and comes back if it has another proof.
//!
//! Gupta, Mumick and Subrahmanian, Maintaining views incrementally (SIGMOD 1993). Rows that hold each other up are all taken
//! for gone, so nothing stays that only they prove.

use std::collections::{BTreeMap, BTreeSet};

use super::{Changes, Ranks, Side, guarded, unknown};
use crate::analysis::program::{Literal, Program, Rule, Stratum};
use crate::data::RelationId;

/// A program of changes, and where it has what it finds of the relations of a stratum.
pub(crate) type OfStratum = (Program, BTreeMap<RelationId, RelationId>);

/// A rule that reads the relations of its stratum more often has too many variants.
const MOST_OWN: usize = 4;

/// Whether a stratum can be followed: no value in it is the best of its group.
pub(crate) fn can_follow(program: &Program, stratum: &Stratum) -> bool {
    let has_best = |relation: &RelationId| program.relations[relation.index()].best.is_some();
    let own = |rule: &Rule| rule.atoms().filter(|atom| stratum.relations.contains(&atom.relation)).count();
    !stratum.relations.iter().any(has_best)
        && stratum.rules.iter().all(|rule| !rule.aggregates() && own(rule) <= MOST_OWN)
}

/// The rows that have used what is gone ([`Side::Old`] rows of the stratum).
pub(crate) fn gone(
    program: &Program,
    stratum: &Stratum,
    changed: &BTreeSet<RelationId>,
) -> Option<OfStratum> {
    let mut changes = Changes::new(program, stratum, changed);
    let found = changes.heads("gone");
    for rule in &stratum.rules {
        let old = |changes: &mut Changes<'_>, own| changes.side(own, Side::Old);
        let variants = changes.variants(rule, found[&rule.head], Side::Before, old);
        changes.rules.extend(variants);
        for chosen in changes.own_places(rule) {
            let found_of = |_: &mut Changes<'_>, own| found[&own];
            let variant = changes.reading_at(rule, found[&rule.head], chosen, found_of, Side::Before);
            changes.rules.push(variant);
        }
    }
    changes.hand_on_stored(Side::Removed, &found, None);
    Some((changes.finish()?, found))
}

/// The rows among those that may be gone ([`Side::Gone`]) that follow from what is kept ([`Side::Kept`]).
pub(crate) fn restored(
    program: &Program,
    stratum: &Stratum,
    changed: &BTreeSet<RelationId>,
    ranks: Ranks,
) -> Option<OfStratum> {
    let mut changes = Changes::new(program, stratum, changed).with(ranks);
    let found = changes.heads("restored");
    for rule in &stratum.rules {
        let known = &program.relations[rule.head.index()];
        let columns: Vec<usize> = (0..known.arity).collect();
        for chosen in choices(changes.own_places(rule)) {
            let variant = changes.reading_chosen(rule, &found, &chosen);
            let gone = changes.side(rule.head, Side::Gone);
            changes.rules.push(guarded(variant, gone, &columns, &known.column_types));
        }
    }
    changes.hand_on_stored(Side::Now, &found, Some(Side::Gone));
    Some((changes.finish()?, found))
}

/// The rows that were not there ([`Side::Kept`]) and follow from what has come.
pub(crate) fn come(
    program: &Program,
    stratum: &Stratum,
    changed: &BTreeSet<RelationId>,
    ranks: Ranks,
) -> Option<OfStratum> {
    let mut changes = Changes::new(program, stratum, changed).with(ranks);
    let found = changes.heads("come");
    for rule in &stratum.rules {
        let kept = |changes: &mut Changes<'_>, own| changes.side(own, Side::Kept);
        let mut variants = changes.variants(rule, found[&rule.head], Side::Now, kept);
        for chosen in choices(changes.own_places(rule)).into_iter().filter(|chosen| !chosen.is_empty()) {
            variants.push(changes.reading_chosen(rule, &found, &chosen));
        }
        changes.rules.extend(variants);
    }
    changes.hand_on_stored(Side::Added, &found, None);
    let known: BTreeMap<RelationId, (RelationId, RelationId)> =
        found.iter().map(|(head, found)| (*found, (*head, changes.side(*head, Side::Kept)))).collect();
    for rule in std::mem::take(&mut changes.rules) {
        let (head, kept) = known[&rule.head];
        let (types, arity) =
            (&program.relations[head.index()].column_types, changes.relations[kept.index()].arity);
        changes.rules.push(unknown(rule, kept, arity, types));
    }
    Some((changes.finish()?, found))
}

/// The rows of rules that read nothing of their stratum, as they are on a side, and the relation that has them.
pub(crate) fn starts(
    program: &Program,
    stratum: &Stratum,
    changed: &BTreeSet<RelationId>,
    rules: &[&Rule],
    side: Side,
) -> Option<(Program, RelationId)> {
    let mut changes = Changes::new(program, stratum, changed);
    let found = changes.derived("starts", rules.first()?.head);
    for rule in rules {
        let rule = changes.reading(rule, found, |changes, _, relation| changes.side(relation, side));
        changes.rules.push(rule);
    }
    Some((changes.finish()?, found))
}

impl Changes<'_> {
    /// A relation of what is found of each of the stratum.
    pub(super) fn heads(&mut self, what: &str) -> BTreeMap<RelationId, RelationId> {
        let stratum = self.stratum;
        stratum.relations.iter().map(|head| (*head, self.derived(what, *head))).collect()
    }

    /// Where a rule reads relations of the stratum.
    pub(super) fn own_places(&self, rule: &Rule) -> Vec<usize> {
        let is_own = |literal: &Literal| literal.atom().is_some_and(|atom| self.is_own(atom.relation));
        (0..rule.body.len()).filter(|place| is_own(&rule.body[*place])).collect()
    }

    /// The rule in which this place reads what `from` says, other own ones the rows of before, and all else this side.
    pub(super) fn reading_at(
        &mut self,
        rule: &Rule,
        head: RelationId,
        chosen: usize,
        mut from: impl FnMut(&mut Self, RelationId) -> RelationId,
        side: Side,
    ) -> Rule {
        self.reading(rule, head, |changes, number, relation| {
            match (changes.is_own(relation), number == chosen) {
                (true, true) => from(changes, relation),
                (true, false) => changes.side(relation, Side::Old),
                (false, _) => changes.side(relation, side),
            }
        })
    }

    /// The rule as things are now, in which these places read what is found, and other own ones what is kept.
    fn reading_chosen(
        &mut self,
        rule: &Rule,
        found: &BTreeMap<RelationId, RelationId>,
        chosen: &[usize],
    ) -> Rule {
        self.reading(rule, found[&rule.head], |changes, number, relation| {
            match (changes.is_own(relation), chosen.contains(&number)) {
                (true, true) => found[&relation],
                (true, false) => changes.side(relation, Side::Kept),
                (false, _) => changes.side(relation, Side::Now),
            }
        })
    }

    /// Stored rows count beside what rules derive.
    pub(super) fn hand_on_stored(
        &mut self,
        side: Side,
        found: &BTreeMap<RelationId, RelationId>,
        guard: Option<Side>,
    ) {
        for (head, found) in found {
            let is_stored = self.program.relations[head.index()].stored;
            if is_stored && (side == Side::Now || self.changed.contains(head)) {
                let rows = self.side(*head, side);
                let guard = guard.map(|guard| self.side(*head, guard));
                self.hand_on(*found, rows, guard);
            }
        }
    }
}

/// All ways to choose some of these places.
fn choices(places: Vec<usize>) -> Vec<Vec<usize>> {
    places.into_iter().fold(vec![Vec::new()], |choices, place| {
        let with = choices.iter().map(|choice| [choice.as_slice(), &[place]].concat());
        let with: Vec<Vec<usize>> = with.collect();
        choices.into_iter().chain(with).collect()
    })
}
