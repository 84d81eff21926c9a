//! Comparisons as ranges of a column: where an index knows rows in the order of that column, only those of the range are
//! read. The comparisons stay where they are; they find little more to drop.

use std::ops::Bound;

use super::operators::{BestOfRows, Between, ColumnRange, LookupBy, Scan, Step};
use crate::analysis::program::{Atom, Best, Expression, HeadTerm, Literal, Rule, Test};
use crate::data::{RelationId, Value, VariableId};
use crate::plan::access::Version;
use crate::plan::statistics::{Statistics, average_matches};
use crate::syntax::ast::Comparison;

/// The range that the steps leave of the first column for which there is one.
pub(crate) fn range_of(scan: &Scan, steps: &[Step], statistics: &dyn Statistics) -> Option<ColumnRange> {
    scan.outputs.iter().find_map(|(column, variable)| {
        let (mut from, mut to) = (Bound::Unbounded, Bound::Unbounded);
        for step in steps {
            let Step::Filter { operator, left, right, .. } = step else { continue };
            let Test::ByValue(operator) = operator else { continue };
            let (operator, value) = match (left, right) {
                (Expression::Variable(compared), Expression::Constant(value)) if compared == variable => {
                    (*operator, value)
                }
                (Expression::Constant(value), Expression::Variable(compared)) if compared == variable => {
                    (operator.turned(), value)
                }
                _ => continue,
            };
            if !is_ordered(value) {
                continue;
            }
            match operator {
                Comparison::Greater => from = Bound::Excluded(value.clone()),
                Comparison::GreaterOrEqual => from = Bound::Included(value.clone()),
                Comparison::Less => to = Bound::Excluded(value.clone()),
                Comparison::LessOrEqual => to = Bound::Included(value.clone()),
                Comparison::Equal | Comparison::NotEqual => {}
            }
        }
        let is_range = !matches!((&from, &to), (Bound::Unbounded, Bound::Unbounded));
        (is_range && has_sorted_index(scan, *column, statistics)).then_some(ColumnRange {
            column: *column,
            from,
            to,
        })
    })
}

fn has_sorted_index(scan: &Scan, column: usize, statistics: &dyn Statistics) -> bool {
    statistics.layout(scan.access.relation).is_some_and(|layout| layout.has_sorted_index(column))
}

/// Lets probes look only for rows of a range, where a comparison further on says between what a column has to lie and a key has
/// many rows.
pub(super) fn look_up_ranges(
    steps: &mut [Step],
    is_growing: impl Fn(RelationId) -> bool,
    statistics: &dyn Statistics,
) {
    let many = statistics.range_rows() as f64;
    for position in 0..steps.len() {
        let (done, later) = steps.split_at_mut(position + 1);
        let Some(Step::Probe { lookup, between, outputs, keep, .. }) = done.last_mut() else { continue };
        let is_whole = lookup.key.is_empty() || !lookup.equal.is_empty();
        // An index of what grows would be made anew in each round.
        let grows = lookup.access.version != Version::Delta && is_growing(lookup.access.relation);
        if is_whole || grows || average_matches(lookup.access, &lookup.columns(), statistics) < many {
            continue;
        }
        let bounds = outputs.iter().filter_map(|(column, variable)| bounds(*column, *variable, keep, later));
        // What has two ends leaves least.
        let found = bounds.max_by_key(|between| [&between.from, &between.to].into_iter().flatten().count());
        if found.is_some() {
            lookup.by = LookupBy::Range;
            *between = found;
        }
    }
}

/// The filters of a rule that say between what a variable lies that an atom binds, in terms of what is bound before.
pub(super) fn range_filters(rule: &Rule, atom: &Atom, is_bound: impl Fn(VariableId) -> bool) -> Vec<usize> {
    let is_new = |side: &Expression| {
        let Expression::Variable(variable) = side else { return false };
        !is_bound(*variable) && atom.variables().any(|other| other == *variable)
    };
    let is_known = |side: &Expression| {
        let mut known = true;
        side.for_each_variable(&mut |variable| known &= is_bound(variable));
        known
    };
    let is_range = |literal: &Literal| match literal {
        Literal::Filter { operator: Test::ByValue(comparison), left, right } => {
            !matches!(comparison, Comparison::Equal | Comparison::NotEqual)
                && (is_new(left) && is_known(right) || is_new(right) && is_known(left))
        }
        Literal::Filter { .. } | Literal::Atom(_) | Literal::Negated(_) | Literal::Assign { .. } => false,
    };
    (0..rule.body.len()).filter(|literal| is_range(&rule.body[*literal])).collect()
}

/// An atom of which only the best rows are wanted: the head keeps the best of a value that it binds, and nothing else is asked of
/// it; and of a number that it binds, nothing but that it lies on one side of another. What follows from another row on that side,
/// with the same values elsewhere, is no better.
#[derive(Debug, Clone, Copy)]
pub(super) struct BestAtom {
    pub(super) literal: usize,
    value: VariableId,
    number: VariableId,
    largest: bool,
    strict: bool,
    /// What the number is compared with, if not with a constant.
    other: Option<VariableId>,
}

