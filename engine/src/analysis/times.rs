//! Text that stands where a time belongs is read as one: in `T > "2024-01-05"`, `event(X, "2024-01-05")` and
//! `year("2024-01-05")`, and in a list beside `T in`, if `T` and the column hold times. A time and a number of milliseconds
//! make a time. A year that stands there, `T > 2024`, is a number of milliseconds,
//! and is told.

use super::expressions::{expression_type, membership_of};
use super::program::{Argument, Expression, HeadTerm, Literal, Relation, Rule, Variable};
use super::resolve::Clause;
use crate::data::{DataType, Value, VariableId, time};
use crate::diagnostic::{Code, Diagnostic};
use crate::functions::{ScalarFunction, Takes};
use crate::syntax::ast::Arithmetic;

/// The time that a text stands for.
pub(super) fn time_of(value: &Value) -> Option<Value> {
    match value {
        Value::Text(text) => time::read(text).ok().map(Value::Timestamp),
        _ => None,
    }
}

/// Reads text beside times, by the types that were inferred. Answers what deserves a second look.
pub(super) fn settle(relations: &[Relation], clauses: &mut [Clause]) -> Vec<Diagnostic> {
    let mut odd = Vec::new();
    for Clause { rule, .. } in clauses {
        move_times(rule);
        let Rule { body, variables, .. } = rule;
        for literal in body.iter_mut() {
            if let Literal::Atom(atom) | Literal::Negated(atom) = literal {
                let types = &relations[atom.relation.index()].column_types;
                for (argument, data_type) in atom.arguments.iter_mut().zip(types) {
                    if let Argument::Constant(value) = argument
                        && *data_type == DataType::Timestamp
                    {
                        read(value, &mut odd);
                    }
                }
            }
        }
        read_filters(body, |expression| expression_type(expression, variables), &mut odd);
    }
    odd.dedup();
    odd.iter().map(told).collect()
}

/// Makes functions of sums and differences that are times: numbers are all that arithmetic knows.
fn move_times(rule: &mut Rule) {
    let Rule { body, variables, head_terms, .. } = rule;
    for literal in body {
        match literal {
            Literal::Filter { left, right, .. } => {
                move_time(left, variables);
                move_time(right, variables);
            }
            Literal::Assign { expression, .. } => move_time(expression, variables),
            Literal::Atom(_) | Literal::Negated(_) => {}
        }
    }
    for term in head_terms {
        match term {
            HeadTerm::Expression(expression) => move_time(expression, variables),
            HeadTerm::Aggregate { .. } => {}
        }
    }
}

fn move_time(expression: &mut Expression, variables: &[Variable]) {
    let is_time = expression_type(expression, variables) == DataType::Timestamp;
    match expression {
        Expression::Variable(_) | Expression::Constant(_) => {}
        Expression::Call { arguments, .. } => {
            arguments.iter_mut().for_each(|argument| move_time(argument, variables));
        }
        Expression::Arithmetic { operator, left, right } => {
            move_time(left, variables);
            move_time(right, variables);
            let name = if *operator == Arithmetic::Subtract { "time_sub" } else { "time_add" };
            if let Some(function) = ScalarFunction::named(name).filter(|_| is_time) {
                let arguments = vec![(**left).clone(), (**right).clone()];
                *expression = Expression::Call { function, arguments };
            }
        }
    }
}

/// The same for the filters of one body, by what is known of types. Text that is no time and years are put into `odd`.
pub(super) fn read_filters(
    body: &mut [Literal],
    type_of: impl Fn(&Expression) -> DataType,
    odd: &mut Vec<Value>,
) {
    let written: Vec<(VariableId, Value)> = body
        .iter()
        .filter_map(|literal| match literal {
            Literal::Assign { variable, expression: Expression::Constant(value) } if is_year(value) => {
                Some((*variable, value.clone()))
            }
            _ => None,
        })
        .collect();
    let year_of = |expression: &Expression| match expression {
        Expression::Variable(variable) => {
            written.iter().find(|(known, _)| known == variable).map(|(_, year)| year.clone())
        }
        _ => None,
    };
    for literal in body {
        match literal {
            Literal::Filter { left, right, .. } => {
                read_arguments(left, &type_of, odd);
                read_arguments(right, &type_of, odd);
                if type_of(left) == DataType::Timestamp {
                    read_constant(right, odd);
                    odd.extend(year_of(right));
                }
                if type_of(right) == DataType::Timestamp {
                    read_constant(left, odd);
                    odd.extend(year_of(left));
                }
            }
            Literal::Assign { expression, .. } => read_arguments(expression, &type_of, odd),
            Literal::Atom(_) | Literal::Negated(_) => {}
        }
    }
}

