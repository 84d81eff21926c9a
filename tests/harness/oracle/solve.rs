//! The solutions of a body.

use std::collections::{BTreeMap, BTreeSet};

use super::expression::{equal_by_value, evaluate, holds};
use super::{Refusal, Steps};
use crate::functions::lists::{EACH, elements};
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

/// All distinct solutions: every row is tried for every atom, then equalities give the other variables their values, and
/// what is left is checked. The order of conditions plays no part.
pub(super) fn solve(
    body: &[Literal],
    relations: &Relations,
    steps: &mut Steps,
) -> Result<BTreeSet<Solution>, Refusal> {
    if let Some(place) = body.iter().position(is_nested) {
        return solve_nested(body, place, relations, steps);
    }
    let body = spelled_out(body);
    let mut solutions = BTreeSet::from([Solution::default()]);
    for literal in &body {
        if let Literal::Atom(atom) = literal {
            solutions = join(&solutions, atom, relations, steps)?;
        }
    }
    let Roles { stored, assignments, conditions } = roles(&body);
    for (variable, expression) in assignments {
        let mut assigned = BTreeSet::new();
        for solution in solutions {
            for value in values_of(expression, &solution.values)? {
                let mut solution = solution.clone();
                solution.values.insert(variable.to_owned(), value);
                assigned.insert(solution);
            }
        }
        solutions = assigned;
    }
    for literal in conditions {
        let mut kept = BTreeSet::new();
        for solution in solutions {
            let holds = match literal {
                Literal::Atom(_) => true,
                Literal::Negated(atom) => {
                    let rows = relations.get(&atom.relation).into_iter().flatten().collect::<Vec<_>>();
                    steps.add(rows.len())?;
                    !exists(atom, &rows, &solution.values, &stored)?
                }
                Literal::Disjunction(_) | Literal::NegatedConjunction(_) => {
                    unreachable!("they are solved apart")
                }
                Literal::Comparison(side, Comparison::Equal, each)
                | Literal::Comparison(each, Comparison::Equal, side)
                    if is_each(each) =>
                {
                    let value = evaluate(side, &solution.values)?;
                    values_of(each, &solution.values)?.iter().any(|element| equal_by_value(element, &value))
                }
                Literal::Comparison(left, operator, right) => {
                    holds(left, *operator, right, &solution.values, &stored)?
                }
            };
            if holds {
                kept.insert(solution);
            }
        }
        solutions = kept;
    }
    Ok(solutions)
}

fn is_each(expression: &Expression) -> bool {
    matches!(expression, Expression::Call(function, _) if function.name == EACH.name)
}

/// The values that an equality gives to a variable: one, or the elements of a list.
fn values_of(expression: &Expression, values: &BTreeMap<String, Value>) -> Result<Vec<Value>, Refusal> {
    match expression {
        Expression::Call(_, list) if is_each(expression) => {
            Ok(elements(&evaluate(&list[0], values)?).unwrap_or_default())
        }
        expression => Ok(vec![evaluate(expression, values)?]),
    }
}

fn is_nested(literal: &Literal) -> bool {
    matches!(literal, Literal::Disjunction(_) | Literal::NegatedConjunction(_))
}

/// The solutions of the rest that go together with what stands at this place. What is inside comes after the rest, so that
/// rows of its atoms come last, and are forgotten.
fn solve_nested(
    body: &[Literal],
    place: usize,
    relations: &Relations,
    steps: &mut Steps,
) -> Result<BTreeSet<Solution>, Refusal> {
    let rest = [&body[..place], &body[place + 1..]].concat();
    let atoms = rest.iter().filter(|literal| matches!(literal, Literal::Atom(_))).count();
    let mut with = |inner: &[Literal]| solve(&[rest.as_slice(), inner].concat(), relations, steps);
    match &body[place] {
        Literal::Disjunction(alternatives) => {
            let mut found = BTreeSet::new();
            for alternative in alternatives {
                for Solution { mut rows, mut values } in with(alternative)? {
                    rows.truncate(atoms);
                    // No random body uses a variable of an alternative outside.
                    values.retain(|name, _| rest.iter().any(|literal| mentions(literal, name)));
                    found.insert(Solution { rows, values });
                }
            }
            Ok(found)
        }
        Literal::NegatedConjunction(inner) => {
            let excluded: BTreeSet<Vec<Row>> =
                with(inner)?.into_iter().map(|solution| solution.rows[..atoms].to_vec()).collect();
            let all = with(&[])?;
            Ok(all.into_iter().filter(|solution| !excluded.contains(&solution.rows)).collect())
        }
        _ => with(&[]),
    }
}

/// Whether an atom or a comparison has this variable.
fn mentions(literal: &Literal, name: &str) -> bool {
    match literal {
        Literal::Atom(atom) => atom.all_variables().contains(&name),
        Literal::Comparison(left, _, right) => {
            left.variables().contains(&name) || right.variables().contains(&name)
        }
        Literal::Negated(_) | Literal::Disjunction(_) | Literal::NegatedConjunction(_) => false,
    }
}

/// The variables that hold what is stored: those of atoms, and their copies.
pub(super) fn stored_variables(body: &[Literal]) -> BTreeSet<String> {
    roles(&spelled_out(body)).stored
}

