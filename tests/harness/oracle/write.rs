//! What conditional deletes and updates do to the stored rows.

use std::collections::BTreeSet;

use super::expression::{equal_by_value, evaluate};
use super::solve::{Solution, solve, stored_variables};
use super::{Refusal, Steps};
use crate::model::{Expression, Literal, Relations, Target, Write};
use crate::value::Row;

/// Changes the facts. Answers how many rows are deleted and, for an update, inserted.
pub(super) fn apply(
    write: &Write,
    relations: &Relations,
    facts: &mut Relations,
    steps: &mut Steps,
) -> Result<Vec<usize>, Refusal> {
    match write {
        Write::Delete { target, body } => {
            let conditions: Vec<Literal> =
                std::iter::once(Literal::Atom(target.clone())).chain(body.iter().cloned()).collect();
            let mut count = 0;
            // The target is the first atom, so the first row is one of it; only what is stored can be deleted.
            for solution in solve(&conditions, relations, steps)? {
                let stored = facts.get_mut(&target.relation);
                count += usize::from(stored.is_some_and(|stored| stored.remove(&solution.rows[0])));
            }
            Ok(vec![count])
        }
        Write::Update { deletes, inserts, body } => {
            let solutions = solve(body, relations, steps)?;
            let stored = stored_variables(body);
            let (mut deleted, mut inserted) = (0, 0);
            for target in deletes {
                let rows = rows(target, &solutions)?;
                let by_identity: Vec<bool> =
                    target.terms.iter().map(|term| is_stored(term, &stored)).collect();
                if let Some(stored) = facts.get_mut(&target.relation) {
                    let before = stored.len();
                    let found = |row: &Row| rows.iter().any(|wanted| fits(wanted, row, &by_identity));
                    stored.retain(|row| !(joins(target, row) && found(row)));
                    deleted += before - stored.len();
                }
            }
            for target in inserts {
                for row in rows(target, &solutions)? {
                    inserted += usize::from(facts.entry(target.relation.clone()).or_default().insert(row));
                }
            }
            Ok(vec![deleted, inserted])
        }
    }
}

fn rows(target: &Target, solutions: &BTreeSet<Solution>) -> Result<BTreeSet<Row>, Refusal> {
    let row = |solution: &Solution| {
        target.terms.iter().map(|term| evaluate(term, &solution.values)).collect::<Result<Row, _>>()
    };
    solutions.iter().map(row).collect()
}

fn is_stored(term: &Expression, stored: &BTreeSet<String>) -> bool {
    matches!(term, Expression::Variable(name) if stored.contains(name))
}

/// Whether what stands in the places of one variable is one value, whatever that is compared with.
fn joins(target: &Target, row: &Row) -> bool {
    let variable = |term: &Expression| match term {
        Expression::Variable(name) => Some(name.clone()),
        _ => None,
    };
    let places: Vec<_> =
        target.terms.iter().map(variable).zip(row).filter(|(name, _)| name.is_some()).collect();
    places.iter().all(|(name, value)| places.iter().all(|(other, found)| name != other || value == found))
}

/// Whether a row has these values, each compared by identity or by value.
fn fits(wanted: &Row, row: &Row, by_identity: &[bool]) -> bool {
    wanted.iter().zip(row).zip(by_identity).all(|((wanted, value), by_identity)| match by_identity {
        true => wanted == value,
        false => equal_by_value(value, wanted),
    })
}
