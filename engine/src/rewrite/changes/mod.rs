//! Programs of what a stratum derives otherwise when relations below it have changed.
//!
//! A relation below has up to four *sides*: the rows that it has now, those that it had before, those that were added and
//! those that were removed. A solution that is gone has used something that is gone, and everything else of before; one
//! that has come uses something that has come, and everything else of now. So what may have left and what may have come
//! are ordinary rules over sides, whose plans begin with the few rows that have changed.

mod flat;
mod groups;
mod ranked;
mod recursive;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use flat::flat;
pub(crate) use groups::{ASKED_GROUPS, groups, groups_anew, rule_of_groups};
pub(crate) use ranked::{Cause, Falling, falling, sinking};
pub(crate) use recursive::{OfStratum, can_follow, come, gone, restored, starts};

use super::guarded::{add_variable, guard, guarded, head_argument};
use crate::analysis::program::{
    Argument, Atom, Expression, HeadTerm, Literal, Program, Relation, Rule, Stratum,
};
use crate::analysis::stratify;
use crate::data::{DataType, RelationId, VariableId};

/// The rows of a relation that a program of changes reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// Those that it has now.
    Now,
    /// Those that it had before.
    Before,
    /// Those that it has now and did not have before.
    Added,
    /// Those that it had before and has no longer.
    Removed,
    /// Of a relation of the stratum: what it derived before.
    Old,
    /// Of a relation of the stratum: what is known to be derived now.
    Kept,
    /// Of a relation of the stratum: what may be gone.
    Gone,
    /// Of a relation of the stratum: what has just turned out to have lost its proof, with ranks.
    Fallen,
}

impl Side {
    /// What a relation is called of which these rows are read. No program can write it.
    pub(crate) fn of(self, name: &str) -> String {
        let side = match self {
            Side::Now => return name.to_owned(),
            Side::Before => "before",
            Side::Added => "added",
            Side::Removed => "removed",
            Side::Old => "old",
            Side::Kept => "kept",
            Side::Gone => "gone",
            Side::Fallen => "fallen",
        };
        format!("{name}?{side}")
    }
}

/// Whether rows of the stratum have ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ranks {
    None,
    /// Where they are read as [`Side::Old`], [`Side::Kept`] and [`Side::Fallen`].
    InLastColumn,
}

/// A program of changes on its way.
struct Changes<'p> {
    program: &'p Program,
    stratum: &'p Stratum,
    changed: &'p BTreeSet<RelationId>,
    ranks: Ranks,
    relations: Vec<Relation>,
    sides: BTreeMap<(RelationId, Side), RelationId>,
    rules: Vec<Rule>,
}

impl<'p> Changes<'p> {
    fn new(program: &'p Program, stratum: &'p Stratum, changed: &'p BTreeSet<RelationId>) -> Changes<'p> {
        let (relations, sides, rules) = (Vec::new(), BTreeMap::new(), Vec::new());
        Changes { program, stratum, changed, ranks: Ranks::None, relations, sides, rules }
    }

    /// The same, where rows of the stratum may have ranks.
    fn with(self, ranks: Ranks) -> Changes<'p> {
        Changes { ranks, ..self }
    }

    /// The program, of which only the relations of its strata are of interest.
    fn finish(mut self) -> Option<Program> {
        let goal = self.add("?".to_owned(), Vec::new(), false);
        // None of its relations depends on itself in another way than those of the stratum do.
        let strata = stratify(&self.relations, self.rules).ok()?;
        Some(Program { relations: self.relations, strata, goal, warnings: Vec::new() })
    }

    fn add(&mut self, name: String, column_types: Vec<DataType>, stored: bool) -> RelationId {
        let arity = column_types.len();
        self.relations.push(Relation { name, arity, column_types, stored, best: None });
        RelationId::new(self.relations.len() - 1)
    }

    /// A relation of rows like those of a relation of the stratum.
    fn derived(&mut self, what: &str, head: RelationId) -> RelationId {
        let known = &self.program.relations[head.index()];
        self.add(format!("?{what}_{}", known.name), known.column_types.clone(), false)
    }

    /// The relation of a side.
    fn side(&mut self, relation: RelationId, side: Side) -> RelationId {
        let side = if side == Side::Before && !self.changed.contains(&relation) { Side::Now } else { side };
        if let Some(known) = self.sides.get(&(relation, side)) {
            return *known;
        }
        let known = &self.program.relations[relation.index()];
        let mut types = known.column_types.clone();
        // Of the stratum's own relations, there are only ranked rows.
        if self.ranks == Ranks::InLastColumn && matches!(side, Side::Old | Side::Kept | Side::Fallen) {
            types.push(DataType::Int);
        }
        let added = self.add(side.of(&known.name), types, true);
        self.sides.insert((relation, side), added);
        added
    }

