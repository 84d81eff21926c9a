//! Strata that recur, of whose rows it is known how they were found: each has a *rank*, and follows from rows of lower ranks.
//!
//! A row that has lost a proof stays if it has another one by rows of lower ranks, and nothing that follows from it is looked
//! at. Rows that hold each other up have none, as ranks would have to fall all the way around. Only what is left without
//! such a proof falls, and shakes what follows from it and ranks higher.
//!
//! Ranks are those of Even and Shiloach's trees (An on-line edge-deletion problem, JACM 1981), for rules of any form; as
//! rounds of evaluation give them, they are the heights of Zhao, Subotić and Scholz (Debugging large-scale Datalog, TOPLAS 2020).

use std::collections::{BTreeMap, BTreeSet};

use super::recursive::OfStratum;
use super::{Changes, Ranks, Side, add_variable, blank, guard, guarded, value};
use crate::analysis::program::{Argument, Atom, Expression, Literal, Program, Relation, Rule, Stratum, Test};
use crate::data::{DataType, RelationId, VariableId};
use crate::syntax::ast::Comparison;

/// A program that finds which rows fall.
pub(crate) struct Falling {
    pub program: Program,
    /// Where it has those that fall, with their ranks,
    pub falls: BTreeMap<RelationId, RelationId>,
    /// and those that were shaken and stay.
    pub stays: Vec<RelationId>,
}

/// Why rows have lost a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Something below has changed.
    Below,
    /// Others have just fallen ([`Side::Fallen`]).
    Fallen,
    /// None: it is only looked whether each row has a proof.
    Audit,
}

/// The rows that fall.
pub(crate) fn falling(
    program: &Program,
    stratum: &Stratum,
    changed: &BTreeSet<RelationId>,
    cause: Cause,
) -> Option<Falling> {
    let mut changes = Changes::new(program, stratum, changed).with(Ranks::InLastColumn);
    let shaken = changes.heads("shaken");
    for rule in &stratum.rules {
        let head = shaken[&rule.head];
        let shaking = match cause {
            Cause::Below => {
                let old = |changes: &mut Changes<'_>, own| changes.side(own, Side::Old);
                changes.variants(rule, head, Side::Before, old)
            }
            Cause::Fallen => {
                let fallen = |changes: &mut Changes<'_>, own| changes.side(own, Side::Fallen);
                let places = changes.own_places(rule).into_iter();
                places.map(|chosen| changes.shake(rule, head, chosen, fallen).0).collect()
            }
            Cause::Audit => vec![changes.shake_all(rule.head, head)],
        };
        changes.rules.extend(shaking);
    }
    if cause == Cause::Below {
        changes.hand_on_stored(Side::Removed, &shaken, None);
    }
    changes.check(&shaken)
}

/// All rows that may fall because others have just fallen, with their ranks.
pub(crate) fn sinking(
    program: &Program,
    stratum: &Stratum,
    changed: &BTreeSet<RelationId>,
) -> Option<OfStratum> {
    let mut changes = Changes::new(program, stratum, changed).with(Ranks::InLastColumn);
    let sunk: BTreeMap<RelationId, RelationId> =
        stratum.relations.iter().map(|head| (*head, changes.ranked("sunk", *head))).collect();
    for rule in &stratum.rules {
        for chosen in changes.own_places(rule) {
            let fallen = |changes: &mut Changes<'_>, own| changes.side(own, Side::Fallen);
            let by_fallen = changes.shake(rule, sunk[&rule.head], chosen, fallen);
            let by_sunk = changes.shake(rule, sunk[&rule.head], chosen, |_, own| sunk[&own]);
            for (mut rule, rank) in [by_fallen, by_sunk] {
                rule.head_terms.push(value(rank));
                changes.rules.push(rule);
            }
        }
    }
    Some((changes.finish()?, sunk))
}

