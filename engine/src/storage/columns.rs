//! Rows as Arrow record batches of values and back, without loss: the one form in which facts are stored.
//!
//! A column of one type is an Arrow column of that type. A column of several types is text, the JSON of each value, and
//! a second column says the kinds: JSON alone does not tell a timestamp from an integer. A relation without columns
//! has a column of `true`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray, UInt8Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};

use super::types::type_name;
use crate::data::arrow_columns::Pass;
use crate::data::{
    Code, Codec, DataType, Dictionary, Kind, NULL, Rows, Value, ValueRef, arrow_columns, parallel,
};

/// At most so many rows stand in a batch,
const BATCH_ROWS: usize = 1 << 16;
/// and text of about so many bytes, so that offsets of 32 bits suffice.
const BATCH_BYTES: usize = 64 << 20;

/// Field metadata: the name of the column's type.
const TYPE: &str = "stratalog.type";
/// Field metadata: the position of the mixed column whose kinds these are.
const KINDS_OF: &str = "stratalog.kinds_of";
/// Field metadata: stands for a relation without columns.
const NO_COLUMNS: &str = "stratalog.no_columns";

/// Rows of codes on their way to disk, in batches.
pub struct StoredColumns<'a> {
    columns: &'a [&'a [Code]],
    rows: usize,
    codec: &'a Codec,
    types: Vec<DataType>,
    schema: SchemaRef,
    batch_rows: usize,
}

impl<'a> StoredColumns<'a> {
    /// So many rows of these columns; of none in a relation without columns.
    pub fn of(
        columns: &'a [&'a [Code]],
        rows: usize,
        names: &[String],
        codec: &'a Codec,
    ) -> StoredColumns<'a> {
        let found = parallel::map(columns.to_vec(), |codes| {
            let data_type = arrow_columns::type_of_codes(codes, codec);
            (data_type, longest(codes, data_type, codec))
        });
        let (types, lengths): (Vec<DataType>, Vec<usize>) = found.into_iter().unzip();
        let mut fields: Vec<Field> = types
            .iter()
            .zip(names)
            .map(|(data_type, name)| {
                let metadata = HashMap::from([(TYPE.to_owned(), type_name(*data_type))]);
                Field::new(name, data_type.arrow(), true).with_metadata(metadata)
            })
            .collect();
        for (position, name) in names.iter().enumerate().filter(|(i, _)| types[*i] == DataType::Any) {
            let metadata = HashMap::from([(KINDS_OF.to_owned(), position.to_string())]);
            fields
                .push(Field::new(format!("kind of {name}"), ArrowType::UInt8, false).with_metadata(metadata));
        }
        if fields.is_empty() {
            let metadata = HashMap::from([(NO_COLUMNS.to_owned(), String::new())]);
            fields.push(Field::new("exists", ArrowType::Boolean, false).with_metadata(metadata));
        }
        let row_bytes: usize = lengths.iter().sum();
        let batch_rows = (BATCH_BYTES / row_bytes.max(1)).clamp(1, BATCH_ROWS);
        StoredColumns { columns, rows, codec, types, schema: Arc::new(Schema::new(fields)), batch_rows }
    }

    /// The schema of all batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many batches there are.
    pub fn count(&self) -> usize {
        self.rows.div_ceil(self.batch_rows)
    }

    /// One of the batches, counted from 0.
    pub fn batch(&self, number: usize) -> RecordBatch {
        let start = number * self.batch_rows;
        let rows = start..self.rows.min(start + self.batch_rows);
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for (codes, data_type) in self.columns.iter().zip(&self.types) {
            arrays.push(arrow_columns::decode(&codes[rows.clone()], self.codec, *data_type));
        }
        for (codes, _) in self.columns.iter().zip(&self.types).filter(|(_, t)| **t == DataType::Any) {
            let kinds = codes[rows.clone()].iter().map(|code| self.codec.kind(*code) as u8);
            arrays.push(Arc::new(UInt8Array::from_iter_values(kinds)));
        }
        if arrays.is_empty() {
            arrays.push(Arc::new(BooleanArray::from(vec![true; rows.len()])));
        }
        // Arrays are made by the same table of types as the schema, and equally long.
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).expect("arrays as the schema says")
    }
}

