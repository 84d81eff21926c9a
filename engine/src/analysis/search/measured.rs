//! The rule of a search taken apart again, after rewrites that may have put constants in the places of variables.

use crate::analysis::program::{
    Argument, Atom, Expression, HeadTerm, Literal, Ranking, Relation, Rule, Search,
};
use crate::data::VariableId;
use crate::syntax::ast::Arithmetic;

/// The rule of a search.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'r> {
    /// The index, and how it is asked.
    pub search: &'r Search,
    /// Which of its solutions count.
    pub ranking: &'r Ranking,
    /// The rows that are searched.
    pub rows: &'r Atom,
    /// What assigns the measure.
    pub literal: &'r Literal,
    /// The measure: a distance, or a score.
    pub measure: VariableId,
    /// What rows are compared with.
    pub query: &'r Expression,
}

impl<'r> Measured<'r> {
    /// Of a rule of a program with these relations, if it is that of a search.
    pub fn of(rule: &'r Rule, relations: &[Relation]) -> Option<Measured<'r>> {
        let ranking = rule.ranking.as_ref()?;
        let search = ranking.search.as_ref()?;
        let HeadTerm::Expression(Expression::Variable(measure)) = rule.head_terms.get(ranking.by)? else {
            return None;
        };
        let assigned = rule.body.iter().find_map(|literal| match literal {
            Literal::Assign { variable, expression } if variable == measure => Some((literal, expression)),
            Literal::Assign { .. } | Literal::Atom(_) | Literal::Negated(_) | Literal::Filter { .. } => None,
        });
        let (literal, expression) = assigned?;
        let (value, query) = compared(expression)?;
        let definition = &search.index.definition;
        // The search's own atom stands before those of its conditions.
        let rows = rule.atoms().find(|atom| {
            relations[atom.relation.index()].name == definition.relation
                && match (value, atom.arguments.get(definition.column)) {
                    (Expression::Variable(value), Some(Argument::Variable(found))) => value == found,
                    (Expression::Constant(value), Some(Argument::Constant(found))) => value == found,
                    _ => false,
                }
        })?;
        Some(Measured { search, ranking, rows, literal, measure: *measure, query })
    }
}

/// The column and what it is compared with, in `cosine(V, Q)` or `0 - dot(V, Q)`.
fn compared(expression: &Expression) -> Option<(&Expression, &Expression)> {
    match expression {
        Expression::Call { arguments, .. } => match arguments.as_slice() {
            [value, query] => Some((value, query)),
            _ => None,
        },
        Expression::Arithmetic { operator: Arithmetic::Subtract, right, .. } => compared(right),
        Expression::Arithmetic { .. } | Expression::Variable(_) | Expression::Constant(_) => None,
    }
}
