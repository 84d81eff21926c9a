//! Random rules.

use std::collections::BTreeSet;

use super::body::{Body, Names, Readable, build_body};
use super::draft::{Aggregation, Draft, RuleDraft};
use super::expression::Choices;
use super::values::constant;
use super::{DERIVED, derived};
use crate::functions::Kind;
use crate::model::{Aggregate, Direction, Expression, HeadTerm, Keeps, Ranking, Rule, Term};
use crate::value::Value;

/// A rule for this derived relation, beside those that are known.
pub(super) fn build_rule(
    rule: &RuleDraft,
    head: usize,
    known: &[Rule],
    draft: &Draft,
    used: &BTreeSet<usize>,
) -> Rule {
    let layer = head / 2 * 2;
    let name = derived(head);
    // The first rule of a relation reads only what is below, so that recursions have where to start.
    let first = known.iter().all(|known| known.head != name);
    let plain = matches!(rule.aggregation, Aggregation::None);
    let readable = Readable::new(draft, used, layer, if plain && !first { layer + 2 } else { layer });
    let recursive = rule.body.atoms.iter().any(|atom| {
        let atom = readable.atom(&readable.positive, atom, |_, _, _| Term::Placeholder);
        atom.relation == derived(layer) || atom.relation == derived(layer + 1)
    });
    let body = build_body(&rule.body, &readable, Names::default(), recursive);
    let arity = draft.derived_arities[head];
    // A mean is not exact, so nothing may sum it up again: it stands in the last layer only.
    let terms = head_terms(
        &rule.terms[..arity],
        &rule.aggregation,
        &draft.rankings[head],
        HeadOf { body: &body, draft, recursive, exact: layer + 2 < DERIVED },
    );
    Rule { head: name, terms, body: body.literals }
}

/// What a head is for.
#[derive(Clone, Copy)]
pub(super) struct HeadOf<'a> {
    pub(super) body: &'a Body,
    pub(super) draft: &'a Draft,
    /// Nothing may be computed in the head.
    pub(super) recursive: bool,
    /// Sums of what is derived must be exact.
    pub(super) exact: bool,
}

/// The terms of a head, for as many columns as there are numbers.
pub(super) fn head_terms(
    numbers: &[u8],
    aggregation: &Aggregation,
    ranking: &[u8],
    head: HeadOf<'_>,
) -> Vec<HeadTerm> {
    let variables = head.body.variables();
    if let Aggregation::Ranking = aggregation
        && let Some(ranking) = build_ranking(ranking, numbers.len(), &variables)
    {
        let groups = numbers.len() - ranking.variables.len();
        let groups = numbers[..groups].iter().enumerate().map(|(i, n)| expression(i + 1, *n, &head));
        return groups.map(HeadTerm::Expression).chain([HeadTerm::Ranking(ranking)]).collect();
    }
    let mut terms: Vec<HeadTerm> =
        numbers.iter().enumerate().map(|(i, n)| HeadTerm::Expression(expression(i, *n, &head))).collect();
    let columns = terms.len();
    if let Aggregation::Simple(aggregates) = aggregation {
        for (i, (function, argument)) in aggregates.iter().enumerate().take(columns) {
            if let Some(name) = variables.get(usize::from(*argument) % variables.len().max(1)) {
                terms[columns - 1 - i] = HeadTerm::Aggregate(aggregate(*function, head.exact), name.clone());
            }
        }
    }
    terms
}

fn expression(column: usize, n: u8, head: &HeadOf<'_>) -> Expression {
    let variables = head.body.variables();
    match n % 16 {
        // What was computed should usually be seen.
        _ if column == 0 && head.body.computed.is_some() => Expression::Variable("Z".to_owned()),
        15 => Expression::Constant(constant(n / 16, head.draft.domain)),
        13..15 if !head.recursive => {
            let kind = if n % 16 == 13 { Kind::Number } else { Kind::Text };
            let numbers = [n / 16, n, n / 3, n / 7, n / 5, n / 2];
            head.body.expressions(head.draft).of(kind, &mut Choices(numbers.iter()), 1)
        }
        _ => match variables.get(usize::from(n / 4) % variables.len().max(1)) {
            Some(name) => Expression::Variable(name.clone()),
            None => Expression::Constant(Value::Int(i64::from(n % 4))),
        },
    }
}

/// A ranking of distinct variables, if there are any.
fn build_ranking(numbers: &[u8], columns: usize, variables: &[String]) -> Option<Ranking> {
    let choices = &mut Choices(numbers.iter());
    let direction = if choices.below(2) == 0 { Direction::Descending } else { Direction::Ascending };
    let bound =
        |n: usize| if n.is_multiple_of(2) { Value::Int(n as i64 / 2) } else { Value::Float(n as f64 / 2.0) };
    let keeps = match choices.below(4) {
        0 | 1 => Keeps::Best(choices.below(4)),
        2 => Keeps::BestFrom(1 + choices.below(3), bound(choices.below(7))),
        _ => Keeps::Within(bound(choices.below(7))),
    };
    let count = columns.min(variables.len());
    if count == 0 {
        return None;
    }
    // Not always all of them: the other columns are groups.
    let count = 1 + choices.below(count);
    // Last variables first, so that computed ones are ranked.
    let variables: Vec<String> = variables.iter().rev().take(count).rev().cloned().collect();
    Some(Ranking { keeps, by: variables.len() - 1, variables, direction })
}

fn aggregate(n: u8, exact: bool) -> Aggregate {
    match n % 13 {
        6 if !exact => Aggregate::Quantile(n / 10 % 5),
        7 if !exact => Aggregate::Stddev,
        8 => Aggregate::StringAgg,
        9 => Aggregate::Collect,
        10 => Aggregate::First,
        11 => Aggregate::Last,
        0 => Aggregate::Count,
        1 => Aggregate::Sum,
        2 => Aggregate::Min,
        3 => Aggregate::Max,
        4 => Aggregate::CountDistinct,
        _ if exact => Aggregate::Sum,
        _ => Aggregate::Avg,
    }
}
