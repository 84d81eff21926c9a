//! Rows as JSON text, straight from Arrow columns: one writer a column, chosen once, and no value in between.

use arrow::array::{Array, AsArray, BooleanArray, FixedSizeListArray, Float32Array, Int8Array, ListArray};
use arrow::array::{PrimitiveArray, StringArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float32Type, Float64Type, Int8Type, Int64Type, TimeUnit,
    TimestampMillisecondType,
};
use arrow::record_batch::RecordBatch;
use serde::Serialize;

/// The mark of a column of several types, or of lists, whose cells are JSON text already.
const MARK: &str = "stratalog.type";

/// Writes rows of one batch.
pub(super) struct RowWriter<'a> {
    columns: Vec<Box<dyn Cells + 'a>>,
}

/// A column whose type this module does not know.
#[derive(Debug)]
pub(super) struct UnknownType(pub(super) DataType);

impl<'a> RowWriter<'a> {
    /// Chooses a writer for each column.
    pub(super) fn new(batch: &'a RecordBatch) -> Result<RowWriter<'a>, UnknownType> {
        let schema = batch.schema_ref();
        let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
            let mark = field.metadata().get(MARK).map(String::as_str);
            cells(column.as_ref(), matches!(mark, Some("any" | "list")))
        });
        Ok(RowWriter { columns: columns.collect::<Result<_, _>>()? })
    }

    /// Writes one row as a JSON array.
    pub(super) fn write(&self, row: usize, json: &mut Vec<u8>) {
        json.push(b'[');
        for (number, column) in self.columns.iter().enumerate() {
            if number > 0 {
                json.push(b',');
            }
            column.write(row, json);
        }
        json.push(b']');
    }
}

/// One column, cell by cell.
trait Cells {
    fn write(&self, row: usize, json: &mut Vec<u8>);
}

fn cells<'a>(column: &'a dyn Array, any: bool) -> Result<Box<dyn Cells + 'a>, UnknownType> {
    let unknown = || UnknownType(column.data_type().clone());
    Ok(match column.data_type() {
        DataType::Null => Box::new(Nulls),
        DataType::Boolean => Box::new(Booleans(column.as_boolean())),
        DataType::Int64 => Box::new(Numbers(column.as_primitive::<Int64Type>())),
        DataType::Float64 => Box::new(Numbers(column.as_primitive::<Float64Type>())),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            Box::new(Numbers(column.as_primitive::<TimestampMillisecondType>()))
        }
        DataType::Utf8 if any => Box::new(Raw(column.as_string::<i32>())),
        DataType::Utf8 => Box::new(Text(column.as_string::<i32>())),
        DataType::List(item) => {
            let lists: &ListArray = column.as_list::<i32>();
            match item.data_type() {
                DataType::Float32 => Box::new(Vectors(lists, lists.values().as_primitive::<Float32Type>())),
                DataType::Int8 => Box::new(Int8Vectors(lists, lists.values().as_primitive::<Int8Type>())),
                _ => return Err(unknown()),
            }
        }
        DataType::FixedSizeList(item, _) if *item.data_type() == DataType::Float32 => {
            let lists = column.as_fixed_size_list();
            Box::new(FixedVectors(lists, lists.values().as_primitive::<Float32Type>()))
        }
        _ => return Err(unknown()),
    })
}

struct Nulls;
struct Booleans<'a>(&'a BooleanArray);
struct Numbers<'a, T: ArrowPrimitiveType>(&'a PrimitiveArray<T>);
struct Text<'a>(&'a StringArray);
struct Raw<'a>(&'a StringArray);
struct Vectors<'a>(&'a ListArray, &'a Float32Array);
struct Int8Vectors<'a>(&'a ListArray, &'a Int8Array);
struct FixedVectors<'a>(&'a FixedSizeListArray, &'a Float32Array);

impl Cells for Nulls {
    fn write(&self, _row: usize, json: &mut Vec<u8>) {
        write_null(json);
    }
}

impl Cells for Booleans<'_> {
    fn write(&self, row: usize, json: &mut Vec<u8>) {
        match (self.0.is_null(row), self.0.value(row)) {
            (true, _) => write_null(json),
            (false, true) => json.extend_from_slice(b"true"),
            (false, false) => json.extend_from_slice(b"false"),
        }
    }
}

impl<T: ArrowPrimitiveType<Native: Serialize>> Cells for Numbers<'_, T> {
    fn write(&self, row: usize, json: &mut Vec<u8>) {
        if self.0.is_null(row) { write_null(json) } else { write_plain(&self.0.value(row), json) }
    }
}

impl Cells for Text<'_> {
    fn write(&self, row: usize, json: &mut Vec<u8>) {
        if self.0.is_null(row) { write_null(json) } else { write_plain(self.0.value(row), json) }
    }
}

impl Cells for Raw<'_> {
    fn write(&self, row: usize, json: &mut Vec<u8>) {
        if self.0.is_null(row) {
            write_null(json);
        } else {
            json.extend_from_slice(self.0.value(row).as_bytes());
        }
    }
}

impl Cells for Vectors<'_> {
    fn write(&self, row: usize, json: &mut Vec<u8>) {
        if self.0.is_null(row) {
            return write_null(json);
        }
        write_vector(self.1, range(self.0.value_offsets(), row), json);
    }
}

impl Cells for Int8Vectors<'_> {
    fn write(&self, row: usize, json: &mut Vec<u8>) {
        if self.0.is_null(row) {
            return write_null(json);
        }
        write_plain(&self.1.values()[range(self.0.value_offsets(), row)], json);
    }
}

