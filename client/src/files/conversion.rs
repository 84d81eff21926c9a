//! Columns of Arrow data into the types of the language. What is lost on the way is told, or refused where that is wanted;
//! what would become another number is always refused, with its row.

use super::arrays::fit_vector;
use super::cells::{self, Cell};
use super::column_type::{ColumnType, MARK};
use super::epoch::{self, NumberOfTime, Reading};
use super::error::shortened;
use super::losses::Losses;
use super::table::Builder;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Builder, ListArray, StringBuilder};
use arrow::compute::kernels::cmp::distinct;
use arrow::compute::{cast, nullif};
use arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Int64Type, TimeUnit, UInt64Type};
use arrow::error::ArrowError;
use arrow::util::display::array_value_to_string;
use serde_json::Value as Json;
use std::sync::Arc;
use stratalog_engine::data::lossy::{Loss, LossKind, reduced};

/// What becomes of a column.
pub(super) struct Conversion {
    target: Field,
    /// Text that is read as it is in CSV.
    reads_text: Option<ColumnType>,
    reading: Reading,
}

/// Why a column cannot be taken.
#[derive(Debug)]
pub(super) struct Fault {
    /// The row, counted from 0.
    pub row: usize,
    pub problem: String,
}

impl Conversion {
    /// The column as it travels, in the type that is wanted or else in the one that is nearest to its own.
    pub(super) fn new(
        field: &Field,
        wanted: Option<ColumnType>,
        reading: Reading,
    ) -> Result<Conversion, String> {
        let plain = plain(field);
        let found = ColumnType::of(&plain);
        let marked = ColumnType::marked(&plain).is_some()
            || found == ColumnType::Any
            || plain.data_type() == &DataType::Null;
        let Some(wanted) = wanted.filter(|_| !marked) else {
            return Ok(Conversion { target: plain, reads_text: None, reading });
        };
        use ColumnType as T;
        let (target, reads_text) = match (wanted, found) {
            (T::Any, _)
            | (T::Int, T::Int)
            | (T::Float, T::Float)
            | (T::Text, T::Text)
            | (T::Bool, T::Bool)
            | (T::Timestamp, T::Timestamp)
            | (T::List, T::List)
            | (T::Vector(_) | T::VectorInt8(_), T::Vector(_) | T::VectorInt8(_)) => (plain, None),
            (T::Text, T::Int | T::Float | T::Bool | T::Timestamp)
            | (T::Int, T::Float)
            | (T::Float | T::Timestamp, T::Int) => (wanted.field(field.name()), None),
            (T::List, T::Vector(_) | T::VectorInt8(_)) => (wanted.field(field.name()), None),
            (_, T::Text) => (wanted.field(field.name()), Some(wanted)),
            _ => {
                return Err(format!(
                    "the column `{}` is of type {found}, which is no {wanted}",
                    field.name()
                ));
            }
        };
        Ok(Conversion { target, reads_text, reading })
    }

    pub(super) fn target(&self) -> &Field {
        &self.target
    }

