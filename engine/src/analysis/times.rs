//! Text that stands where a time belongs is read as one: in `T > "2024-01-05"`, `event(X, "2024-01-05")` and
//! `year("2024-01-05")`, if `T` and the column hold times.

use super::program::{Argument, Expression, Literal, Relation, Rule, Variable};
use super::resolve::Clause;
use crate::data::{DataType, Value, time};
use crate::diagnostic::{Code, Diagnostic};
use crate::functions::Takes;

/// The time that a text stands for.
pub(super) fn time_of(value: &Value) -> Option<Value> {
    match value {
        Value::Text(text) => time::read(text).ok().map(Value::Timestamp),
        _ => None,
    }
}

/// Reads text beside times, by the types that were inferred. Answers what deserves a second look: text that is no time.
pub(super) fn settle(relations: &[Relation], clauses: &mut [Clause]) -> Vec<Diagnostic> {
    let mut none = Vec::new();
    for Clause { rule, .. } in clauses {
        let Rule { body, variables, .. } = rule;
        for literal in body.iter_mut() {
            if let Literal::Atom(atom) | Literal::Negated(atom) = literal {
                let types = &relations[atom.relation.index()].column_types;
                for (argument, data_type) in atom.arguments.iter_mut().zip(types) {
                    if let Argument::Constant(value) = argument
                        && *data_type == DataType::Timestamp
                    {
                        read(value, &mut none);
                    }
                }
            }
        }
        read_filters(body, |expression| type_of(expression, variables), &mut none);
    }
    none.dedup();
    none.iter().map(never_equal).collect()
}

/// The same for the filters of one body, by what is known of types. Text that is no time is put into `none`.
pub(super) fn read_filters(
    body: &mut [Literal],
    type_of: impl Fn(&Expression) -> DataType,
    none: &mut Vec<Value>,
) {
    for literal in body {
        match literal {
            Literal::Filter { left, right, .. } => {
                read_arguments(left, none);
                read_arguments(right, none);
                if type_of(left) == DataType::Timestamp {
                    read_constant(right, none);
                }
                if type_of(right) == DataType::Timestamp {
                    read_constant(left, none);
                }
            }
            Literal::Assign { expression, .. } => read_arguments(expression, none),
            Literal::Atom(_) | Literal::Negated(_) => {}
        }
    }
}

/// Arguments that are points in time, whatever stands beside the call.
fn read_arguments(expression: &mut Expression, none: &mut Vec<Value>) {
    match expression {
        Expression::Variable(_) | Expression::Constant(_) => {}
        Expression::Arithmetic { left, right, .. } => {
            read_arguments(left, none);
            read_arguments(right, none);
        }
        Expression::Call { function, arguments } => {
            for (position, argument) in arguments.iter_mut().enumerate() {
                read_arguments(argument, none);
                if function.parameter(position).is_some_and(|parameter| parameter.takes == Takes::Time) {
                    read_constant(argument, none);
                }
            }
        }
    }
}

fn read_constant(expression: &mut Expression, none: &mut Vec<Value>) {
    if let Expression::Constant(value) = expression {
        read(value, none);
    }
}

fn read(value: &mut Value, none: &mut Vec<Value>) {
    match time_of(value) {
        Some(time) => *value = time,
        None if matches!(value, Value::Text(_)) => none.push(value.clone()),
        None => {}
    }
}

/// The type of what can be a time: a variable, or a call that gives one.
fn type_of(expression: &Expression, variables: &[Variable]) -> DataType {
    match expression {
        Expression::Variable(variable) => variables[variable.index()].data_type,
        Expression::Call { function, .. } => function.result_type(&[]),
        Expression::Constant(_) | Expression::Arithmetic { .. } => DataType::Unknown,
    }
}

fn never_equal(text: &Value) -> Diagnostic {
    Diagnostic::warning(Code::NeverTrue, format!("{text} stands beside times, and is none"))
        .help(time::HOW_TO_WRITE)
}