impl BestAtom {
    /// The atom of a rule whose head keeps the best rows.
    pub(super) fn of(rule: &Rule, kept: Best) -> Option<BestAtom> {
        let (HeadTerm::Expression(Expression::Variable(value)) | HeadTerm::Aggregate { argument: value, .. }) =
            rule.head_terms[kept.column]
        else {
            return None;
        };
        let literals = |variable: VariableId| -> Vec<usize> {
            (0..rule.body.len())
                .filter(|literal| rule.body[*literal].variables().contains(&variable))
                .collect()
        };
        let columns = |variable| rule.head_terms.iter().filter(|term| names(term, variable)).count();
        let [literal] = *literals(value) else { return None };
        let atom = rule.body[literal].atom().filter(|_| columns(value) == 1)?;
        let mut compared = atom.variables().filter(|number| *number != value).filter_map(|number| {
            let [one, other] = *literals(number) else { return None };
            let filter = if one == literal { other } else { one };
            let (strict, other) = side_of(&rule.body[filter], number)?;
            let is_apart = other.is_none_or(|other| atom.variables().all(|variable| variable != other));
            (is_apart && columns(number) == 0).then_some(BestAtom {
                literal,
                value,
                number,
                largest: kept.largest,
                strict,
                other,
            })
        });
        // Two numbers would have to be compared together.
        compared.next().filter(|_| compared.next().is_none())
    }

    /// Whether what the number is compared with is bound.
    pub(super) fn is_ready(&self, is_bound: impl FnOnce(VariableId) -> bool) -> bool {
        self.other.is_none_or(is_bound)
    }
}

/// Lets the probe of an atom of which only best rows are wanted look only for these, where it looks for a range.
pub(super) fn look_up_best(steps: &mut [Step], atom: BestAtom) {
    for step in steps {
        let Step::Probe { lookup, between: Some(between), best, outputs, .. } = step else { continue };
        let column_of =
            |variable| outputs.iter().find(|(_, bound)| *bound == variable).map(|(column, _)| *column);
        let (Some(value), Some(number)) = (column_of(atom.value), column_of(atom.number)) else { continue };
        if between.column == number {
            lookup.by = LookupBy::Best;
            *best = Some(BestOfRows { value, largest: atom.largest, strict: atom.strict });
        }
    }
}

/// What a comparison says of a variable, if no more than on which side of a constant or of another variable it lies: whether that
/// itself does not count, and which variable it is.
fn side_of(literal: &Literal, number: VariableId) -> Option<(bool, Option<VariableId>)> {
    let Literal::Filter { operator: Test::ByValue(comparison), left, right } = literal else { return None };
    let strict = match comparison {
        Comparison::Less | Comparison::Greater => true,
        Comparison::LessOrEqual | Comparison::GreaterOrEqual => false,
        Comparison::Equal | Comparison::NotEqual => return None,
    };
    match (left, right) {
        (Expression::Variable(one), Expression::Constant(value))
        | (Expression::Constant(value), Expression::Variable(one))
            if *one == number && is_ordered(value) =>
        {
            Some((strict, None))
        }
        (Expression::Variable(one), Expression::Variable(other))
        | (Expression::Variable(other), Expression::Variable(one))
            if *one == number && *other != number =>
        {
            Some((strict, Some(*other)))
        }
        _ => None,
    }
}

/// Whether a column of the head names a variable.
fn names(term: &HeadTerm, variable: VariableId) -> bool {
    match term {
        HeadTerm::Expression(expression) => {
            let mut named = false;
            expression.for_each_variable(&mut |other| named |= other == variable);
            named
        }
        HeadTerm::Aggregate { argument, .. } => *argument == variable,
    }
}

/// What later comparisons say of a column, in terms of what is bound before it.
fn bounds(column: usize, variable: VariableId, bound: &[VariableId], later: &[Step]) -> Option<Between> {
    let mut between = Between { column, from: None, to: None };
    for step in later {
        let Step::Filter { operator: Test::ByValue(comparison), left, right, .. } = step else { continue };
        let (comparison, other) = match (left, right) {
            (Expression::Variable(compared), other) if *compared == variable => (*comparison, other),
            (other, Expression::Variable(compared)) if *compared == variable => (comparison.turned(), other),
            _ => continue,
        };
        if !is_number_of(other, bound) {
            continue;
        }
        let end = match comparison {
            Comparison::Greater | Comparison::GreaterOrEqual => &mut between.from,
            Comparison::Less | Comparison::LessOrEqual => &mut between.to,
            Comparison::Equal | Comparison::NotEqual => continue,
        };
        end.get_or_insert_with(|| other.clone());
    }
    (between.from.is_some() || between.to.is_some()).then_some(between)
}

/// Whether an expression is made of these variables and of numbers by arithmetic alone, so that it costs little and cannot
/// fail.
fn is_number_of(expression: &Expression, bound: &[VariableId]) -> bool {
    match expression {
        Expression::Variable(variable) => bound.contains(variable),
        Expression::Constant(value) => is_ordered(value),
        Expression::Arithmetic { left, right, .. } => is_number_of(left, bound) && is_number_of(right, bound),
        Expression::Call { .. } => false,
    }
}

/// Whether `<` compares anything with it.
fn is_ordered(value: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Timestamp(_) | Value::Text(_) => true,
        Value::Null | Value::Vector(_) | Value::VectorInt8(_) | Value::List(_) => false,
    }
}
