//! Constants in atoms: `p(X, 3)` finds `3` and `3.0` alike, although columns are compared by type.
//!
//! Where the column holds one type, the constant is converted to it and stays an argument, which can be looked up.
//! Where it may hold several, the argument becomes a variable that is compared as numbers are. Under negation that
//! comparison needs a relation of its own: a negated atom cannot be filtered.

use super::program::{Argument, Atom, Expression, HeadTerm, Literal, Relation, Rule, Variable};
use super::resolve::Clause;
use super::types::type_of;
use crate::data::{DataType, RelationId, Value, VariableId};
use crate::syntax::ast::Comparison;

/// Settles every constant of every clause. Types must have been inferred.
pub(super) fn settle(relations: &mut Vec<Relation>, clauses: &mut Vec<Clause>) {
    let mut helpers = Vec::new();
    for clause in clauses.iter_mut() {
        let rule = &mut clause.rule;
        let mut filters = Vec::new();
        for position in 0..rule.body.len() {
            match &mut rule.body[position] {
                Literal::Atom(atom) => {
                    let types = &relations[atom.relation.index()].column_types;
                    filters.extend(settle_atom(atom, types, &mut rule.variables));
                }
                Literal::Negated(atom) => {
                    if let Some(helper) = settle_negated(atom, relations, &rule.variables) {
                        helpers.push(helper);
                    }
                }
                Literal::Filter { .. } | Literal::Assign { .. } => {}
            }
        }
        rule.body.extend(filters);
        repeat_goal(rule, clause.goal_arguments, relations);
    }
    clauses.extend(helpers);
}

/// The goal's columns show the values that its constants matched, and have their types.
fn repeat_goal(rule: &mut Rule, goal_arguments: usize, relations: &mut [Relation]) {
    let Some(Literal::Atom(atom)) = rule.body.first() else { return };
    let columns = rule.head_terms.iter_mut().zip(&mut relations[rule.head.index()].column_types);
    for ((term, column_type), argument) in columns.zip(&atom.arguments).take(goal_arguments) {
        match argument {
            Argument::Variable(variable) => {
                *term = HeadTerm::Expression(Expression::Variable(*variable));
                *column_type = rule.variables[variable.index()].data_type;
            }
            Argument::Constant(value) => {
                *term = HeadTerm::Expression(Expression::Constant(value.clone()));
                *column_type = type_of(value);
            }
            Argument::Any => {}
        }
    }
}

/// Converts constants, or replaces them by variables and answers what these must equal.
fn settle_atom(atom: &mut Atom, types: &[DataType], variables: &mut Vec<Variable>) -> Vec<Literal> {
    let mut filters = Vec::new();
    for (argument, data_type) in atom.arguments.iter_mut().zip(types) {
        let Argument::Constant(value) = argument else { continue };
        match typed(value, *data_type) {
            Some(typed) => *value = typed,
            None => {
                let variable = add_variable(variables, *data_type);
                let right = Expression::Constant(value.clone());
                let left = Expression::Variable(variable);
                filters.push(Literal::Filter { operator: Comparison::Equal, left, right });
                *argument = Argument::Variable(variable);
            }
        }
    }
    filters
}

/// Converts the constants of a negated atom. If one must be compared, the atom is replaced by one over a helper
/// relation, whose clause is answered: `!p(X, 3)` becomes `!h(X)` with `h(X) <- p(X, V), V = 3`.
fn settle_negated(atom: &mut Atom, relations: &mut Vec<Relation>, variables: &[Variable]) -> Option<Clause> {
    let types = &relations[atom.relation.index()].column_types;
    let mut compares = false;
    for (argument, data_type) in atom.arguments.iter_mut().zip(types) {
        if let Argument::Constant(value) = argument {
            match typed(value, *data_type) {
                Some(typed) => *value = typed,
                None => compares = true,
            }
        }
    }
    if !compares {
        return None;
    }
    let mut outer: Vec<VariableId> = Vec::new();
    for argument in &atom.arguments {
        if let Argument::Variable(variable) = argument
            && !outer.contains(variable)
        {
            outer.push(*variable);
        }
    }
    let mut own: Vec<Variable> = outer.iter().map(|variable| variables[variable.index()].clone()).collect();
    let types = types.clone();
    let arguments = atom.arguments.iter().zip(&types).map(|(argument, data_type)| match argument {
        Argument::Variable(variable) => {
            let position = outer.iter().position(|other| other == variable).unwrap_or_default();
            Argument::Variable(VariableId::new(position))
        }
        Argument::Constant(value) => Argument::Constant(value.clone()),
        Argument::Any => Argument::Variable(add_variable(&mut own, *data_type)),
    });
    let mut inner = Atom { relation: atom.relation, arguments: arguments.collect(), span: atom.span };
    let filters = settle_atom(&mut inner, &types, &mut own);
    let helper = RelationId::new(relations.len());
    let name = format!("?number_{}", relations.len());
    let column = |position| HeadTerm::Expression(Expression::Variable(VariableId::new(position)));
    let rule = Rule {
        head: helper,
        head_terms: (0..outer.len()).map(column).collect(),
        ranking: None,
        body: std::iter::once(Literal::Atom(inner)).chain(filters).collect(),
        text: format!("{name} <- {}", relations[atom.relation.index()].name),
        variables: own,
    };
    let column_types = rule.variables[..outer.len()].iter().map(|variable| variable.data_type).collect();
    relations.push(Relation { name, arity: outer.len(), column_types, stored: false, best: None });
    *atom = Atom {
        relation: helper,
        arguments: outer.into_iter().map(Argument::Variable).collect(),
        span: atom.span,
    };
    Some(Clause { rule, assignments: Vec::new(), goal_arguments: 0 })
}

fn add_variable(variables: &mut Vec<Variable>, data_type: DataType) -> VariableId {
    variables.push(Variable { name: format!("?{}", variables.len()), data_type });
    VariableId::new(variables.len() - 1)
}

/// The constant as this column would hold it; nothing if it could hold several values that are numerically equal.
fn typed(value: &Value, column: DataType) -> Option<Value> {
    match (value, column) {
        (Value::Int(_) | Value::Float(_), DataType::Any | DataType::Unknown) => None,
        // Two zeros.
        (Value::Int(0), DataType::Float) => None,
        (Value::Float(x), DataType::Float) if *x == 0.0 => None,
        (Value::Int(n), DataType::Float) if *n as f64 as i128 == i128::from(*n) => {
            Some(Value::Float(*n as f64))
        }
        (Value::Int(n), DataType::Timestamp) => Some(Value::Timestamp(*n)),
        (Value::Float(x), DataType::Int) => Some(whole(*x).map_or(Value::Float(*x), Value::Int)),
        (Value::Float(x), DataType::Timestamp) => Some(whole(*x).map_or(Value::Float(*x), Value::Timestamp)),
        (value, _) => Some(value.clone()),
    }
}

/// The integer that equals a float.
fn whole(x: f64) -> Option<i64> {
    let n = x as i64;
    (n as i128 as f64 == x && x.abs() < 9_223_372_036_854_775_808.0).then_some(n)
}