    /// The array in the type of the target. What is no number becomes null.
    pub(super) fn apply(&self, array: &ArrayRef, losses: &mut Losses) -> Result<ArrayRef, Fault> {
        let whole = |error: ArrowError| Fault { row: 0, problem: error.to_string() };
        if let DataType::Dictionary(_, values) = array.data_type() {
            return self.apply(&cast(array, values).map_err(whole)?, losses);
        }
        if let Some(column_type) = self.reads_text {
            return self.read_text(array, column_type, losses);
        }
        let target = self.target.data_type();
        if array.data_type() == target {
            exact_in_vectors(array)?;
            return finite(array, &mut losses.not_numbers);
        }
        if matches!(target, DataType::Timestamp(_, _)) && array.data_type().is_integer() {
            return self.times(array, losses);
        }
        if ColumnType::marked(&self.target) == Some(ColumnType::List) {
            return lists(array);
        }
        if target == &DataType::Utf8 {
            return cast(&in_utc(array).map_err(whole)?, target).map_err(whole);
        }
        if matches!(target, DataType::Timestamp(_, _) | DataType::Float64) {
            let (less, loss) = reduced(array).map_err(whole)?;
            if let Some(loss) = loss {
                if self.reading.exact {
                    return Err(Fault { row: loss.row, problem: self.lossy(array, loss.row) });
                }
                losses.note(self.target.name(), loss);
                return cast(&less, target).map_err(whole);
            }
        }
        let converted = cast(array, target).map_err(whole)?;
        let back = cast(&converted, array.data_type()).map_err(whole)?;
        let lost = distinct(&back, array).map_err(whole)?;
        let vanished = |row: usize| converted.is_null(row) && !array.is_null(row);
        if let Some(row) = (0..array.len()).find(|&row| lost.value(row) || vanished(row)) {
            return Err(Fault { row, problem: self.lossy(array, row) });
        }
        finite(&converted, &mut losses.not_numbers)
    }

    /// Integers as times.
    fn times(&self, array: &ArrayRef, losses: &mut Losses) -> Result<ArrayRef, Fault> {
        let whole = |error: ArrowError| Fault { row: 0, problem: error.to_string() };
        let numbers = cast(array, &DataType::Int64).map_err(whole)?;
        let mut times = Int64Builder::with_capacity(numbers.len());
        for (row, number) in numbers.as_primitive::<Int64Type>().iter().enumerate() {
            if number.is_none() && !array.is_null(row) {
                return Err(Fault { row, problem: self.lossy(array, row) });
            }
            let time = number.map(|number| epoch::milliseconds(number, self.reading.epoch)).transpose();
            let time = time.map_err(|problem| Fault { row, problem })?;
            if let (Some(NumberOfTime { is_cut: true, .. }), Some(number)) = (&time, number) {
                if self.reading.exact {
                    return Err(Fault { row, problem: self.lossy(array, row) });
                }
                let value = number.to_string();
                losses.note(self.target.name(), Loss { kind: LossKind::Times, count: 1, row, value });
            }
            times.append_option(time.map(|time| time.milliseconds));
        }
        let times: ArrayRef = Arc::new(times.finish());
        cast(&times, self.target.data_type()).map_err(whole)
    }

    /// Text as it would be read in CSV.
    fn read_text(
        &self,
        array: &ArrayRef,
        column_type: ColumnType,
        losses: &mut Losses,
    ) -> Result<ArrayRef, Fault> {
        let texts =
            cast(array, &DataType::Utf8).map_err(|error| Fault { row: 0, problem: error.to_string() })?;
        let texts = texts.as_string::<i32>();
        let mut builder = Builder::new(column_type);
        for (row, text) in texts.iter().enumerate() {
            let cell =
                text.map_or(Ok(Cell::Null), |text| cells::of_text(text.into(), column_type, self.reading));
            let cell = cell.map_err(|problem| Fault { row, problem })?;
            losses.note_cell(self.target.name(), &cell);
            builder.push(&cell);
        }
        Ok(builder.finish())
    }

    fn lossy(&self, array: &ArrayRef, row: usize) -> String {
        let array = in_utc(array).unwrap_or_else(|_| Arc::clone(array));
        let value = array_value_to_string(&array, row).unwrap_or_default();
        match self.target.data_type() {
            DataType::Timestamp(_, _) => {
                format!("`{value}` is no time in milliseconds, which is what times are kept in")
            }
            DataType::Int64 => format!("`{value}` is no integer of 64 bits with sign"),
            DataType::Float64 => format!("`{value}` would be rounded to a float"),
            _ => format!("`{value}` is no {}", ColumnType::of(&self.target)),
        }
    }
}

