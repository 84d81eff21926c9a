//! Arrow types that hold more than ours: times that are finer than milliseconds, and decimals.
//!
//! Times are cut to the whole millisecond before them, decimals become the nearest float. Both are told.

use std::sync::Arc;

use arrow::array::types::{ArrowPrimitiveType, ArrowTimestampType};
use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::kernels::cmp::distinct;
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{
    DataType as ArrowType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType,
};
use arrow::error::ArrowError;
use arrow::util::display::array_value_to_string;

/// What a column lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Of what kind.
    pub kind: LossKind,
    /// How many values.
    pub count: usize,
    /// The first row, counted from 0.
    pub row: usize,
    /// What stood there.
    pub value: String,
}

/// What can be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossKind {
    /// Digits of times after the millisecond.
    Times,
    /// Digits of decimals that no float has.
    Decimals,
}

impl LossKind {
    /// What to say of so many values, of which this was the first.
    pub fn told(self, column: &str, count: u64, first: &str) -> String {
        let (values, are) = match count {
            1 => (format!("1 value, `{first}`,"), "is"),
            _ => (format!("{count} values, as in `{first}`,"), "are"),
        };
        match self {
            LossKind::Times => format!(
                "column `{column}`: {values} {are} finer than milliseconds, which is what times are kept in: what comes \
                 after is cut off"
            ),
            LossKind::Decimals => format!("column `{column}`: {values} {are} rounded to the nearest float"),
        }
    }
}

/// A column without times finer than milliseconds and without decimals. Decimals without a fraction are integers; an error
/// says that one is too large for them.
pub fn reduced(array: &ArrayRef) -> Result<(ArrayRef, Option<Loss>), ArrowError> {
    match array.data_type() {
        ArrowType::Dictionary(_, values) if is_reducible(values) => reduced(&cast(array, values)?),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            milliseconds::<TimestampMicrosecondType>(array, 1_000)
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            milliseconds::<TimestampNanosecondType>(array, 1_000_000)
        }
        ArrowType::Decimal32(_, scale)
        | ArrowType::Decimal64(_, scale)
        | ArrowType::Decimal128(_, scale)
        | ArrowType::Decimal256(_, scale) => numbers(array, *scale <= 0),
        _ => Ok((Arc::clone(array), None)),
    }
}

fn is_reducible(data_type: &ArrowType) -> bool {
    data_type.is_decimal() || matches!(data_type, ArrowType::Timestamp(_, _))
}

fn milliseconds<T>(array: &ArrayRef, in_one: i64) -> Result<(ArrayRef, Option<Loss>), ArrowError>
where
    T: ArrowTimestampType + ArrowPrimitiveType<Native = i64>,
{
    let fine = array.as_primitive::<T>();
    let lost = |row: &usize| fine.value(*row).rem_euclid(in_one) != 0 && fine.is_valid(*row);
    let loss = match (0..fine.len()).find(lost) {
        None => None,
        Some(row) => Some(Loss {
            kind: LossKind::Times,
            count: (row..fine.len()).filter(lost).count(),
            row,
            // In UTC: a zone is no part of a value, and its name is not known here.
            value: array_value_to_string(
                &cast(&array.slice(row, 1), &ArrowType::Timestamp(T::UNIT, None))?,
                0,
            )?,
        }),
    };
    let whole: PrimitiveArray<TimestampMillisecondType> = fine.unary(|time| time.div_euclid(in_one));
    Ok((Arc::new(whole.with_timezone("UTC")), loss))
}

fn numbers(array: &ArrayRef, are_whole: bool) -> Result<(ArrayRef, Option<Loss>), ArrowError> {
    if are_whole {
        let options = CastOptions { safe: false, ..CastOptions::default() };
        return Ok((cast_with_options(array, &ArrowType::Int64, &options)?, None));
    }
    let floats = cast(array, &ArrowType::Float64)?;
    let differs = distinct(&cast(&floats, array.data_type())?, array)?;
    let loss = match (0..array.len()).find(|&row| differs.value(row)) {
        None => None,
        Some(row) => Some(Loss {
            kind: LossKind::Decimals,
            count: differs.true_count(),
            row,
            value: array_value_to_string(array, row)?,
        }),
    };
    Ok((floats, loss))
}
