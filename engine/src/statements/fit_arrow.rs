//! Arrow columns as the columns of a relation take them: casts where a declaration asks for one, and what is lost on the way.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, TimestampMillisecondArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Float64Type};
use arrow::error::ArrowError;

use super::target::Target;
use crate::data::lossy::{Loss, LossKind, reduced};
use crate::data::{DataType, time};
use crate::diagnostic::{Code, Diagnostic};

/// Why a column does not fit.
pub(super) enum Unfit {
    /// By its type.
    Type,
    /// A value is beyond what the type holds.
    Value(ArrowError),
    /// A text is no time.
    NoTime(String),
}

impl Unfit {
    pub(super) fn told(&self, target: &Target<'_>, position: usize, found: &ArrowType) -> Diagnostic {
        let (column, declared) = (target.column_name(position), target.declared(position));
        match self {
            Unfit::Type => wrong_type(&column, declared, found),
            Unfit::Value(error) => Diagnostic::error(Code::TypeMismatch, format!("{column}: {error}"))
                .help("convert the column before inserting it, to floats or text"),
            Unfit::NoTime(text) => Diagnostic::error(
                Code::TypeMismatch,
                format!("{column} is declared {declared}, and `{text}` is no time"),
            )
            .help("write times as in `2024-01-05T10:00:00Z`, or convert the column before inserting it"),
        }
    }
}

fn wrong_type(column: &str, declared: DataType, found: &ArrowType) -> Diagnostic {
    Diagnostic::error(
        Code::TypeMismatch,
        format!("{column} is declared {declared}, found Arrow type {found}"),
    )
    .help("convert the column before inserting it")
}

/// What the columns of an insert lost.
#[derive(Default)]
pub(super) struct Losses(BTreeMap<usize, (LossKind, u64, String)>);

impl Losses {
    pub(super) fn note(&mut self, position: usize, loss: Option<Loss>) {
        let Some(Loss { kind, count, value, .. }) = loss else { return };
        self.0.entry(position).or_insert((kind, 0, value)).1 += count as u64;
    }

    pub(super) fn warnings(&self, target: &Target<'_>) -> Vec<Diagnostic> {
        let told = |(position, (kind, count, first)): (&usize, &(LossKind, u64, String))| {
            Diagnostic::warning(Code::PrecisionLost, kind.told(&target.column_name(*position), *count, first))
        };
        self.0.iter().map(told).collect()
    }
}

/// A cast where the declared type asks for one: integers to floats and to timestamps, text to timestamps, and floats to
/// integers if all of them are whole, as data frames have integers beside gaps.
pub(super) fn fit_array(array: &ArrayRef, declared: DataType) -> Result<(ArrayRef, Option<Loss>), Unfit> {
    if declared == DataType::Timestamp && is_text(array.data_type()) {
        return times(array);
    }
    let (array, loss) = reduced(array).map_err(Unfit::Value)?;
    Ok((fit_reduced(&array, declared).ok_or(Unfit::Type)?, loss))
}

fn is_text(data_type: &ArrowType) -> bool {
    match data_type {
        ArrowType::Dictionary(_, values) => is_text(values),
        other => matches!(other, ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View),
    }
}

/// Text as times.
fn times(array: &ArrayRef) -> Result<(ArrayRef, Option<Loss>), Unfit> {
    let texts = cast(array, &ArrowType::LargeUtf8).map_err(|_| Unfit::Type)?;
    let texts = texts.as_string::<i64>();
    let (mut times, mut loss) = (Vec::with_capacity(texts.len()), None);
    for (row, text) in texts.iter().enumerate() {
        let Some(text) = text else {
            times.push(None);
            continue;
        };
        times.push(Some(
            time::read_whole(text).ok_or_else(|| Unfit::NoTime(text.chars().take(40).collect()))?,
        ));
        if time::is_finer(text) {
            let first = || Loss { kind: LossKind::Times, count: 0, row, value: text.to_owned() };
            loss.get_or_insert_with(first).count += 1;
        }
    }
    Ok((Arc::new(TimestampMillisecondArray::from(times).with_timezone("UTC")), loss))
}

fn fit_reduced(array: &ArrayRef, declared: DataType) -> Option<ArrayRef> {
    let found = array.data_type();
    let is_null = matches!(found, ArrowType::Null);
    let is_list =
        matches!(found, ArrowType::List(_) | ArrowType::LargeList(_) | ArrowType::FixedSizeList(_, _));
    let fits = match declared {
        DataType::Unknown | DataType::Any => true,
        DataType::Int if found.is_floating() => return whole_numbers(array),
        DataType::Int => found.is_integer(),
        DataType::Float => {
            if found.is_integer() {
                return cast(array, &ArrowType::Float64).ok();
            }
            found.is_floating()
        }
        DataType::Bool => matches!(found, ArrowType::Boolean),
        DataType::Text => is_text(found),
        DataType::Timestamp => {
            if found.is_integer() {
                let ints = cast(array, &ArrowType::Int64).ok()?;
                return cast(&ints, &DataType::Timestamp.arrow()).ok();
            }
            matches!(found, ArrowType::Date32 | ArrowType::Date64 | ArrowType::Timestamp(_, _))
        }
        DataType::Vector(_) | DataType::VectorInt8(_) | DataType::List => is_list,
    };
    (fits || is_null).then(|| array.clone())
}

/// Floats as integers, if each is one; what is no number is null, as it is among floats.
fn whole_numbers(array: &ArrayRef) -> Option<ArrayRef> {
    const TWO_53: f64 = 9_007_199_254_740_992.0;
    let floats = cast(array, &ArrowType::Float64).ok()?;
    let floats = floats.as_primitive::<Float64Type>();
    let numbers = || floats.iter().flatten().filter(|x| !x.is_nan());
    let are_whole = numbers().all(|x| x.fract() == 0.0 && x.abs() <= TWO_53);
    let integers = floats.iter().map(|x| x.filter(|x| !x.is_nan()).map(|x| x as i64));
    are_whole.then(|| Arc::new(Int64Array::from_iter(integers)) as ArrayRef)
}
