//! What conditional deletes and updates do to the stored rows.

use std::collections::BTreeSet;

use super::expression::evaluate;
use super::solve::{Solution, solve};
use super::{Refusal, Steps};
use crate::model::{Literal, Relations, Target, Write};
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
            let (mut deleted, mut inserted) = (0, 0);
            for target in deletes {
                for row in rows(target, &solutions)? {
                    let stored = facts.get_mut(&target.relation);
                    deleted += usize::from(stored.is_some_and(|stored| stored.remove(&row)));
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
