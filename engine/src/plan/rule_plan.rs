//! A rule and an order of its literals become a source and steps.

use std::collections::HashSet;

use super::join_order::{Statistics, order_literals};
use super::physical::{Access, KeyPart, RulePlan, Scan, Side, Source, Step, Version};
use super::range::range_of;
use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Rule};
use crate::data::{RelationId, Value, VariableId};

/// The plan of a rule that reads only complete relations.
pub fn plan_rule(rule: &Rule, statistics: &dyn Statistics) -> RulePlan {
    plan(rule, None, &HashSet::new(), statistics)
}

/// The semi-naive plans of a recursive rule, one for each atom of the stratum's own relations: that atom reads the
/// last round's new rows, those before it everything, those after it only what is older. So each combination of rows
/// is tried exactly once.
pub fn plan_delta_variants<'p>(
    rule: &'p Rule,
    recursive: &'p HashSet<RelationId>,
    statistics: &'p dyn Statistics,
) -> impl Iterator<Item = RulePlan> + 'p {
    let is_recursive =
        |literal: &Literal| literal.atom().is_some_and(|atom| recursive.contains(&atom.relation));
    (0..rule.body.len())
        .filter(move |literal| is_recursive(&rule.body[*literal]))
        .map(|literal| plan(rule, Some(literal), recursive, statistics))
}

fn plan(
    rule: &Rule,
    delta: Option<usize>,
    recursive: &HashSet<RelationId>,
    statistics: &dyn Statistics,
) -> RulePlan {
    let order = order_literals(rule, delta, statistics);
    let version = |literal: usize, atom: &Atom| match delta {
        Some(delta) if recursive.contains(&atom.relation) => match literal.cmp(&delta) {
            std::cmp::Ordering::Less => Version::All,
            std::cmp::Ordering::Equal => Version::Delta,
            std::cmp::Ordering::Greater => Version::Old,
        },
        _ => Version::All,
    };
    // Every solution counts where it is aggregated; elsewhere the head is a set.
    let solutions_count = rule.aggregates();

    let mut bound: HashSet<VariableId> = HashSet::new();
    let mut source = Source::One;
    let mut steps = Vec::new();
    // Whether the last step probes a relation of two columns.
    let mut last_is_pair = false;
    for (position, &literal) in order.iter().enumerate() {
        let live = live_after(rule, &order[position + 1..]);
        match &rule.body[literal] {
            Literal::Atom(atom) => {
                let access = Access { relation: atom.relation, version: version(literal, atom) };
                let columns = Columns::of(atom, &bound);
                let is_delta = Some(literal) == delta;
                if position == 0 && (is_delta || columns.key.is_empty()) {
                    source = Source::Scan(Scan {
                        access,
                        constants: columns.constants(),
                        equal: columns.equal,
                        outputs: retain_live(columns.outputs, &live),
                        range: None,
                    });
                } else {
                    let outputs = retain_live(columns.outputs, &live);
                    let keep = kept(&bound, &live);
                    let one_row = columns.key.len() == atom.arguments.len();
                    let is_pair = delta.is_none() && atom.arguments.len() == 2 && columns.equal.is_empty();
                    if outputs.is_empty() && (one_row || !solutions_count) {
                        let last = steps.last().filter(|_| is_pair && last_is_pair);
                        if let Some(both) =
                            last.and_then(|last| intersection(last, access, &columns.key, &keep))
                        {
                            steps.pop();
                            steps.push(both);
                        } else {
                            let (key, equal) = (columns.key, columns.equal);
                            steps.push(Step::Exists { access, key, equal, negated: false, keep });
                        }
                        last_is_pair = false;
                    } else {
                        steps.push(Step::Probe {
                            access,
                            key: columns.key,
                            equal: columns.equal,
                            outputs,
                            keep,
                        });
                        last_is_pair = is_pair;
                    }
                }
                bound.extend(atom.variables());
            }
            Literal::Negated(atom) => {
                last_is_pair = false;
                let access = Access { relation: atom.relation, version: Version::All };
                let columns = Columns::of(atom, &bound);
                let keep = kept(&bound, &live);
                steps.push(Step::Exists {
                    access,
                    key: columns.key,
                    equal: columns.equal,
                    negated: true,
                    keep,
                });
            }
            Literal::Filter { operator, left, right } => {
                last_is_pair = false;
                steps.push(Step::Filter {
                    operator: *operator,
                    left: left.clone(),
                    right: right.clone(),
                    keep: kept(&bound, &live),
                });
            }
            Literal::Assign { variable, expression } => {
                last_is_pair = false;
                let (variable, keep) = (*variable, kept(&bound, &live));
                steps.push(match expression {
                    Expression::Call { arguments, .. } if expression.is_each() => {
                        Step::Unnest { variable, list: arguments[0].clone(), keep }
                    }
                    _ => Step::Compute { variable, expression: expression.clone(), keep },
                });
                bound.insert(variable);
            }
        }
    }
    if let Source::Scan(scan) = &mut source {
        scan.range = range_of(scan, &steps, statistics);
    }
    RulePlan {
        head: rule.head,
        head_terms: rule.head_terms.clone(),
        ranking: rule.ranking.clone(),
        source,
        steps,
        variables: rule.variables.len(),
        text: rule.text.clone(),
    }
}

