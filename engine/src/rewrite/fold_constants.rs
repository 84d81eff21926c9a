//! Puts a constant in the place of a variable that must equal it: `?path(X, Y), X = 7` becomes `?path(7, Y)`.
//!
//! A filter compares by value and a column by identity, so this is done only where the variable's type is known to be the
//! constant's own.

use crate::analysis::program::{Argument, Expression, HeadTerm, Literal, Program, Rule, Test};
use crate::data::{DataType, Value, VariableId};
use crate::syntax::ast::Comparison;

pub(super) fn run(mut program: Program) -> Program {
    for rule in program.strata.iter_mut().flat_map(|stratum| &mut stratum.rules) {
        while let Some((literal, variable, value)) = find(rule) {
            rule.body.remove(literal);
            substitute(rule, variable, &value);
        }
    }
    program
}

/// A filter that fixes a variable.
fn find(rule: &Rule) -> Option<(usize, VariableId, Value)> {
    rule.body.iter().enumerate().find_map(|(index, literal)| {
        let Literal::Filter { operator: Test::ByValue(Comparison::Equal), left, right } = literal else {
            return None;
        };
        let ((Expression::Variable(variable), Expression::Constant(value))
        | (Expression::Constant(value), Expression::Variable(variable))) = (left, right)
        else {
            return None;
        };
        let typed = matches!(
            (rule.variables[variable.index()].data_type, value),
            (DataType::Int, Value::Int(_))
                | (DataType::Text, Value::Text(_))
                | (DataType::Bool, Value::Bool(_))
        );
        (typed && is_replaceable(rule, *variable)).then(|| (index, *variable, value.clone()))
    })
}

/// Aggregates read a variable, and an assignment binds one: there it has to stay.
fn is_replaceable(rule: &Rule, variable: VariableId) -> bool {
    let aggregated = rule.head_terms.iter().any(|term| match term {
        HeadTerm::Aggregate { argument, .. } => *argument == variable,
        HeadTerm::Expression(_) => false,
    });
    let assigned = rule.body.iter().any(|literal| match literal {
        Literal::Assign { variable: target, .. } => *target == variable,
        Literal::Atom(_) | Literal::Negated(_) | Literal::Filter { .. } => false,
    });
    !aggregated && !assigned
}

fn substitute(rule: &mut Rule, variable: VariableId, value: &Value) {
    for term in &mut rule.head_terms {
        if let HeadTerm::Expression(expression) = term {
            replace(expression, variable, value);
        }
    }
    for literal in &mut rule.body {
        match literal {
            Literal::Atom(atom) | Literal::Negated(atom) => {
                for argument in &mut atom.arguments {
                    if *argument == Argument::Variable(variable) {
                        *argument = Argument::Constant(value.clone());
                    }
                }
            }
            Literal::Filter { left, right, .. } => {
                replace(left, variable, value);
                replace(right, variable, value);
            }
            Literal::Assign { expression, .. } => replace(expression, variable, value),
        }
    }
}

fn replace(expression: &mut Expression, variable: VariableId, value: &Value) {
    match expression {
        Expression::Variable(found) if *found == variable => {
            *expression = Expression::Constant(value.clone());
        }
        Expression::Variable(_) | Expression::Constant(_) => {}
        Expression::Arithmetic { left, right, .. } => {
            replace(left, variable, value);
            replace(right, variable, value);
        }
        Expression::Call { arguments, .. } => {
            arguments.iter_mut().for_each(|argument| replace(argument, variable, value));
        }
    }
}