impl Cells for FixedVectors<'_> {
    fn write(&self, row: usize, json: &mut Vec<u8>) {
        if self.0.is_null(row) {
            return write_null(json);
        }
        let start = self.0.value_offset(row) as usize;
        write_vector(self.1, start..start + self.0.value_length() as usize, json);
    }
}

fn range(offsets: &[i32], row: usize) -> std::ops::Range<usize> {
    offsets[row] as usize..offsets[row + 1] as usize
}

/// Elements are widened to 64 bits, so that a reader gets the very number that is stored.
fn write_vector(elements: &Float32Array, range: std::ops::Range<usize>, json: &mut Vec<u8>) {
    json.push(b'[');
    for (number, element) in elements.values()[range].iter().enumerate() {
        if number > 0 {
            json.push(b',');
        }
        write_plain(&f64::from(*element), json);
    }
    json.push(b']');
}

fn write_null(json: &mut Vec<u8>) {
    json.extend_from_slice(b"null");
}

/// Numbers, strings and slices of them. Floats have a fraction or an exponent; those that JSON lacks become `null`.
pub(super) fn write_plain<T: Serialize + ?Sized>(value: &T, json: &mut Vec<u8>) {
    // Neither these values nor a buffer in memory can fail.
    let _ = serde_json::to_writer(json, value);
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use arrow::array::{
        ArrayRef, BooleanArray, FixedSizeListBuilder, Float32Builder, Float64Array, Int8Builder, Int32Array,
        Int64Array, ListBuilder, NullArray, StringArray, TimestampMillisecondArray,
    };
    use arrow::datatypes::{Field, Schema};
    use arrow::record_batch::RecordBatch;

    use super::RowWriter;

    fn written(column: ArrayRef, any: bool) -> String {
        let mut field = Field::new("c", column.data_type().clone(), true);
        if any {
            field = field.with_metadata(HashMap::from([("stratalog.type".to_owned(), "any".to_owned())]));
        }
        let rows = column.len();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column]).unwrap();
        let mut json = Vec::new();
        let writer = RowWriter::new(&batch).unwrap();
        (0..rows).for_each(|row| writer.write(row, &mut json));
        String::from_utf8(json).unwrap()
    }

    #[test]
    fn integers_are_exact_and_floats_show_that_they_are_floats() {
        let ints = Int64Array::from(vec![Some(i64::MIN), Some(i64::MAX), None]);
        assert_eq!(written(Arc::new(ints), false), "[-9223372036854775808][9223372036854775807][null]");
        let floats = Float64Array::from(vec![2.0, -0.0, 0.1, 1e300, 5e-324, f64::NAN]);
        assert_eq!(written(Arc::new(floats), false), "[2.0][-0.0][0.1][1e+300][5e-324][null]");
    }

    #[test]
    fn text_is_escaped_and_mixed_cells_are_json_already() {
        let text = || Arc::new(StringArray::from(vec![Some("a\"\\\n\u{1}é"), None]));
        assert_eq!(written(text(), false), "[\"a\\\"\\\\\\n\\u0001é\"][null]");
        let mixed = StringArray::from(vec![Some("1"), Some("\"one\""), None, Some("[1.0]")]);
        assert_eq!(written(Arc::new(mixed), true), "[1][\"one\"][null][[1.0]]");
    }

    #[test]
    fn booleans_nulls_and_timestamps_are_plain() {
        assert_eq!(
            written(Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])), false),
            "[true][false][null]"
        );
        assert_eq!(written(Arc::new(NullArray::new(2)), false), "[null][null]");
        let times = TimestampMillisecondArray::from(vec![1_700_000_000_123]).with_timezone("UTC");
        assert_eq!(written(Arc::new(times), false), "[1700000000123]");
    }

    #[test]
    fn vectors_of_every_form_are_arrays() {
        let mut lists = ListBuilder::new(Float32Builder::new());
        lists.append_value([Some(1.0), Some(0.1)]);
        lists.append_value([]);
        lists.append_null();
        assert_eq!(written(Arc::new(lists.finish()), false), "[[1.0,0.10000000149011612]][[]][null]");

        let mut fixed = FixedSizeListBuilder::new(Float32Builder::new(), 2);
        fixed.values().append_slice(&[1.0, 2.5]);
        fixed.append(true);
        fixed.values().append_slice(&[0.0, 0.0]);
        fixed.append(false);
        assert_eq!(written(Arc::new(fixed.finish()), false), "[[1.0,2.5]][null]");

        let mut bytes = ListBuilder::new(Int8Builder::new());
        bytes.append_value([Some(-128), Some(127)]);
        assert_eq!(written(Arc::new(bytes.finish()), false), "[[-128,127]]");
    }

    #[test]
    fn a_sliced_batch_writes_its_own_rows() {
        let mut lists = ListBuilder::new(Float32Builder::new());
        lists.append_value([Some(1.0)]);
        lists.append_value([Some(2.0), Some(3.0)]);
        let lists: ArrayRef = Arc::new(lists.finish());
        assert_eq!(written(lists.slice(1, 1), false), "[[2.0,3.0]]");
    }

    #[test]
    fn a_type_that_the_engine_does_not_send_is_named() {
        let column: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        let schema = Schema::new(vec![Field::new("c", column.data_type().clone(), true)]);
        let batch = RecordBatch::try_new(Arc::new(schema), vec![column]).unwrap();
        assert_eq!(RowWriter::new(&batch).err().unwrap().0, arrow::datatypes::DataType::Int32);
    }
}
