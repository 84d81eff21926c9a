//! Which rows of an attached relation a program has a use for: those that some atom may match.

use crate::analysis::program::{Argument, Atom, Expression, Literal, Program, Rule, Test};
use crate::attached::{Bounds, Wanted};
use crate::data::{DataType, RelationId, Value};
use crate::syntax::ast::Comparison;

/// Integers up to here are floats, too.
const EXACT: i64 = 1 << 53;

/// The rows of a relation that the program may find, as far as atoms and comparisons with constants tell.
pub(super) fn wanted(program: &Program, relation: RelationId) -> Wanted {
    let is_handed_on = program.goal == relation || program.derived().contains(&relation);
    if is_handed_on {
        return Wanted::default();
    }
    let types = &program.relations[relation.index()].column_types;
    let rules = program.strata.iter().flat_map(|stratum| {
        let auxiliaries = stratum.auxiliaries.iter();
        let with =
            auxiliaries.clone().flat_map(|auxiliary| auxiliary.readers.iter().map(|reader| &reader.with));
        stratum.rules.iter().chain(auxiliaries.map(|auxiliary| &auxiliary.rule)).chain(with)
    });
    let conditions = rules.flat_map(|rule| {
        let atoms = rule.body.iter().filter_map(|literal| match literal {
            Literal::Atom(atom) | Literal::Negated(atom) => Some(atom),
            Literal::Filter { .. } | Literal::Assign { .. } => None,
        });
        atoms.filter(|atom| atom.relation == relation).map(|atom| conditions(atom, rule, types))
    });
    Wanted::any_of(conditions.collect())
}

/// What each row meets that an atom of a rule can match.
fn conditions(atom: &Atom, rule: &Rule, types: &[DataType]) -> Vec<Bounds> {
    let mut found = Vec::new();
    for (column, (argument, data_type)) in atom.arguments.iter().zip(types).enumerate() {
        match argument {
            Argument::Constant(value) => found.extend(bounds(column, Comparison::Equal, value, *data_type)),
            Argument::Variable(variable) => {
                let is_it = |side: &Expression| *side == Expression::Variable(*variable);
                found.extend(rule.body.iter().filter_map(|literal| match literal {
                    Literal::Filter { operator, left, right: Expression::Constant(value) } if is_it(left) => {
                        bounds(column, holds(*operator)?, value, *data_type)
                    }
                    Literal::Filter { operator, left: Expression::Constant(value), right }
                        if is_it(right) =>
                    {
                        bounds(column, holds(*operator)?.turned(), value, *data_type)
                    }
                    Literal::Filter { .. }
                    | Literal::Assign { .. }
                    | Literal::Atom(_)
                    | Literal::Negated(_) => None,
                }));
            }
            Argument::Any => {}
        }
    }
    found
}

/// The comparison that holds, where it is not the opposite of one.
fn holds(test: Test) -> Option<Comparison> {
    match test {
        Test::Same => Some(Comparison::Equal),
        Test::ByValue(comparison) => Some(comparison),
        Test::Different | Test::Not(_) => None,
    }
}

/// The bounds of a column of a type whose values compare so with a constant; nothing where there are none.
fn bounds(column: usize, comparison: Comparison, constant: &Value, data_type: DataType) -> Option<Bounds> {
    let (least, greatest) = match comparison {
        Comparison::Equal => (true, true),
        Comparison::Less | Comparison::LessOrEqual => (false, true),
        Comparison::Greater | Comparison::GreaterOrEqual => (true, false),
        Comparison::NotEqual => return None,
    };
    let [low, high] = around(constant, data_type)?;
    Some(Bounds { column, least: least.then_some(low), greatest: greatest.then_some(high) })
}

/// The nearest values of a type that are not above a constant, and not below it.
fn around(constant: &Value, data_type: DataType) -> Option<[Value; 2]> {
    let same = || [constant.clone(), constant.clone()];
    match (constant, data_type) {
        (Value::Int(_), DataType::Int)
        | (Value::Float(_), DataType::Float)
        | (Value::Timestamp(_), DataType::Timestamp)
        | (Value::Text(_), DataType::Text)
        | (Value::Bool(_), DataType::Bool) => Some(same()),
        (Value::Int(whole), DataType::Float) if whole.abs() <= EXACT => {
            let float = Value::Float(*whole as f64);
            Some([float.clone(), float])
        }
        (Value::Float(float), DataType::Int) if float.abs() <= EXACT as f64 => {
            Some([Value::Int(float.floor() as i64), Value::Int(float.ceil() as i64)])
        }
        _ => None,
    }
}