/// The field as it travels: without dictionaries, decimals as numbers, times in milliseconds.
fn plain(field: &Field) -> Field {
    let data_type = match field.data_type() {
        DataType::Dictionary(_, values) => {
            return plain(&Field::new(field.name(), (**values).clone(), true));
        }
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => match scale {
            0 => DataType::Int64,
            _ => DataType::Float64,
        },
        DataType::Float16 | DataType::Float32 => DataType::Float64,
        DataType::UInt64 => DataType::Int64,
        DataType::Date64 => DataType::Timestamp(TimeUnit::Millisecond, None),
        DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Millisecond, zone.clone()),
        other => other.clone(),
    };
    // Whatever the file says of nulls: the server allows them everywhere.
    let metadata = field.metadata().iter().filter(|(key, _)| *key == MARK);
    Field::new(field.name(), data_type, true)
        .with_metadata(metadata.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// Times as they are written without knowing the names of zones; their zone is no part of their value.
fn in_utc(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Timestamp(unit, Some(_)) => cast(array, &DataType::Timestamp(*unit, Some("+00:00".into()))),
        _ => Ok(Arc::clone(array)),
    }
}

/// Lists of integers become vectors, in which none may be another number.
fn exact_in_vectors(array: &ArrayRef) -> Result<(), Fault> {
    let (DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)) =
        array.data_type()
    else {
        return Ok(());
    };
    let is_small =
        matches!(item.data_type(), DataType::Int8 | DataType::Int16 | DataType::UInt8 | DataType::UInt16);
    if !item.data_type().is_integer() || is_small {
        return Ok(());
    }
    match (0..array.len()).find(|&row| elements(array, row).is_some_and(|elements| !fit_vector(&elements))) {
        Some(row) => {
            let list = array_value_to_string(array, row).unwrap_or_default();
            let problem = format!(
                "`{}` has a number that a vector would round: it can be of type `list`",
                shortened(&list)
            );
            Err(Fault { row, problem })
        }
        None => Ok(()),
    }
}

/// Lists of numbers, with their numbers as they are.
fn lists(array: &ArrayRef) -> Result<ArrayRef, Fault> {
    let mut texts = StringBuilder::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            texts.append_null();
            continue;
        }
        let problem = || "a list has a number that is infinite, and cannot be stored".to_owned();
        let elements = elements(array, row).ok_or_else(problem).map_err(|problem| Fault { row, problem })?;
        texts.append_value(Json::from(elements).to_string());
    }
    Ok(Arc::new(texts.finish()))
}

/// The numbers of a list; NaN is null. `None` where it is null itself, or one of them is infinite.
fn elements(array: &ArrayRef, row: usize) -> Option<Vec<Json>> {
    let elements = match array.data_type() {
        _ if array.is_null(row) => return None,
        DataType::List(_) => array.as_list::<i32>().value(row),
        DataType::LargeList(_) => array.as_list::<i64>().value(row),
        DataType::FixedSizeList(_, _) => array.as_fixed_size_list().value(row),
        _ => return None,
    };
    if elements.data_type() == &DataType::UInt64 {
        return Some(elements.as_primitive::<UInt64Type>().iter().map(Json::from).collect());
    }
    if elements.data_type().is_integer() {
        let elements = cast(&elements, &DataType::Int64).ok()?;
        return Some(elements.as_primitive::<Int64Type>().iter().map(Json::from).collect());
    }
    let elements = cast(&elements, &DataType::Float64).ok()?;
    let elements = elements.as_primitive::<Float64Type>();
    if elements.iter().flatten().any(f64::is_infinite) {
        return None;
    }
    Some(elements.iter().map(Json::from).collect())
}

