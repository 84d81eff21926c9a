//! Rows as Arrow record batches of values and back, without loss: the one form in which facts are stored.
//!
//! A column of one type is an Arrow column of that type. A column of several types is text, the JSON of each value, and
//! a second column says the kinds: JSON alone does not tell a timestamp from an integer. A relation without columns
//! has a column of `true`. Long values that come again are written once: see `layout.rs`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, RecordBatch, StringArray, UInt8Array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Field, Int32Type, Schema, SchemaRef};

use super::layout::{Form, Layout, vector_of};
use super::mixed;
use super::types::{type_from_name, type_name};
use crate::data::arrow_columns::Pass;
use crate::data::{Code, Codec, DataType, Dictionary, NULL, Rows, arrow_columns, parallel};

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
    layouts: Vec<Layout>,
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
        form: Form,
    ) -> StoredColumns<'a> {
        let layouts = parallel::map(columns.to_vec(), |codes| Layout::of(codes, codec, form));
        let mut fields: Vec<Field> = layouts
            .iter()
            .zip(names)
            .map(|(layout, name)| {
                let metadata = HashMap::from([(TYPE.to_owned(), type_name(layout.data_type))]);
                Field::new(name, layout.arrow(), true).with_metadata(metadata)
            })
            .collect();
        for (position, name) in names.iter().enumerate().filter(|(i, _)| layouts[*i].is_mixed()) {
            let metadata = HashMap::from([(KINDS_OF.to_owned(), position.to_string())]);
            fields
                .push(Field::new(format!("kind of {name}"), ArrowType::UInt8, false).with_metadata(metadata));
        }
        if fields.is_empty() {
            let metadata = HashMap::from([(NO_COLUMNS.to_owned(), String::new())]);
            fields.push(Field::new("exists", ArrowType::Boolean, false).with_metadata(metadata));
        }
        let schema = Arc::new(Schema::new(fields));
        let batch_rows = batch_rows(&layouts, form);
        StoredColumns { columns, rows, codec, layouts, schema, batch_rows }
    }

    /// The schema of all batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many batches there are.
    pub fn count(&self) -> usize {
        self.rows.div_ceil(self.batch_rows)
    }

    /// Bytes of all batches as Arrow; never too low, but for what says what they are.
    pub fn bytes(&self) -> usize {
        let bytes = |layout: &Layout| match layout.is_once {
            // A batch has no value more often than it has rows.
            true => (layout.bytes * self.count()).min(layout.longest * self.rows + layout.bytes),
            false => layout.bytes,
        };
        let kinds = self.layouts.iter().filter(|layout| layout.is_mixed()).count();
        self.layouts.iter().map(bytes).sum::<usize>() + self.rows * kinds
    }

    /// Bytes of the largest of the batches, about.
    pub fn batch_bytes(&self) -> usize {
        self.bytes() / self.count().max(1)
    }

    /// The columns whose values are written once.
    pub fn once(&self) -> impl Iterator<Item = &str> {
        let fields = self.schema.fields().iter().zip(&self.layouts);
        fields.filter(|(_, layout)| layout.is_once).map(|(field, _)| field.name().as_str())
    }

    /// One of the batches, counted from 0.
    pub fn batch(&self, number: usize) -> RecordBatch {
        let start = number * self.batch_rows;
        let rows = start..self.rows.min(start + self.batch_rows);
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for (codes, layout) in self.columns.iter().zip(&self.layouts) {
            arrays.push(layout.array(&codes[rows.clone()], self.codec));
        }
        for (codes, _) in self.columns.iter().zip(&self.layouts).filter(|(_, layout)| layout.is_mixed()) {
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

/// How many rows stand in a batch at most.
fn batch_rows(layouts: &[Layout], form: Form) -> usize {
    let longest = |once: bool| -> usize {
        layouts.iter().filter(|layout| layout.is_once == once).map(|layout| layout.longest).sum()
    };
    let once: usize = layouts.iter().filter(|layout| layout.is_once).map(|layout| layout.bytes).sum();
    // With fewer values than fit, each batch may have them all.
    let by_once = if once <= form.dictionary_bytes() { 0 } else { longest(true) };
    let by_plain = BATCH_BYTES / longest(false).max(1);
    by_plain.min(form.dictionary_bytes() / by_once.max(1)).clamp(1, BATCH_ROWS)
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
        let data_type = field.metadata().get(TYPE).and_then(|name| type_from_name(name));
        rows.columns.push(match (data_type, field.data_type()) {
            (Some(DataType::Any), found) => {
                let kinds = kinds.get(&position).ok_or("a mixed column without kinds")?;
                match found {
                    ArrowType::Dictionary(..) => mixed_once(array, kinds, dictionary)?,
                    _ => mixed_column(array, kinds, dictionary)?,
                }
            }
            (Some(data_type), ArrowType::Dictionary(_, values)) if **values == ArrowType::Binary => {
                vectors_once(array, data_type, dictionary)?
            }
            _ => {
                let encoded = arrow_columns::encode(array, dictionary, Pass::All, usize::MAX);
                encoded.map_err(|error| error.to_string())?.0
            }
        });
    }
    Ok(rows)
}

fn mixed_column(array: &ArrayRef, kinds: &UInt8Array, dictionary: &Dictionary) -> Result<Vec<Code>, String> {
    let texts = cast(array, &ArrowType::Utf8).map_err(|error| error.to_string())?;
    let texts = texts.as_any().downcast_ref::<StringArray>().ok_or("a mixed column that is no text")?;
    let code =
        |(text, kind): (Option<&str>, u8)| text.map_or(Ok(NULL), |text| mixed_code(text, kind, dictionary));
    texts.iter().zip(kinds.values().iter().copied()).map(code).collect()
}

/// Each text is read once with each kind that it has.
fn mixed_once(array: &ArrayRef, kinds: &UInt8Array, dictionary: &Dictionary) -> Result<Vec<Code>, String> {
    let (numbers, texts) = once::<StringArray>(array)?;
    let mut known: HashMap<(usize, u8), Code> = HashMap::new();
    let code = |(number, kind): (Option<usize>, u8)| {
        let Some(number) = number else { return Ok(NULL) };
        if let Some(code) = known.get(&(number, kind)) {
            return Ok(*code);
        }
        let code = mixed_code(texts.value(number), kind, dictionary)?;
        known.insert((number, kind), code);
        Ok(code)
    };
    numbers.into_iter().zip(kinds.values().iter().copied()).map(code).collect()
}

fn vectors_once(array: &ArrayRef, data_type: DataType, dictionary: &Dictionary) -> Result<Vec<Code>, String> {
    let (numbers, vectors) = once::<BinaryArray>(array)?;
    let codes: Vec<Code> = vectors
        .iter()
        .map(|bytes| vector_of(bytes.unwrap_or_default(), data_type, dictionary))
        .collect::<Result<_, _>>()?;
    Ok(numbers.into_iter().map(|number| number.map_or(NULL, |number| codes[number])).collect())
}

/// The number of each row's value, and the values.
fn once<A: Array + 'static>(array: &ArrayRef) -> Result<(Vec<Option<usize>>, &A), String> {
    let column = array.as_dictionary_opt::<Int32Type>().ok_or("a column whose numbers are none")?;
    let values = column.values().as_any().downcast_ref::<A>().ok_or("a column of unknown values")?;
    Ok((column.keys_iter().collect(), values))
}