/// What the parts of a body are for.
struct Roles<'b> {
    stored: BTreeSet<String>,
    /// Variables that no atom has, in the order in which they get their values, and from what.
    assignments: Vec<(&'b str, &'b Expression)>,
    /// All else but atoms.
    conditions: Vec<&'b Literal>,
}

fn roles(body: &[Literal]) -> Roles<'_> {
    let atoms = body.iter().filter_map(|literal| match literal {
        Literal::Atom(atom) => Some(atom),
        _ => None,
    });
    let mut bound: BTreeMap<String, Origin> =
        atoms.flat_map(Atom::variables).map(|name| (name.to_owned(), Origin::Stored)).collect();
    let mut conditions: Vec<&Literal> =
        body.iter().filter(|literal| !matches!(literal, Literal::Atom(_))).collect();
    let mut assignments = Vec::new();
    while let Some((place, origin, variable, expression)) = next_assignment(&conditions, &bound) {
        conditions.remove(place);
        assignments.push((variable, expression));
        bound.insert(variable.to_owned(), origin);
    }
    let stored = bound.into_iter().filter(|(_, origin)| *origin == Origin::Stored).map(|(name, _)| name);
    Roles { stored: stored.collect(), assignments, conditions }
}

/// `p(X + 1)` as `p(#0_0), #0_0 = X + 1`.
fn spelled_out(body: &[Literal]) -> Vec<Literal> {
    let mut spelled = Vec::new();
    for (position, literal) in body.iter().enumerate() {
        let Literal::Atom(atom) = literal else {
            spelled.push(literal.clone());
            continue;
        };
        let mut equalities = Vec::new();
        let terms = atom.terms.iter().enumerate().map(|(column, term)| match term {
            Term::Computed(expression) => {
                let name = format!("#{position}_{column}");
                let variable = Expression::Variable(name.clone());
                equalities.push(Literal::Comparison(variable, Comparison::Equal, expression.clone()));
                Term::Variable(name)
            }
            Term::Variable(_) | Term::Constant(_) | Term::Placeholder => term.clone(),
        });
        let terms = terms.collect();
        spelled.push(Literal::Atom(Atom { relation: atom.relation.clone(), terms }));
        spelled.extend(equalities);
    }
    spelled
}

/// Where a variable has its value from. The first one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Stored,
    Computed,
    Written,
}

/// The equality that gives some variable its value next: its place, and what gives what.
fn next_assignment<'b>(
    open: &[&'b Literal],
    bound: &BTreeMap<String, Origin>,
) -> Option<(usize, Origin, &'b str, &'b Expression)> {
    let mut candidates = Vec::new();
    for (place, literal) in open.iter().enumerate() {
        let Literal::Comparison(left, Comparison::Equal, right) = literal else { continue };
        for (variable, other) in [(left, right), (right, left)] {
            let Expression::Variable(variable) = variable else { continue };
            if bound.contains_key(variable) || !other.variables().iter().all(|name| bound.contains_key(*name))
            {
                continue;
            }
            let origin = match other {
                Expression::Constant(_) => Origin::Written,
                Expression::Variable(name) => bound[name],
                Expression::Arithmetic(..) | Expression::Call(..) => Origin::Computed,
            };
            // As a condition it would never hold.
            let is_null = matches!(other, Expression::Constant(Value::Null));
            let rank = (!is_null, origin, other.to_string().replace(' ', ""));
            candidates.push((rank, place, variable.as_str(), other));
        }
    }
    let ((_, origin, _), place, variable, expression) =
        candidates.into_iter().min_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)))?;
    Some((place, origin, variable, expression))
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

/// The values after matching a row, if it matches. Variables join by identity, constants by value.
fn matches(atom: &Atom, row: &Row, values: &BTreeMap<String, Value>) -> Option<BTreeMap<String, Value>> {
    let mut values = values.clone();
    for (term, value) in atom.terms.iter().zip(row) {
        match term {
            Term::Placeholder | Term::Computed(_) => {}
            Term::Constant(constant) => {
                if !equal_by_value(value, constant) {
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

/// Whether some row has these values: those of `stored` variables by identity, all others by value.
fn exists(
    atom: &Atom,
    rows: &[&Row],
    values: &BTreeMap<String, Value>,
    stored: &BTreeSet<String>,
) -> Result<bool, Refusal> {
    let mut wanted = Vec::new();
    for term in &atom.terms {
        wanted.push(match term {
            Term::Placeholder => None,
            Term::Constant(constant) => Some((constant.clone(), false)),
            Term::Computed(expression) => Some((evaluate(expression, values)?, false)),
            Term::Variable(name) => {
                let value = values.get(name).cloned().ok_or(Refusal::Unsafe)?;
                Some((value, stored.contains(name)))
            }
        });
    }
    let fits = |row: &&&Row| {
        wanted.iter().zip(row.iter()).all(|(wanted, value)| match wanted {
            None => true,
            Some((wanted, true)) => wanted == value,
            Some((wanted, false)) => equal_by_value(value, wanted),
        })
    };
    Ok(rows.iter().any(|row| fits(&row)))
}
