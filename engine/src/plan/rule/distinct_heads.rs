//! Which rules make no row twice, so that nobody has to look.

use foldhash::HashSet;

use crate::analysis::program::{Argument, Expression, HeadTerm, Literal, Rule};
use crate::data::VariableId;

/// Whether different solutions of a rule are different rows: its head has all that its atoms read.
pub(crate) fn makes_rows_once(rule: &Rule) -> bool {
    let kept: HashSet<VariableId> = rule
        .head_terms
        .iter()
        .filter_map(|term| match term {
            HeadTerm::Expression(Expression::Variable(variable)) => Some(*variable),
            HeadTerm::Expression(_) | HeadTerm::Aggregate { .. } => None,
        })
        .collect();
    // What is computed follows from what is read.
    !rule.aggregates()
        && rule.body.iter().filter_map(Literal::atom).flat_map(|atom| &atom.arguments).all(|argument| {
            match argument {
                Argument::Variable(variable) => kept.contains(variable),
                Argument::Constant(_) => true,
                Argument::Any => false,
            }
        })
}
