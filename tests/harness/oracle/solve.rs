//! The solutions of a body.

use std::collections::{BTreeMap, BTreeSet};

use super::expression::{equal_to_literal, evaluate, holds};
use super::{Refusal, Steps};
use crate::model::{Atom, Comparison, Expression, Literal, Relations, Term};
use crate::value::{Row, Value};

/// One way to satisfy a body: a row for each atom, and the values that follow.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Solution {
    /// A row for each atom, in the order of the body.
    pub(super) rows: Vec<Row>,
    /// The value of each variable.
    pub(super) values: BTreeMap<String, Value>,
}

/// All distinct solutions. Conditions are checked as soon as their variables have values.
pub(super) fn solve(
    body: &[Literal],
    relations: &Relations,
    steps: &mut Steps,
) -> Result<BTreeSet<Solution>, Refusal> {
    let in_atoms: BTreeSet<&str> = body
        .iter()
        .flat_map(|literal| match literal {
            Literal::Atom(atom) => atom.variables().collect(),
            Literal::Negated(_) | Literal::Comparison(..) => Vec::new(),
        })
        .collect();
    let mut open: Vec<&Literal> = body.iter().collect();
    let mut bound: BTreeSet<&str> = BTreeSet::new();
    let mut solutions = BTreeSet::from([Solution::default()]);
    while !open.is_empty() {
        let ready = open.iter().position(|literal| match literal {
            Literal::Atom(_) => false,
            Literal::Negated(atom) => atom.variables().all(|variable| bound.contains(variable)),
            Literal::Comparison(left, operator, right) => {
                right.variables().iter().all(|variable| bound.contains(variable))
                    && (left.variables().iter().all(|variable| bound.contains(variable))
                        || assigned(left, *operator, &in_atoms).is_some())
            }
        });
        let atom = open.iter().position(|literal| matches!(literal, Literal::Atom(_)));
        let literal = open.remove(ready.or(atom).ok_or(Refusal::Unsafe)?);
        match literal {
            Literal::Atom(atom) => {
                solutions = join(&solutions, atom, relations, steps)?;
                bound.extend(atom.variables());
            }
            Literal::Negated(atom) => {
                let rows = relations.get(&atom.relation).into_iter().flatten().collect::<Vec<_>>();
                steps.add(solutions.len() * rows.len())?;
                solutions.retain(|solution| {
                    !rows.iter().any(|row| matches(atom, row, &solution.values).is_some())
                });
            }
            Literal::Comparison(left, operator, right) => match assigned(left, *operator, &in_atoms) {
                Some(variable) if !bound.contains(variable) => {
                    solutions = solutions
                        .into_iter()
                        .map(|mut solution| {
                            let value = evaluate(right, &solution.values)?;
                            solution.values.insert(variable.to_owned(), value);
                            Ok(solution)
                        })
                        .collect::<Result<_, _>>()?;
                    bound.insert(variable);
                }
                _ => {
                    let mut kept = BTreeSet::new();
                    for solution in solutions {
                        if holds(left, *operator, right, &solution.values)? {
                            kept.insert(solution);
                        }
                    }
                    solutions = kept;
                }
            },
        }
    }
    Ok(solutions)
}

/// The variable that a comparison may give a value.
fn assigned<'a>(left: &'a Expression, operator: Comparison, in_atoms: &BTreeSet<&str>) -> Option<&'a str> {
    match (left, operator) {
        (Expression::Variable(variable), Comparison::Equal) if !in_atoms.contains(variable.as_str()) => {
            Some(variable)
        }
        _ => None,
    }
}

/// Each solution with each row that matches.
fn join(
    solutions: &BTreeSet<Solution>,
    atom: &Atom,
    relations: &Relations,
    steps: &mut Steps,
) -> Result<BTreeSet<Solution>, Refusal> {
    let mut joined = BTreeSet::new();
    for solution in solutions {
        for row in relations.get(&atom.relation).into_iter().flatten() {
            steps.add(1)?;
            if let Some(values) = matches(atom, row, &solution.values) {
                let mut rows = solution.rows.clone();
                rows.push(row.clone());
                joined.insert(Solution { rows, values });
            }
        }
    }
    Ok(joined)
}

/// The values after matching a row, if it matches. Variables join by the same value, constants by comparison.
fn matches(atom: &Atom, row: &Row, values: &BTreeMap<String, Value>) -> Option<BTreeMap<String, Value>> {
    let mut values = values.clone();
    for (term, value) in atom.terms.iter().zip(row) {
        match term {
            Term::Placeholder => {}
            Term::Constant(constant) => {
                if !equal_to_literal(value, constant) {
                    return None;
                }
            }
            Term::Variable(name) => match values.get(name) {
                Some(known) if known != value => return None,
                Some(_) => {}
                None => {
                    values.insert(name.clone(), value.clone());
                }
            },
        }
    }
    Some(values)
}