    fn rules_of(&self, head: RelationId) -> impl Iterator<Item = &'p Rule> + use<'p> {
        self.stratum.rules.iter().filter(move |rule| rule.head == head)
    }

    /// A rule for `head` with this body, in which each atom reads what `read` says, whatever the ranks.
    fn reading(
        &mut self,
        rule: &Rule,
        head: RelationId,
        mut read: impl FnMut(&mut Self, usize, RelationId) -> RelationId,
    ) -> Rule {
        let mut rule = Rule { head, ..rule.clone() };
        for (number, literal) in rule.body.iter_mut().enumerate() {
            if let Literal::Atom(atom) | Literal::Negated(atom) = literal {
                atom.relation = read(self, number, atom.relation);
                atom.arguments.resize(self.relations[atom.relation.index()].arity, Argument::Any);
            }
        }
        rule
    }

    /// For each condition that has changed: the rule with what has changed of it, and this side of all others. Relations of
    /// the stratum are read as `own` says.
    fn variants(
        &mut self,
        rule: &Rule,
        head: RelationId,
        side: Side,
        mut own: impl FnMut(&mut Self, RelationId) -> RelationId,
    ) -> Vec<Rule> {
        // What begins to be there takes solutions from its negation.
        let (positive, negative) = match side {
            Side::Now => (Side::Added, Side::Removed),
            _ => (Side::Removed, Side::Added),
        };
        let mut variants = Vec::new();
        for (place, literal) in rule.body.iter().enumerate() {
            let (Literal::Atom(atom) | Literal::Negated(atom)) = literal else { continue };
            if self.is_own(atom.relation) || !self.changed.contains(&atom.relation) {
                continue;
            }
            let is_positive = matches!(literal, Literal::Atom(_));
            let mut variant = self.reading(rule, head, |changes, number, relation| {
                if changes.is_own(relation) {
                    return own(changes, relation);
                }
                changes.side(relation, if number == place && is_positive { positive } else { side })
            });
            if !is_positive {
                let changed = self.side(atom.relation, negative);
                variant.body.push(Literal::Atom(Atom { relation: changed, ..atom.clone() }));
            }
            variants.push(variant);
        }
        variants
    }

    fn is_own(&self, relation: RelationId) -> bool {
        self.stratum.relations.contains(&relation)
    }

    /// All rows of `from`, and if it is given only those that are also in `guard`.
    fn hand_on(&mut self, head: RelationId, from: RelationId, guard_of: Option<RelationId>) {
        let types = self.relations[from.index()].column_types.clone();
        let mut rule = blank(head, "rows handed on");
        let columns: Vec<VariableId> =
            types.iter().map(|data_type| add_variable(&mut rule, "?column", *data_type)).collect();
        let arguments = || columns.iter().map(|variable| Argument::Variable(*variable));
        rule.head_terms = columns.iter().map(|column| value(*column)).collect();
        let atoms = guard_of.into_iter().chain([from]);
        rule.body = atoms.map(|relation| Literal::Atom(guard(relation, arguments()))).collect();
        self.rules.push(rule);
    }
}

fn blank(head: RelationId, text: &str) -> Rule {
    let (head_terms, body, variables) = (Vec::new(), Vec::new(), Vec::new());
    Rule { head, head_terms, ranking: None, body, variables, text: text.to_owned() }
}

fn value(variable: VariableId) -> HeadTerm {
    HeadTerm::Expression(Expression::Variable(variable))
}

/// The rule for those of its rows that a relation has not, which may have more columns than these.
fn unknown(mut rule: Rule, relation: RelationId, arity: usize, types: &[DataType]) -> Rule {
    for (column, data_type) in types.iter().enumerate() {
        let HeadTerm::Expression(expression @ (Expression::Arithmetic { .. } | Expression::Call { .. })) =
            &rule.head_terms[column]
        else {
            continue;
        };
        let computed = expression.clone();
        let variable = add_variable(&mut rule, "?found", *data_type);
        rule.body.push(Literal::Assign { variable, expression: computed });
        rule.head_terms[column] = value(variable);
    }
    let mut arguments: Vec<Argument> = rule.head_terms.iter().filter_map(head_argument).collect();
    arguments.resize(arity, Argument::Any);
    rule.body.push(Literal::Negated(guard(relation, arguments)));
    rule
}
