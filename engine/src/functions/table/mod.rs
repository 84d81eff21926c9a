//! The list of functions, in the order of the manual.

mod calendar;
mod lists;
mod lsh;
mod numbers;
mod quantised;
mod strings;
mod times;
mod vectors;

use super::ScalarFunction;

const TABLES: &[&[ScalarFunction]] = &[
    numbers::FUNCTIONS,
    strings::FUNCTIONS,
    lists::FUNCTIONS,
    vectors::FUNCTIONS,
    quantised::FUNCTIONS,
    lsh::FUNCTIONS,
    times::FUNCTIONS,
    calendar::FUNCTIONS,
];

/// All functions.
pub fn functions() -> impl Iterator<Item = &'static ScalarFunction> {
    TABLES.iter().copied().flatten()
}
