//! What can be told of an expression alone: its type, by those of its variables, and whether it looks for a value in a list.

use super::program::{Expression, Variable};
use crate::aggregates::Aggregate;
use crate::data::{DataType, Value};
use crate::functions::ScalarFunction;
use crate::syntax::ast::Arithmetic;

/// The type of a constant, with the length of a vector.
pub(super) fn type_of(value: &Value) -> DataType {
    match value {
        Value::Vector(elements) => DataType::Vector(u32::try_from(elements.len()).ok()),
        Value::VectorInt8(elements) => DataType::VectorInt8(u32::try_from(elements.len()).ok()),
        value => DataType::of(value),
    }
}

/// The type of an expression, by those of the variables.
pub(super) fn expression_type(expression: &Expression, variables: &[Variable]) -> DataType {
    match expression {
        Expression::Variable(variable) => variables[variable.index()].data_type,
        Expression::Constant(value) => type_of(value),
        Expression::Arithmetic { operator, left, right } => {
            arithmetic_type(*operator, expression_type(left, variables), expression_type(right, variables))
        }
        Expression::Call { function, arguments } => {
            let types: Vec<DataType> =
                arguments.iter().map(|argument| expression_type(argument, variables)).collect();
            function.result_type(&types)
        }
    }
}

/// The type of an arithmetic result; Null, which knows no type, where an operand is no number. A time moved by milliseconds
/// is a time: see `times`, which sees to it.
pub(super) fn arithmetic_type(operator: Arithmetic, left: DataType, right: DataType) -> DataType {
    use DataType::{Any, Float, Int, Timestamp, Unknown};
    match (left, right) {
        (Unknown, _) | (_, Unknown) => Unknown,
        (left, right) if !left.may_be_number() || !right.may_be_number() => Unknown,
        _ if operator == Arithmetic::Divide => Float,
        (Timestamp, Int) if matches!(operator, Arithmetic::Add | Arithmetic::Subtract) => Timestamp,
        (Int, Timestamp) if operator == Arithmetic::Add => Timestamp,
        (Float, _) | (_, Float) => Float,
        (Int | Timestamp, Int | Timestamp) => Int,
        _ => Any,
    }
}

/// The type of an aggregate over values of a type.
pub(super) fn aggregate_type(function: Aggregate, argument: DataType) -> DataType {
    match function {
        Aggregate::Count | Aggregate::CountDistinct => DataType::Int,
        Aggregate::Avg | Aggregate::Median | Aggregate::Quantile | Aggregate::Stddev | Aggregate::Rrf => {
            DataType::Float
        }
        Aggregate::StringAgg => DataType::Text,
        Aggregate::Collect => DataType::List,
        Aggregate::Min | Aggregate::Max | Aggregate::First | Aggregate::Last => argument,
        Aggregate::Sum => match argument {
            DataType::Int | DataType::Float | DataType::Any => argument,
            DataType::Timestamp => DataType::Any,
            DataType::Unknown
            | DataType::Text
            | DataType::Bool
            | DataType::Vector(_)
            | DataType::VectorInt8(_)
            | DataType::List => DataType::Unknown,
        },
    }
}

/// The list and the value of a call that looks for a value in a list.
pub(super) fn membership_of<'e>(
    function: &ScalarFunction,
    arguments: &'e [Expression],
) -> Option<(&'e Expression, &'e Expression)> {
    match arguments {
        [list, sought] if matches!(function.name, "has" | "contains" | "index_of") => Some((list, sought)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_results_have_a_type() {
        use DataType::{Any, Float, Int, Text, Timestamp, Unknown};
        assert_eq!(arithmetic_type(Arithmetic::Add, Int, Int), Int);
        assert_eq!(arithmetic_type(Arithmetic::Divide, Int, Int), Float);
        assert_eq!(arithmetic_type(Arithmetic::Remainder, Int, Float), Float);
        assert_eq!(arithmetic_type(Arithmetic::Add, Int, Timestamp), Timestamp);
        assert_eq!(arithmetic_type(Arithmetic::Subtract, Timestamp, Int), Timestamp);
        assert_eq!(arithmetic_type(Arithmetic::Subtract, Timestamp, Timestamp), Int);
        assert_eq!(arithmetic_type(Arithmetic::Subtract, Int, Timestamp), Int);
        assert_eq!(arithmetic_type(Arithmetic::Multiply, Timestamp, Int), Int);
        assert_eq!(arithmetic_type(Arithmetic::Multiply, Any, Int), Any);
        assert_eq!(arithmetic_type(Arithmetic::Add, Text, Int), Unknown);
    }
}