/// Bytes of the longest value of a column; an estimate that is never too low.
fn longest(codes: &[Code], data_type: DataType, codec: &Codec) -> usize {
    let elements = |n: Option<u32>| n.map_or(0, |n| n as usize * 4);
    match data_type {
        DataType::Vector(Some(n)) | DataType::VectorInt8(Some(n)) => elements(Some(n)),
        DataType::Unknown | DataType::Int | DataType::Float | DataType::Bool | DataType::Timestamp => 8,
        DataType::Text | DataType::Any | DataType::Vector(None) | DataType::VectorInt8(None) => {
            let bytes = codes.iter().map(|code| match codec.value(*code) {
                // A control character takes six bytes as JSON.
                ValueRef::Text(text) if data_type == DataType::Any => 2 + 6 * text.len(),
                ValueRef::Text(text) => text.len(),
                ValueRef::Vector(vector) => 24 * vector.len(),
                ValueRef::VectorInt8(vector) => 6 * vector.len(),
                _ => 24,
            });
            bytes.max().unwrap_or(0)
        }
    }
}

/// Whether a batch says more than its columns: the kinds of mixed values, or that there are no columns.
pub fn has_marks(batch: &RecordBatch) -> bool {
    let mark = |field: &Arc<Field>| {
        field.metadata().contains_key(KINDS_OF) || field.metadata().contains_key(NO_COLUMNS)
    };
    batch.schema().fields().iter().any(mark)
}

/// The rows of a batch of [`StoredColumns`], in codes of a dictionary that learns what it does not know.
pub fn rows_of(batch: &RecordBatch, dictionary: &Dictionary) -> Result<Rows, String> {
    let schema = batch.schema();
    let mut kinds: HashMap<usize, &UInt8Array> = HashMap::new();
    let mut arrays = Vec::new();
    for (field, array) in schema.fields().iter().zip(batch.columns()) {
        if let Some(position) = field.metadata().get(KINDS_OF) {
            let position = position.parse().map_err(|_| "a column of kinds without its column")?;
            let array = array.as_any().downcast_ref().ok_or("a column of kinds that are no numbers")?;
            kinds.insert(position, array);
        } else if !field.metadata().contains_key(NO_COLUMNS) {
            arrays.push((field, array));
        }
    }
    let mut rows = Rows { columns: Vec::with_capacity(arrays.len()), len: batch.num_rows() };
    for (position, (field, array)) in arrays.into_iter().enumerate() {
        let mixed = field.metadata().get(TYPE).is_some_and(|name| *name == type_name(DataType::Any));
        rows.columns.push(if mixed {
            let kinds = kinds.get(&position).ok_or("a mixed column without kinds")?;
            mixed_column(array, kinds, dictionary)?
        } else {
            let encoded = arrow_columns::encode(array, dictionary, Pass::All, usize::MAX);
            encoded.map_err(|error| error.to_string())?.0
        });
    }
    Ok(rows)
}

fn mixed_column(array: &ArrayRef, kinds: &UInt8Array, dictionary: &Dictionary) -> Result<Vec<Code>, String> {
    let texts = cast(array, &ArrowType::Utf8).map_err(|error| error.to_string())?;
    let texts = texts.as_any().downcast_ref::<StringArray>().ok_or("a mixed column that is no text")?;
    let code = |(text, kind): (Option<&str>, u8)| match text {
        None => Ok(NULL),
        Some(text) => {
            let value = mixed_value(text, kind).ok_or_else(|| format!("`{text}` of kind {kind}"))?;
            dictionary.store(value.as_ref()).map_err(|error| error.to_string())
        }
    };
    texts.iter().zip(kinds.values().iter().copied()).map(code).collect()
}