fn mixed_code(text: &str, kind: u8, dictionary: &Dictionary) -> Result<Code, String> {
    let value = mixed::value_of(text, kind).ok_or_else(|| format!("`{text}` of kind {kind}"))?;
    dictionary.store(value.as_ref()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::ArrayData;

    use super::{Form, StoredColumns, rows_of};
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
            Value::List([].into()),
            Value::List([Value::Int(1), Value::Float(1.0), Value::Timestamp(1), Value::Null].into()),
            Value::List(
                [
                    Value::text("[\"a\""),
                    Value::Vector([1.0].into()),
                    Value::List([Value::Int(i64::MAX)].into()),
                ]
                .into(),
            ),
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
        round_trip_as(columns, Form::Record)
    }

    fn round_trip_as(columns: &[Vec<Value>], form: Form) -> Vec<Vec<Value>> {
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        let store = |value: &Value| codec.shared().store(value.as_ref()).unwrap();
        let codes: Vec<Vec<Code>> = columns.iter().map(|column| column.iter().map(store).collect()).collect();
        let slices: Vec<&[Code]> = codes.iter().map(Vec::as_slice).collect();
        let names: Vec<String> = (0..columns.len()).map(|i| format!("c{i}")).collect();
        let stored = StoredColumns::of(&slices, codes[0].len(), &names, &codec, form);
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

    /// Texts of so many bytes in `rows` rows, the same ones again after `period`.
    fn texts(codec: &Codec, bytes: usize, rows: usize, period: usize) -> Vec<Code> {
        let text = |number: usize| Value::text(format!("{number}{}", "x".repeat(bytes)));
        let store = |number| codec.shared().store(text(number).as_ref()).unwrap();
        let codes: Vec<Code> = (0..period).map(store).collect();
        codes.into_iter().cycle().take(rows).collect()
    }

    fn bytes_of(data: &ArrayData) -> usize {
        let own: usize = data.buffers().iter().map(arrow::buffer::Buffer::len).sum();
        own + data.child_data().iter().map(bytes_of).sum::<usize>()
    }

    fn batch_sizes(codes: &[Code], codec: &Codec, form: Form) -> (Vec<usize>, usize) {
        let (columns, names): ([&[Code]; 1], _) = ([codes], ["text".to_owned()]);
        let stored = StoredColumns::of(&columns, codes.len(), &names, codec, form);
        let batches: Vec<_> = (0..stored.count()).map(|number| stored.batch(number)).collect();
        let bytes: usize = batches.iter().map(|batch| bytes_of(&batch.column(0).to_data())).sum();
        // Offsets are one more than values in each batch.
        assert!(stored.bytes() + 4 * batches.len() >= bytes, "{} are said, not {bytes}", stored.bytes());
        (batches.iter().map(arrow::array::RecordBatch::num_rows).collect(), bytes)
    }

    #[test]
    fn long_texts_make_small_batches() {
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        let codes = texts(&codec, 1 << 20, 100, 100);
        assert_eq!(batch_sizes(&codes, &codec, Form::Record).0, [63, 37]);
        let twice = [codes.clone(), codes.clone(), codes].concat();
        assert!(batch_sizes(&twice, &codec, Form::Run).0.iter().all(|rows| *rows <= 64));
    }

    #[test]
    fn a_long_text_is_written_once_however_often_it_comes() {
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        let codes = texts(&codec, 1 << 20, 70_000, 3);
        for form in [Form::Record, Form::Run, Form::Export] {
            let (rows, bytes) = batch_sizes(&codes, &codec, form);
            assert_eq!(rows, [65_536, 4_464]);
            assert!(bytes < 8 << 20, "{bytes} bytes");
        }
    }

    #[test]
    fn values_of_all_kinds_come_back_that_are_written_once() {
        let long = |n: u32| {
            vec![
                Value::text(n.to_string().repeat(5_000)),
                Value::Vector((0..2_000).map(|x| (x * n) as f32 * 0.1).collect()),
                Value::VectorInt8((0..2_000).map(|x| (x * n) as i8).collect()),
                Value::Null,
            ]
        };
        let mut all: Vec<Value> = (1..4).flat_map(long).chain(odd_values()).collect();
        // The same text as JSON, of different kinds.
        all.extend([Value::Int(1), Value::Timestamp(1)]);
        let again = [all.clone(), all.clone(), all.clone(), all.clone()].concat();
        for form in [Form::Record, Form::Run, Form::Export] {
            let found = round_trip_as(std::slice::from_ref(&again), form);
            assert_eq!(found, std::slice::from_ref(&again), "{form:?}");
            for value in &all {
                let of_kind = |other: &&Value| other.kind() == value.kind() || **other == Value::Null;
                let column: Vec<Value> = again.iter().filter(of_kind).cloned().collect();
                assert_eq!(round_trip_as(std::slice::from_ref(&column), form), [column], "{form:?}");
            }
        }
    }

    #[test]
    fn rows_without_columns_are_counted() {
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        let stored = StoredColumns::of(&[], 1, &[], &codec, Form::Record);
        let rows = rows_of(&stored.batch(0), codec.shared()).unwrap();
        assert_eq!((rows.len, rows.columns.len(), stored.count()), (1, 0, 1));
    }
}
