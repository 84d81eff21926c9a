//! Goals: which columns they have, and which rows in which order.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::aggregate::rows_of_head;
use super::solve::solve;
use super::{Answer, Refusal, Steps};
use crate::model::{
    Asked, Atom, Comparison, Direction, Expression, Goal, HeadTerm, Literal, Relations, Term,
};
use crate::value::{Row, Value};

/// The answer to a goal.
pub(super) fn ask(goal: &Goal, relations: &Relations, steps: &mut Steps) -> Result<Answer, Refusal> {
    let (columns, rows) = match &goal.asked {
        Asked::Atom(atom) => ask_atom(atom, &goal.body, relations, steps)?,
        Asked::Projection(terms) => {
            let rows = rows_of_head(terms, &solve(&goal.body, relations, steps)?)?;
            (terms.iter().flat_map(projected_columns).collect(), rows)
        }
    };
    let total = rows.len();
    let mut rows: Vec<Row> = rows.into_iter().collect();
    // Rows that the order does not tell apart stay in ascending order.
    let order = goal.column_order();
    rows.sort_by(|a, b| in_order(&order, a, b));
    if let Some((count, offset)) = goal.limit {
        rows = rows.into_iter().skip(offset).take(count).collect();
    }
    let rows = rows.into_iter().map(|row| row.into_iter().map(Value::answered).collect()).collect();
    Ok(Answer { columns, rows, total })
}

/// The names of the columns that a term of a projection makes.
fn projected_columns(term: &HeadTerm) -> Vec<String> {
    match term {
        HeadTerm::Expression(expression @ (Expression::Arithmetic(..) | Expression::Call(..))) => {
            vec![expression.to_string().replace(' ', "")]
        }
        HeadTerm::Expression(Expression::Constant(Value::Text(text))) => vec![text.clone()],
        HeadTerm::Expression(expression) => vec![expression.to_string()],
        HeadTerm::Aggregate(aggregate, variable) => vec![format!("{}_{variable}", aggregate.name())],
        HeadTerm::Ranking(ranking) => ranking.variables.clone(),
    }
}

/// A column for each term of the atom, then one for each further variable.
fn ask_atom(
    atom: &Atom,
    conditions: &[Literal],
    relations: &Relations,
    steps: &mut Steps,
) -> Result<(Vec<String>, BTreeSet<Row>), Refusal> {
    // The names contain a character that no variable has.
    let own: Vec<String> = (0..atom.terms.len()).map(|i| format!("#{i}")).collect();
    let mut body = Vec::new();
    let mut columns = Vec::new();
    let mut names = Vec::new();
    for (position, (term, own)) in atom.terms.iter().zip(&own).enumerate() {
        names.push(match term {
            Term::Variable(name) => name.clone(),
            Term::Constant(Value::Text(text)) => text.clone(),
            Term::Constant(Value::Float(x)) => x.to_string(),
            Term::Constant(Value::Vector(_)) => format!("_v{position}"),
            Term::Constant(value) => value.to_string(),
            Term::Placeholder => "_".to_owned(),
            Term::Computed(expression) => expression.to_string(),
        });
        columns.push(match term {
            Term::Variable(name) => name.clone(),
            Term::Constant(_) | Term::Placeholder | Term::Computed(_) => own.clone(),
        });
        if let Term::Constant(value) = term {
            body.push(Literal::Comparison(
                Expression::Variable(own.clone()),
                Comparison::Equal,
                Expression::Constant(value.clone()),
            ));
        }
    }
    let terms = columns.iter().cloned().map(Term::Variable).collect();
    body.insert(0, Literal::Atom(Atom { relation: atom.relation.clone(), terms }));
    for literal in conditions {
        for variable in shown(literal) {
            if !columns.iter().any(|column| column == variable) {
                columns.push(variable.to_owned());
                names.push(variable.to_owned());
            }
        }
        body.push(literal.clone());
    }
    let mut rows = BTreeSet::new();
    for solution in solve(&body, relations, steps)? {
        let row: Option<Row> = columns.iter().map(|column| solution.values.get(column).cloned()).collect();
        rows.insert(row.ok_or(Refusal::Unsafe)?);
    }
    Ok((names, rows))
}

/// The order that a goal asks for; rows that it does not tell apart are equal.
fn in_order(order: &[Option<Direction>], a: &Row, b: &Row) -> Ordering {
    for (i, mark) in order.iter().enumerate() {
        let ascending = a[i].cmp(&b[i]);
        let found = match mark {
            None => Ordering::Equal,
            Some(Direction::Ascending) => ascending,
            Some(Direction::Descending) => ascending.reverse(),
        };
        if found.is_ne() {
            return found;
        }
    }
    Ordering::Equal
}

/// The variables of a condition that are columns: not those under a negation, and of alternatives those of all.
fn shown(literal: &Literal) -> Vec<&str> {
    match literal {
        Literal::Atom(atom) => atom.all_variables(),
        Literal::Negated(_) | Literal::NegatedConjunction(_) => Vec::new(),
        Literal::Comparison(left, _, right) => [left.variables(), right.variables()].concat(),
        Literal::Disjunction(alternatives) => {
            let mut each = alternatives.iter().map(|body| body.iter().flat_map(shown).collect::<Vec<_>>());
            let first = each.next().unwrap_or_default();
            each.fold(first, |all, other| all.into_iter().filter(|name| other.contains(name)).collect())
        }
    }
}
