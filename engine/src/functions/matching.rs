//! Two functions that no program can name: look-ups by value are look-ups by identity in what stands for a value.
//!
//! `!p(X / 2)` keeps what equals no value of `p` by value, but rows are found by identity. So `p` is read with the
//! representative of each value beside it ([`STORED`]), and what is looked for is its representative too ([`SOUGHT`]).

use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use super::{Family, Gives, Parameter, ScalarFunction, Takes};
use crate::data::equality::representative;
use crate::data::{DataType, Value, ValueRef};

const ANY: &[Parameter] = &[Parameter { name: "x", takes: Takes::Any }];

/// The representative of a stored value.
pub(crate) static STORED: ScalarFunction = ScalarFunction {
    name: "?stored",
    family: Family::Math,
    parameters: ANY,
    variadic: false,
    gives: Gives::Always(DataType::Any),
    doc: "What stands for a stored value.",
    example: ("", ""),
    evaluate: stored,
};

/// The representative of a value that is looked for: of Null, a value that nothing stores.
pub(crate) static SOUGHT: ScalarFunction = ScalarFunction {
    name: "?sought",
    family: Family::Math,
    parameters: ANY,
    variadic: false,
    gives: Gives::Always(DataType::Any),
    doc: "What stands for a value that is looked for.",
    example: ("", ""),
    evaluate: sought,
};

fn stored(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Result<Column, FunctionError> {
    Ok(Column::Values(arguments.each(|row| representative(arguments.at(0, row)).to_value())))
}

fn sought(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Result<Column, FunctionError> {
    // Stored floats are finite.
    const NOTHING: Value = Value::Float(f64::NAN);
    Ok(Column::Values(arguments.each(|row| match arguments.at(0, row) {
        ValueRef::Null => NOTHING,
        value => representative(value).to_value(),
    })))
}