/// NaN, with which many programs mean that there is no number, becomes null. An infinity is a mistake.
fn finite(array: &ArrayRef, not_numbers: &mut u64) -> Result<ArrayRef, Fault> {
    let infinite = |row| Fault { row, problem: "an infinite number cannot be stored".to_owned() };
    match array.data_type() {
        DataType::Float64 => {
            let floats = array.as_primitive::<Float64Type>();
            if floats.values().iter().all(|number| number.is_finite()) {
                return Ok(Arc::clone(array));
            }
            let is =
                |test: fn(f64) -> bool| move |row: &usize| floats.is_valid(*row) && test(floats.value(*row));
            if let Some(row) = (0..floats.len()).find(is(f64::is_infinite)) {
                return Err(infinite(row));
            }
            let nan: BooleanArray = (0..floats.len()).map(|row| Some(is(f64::is_nan)(&row))).collect();
            *not_numbers += nan.true_count() as u64;
            nullif(array, &nan).map_err(|error| Fault { row: 0, problem: error.to_string() })
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)
            if item.data_type().is_floating() =>
        {
            let problem = "a vector has a number that is no 32-bit float".to_owned();
            let lists = DataType::List(Arc::new(Field::new("item", DataType::Float32, true)));
            let lists = cast(array, &lists).map_err(|error| Fault { row: 0, problem: error.to_string() })?;
            let lists: &ListArray = lists.as_list();
            let is_finite = |row: usize| {
                lists.value(row).as_primitive::<Float32Type>().iter().all(|x| x.is_some_and(f32::is_finite))
            };
            match (0..lists.len()).find(|&row| lists.is_valid(row) && !is_finite(row)) {
                Some(row) => Err(Fault { row, problem }),
                None => Ok(Arc::clone(array)),
            }
        }
        _ => Ok(Arc::clone(array)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        Decimal128Array, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray, UInt64Array,
    };
    use arrow::datatypes::TimestampMillisecondType;

    fn read(array: &ArrayRef, wanted: Option<ColumnType>, exact: bool) -> Result<(ArrayRef, Losses), String> {
        let field = Field::new("a", array.data_type().clone(), true);
        let conversion = Conversion::new(&field, wanted, Reading { epoch: None, exact })?;
        let mut losses = Losses::default();
        let done = conversion.apply(array, &mut losses);
        done.map(|array| (array, losses)).map_err(|fault| format!("{}: {}", fault.row, fault.problem))
    }

    /// Where nothing may be lost.
    fn converted(array: &ArrayRef, wanted: Option<ColumnType>) -> Result<(ArrayRef, u64), String> {
        read(array, wanted, true).map(|(array, losses)| (array, losses.not_numbers))
    }

    fn decimals(values: &[i128], precision: u8, scale: i8) -> ArrayRef {
        let array = Decimal128Array::from_iter_values(values.iter().copied());
        Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
    }

    fn ints(values: &[i64]) -> ArrayRef {
        Arc::new(Int64Array::from(values.to_vec()))
    }

    #[test]
    fn what_is_lost_is_told() {
        let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1_000, -1, 2_001]));
        let (cut, losses) = read(&times, None, false).unwrap();
        let cut: Vec<_> = cut.as_primitive::<TimestampMillisecondType>().values().to_vec();
        assert_eq!(cut, [1, -1, 2]);
        assert_eq!(
            losses.warnings(),
            [
                "column `a`: 2 values, as in `1969-12-31T23:59:59.999999`, are finer than milliseconds, which is what \
              times are kept in: what comes after is cut off"
            ]
        );
        let (rounded, losses) = read(&decimals(&[150, 123_456_789_012_345_678], 18, 2), None, false).unwrap();
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.5, 1_234_567_890_123_456.8]));
        assert_eq!(&rounded, &floats);
        assert_eq!(
            losses.warnings(),
            ["column `a`: 1 value, `1234567890123456.78`, is rounded to the nearest float"]
        );
    }

    #[test]
    fn decimals_are_integers_or_floats_and_are_never_rounded_where_that_is_refused() {
        let large = 123_456_789_012_345_678;
        assert_eq!(
            &converted(&decimals(&[1, i128::from(large)], 38, 0), None).unwrap().0,
            &ints(&[1, large])
        );
        let problem = converted(&decimals(&[1, i128::MAX / 10], 38, 0), None).unwrap_err();
        assert!(
            problem.starts_with("1: `17014118346046923173168730371588410572` is no integer"),
            "{problem}"
        );
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![1.1, -0.01]));
        assert_eq!(&converted(&decimals(&[110, -1], 18, 2), None).unwrap().0, &floats);
        let problem = converted(&decimals(&[123_456_789_012_345_678], 18, 2), None).unwrap_err();
        assert!(problem.contains("1234567890123456.78` would be rounded"), "{problem}");
        let text: ArrayRef = Arc::new(StringArray::from(vec!["1234567890123456.78"]));
        let kept = converted(&decimals(&[123_456_789_012_345_678], 18, 2), Some(ColumnType::Text)).unwrap().0;
        assert_eq!(&kept, &text);
    }

    #[test]
    fn times_are_kept_whole_or_not_at_all_where_that_is_refused() {
        let times = |values: Vec<i64>| -> ArrayRef { Arc::new(TimestampMicrosecondArray::from(values)) };
        assert!(converted(&times(vec![1_000, 2_000]), None).is_ok());
        let problem = converted(&times(vec![1_000, 2_001]), None).unwrap_err();
        assert_eq!(
            problem,
            "1: `1970-01-01T00:00:00.002001` is no time in milliseconds, which is what times are kept in"
        );
        let kept = converted(&times(vec![2_001]), Some(ColumnType::Text)).unwrap().0;
        assert_eq!(kept.as_string::<i32>().value(0), "1970-01-01T00:00:00.002001");
        let zoned = |values: Vec<i64>| -> ArrayRef {
            Arc::new(TimestampMicrosecondArray::from(values).with_timezone("Europe/Berlin"))
        };
        let (whole, _) = converted(&zoned(vec![1_000]), None).unwrap();
        assert_eq!(whole.as_primitive::<TimestampMillisecondType>().value(0), 1);
        assert!(converted(&zoned(vec![1_001]), None).unwrap_err().contains("`1970-01-01T00:00:00.001001Z`"));
        let kept = converted(&zoned(vec![1_001]), Some(ColumnType::Text)).unwrap().0;
        assert_eq!(kept.as_string::<i32>().value(0), "1970-01-01T00:00:00.001001Z");
    }

    #[test]
    fn numbers_are_what_is_wanted_or_refused() {
        let floats = |values: &[f64]| -> ArrayRef { Arc::new(Float64Array::from(values.to_vec())) };
        assert_eq!(&converted(&floats(&[1.0, -2.0]), Some(ColumnType::Int)).unwrap().0, &ints(&[1, -2]));
        assert!(
            converted(&floats(&[1.0, 1.5]), Some(ColumnType::Int)).unwrap_err().starts_with("1: `1.5` is no")
        );
        assert!(
            converted(&ints(&[9_007_199_254_740_993]), Some(ColumnType::Float))
                .unwrap_err()
                .contains("rounded")
        );
        let unsigned: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        assert!(converted(&unsigned, None).unwrap_err().starts_with("0: `18446744073709551615`"));
        let (array, not_numbers) = converted(&floats(&[f64::NAN, 1.0]), None).unwrap();
        assert_eq!((array.null_count(), not_numbers), (1, 1));
        assert!(converted(&floats(&[1.0, f64::INFINITY]), None).unwrap_err().starts_with("1: an infinite"));
    }

    #[test]
    fn text_is_read_and_other_kinds_are_refused() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("7"), None, Some("x")]));
        assert_eq!(&converted(&texts.slice(0, 1), Some(ColumnType::Int)).unwrap().0, &ints(&[7]));
        assert_eq!(converted(&texts, Some(ColumnType::Int)).unwrap_err(), "2: `x` is no int");
        let problem = converted(&ints(&[1]), Some(ColumnType::Bool)).unwrap_err();
        assert_eq!(problem, "the column `a` is of type int, which is no bool");
    }
}
