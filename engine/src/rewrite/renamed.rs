//! Literals with other variables.

use crate::analysis::program::{Argument, Atom, Expression, Literal};
use crate::data::VariableId;
use crate::diagnostic::Span;

/// A literal, from nowhere in a text, with another variable for each.
pub(super) fn renamed(literal: &Literal, number: &mut impl FnMut(VariableId) -> VariableId) -> Literal {
    let mut atom = |atom: &Atom| Atom {
        relation: atom.relation,
        arguments: atom
            .arguments
            .iter()
            .map(|argument| match argument {
                Argument::Variable(variable) => Argument::Variable(number(*variable)),
                Argument::Constant(_) | Argument::Any => argument.clone(),
            })
            .collect(),
        span: Span::default(),
    };
    match literal {
        Literal::Atom(read) => Literal::Atom(atom(read)),
        Literal::Negated(read) => Literal::Negated(atom(read)),
        Literal::Filter { operator, left, right } => Literal::Filter {
            operator: *operator,
            left: renamed_expression(left, number),
            right: renamed_expression(right, number),
        },
        Literal::Assign { variable, expression } => Literal::Assign {
            variable: number(*variable),
            expression: renamed_expression(expression, number),
        },
    }
}

fn renamed_expression(
    expression: &Expression,
    number: &mut impl FnMut(VariableId) -> VariableId,
) -> Expression {
    match expression {
        Expression::Variable(variable) => Expression::Variable(number(*variable)),
        Expression::Constant(_) => expression.clone(),
        Expression::Arithmetic { operator, left, right } => Expression::Arithmetic {
            operator: *operator,
            left: Box::new(renamed_expression(left, number)),
            right: Box::new(renamed_expression(right, number)),
        },
        Expression::Call { function, arguments } => Expression::Call {
            function,
            arguments: arguments.iter().map(|argument| renamed_expression(argument, number)).collect(),
        },
    }
}