fn mixed_value(text: &str, kind: u8) -> Option<Value> {
    let json = |text| serde_json::from_str(text).ok();
    Some(match Kind::from_number(kind)? {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(text.parse().ok()?),
        Kind::Int => Value::Int(text.parse().ok()?),
        Kind::Float => Value::Float(text.parse().ok()?),
        Kind::Timestamp => Value::Timestamp(text.parse().ok()?),
        Kind::Text => Value::text(serde_json::from_str::<String>(text).ok()?),
        Kind::Vector => {
            let elements: Vec<f64> = json(text)?;
            Value::Vector(elements.into_iter().map(|x| x as f32).collect())
        }
        Kind::VectorInt8 => Value::VectorInt8(serde_json::from_str::<Vec<i8>>(text).ok()?.into()),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{StoredColumns, rows_of};
    use crate::data::{Code, Codec, Dictionary, Value};

    /// Values of every kind, the odd ones among them.
    fn odd_values() -> Vec<Value> {
        let mut values = vec![
            Value::Null,
            Value::Bool(true),
            Value::Bool(false),
            Value::Vector([].into()),
            Value::Vector([1.5, -0.0, f32::MIN_POSITIVE, f32::MAX, 0.1].into()),
            Value::VectorInt8([].into()),
            Value::VectorInt8([-128, 0, 127].into()),
        ];
        for n in [0, 1, -1, i64::MIN, i64::MAX, 1 << 31, (1 << 53) + 1] {
            values.extend([Value::Int(n), Value::Timestamp(n)]);
        }
        for x in [0.0, -0.0, 1.0, 0.1, f64::MAX, -f64::MIN_POSITIVE, 5e-324, 1e300] {
            values.push(Value::Float(x));
        }
        for text in ["", "a", "\"\\\u{0}\u{1f}\n", "żółw 🐢", "null", "1", "[1.0]"] {
            values.push(Value::text(text));
        }
        values
    }

    /// Stores columns and reads them into an empty dictionary.
    fn round_trip(columns: &[Vec<Value>]) -> Vec<Vec<Value>> {
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        let store = |value: &Value| codec.shared().store(value.as_ref()).unwrap();
        let codes: Vec<Vec<Code>> = columns.iter().map(|column| column.iter().map(store).collect()).collect();
        let slices: Vec<&[Code]> = codes.iter().map(Vec::as_slice).collect();
        let names: Vec<String> = (0..columns.len()).map(|i| format!("c{i}")).collect();
        let stored = StoredColumns::of(&slices, codes[0].len(), &names, &codec);
        let back = Codec::over(Arc::new(Dictionary::shared()));
        // Something else comes first, so that codes differ.
        back.shared().store(Value::text("first").as_ref()).unwrap();
        let mut read = vec![Vec::new(); columns.len()];
        for number in 0..stored.count() {
            let rows = rows_of(&stored.batch(number), back.shared()).unwrap();
            for (column, codes) in read.iter_mut().zip(rows.columns) {
                column.extend(codes.into_iter().map(|code| back.value(code).to_value()));
            }
        }
        read
    }

    #[test]
    fn values_of_all_kinds_come_back_from_one_column() {
        let column = odd_values();
        assert_eq!(round_trip(std::slice::from_ref(&column)), [column]);
    }

    #[test]
    fn values_of_each_kind_come_back_from_a_column_of_that_kind() {
        for value in odd_values() {
            let of_kind: Vec<Value> =
                odd_values().into_iter().filter(|other| other.kind() == value.kind()).collect();
            let with_null = [of_kind.clone(), vec![Value::Null]].concat();
            assert_eq!(
                round_trip(&[
                    with_null.clone(),
                    of_kind.iter().cycle().take(with_null.len()).cloned().collect()
                ])[0],
                with_null
            );
            assert_eq!(round_trip(std::slice::from_ref(&of_kind)), [of_kind]);
            assert_eq!(round_trip(&[vec![value.clone()]]), [vec![value]]);
        }
    }

    #[test]
    fn long_texts_make_small_batches() {
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        let code = codec.shared().store(Value::text("x".repeat(1 << 20)).as_ref()).unwrap();
        let codes = vec![code; 100];
        let columns: [&[Code]; 1] = [&codes];
        let names = ["text".to_owned()];
        let stored = StoredColumns::of(&columns, 100, &names, &codec);
        let rows = (0..stored.count()).map(|number| stored.batch(number).num_rows());
        assert_eq!(rows.collect::<Vec<_>>(), [64, 36]);
    }

    #[test]
    fn rows_without_columns_are_counted() {
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        let stored = StoredColumns::of(&[], 1, &[], &codec);
        let rows = rows_of(&stored.batch(0), codec.shared()).unwrap();
        assert_eq!((rows.len, rows.columns.len(), stored.count()), (1, 0, 1));
    }
}