/// A probe that binds a variable and a semijoin on that variable as one step: what the lists that both would look up
/// have in common is found without looking at all that either has (worst-case optimal, as Ngo, Re and Rudra, Skew
/// strikes back, 2013, for a variable of two atoms).
fn intersection(probe: &Step, access: Access, key: &[(usize, KeyPart)], keep: &[VariableId]) -> Option<Step> {
    let Step::Probe { access: probed, key: probe_key, outputs, .. } = probe else { return None };
    let ([(from, KeyPart::Variable(bound))], [(to, variable)]) = (probe_key.as_slice(), outputs.as_slice())
    else {
        return None;
    };
    let first = Side { access: *probed, from: *from, bound: *bound, to: *to };
    let second = match key {
        [(from, KeyPart::Variable(bound)), (to, KeyPart::Variable(new))]
        | [(to, KeyPart::Variable(new)), (from, KeyPart::Variable(bound))]
            if new == variable && bound != variable =>
        {
            Side { access, from: *from, bound: *bound, to: *to }
        }
        _ => return None,
    };
    let keep = keep.iter().copied().filter(|kept| kept != variable).collect();
    Some(Step::Intersect { variable: *variable, sides: [first, second], keep })
}

/// What each column of an atom does.
struct Columns {
    key: Vec<(usize, KeyPart)>,
    equal: Vec<(usize, usize)>,
    outputs: Vec<(usize, VariableId)>,
}

impl Columns {
    fn of(atom: &Atom, bound: &HashSet<VariableId>) -> Columns {
        let mut columns = Columns { key: Vec::new(), equal: Vec::new(), outputs: Vec::new() };
        for (column, argument) in atom.arguments.iter().enumerate() {
            match argument {
                Argument::Constant(value) => columns.key.push((column, KeyPart::Constant(value.clone()))),
                Argument::Variable(variable) if bound.contains(variable) => {
                    columns.key.push((column, KeyPart::Variable(*variable)));
                }
                Argument::Variable(variable) => {
                    match columns.outputs.iter().find(|(_, other)| other == variable) {
                        Some((first, _)) => columns.equal.push((*first, column)),
                        None => columns.outputs.push((column, *variable)),
                    }
                }
                Argument::Any => {}
            }
        }
        columns
    }

    fn constants(&self) -> Vec<(usize, Value)> {
        self.key
            .iter()
            .filter_map(|(column, part)| match part {
                KeyPart::Constant(value) => Some((*column, value.clone())),
                KeyPart::Variable(_) => None,
            })
            .collect()
    }
}

/// The variables that the head or one of these literals reads.
fn live_after(rule: &Rule, literals: &[usize]) -> HashSet<VariableId> {
    let mut live = HashSet::new();
    let mut read = |variable: VariableId| {
        live.insert(variable);
    };
    for term in &rule.head_terms {
        match term {
            HeadTerm::Expression(expression) => expression.for_each_variable(&mut read),
            HeadTerm::Aggregate { argument, .. } => read(*argument),
        }
    }
    for literal in literals {
        match &rule.body[*literal] {
            Literal::Atom(atom) | Literal::Negated(atom) => atom.variables().for_each(&mut read),
            Literal::Filter { left, right, .. } => {
                left.for_each_variable(&mut read);
                right.for_each_variable(&mut read);
            }
            Literal::Assign { expression, .. } => expression.for_each_variable(&mut read),
        }
    }
    live
}

fn retain_live(
    mut outputs: Vec<(usize, VariableId)>,
    live: &HashSet<VariableId>,
) -> Vec<(usize, VariableId)> {
    outputs.retain(|(_, variable)| live.contains(variable));
    outputs
}

fn kept(bound: &HashSet<VariableId>, live: &HashSet<VariableId>) -> Vec<VariableId> {
    let mut keep: Vec<VariableId> = bound.intersection(live).copied().collect();
    keep.sort_unstable();
    keep
}