/// Arguments that are points in time, whatever stands beside the call, and those beside which others are.
fn read_arguments(
    expression: &mut Expression,
    type_of: &impl Fn(&Expression) -> DataType,
    odd: &mut Vec<Value>,
) {
    match expression {
        Expression::Variable(_) | Expression::Constant(_) => {}
        Expression::Arithmetic { operator, left, right } => {
            read_arguments(left, type_of, odd);
            read_arguments(right, type_of, odd);
            // Between two times lie milliseconds; nothing else is computed of two.
            if *operator == Arithmetic::Subtract {
                let (first, second) = (type_of(left), type_of(right));
                if first == DataType::Timestamp
                    && let Expression::Constant(value) = right.as_mut()
                {
                    read_text(value, odd);
                }
                if second == DataType::Timestamp
                    && let Expression::Constant(value) = left.as_mut()
                {
                    read_text(value, odd);
                }
            }
        }
        Expression::Call { function, arguments } => {
            for (position, argument) in arguments.iter_mut().enumerate() {
                read_arguments(argument, type_of, odd);
                if function.parameter(position).is_some_and(|parameter| parameter.takes == Takes::Time)
                    && let Expression::Constant(value) = argument
                {
                    // Of numbers functions make sums and shares, whatever their unit.
                    read_text(value, odd);
                }
            }
            let is_time = |argument: &Expression| type_of(argument) == DataType::Timestamp;
            if membership_of(function, arguments).is_some_and(|(_, sought)| is_time(sought)) {
                if let Some(Expression::Constant(Value::List(elements))) = arguments.first_mut() {
                    *elements = elements
                        .iter()
                        .cloned()
                        .map(|mut element| {
                            read(&mut element, odd);
                            element
                        })
                        .collect();
                }
            } else if function.name == "coalesce" && arguments.iter().any(is_time) {
                // What stands in for a time need not be one.
                for argument in arguments {
                    if let Expression::Constant(value) = argument
                        && let Some(time) = time_of(value)
                    {
                        *value = time;
                    }
                }
            }
        }
    }
}

fn read_constant(expression: &mut Expression, odd: &mut Vec<Value>) {
    match expression {
        Expression::Constant(value) => read(value, odd),
        // A date without quotes: 2024-01-05 is a difference.
        Expression::Arithmetic { operator: Arithmetic::Subtract, left, right } => {
            if let (
                Expression::Arithmetic { operator: Arithmetic::Subtract, left, right: month },
                Expression::Constant(_),
            ) = (left.as_ref(), right.as_ref())
                && let (Expression::Constant(year), Expression::Constant(_)) = (left.as_ref(), month.as_ref())
                && is_year(year)
            {
                odd.push(year.clone());
            }
        }
        Expression::Arithmetic { .. } | Expression::Variable(_) | Expression::Call { .. } => {}
    }
}

/// Beside a time, or where a column holds times.
fn read(value: &mut Value, odd: &mut Vec<Value>) {
    if is_year(value) {
        odd.push(value.clone());
    }
    read_text(value, odd);
}

fn read_text(value: &mut Value, odd: &mut Vec<Value>) {
    match time_of(value) {
        Some(time) => *value = time,
        None if matches!(value, Value::Text(_)) => odd.push(value.clone()),
        None => {}
    }
}

/// A number that stands for a year with whoever writes it, and for the first seconds of 1970 here.
fn is_year(value: &Value) -> bool {
    matches!(value, Value::Int(1800..2200))
}

fn told(value: &Value) -> Diagnostic {
    match value {
        Value::Int(n) => {
            let message =
                format!("{n} stands beside times, and is {n} milliseconds after the beginning of 1970");
            Diagnostic::warning(Code::YearBesideTimes, message)
                .help(format!("write the time as `t\"{n}-01-01\"`, or compare the year: `year(T) = {n}`"))
        }
        text => Diagnostic::warning(Code::NeverTrue, format!("{text} stands beside times, and is none"))
            .help(time::HOW_TO_WRITE),
    }
}
