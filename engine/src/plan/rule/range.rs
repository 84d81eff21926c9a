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
        if is_whole || grows {
            continue;
        }
        let bounds = outputs.iter().filter_map(|(column, variable)| bounds(*column, *variable, keep, later));
        // What has two ends leaves least.
        let found = bounds.max_by_key(|between| [&between.from, &between.to].into_iter().flatten().count());
        if found.is_some() && average_matches(lookup.access, &lookup.columns(), statistics) >= many {
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

/// An atom of which only the best rows are wanted, because of a number that it binds nothing is asked but that it lies on one
/// side of another. Either the head keeps the best of a value that the atom binds, and nothing else is asked of that: what
/// follows from another row on that side, with the same values elsewhere, is no better. Or solutions do not count, only that there
/// is one: then the number that lies farthest on that side is as good as all, and is the value itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct BestAtom {
    pub(super) literal: usize,
    value: VariableId,
    number: VariableId,
    largest: bool,
    strict: bool,
    /// The comparison.
    filter: usize,
}

/// What a comparison asks of a number: that it lies on one side of what is no part of its atom.
#[derive(Clone, Copy)]
struct OneSided {
    number: VariableId,
    above: bool,
    strict: bool,
    filter: usize,
}

impl BestAtom {
    /// The atoms of a rule, whose head keeps the best rows if that says how.
    pub(super) fn all(rule: &Rule, kept: Option<Best>) -> Vec<BestAtom> {
        if !rule.body.iter().any(|literal| matches!(literal, Literal::Filter { .. })) {
            return Vec::new();
        }
        match kept.and_then(|best| BestAtom::of_a_best_value(rule, best)) {
            Some(atom) => vec![atom],
            None if kept.is_none() && rule.aggregates() => Vec::new(),
            None => BestAtom::of_witnesses(rule),
        }
    }

    fn of_a_best_value(rule: &Rule, kept: Best) -> Option<BestAtom> {
        let (HeadTerm::Expression(Expression::Variable(value)) | HeadTerm::Aggregate { argument: value, .. }) =
            rule.head_terms[kept.column]
        else {
            return None;
        };
        let columns = rule.head_terms.iter().filter(|term| names(term, value)).count();
        let [literal] = *literals_with(rule, value) else { return None };
        let atom = rule.body[literal].atom().filter(|_| columns == 1)?;
        let mut compared = atom.variables().filter_map(|number| one_sided(rule, literal, atom, number));
        // Two numbers would have to be compared together.
        let one = compared.next().filter(|_| compared.next().is_none())?;
        Some(BestAtom::new(literal, value, kept.largest, one))
    }

    fn of_witnesses(rule: &Rule) -> Vec<BestAtom> {
        let atoms = rule.body.iter().enumerate().filter_map(|(literal, body)| Some((literal, body.atom()?)));
        let numbers = atoms.flat_map(|(literal, atom)| {
            atom.variables().filter_map(move |number| {
                let one = one_sided(rule, literal, atom, number)?;
                Some(BestAtom::new(literal, one.number, one.above, one))
            })
        });
        numbers.collect()
    }

    fn new(literal: usize, value: VariableId, largest: bool, one: OneSided) -> BestAtom {
        let OneSided { number, strict, filter, .. } = one;
        BestAtom { literal, value, number, largest, strict, filter }
    }

    /// Whether what the number is compared with is bound.
    pub(super) fn is_ready(&self, rule: &Rule, is_bound: impl Fn(VariableId) -> bool) -> bool {
        let compared = rule.body[self.filter].variables();
        compared.into_iter().all(|variable| variable == self.number || is_bound(variable))
    }
}

/// The literals of a rule that have a variable.
fn literals_with(rule: &Rule, variable: VariableId) -> Vec<usize> {
    (0..rule.body.len()).filter(|literal| rule.body[*literal].variables().contains(&variable)).collect()
}

/// What a rule says of a number that an atom binds, if that is no more than one comparison.
fn one_sided(rule: &Rule, literal: usize, atom: &Atom, number: VariableId) -> Option<OneSided> {
    let [one, other] = *literals_with(rule, number) else { return None };
    let filter = if one == literal { other } else { one };
    let Literal::Filter { operator: Test::ByValue(comparison), left, right } = &rule.body[filter] else {
        return None;
    };
    let (comparison, side) = match (left, right) {
        (Expression::Variable(compared), side) if *compared == number => (*comparison, side),
        (side, Expression::Variable(compared)) if *compared == number => (comparison.turned(), side),
        _ => return None,
    };
    let (above, strict) = match comparison {
        Comparison::Greater => (true, true),
        Comparison::GreaterOrEqual => (true, false),
        Comparison::Less => (false, true),
        Comparison::LessOrEqual => (false, false),
        Comparison::Equal | Comparison::NotEqual => return None,
    };
    let mut is_apart = true;
    side.for_each_variable(&mut |other| is_apart &= atom.variables().all(|variable| variable != other));
    let is_free = !rule.head_terms.iter().any(|term| names(term, number))
        && atom.variables().filter(|variable| *variable == number).count() == 1;
    (is_apart && is_free).then_some(OneSided { number, above, strict, filter })
}

/// Lets the probe of an atom of which only best rows are wanted look only for these, where it looks for a range.
pub(super) fn look_up_best(steps: &mut [Step], atoms: &[BestAtom]) {
    for step in steps {
        let Step::Probe { lookup, between: Some(between), best, outputs, .. } = step else { continue };
        let column_of =
            |variable| outputs.iter().find(|(_, bound)| *bound == variable).map(|(column, _)| *column);
        let wanted = atoms.iter().find_map(|atom| {
            let value = column_of(atom.value)?;
            let BestAtom { largest, strict, .. } = *atom;
            (column_of(atom.number)? == between.column).then_some(BestOfRows { value, largest, strict })
        });
        if wanted.is_some() {
            lookup.by = LookupBy::Best;
            *best = wanted;
        }
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
