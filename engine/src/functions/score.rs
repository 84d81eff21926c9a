//! How well a text answers a query: what a rule says that searches texts. It is no function of these two alone, but of all
//! texts of the relation: whoever evaluates such a rule asks its index, and never this.

use super::{
    Arguments, Circumstances, Column, Family, FunctionError, Gives, Parameter, ScalarFunction, Takes,
};
use crate::data::DataType;

/// Its name, which no program can write.
pub(crate) const SCORE: &str = "?score";

pub(super) static FUNCTION: ScalarFunction = ScalarFunction {
    name: SCORE,
    family: Family::Text,
    parameters: &[Parameter { name: "s", takes: Takes::Any }, Parameter { name: "query", takes: Takes::Any }],
    variadic: false,
    gives: Gives::Always(DataType::Float),
    doc: "",
    example: ("", ""),
    evaluate: unknown,
};

fn unknown(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Result<Column, FunctionError> {
    Ok(Column::Floats(vec![f64::NAN; arguments.rows()]))
}
