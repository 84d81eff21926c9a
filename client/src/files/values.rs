//! Arrow batches as rows of values.

use super::arrays::{self, Numbers};
use super::column_type::ColumnType;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Field, Float32Type, Float64Type, Int8Type, Int64Type, TimeUnit, TimestampMillisecondType,
};
use arrow::error::ArrowError;
use stratalog_engine::data::time;
use stratalog_protocol::Value;

/// The rows of a batch. Times are integers, milliseconds since 1970, as they are in [`Answer`](crate::Answer).
pub fn rows(batch: &RecordBatch) -> Result<Vec<Vec<Value>>, ArrowError> {
    convert(batch, Purpose::Values)
}

/// The same to be shown: times as text, such as `2026-11-21T18:30:00Z`, where their year has four digits, and the elements of vectors with no more digits than
/// their 32 bits have.
pub fn rows_with_times(batch: &RecordBatch) -> Result<Vec<Vec<Value>>, ArrowError> {
    convert(batch, Purpose::Text)
}

/// What values are made for.
#[derive(Clone, Copy)]
enum Purpose {
    Values,
    Text,
}

fn convert(batch: &RecordBatch, purpose: Purpose) -> Result<Vec<Vec<Value>>, ArrowError> {
    let mut rows: Vec<Vec<Value>> = vec![Vec::with_capacity(batch.num_columns()); batch.num_rows()];
    for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
        let value = reader(field, array, purpose)?;
        for (at, row) in rows.iter_mut().enumerate() {
            row.push(if array.is_null(at) { Value::Null } else { value(at) });
        }
    }
    Ok(rows)
}

/// Reads the value at an index of a column; those that are null are not asked for.
fn reader<'a>(
    field: &Field,
    array: &'a ArrayRef,
    purpose: Purpose,
) -> Result<Box<dyn Fn(usize) -> Value + 'a>, ArrowError> {
    let any = ColumnType::marked(field).is_some();
    let numbers = match ColumnType::marked(field) {
        Some(ColumnType::List) => Numbers::AsTheyAre,
        _ => Numbers::FloatsInVectors,
    };
    Ok(match array.data_type() {
        DataType::Null => Box::new(|_| Value::Null),
        DataType::Boolean => {
            let array = array.as_boolean();
            Box::new(|at| Value::Bool(array.value(at)))
        }
        DataType::Int64 => {
            let array = array.as_primitive::<Int64Type>();
            Box::new(|at| Value::Int(array.value(at)))
        }
        DataType::Float64 => {
            let array = array.as_primitive::<Float64Type>();
            Box::new(|at| Value::Float(array.value(at)))
        }
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Box::new(move |at| {
                let text = array.value(at);
                match (any, purpose) {
                    (false, _) => Value::Text(text.to_owned()),
                    (true, Purpose::Values) => as_elsewhere(of_json(text)),
                    (true, Purpose::Text) => told_apart(text, numbers),
                }
            })
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            let array = array.as_primitive::<TimestampMillisecondType>();
            Box::new(move |at| match purpose {
                Purpose::Values => Value::Int(array.value(at)),
                Purpose::Text => {
                    let milliseconds = array.value(at);
                    time::write(milliseconds).map_or(Value::Int(milliseconds), Value::Text)
                }
            })
        }
        DataType::List(_) => {
            let array = array.as_list::<i32>();
            Box::new(move |at| vector(&array.value(at), purpose))
        }
        DataType::FixedSizeList(_, _) => {
            let array = array.as_fixed_size_list();
            Box::new(move |at| vector(&array.value(at), purpose))
        }
        other => {
            return Err(ArrowError::NotYetImplemented(format!("a column of type {other} as values")));
        }
    })
}

/// The value that the JSON in a column of several types stands for.
fn of_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::Text(text.to_owned()))
}

/// The same, with lists told from vectors by their marks.
fn told_apart(text: &str, numbers: Numbers) -> Value {
    let json = arrays::parse(text).map_err(|error| error.to_string());
    json.and_then(|json| arrays::value(&json, numbers)).unwrap_or_else(|_| Value::Text(text.to_owned()))
}

/// The elements of vectors as they are in columns of vectors: of 32 bits.
fn as_elsewhere(value: Value) -> Value {
    match value {
        Value::Vector(elements) => Value::Vector(elements.into_iter().map(|x| f64::from(x as f32)).collect()),
        other => other,
    }
}

fn vector(elements: &ArrayRef, purpose: Purpose) -> Value {
    let widened = |element: &f32| match purpose {
        Purpose::Values => f64::from(*element),
        Purpose::Text => element.to_string().parse().unwrap_or(f64::from(*element)),
    };
    match elements.data_type() {
        DataType::Float32 => {
            Value::Vector(elements.as_primitive::<Float32Type>().values().iter().map(widened).collect())
        }
        // As in JSON: an empty array is a vector, one of integers a list.
        DataType::Int8 if elements.is_empty() => Value::Vector(Vec::new()),
        DataType::Int8 => {
            let elements = elements.as_primitive::<Int8Type>().values();
            Value::List(elements.iter().map(|element| Value::Int(i64::from(*element))).collect())
        }
        _ => match cast(elements, &DataType::Float64) {
            Ok(elements) => Value::Vector(elements.as_primitive::<Float64Type>().values().to_vec()),
            Err(_) => Value::Null,
        },
    }
}
