//! A function that no program can name: look-ups by value are look-ups by identity of what stands for a value.
//!
//! `!p(X / 2)` keeps what equals no value of `p` by value, but rows are found by identity. So the representative of what is
//! looked for is looked up, where need be in the representatives of what is stored.

use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use super::{Family, Gives, Parameter, ScalarFunction, Takes};
use crate::data::DataType;
use crate::data::equality::representative;

/// What stands for a value and all that equal it.
pub(crate) static REPRESENTATIVE: ScalarFunction = ScalarFunction {
    name: "?by_value",
    family: Family::Math,
    parameters: &[Parameter { name: "x", takes: Takes::Any }],
    variadic: false,
    gives: Gives::Always(DataType::Any),
    doc: "What stands for a value and all that equal it.",
    example: ("", ""),
    evaluate,
};

fn evaluate(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Result<Column, FunctionError> {
    Ok(Column::Values(arguments.each(|row| representative(arguments.at(0, row)).to_value())))
}
