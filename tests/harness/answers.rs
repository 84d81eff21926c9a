//! Arrow batches as rows of [`Value`]s, and back.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Float64Array, Int8Array, Int64Array,
    ListArray, NullArray, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow::datatypes::{DataType, Field, Float32Type, Schema};

use crate::value::{Row, Value};

/// The rows of a batch, as the engine's `Rows::batch` and the server's Arrow frames shape it.
pub fn rows_of(batch: &RecordBatch) -> Vec<Row> {
    let schema = batch.schema();
    let columns: Vec<Vec<Value>> = batch
        .columns()
        .iter()
        .zip(schema.fields())
        .map(|(column, field)| (0..column.len()).map(|row| value_at(column, field, row)).collect())
        .collect();
    (0..batch.num_rows()).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect()
}

/// One value of a column. Panics on a type that no answer has.
fn value_at(column: &ArrayRef, field: &Field, row: usize) -> Value {
    if column.is_null(row) || column.data_type() == &DataType::Null {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Int64 => Value::Int(typed::<Int64Array>(column).value(row)),
        DataType::Float64 => Value::Float(typed::<Float64Array>(column).value(row)),
        DataType::Boolean => Value::Bool(typed::<BooleanArray>(column).value(row)),
        DataType::Timestamp(_, _) => Value::Timestamp(typed::<TimestampMillisecondArray>(column).value(row)),
        DataType::Utf8 => {
            let text = typed::<StringArray>(column).value(row);
            match field.metadata().get("stratalog.type").map(String::as_str) {
                Some("any" | "list") => mixed(text),
                _ => Value::text(text),
            }
        }
        DataType::List(_) => elements(&typed::<ListArray>(column).value(row)),
        DataType::FixedSizeList(_, _) => elements(&typed::<FixedSizeListArray>(column).value(row)),
        other => panic!("no answer has a column of type {other}"),
    }
}

/// A value of a mixed column. Numbers are read by Rust, exactly: serde_json may miss a float by its last bit.
fn mixed(text: &str) -> Value {
    match text.parse::<i64>() {
        Ok(n) => Value::Int(n),
        Err(_) => match text.parse::<f64>() {
            Ok(x) => Value::Float(x),
            Err(_) => from_json(&serde_json::from_str(text).expect("a mixed column holds JSON")),
        },
    }
}

fn elements(array: &ArrayRef) -> Value {
    Value::Vector(match array.data_type() {
        DataType::Int8 => typed::<Int8Array>(array).values().iter().map(|x| f32::from(*x)).collect(),
        _ => typed::<Float32Array>(array).values().to_vec(),
    })
}

fn typed<T: Array + 'static>(array: &ArrayRef) -> &T {
    array.as_any().downcast_ref().expect("an array of the type that it names")
}

/// A JSON value as it travels: numbers without a fraction are integers.
pub fn from_json(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(b) => Value::Bool(*b),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(n) => Value::Int(n),
            None => Value::Float(number.as_f64().expect("a number fits a float")),
        },
        serde_json::Value::String(text) => Value::text(text),
        serde_json::Value::Array(elements) => {
            let float = |x: &serde_json::Value| x.as_f64().filter(|_| x.is_f64()).map(|x| x as f32);
            match elements.iter().map(float).collect() {
                Some(floats) => Value::Vector(floats),
                None => Value::List(elements.iter().map(from_json).collect()),
            }
        }
        serde_json::Value::Object(_) => panic!("no value is an object: {json}"),
    }
}

/// Rows as batches, in order; a batch ends where the kinds of a row do not go with those before it.
pub fn batches_of(rows: &[Row]) -> Vec<RecordBatch> {
    let mut batches = Vec::new();
    let mut start = 0;
    while start < rows.len() {
        let mut types = vec![DataType::Null; rows[start].len()];
        let mut end = start;
        while end < rows.len() {
            let Some(wider) =
                rows[end].iter().zip(&types).map(|(value, so_far)| widen(so_far, value)).collect()
            else {
                break;
            };
            types = wider;
            end += 1;
        }
        batches.push(batch_of(&rows[start..end], &types));
        start = end;
    }
    batches
}

fn widen(so_far: &DataType, value: &Value) -> Option<DataType> {
    let own = match value {
        Value::Null => return Some(so_far.clone()),
        Value::Bool(_) => DataType::Boolean,
        Value::Int(_) => DataType::Int64,
        Value::Float(_) => DataType::Float64,
        Value::Text(_) => DataType::Utf8,
        Value::Vector(_) => DataType::new_list(DataType::Float32, true),
        Value::Timestamp(_) | Value::Bytes(_) | Value::List(_) => {
            panic!("random programs store no such values")
        }
    };
    (so_far == &DataType::Null || so_far == &own).then_some(own)
}

fn batch_of(rows: &[Row], types: &[DataType]) -> RecordBatch {
    // Without names, columns go by position.
    let fields: Vec<Field> = types.iter().map(|t| Field::new("", t.clone(), true)).collect();
    let columns =
        types.iter().enumerate().map(|(i, t)| column_of(rows.iter().map(|row| &row[i]), t)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns follow their types")
}

fn column_of<'a>(values: impl Iterator<Item = &'a Value>, data_type: &DataType) -> ArrayRef {
    match data_type {
        DataType::Boolean => Arc::new(BooleanArray::from_iter(values.map(|value| match value {
            Value::Bool(b) => Some(*b),
            _ => None,
        }))),
        DataType::Int64 => Arc::new(Int64Array::from_iter(values.map(|value| match value {
            Value::Int(n) => Some(*n),
            _ => None,
        }))),
        DataType::Float64 => Arc::new(Float64Array::from_iter(values.map(|value| match value {
            Value::Float(x) => Some(*x),
            _ => None,
        }))),
        DataType::Utf8 => Arc::new(StringArray::from_iter(values.map(|value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        }))),
        DataType::List(_) => {
            let lists = values.map(|value| match value {
                Value::Vector(elements) => Some(elements.iter().map(|x| Some(*x))),
                _ => None,
            });
            Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(lists))
        }
        _ => Arc::new(NullArray::new(values.count())),
    }
}

#[cfg(test)]
mod tests {
    use super::{batches_of, rows_of};
    use crate::value::Value;

    #[test]
    fn rows_survive_the_way_through_arrow() {
        let rows = vec![
            vec![Value::Int(1), Value::Null],
            vec![Value::Null, Value::text("a")],
            vec![Value::Float(1.0), Value::text("b")],
            vec![Value::Bool(true), Value::Null],
        ];
        let batches = batches_of(&rows);
        assert_eq!(batches.len(), 3);
        assert_eq!(batches.iter().flat_map(rows_of).collect::<Vec<_>>(), rows);
    }
}