impl Changes<'_> {
    /// A relation of rows like those of a relation of the stratum, with their ranks.
    fn ranked(&mut self, what: &str, head: RelationId) -> RelationId {
        let known = &self.program.relations[head.index()];
        let types = [known.column_types.as_slice(), &[DataType::Int]].concat();
        self.add(format!("?{what}_{}", known.name), types, false)
    }

    /// The rule for those of its rows that rank higher than the row of `from` that it reads in this place, and their rank.
    fn shake(
        &mut self,
        rule: &Rule,
        head: RelationId,
        chosen: usize,
        from: impl FnMut(&mut Self, RelationId) -> RelationId,
    ) -> (Rule, VariableId) {
        let known = &self.program.relations[rule.head.index()];
        let variant = self.reading_at(rule, head, chosen, from, Side::Now);
        let columns: Vec<usize> = (0..known.arity).collect();
        let kept = self.side(rule.head, Side::Kept);
        let mut variant = guarded(variant, kept, &columns, &known.column_types);
        let rank = give_rank(&mut variant, 0);
        // The guard stands before all others.
        let reason = give_rank(&mut variant, chosen + 1);
        variant.body.push(lower(reason, rank));
        (variant, rank)
    }

    /// The rule for all of its rows.
    fn shake_all(&mut self, own: RelationId, head: RelationId) -> Rule {
        let kept = self.side(own, Side::Kept);
        let mut rule = blank(head, "an audit");
        let types = &self.program.relations[own.index()].column_types;
        let columns: Vec<VariableId> =
            types.iter().map(|data_type| add_variable(&mut rule, "?column", *data_type)).collect();
        let arguments = columns.iter().map(|column| Argument::Variable(*column));
        rule.body = vec![Literal::Atom(guard(kept, arguments.chain([Argument::Any])))];
        rule.head_terms = columns.into_iter().map(value).collect();
        rule
    }

    /// Of the rows that are shaken, those fall that have no proof by rows of lower ranks that are kept.
    fn check(mut self, shaken: &BTreeMap<RelationId, RelationId>) -> Option<Falling> {
        let (mut falls, mut stays) = (BTreeMap::new(), Vec::new());
        for (head, shaken) in shaken {
            let known = &self.program.relations[head.index()];
            let (suspects, stay, fall) =
                (self.ranked("suspects", *head), self.derived("stays", *head), self.ranked("falls", *head));
            let kept = self.side(*head, Side::Kept);
            self.rules.push(rows_of(suspects, &self.relations, kept, Literal::Atom, *shaken));
            self.rules.push(rows_of(fall, &self.relations, suspects, Literal::Negated, stay));
            let columns: Vec<usize> = (0..known.arity).collect();
            for rule in self.rules_of(*head) {
                let read = self.reading(rule, stay, |changes, _, relation| {
                    let side = if changes.is_own(relation) { Side::Kept } else { Side::Now };
                    changes.side(relation, side)
                });
                let mut rule_of_proof = guarded(read, suspects, &columns, &known.column_types);
                let rank = give_rank(&mut rule_of_proof, 0);
                for place in self.own_places(rule) {
                    let reason = give_rank(&mut rule_of_proof, place + 1);
                    rule_of_proof.body.push(lower(reason, rank));
                }
                self.rules.push(rule_of_proof);
            }
            if known.stored {
                let stored = self.side(*head, Side::Now);
                let mut rule = rows_of(stay, &self.relations, suspects, Literal::Atom, stored);
                rule.head_terms.truncate(known.arity);
                self.rules.push(rule);
            }
            falls.insert(*head, fall);
            stays.push(stay);
        }
        Some(Falling { program: self.finish()?, falls, stays })
    }
}

/// A variable for the rank of the row that an atom reads.
fn give_rank(rule: &mut Rule, place: usize) -> VariableId {
    let rank = add_variable(rule, "?rank", DataType::Int);
    if let Some(Literal::Atom(atom)) = rule.body.get_mut(place) {
        // Where ranks are not asked for, any will do.
        atom.arguments.pop_if(|last| *last == Argument::Any);
        atom.arguments.push(Argument::Variable(rank));
    }
    rank
}

/// What says that a reason ranks lower. It is no range: few rows are looked up, and none is worth an index by ranks.
fn lower(reason: VariableId, rank: VariableId) -> Literal {
    let [left, right] = [reason, rank].map(Expression::Variable);
    Literal::Filter { operator: Test::Not(Comparison::GreaterOrEqual), left, right }
}

/// The rule for the ranked rows of a relation of which another one has the same row without a rank, or has not.
fn rows_of(
    head: RelationId,
    relations: &[Relation],
    ranked: RelationId,
    condition: impl Fn(Atom) -> Literal,
    other: RelationId,
) -> Rule {
    let mut rule = blank(head, "rows that fall");
    let types = &relations[ranked.index()].column_types;
    let columns: Vec<VariableId> =
        types.iter().map(|data_type| add_variable(&mut rule, "?column", *data_type)).collect();
    let arguments = || columns.iter().map(|column| Argument::Variable(*column));
    let without_rank = guard(other, arguments().take(types.len() - 1));
    rule.body = vec![Literal::Atom(guard(ranked, arguments())), condition(without_rank)];
    rule.head_terms = columns.into_iter().map(value).collect();
    rule
}
