//! Best values that better ones have replaced: a recursion through `min` or `max` may have derived from one of them what its
//! rows rest on.
//!
//! `m(Y, max<W>) <- m(X, _), offer(X, Y, W)` makes a better row of any row. Where `m("b", 5)` came of `m("a", 6)`, and made that
//! `m("a", 7)`, both rows that are left rest on each other, and each of them on `m("a", 6)`. So such a recursion is derived once
//! more, with all rows that were the best for a while, and its own rows are derived of those.

use std::collections::BTreeMap;

use super::{Ask, Explained};
use crate::analysis::keeps_order;
use crate::analysis::program::{
    Argument, Best, Expression, HeadTerm, Literal, Program, Relation, Rule, Stratum,
};
use crate::data::RelationId;
use crate::rewrite::guarded::{add_variable, guard};

/// Lets recursions through `min` and `max` read, in the place of themselves, copies that keep what was replaced.
pub(super) fn keep(program: &mut Program) {
    let mut strata = Vec::with_capacity(program.strata.len());
    for mut stratum in std::mem::take(&mut program.strata) {
        if recurs_through_best(&stratum, &program.relations) {
            strata.push(copy(&mut stratum, &mut program.relations));
        }
        strata.push(stratum);
    }
    program.strata = strata;
}

/// Whether a program has such a recursion.
pub(super) fn has_any(program: &Program) -> bool {
    program.strata.iter().any(|stratum| recurs_through_best(stratum, &program.relations))
}

/// Relations of such recursions, where something may be derived of a value that is not derived of a better one as well.
pub(super) fn unsure(program: &Program) -> Vec<RelationId> {
    let is_unsure = |stratum: &&Stratum| {
        recurs_through_best(stratum, &program.relations)
            && stratum
                .rules
                .iter()
                .any(|rule| !keeps_order(&program.relations, rule, &|read| stratum.relations.contains(&read)))
    };
    program.strata.iter().filter(is_unsure).flat_map(|stratum| stratum.relations.clone()).collect()
}

/// Asks evaluated relations, by [`Ask::name`], for rows that have no heights although these were asked for.
pub(crate) fn lacking(explained: &Explained) -> Vec<Program> {
    let with_heights = explained
        .unsure
        .iter()
        .filter_map(|relation| Some((*relation, explained.derived.get(relation)?.height.relation()?)));
    let programs = with_heights.flat_map(|(relation, with_heights)| {
        let bindings: Vec<_> = explained.bindings.iter().filter(|asked| asked.of == with_heights).collect();
        let all = bindings.is_empty().then(|| without_height(explained, relation, with_heights, None));
        let some = bindings.into_iter().map(move |asked| {
            without_height(explained, relation, with_heights, Some((asked.values, &asked.columns)))
        });
        all.into_iter().chain(some).collect::<Vec<_>>()
    });
    programs.collect()
}

/// Rows of a relation that have no height, of those that have certain values.
fn without_height(
    explained: &Explained,
    relation: RelationId,
    with_heights: RelationId,
    asked: Option<(RelationId, &Vec<usize>)>,
) -> Program {
    let mut relations: Vec<Relation> = Vec::new();
    for (number, known) in explained.program.relations.iter().enumerate() {
        let id = RelationId::new(number);
        let is_read = [relation, with_heights].contains(&id) || asked.is_some_and(|(values, _)| values == id);
        relations.push(Relation { name: Ask::name(id), stored: is_read, best: None, ..known.clone() });
    }
    let known = &relations[relation.index()];
    let goal = RelationId::new(relations.len());
    let mut rule = Rule {
        head: goal,
        head_terms: Vec::new(),
        ranking: None,
        body: Vec::new(),
        variables: Vec::new(),
        text: String::new(),
    };
    let columns: Vec<_> =
        known.column_types.iter().map(|of| add_variable(&mut rule, "?column", *of)).collect();
    rule.head_terms = columns.iter().map(|v| HeadTerm::Expression(Expression::Variable(*v))).collect();
    if let Some((values, bound)) = asked {
        let bound = bound.iter().map(|column| Argument::Variable(columns[*column]));
        rule.body.push(Literal::Atom(guard(values, bound)));
    }
    let row = || columns.iter().map(|column| Argument::Variable(*column));
    rule.body.push(Literal::Atom(guard(relation, row())));
    rule.body.push(Literal::Negated(guard(with_heights, row().chain([Argument::Any]))));
    relations.push(Relation { name: "?".to_owned(), stored: false, ..known.clone() });
    let strata = vec![Stratum::of(vec![goal], vec![rule], false)];
    Program { relations, strata, goal, warnings: Vec::new() }
}

fn recurs_through_best(stratum: &Stratum, relations: &[Relation]) -> bool {
    stratum.recursive && stratum.relations.iter().any(|relation| relations[relation.index()].best.is_some())
}

/// A copy of a recursion, which it reads itself from now on. Relations of the copy have the same names: their rows are told as
/// those of the program.
fn copy(stratum: &mut Stratum, relations: &mut Vec<Relation>) -> Stratum {
    let mut copies: BTreeMap<RelationId, RelationId> = BTreeMap::new();
    for relation in &stratum.relations {
        let known = relations[relation.index()].clone();
        copies.insert(*relation, RelationId::new(relations.len()));
        relations
            .push(Relation { best: known.best.map(|best| Best { keeps_replaced: true, ..best }), ..known });
    }
    for rule in &mut stratum.rules {
        for literal in &mut rule.body {
            if let Literal::Atom(atom) = literal {
                atom.relation = copies.get(&atom.relation).copied().unwrap_or(atom.relation);
            }
        }
    }
    stratum.recursive = false;
    let rules = stratum.rules.iter().map(|rule| Rule { head: copies[&rule.head], ..rule.clone() });
    Stratum::of(copies.values().copied().collect(), rules.collect(), true)
}
