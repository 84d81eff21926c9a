//! Columns of codes to Arrow arrays and back: the way in and out of the engine.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float32Array, Float64Array,
    Int8Array, Int64Array, LargeListArray, LargeStringArray, ListArray, NullArray, PrimitiveArray,
    StringArray, StringBuilder, StringViewArray, TimestampMillisecondArray, UInt64Array,
};
use arrow::buffer::{Buffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Field, Float64Type, Int64Type, TimeUnit,
    TimestampMillisecondType,
};

use super::arrow_lists::{Numbers, downcast, encode_lists_of_values, holds_values, takes_room};
use super::codes::{Code, EMPTY, INLINE_END, NULL, inline_int};
use super::dictionary::{Codec, Dictionary, DictionaryFull};
use super::encode_error::EncodeError;
use super::{DataType, Kind, MAX_LIST_DEPTH, Value, ValueRef};
use serde_json::value::RawValue;

/// The narrowest type that holds all of these codes.
pub fn type_of_codes(codes: &[Code], codec: &Codec) -> DataType {
    const { assert!(INLINE_END.is_power_of_two()) };
    if !codes.is_empty() && codes.iter().fold(0, |all, code| all | code) < INLINE_END {
        return DataType::Int;
    }
    let mut found = DataType::Unknown;
    for &code in codes {
        let next = type_of(code, codec);
        if next != found {
            found = found.join(next);
            if found == DataType::Any {
                break;
            }
        }
    }
    found
}

/// Whether no narrower type holds the values of these codes, which this one holds. No more of them are looked at than it takes to see.
pub fn need_type(mut codes: impl Iterator<Item = Code>, data_type: DataType, codec: &Codec) -> bool {
    let mut found = DataType::Unknown;
    codes.any(|code| {
        found = found.join(type_of(code, codec));
        found == data_type
    })
}

fn type_of(code: Code, codec: &Codec) -> DataType {
    match codec.value(code) {
        ValueRef::Vector(elements) => DataType::Vector(u32::try_from(elements.len()).ok()),
        value => DataType::from(value.kind()),
    }
}

/// Where fields say that their column holds values of any type, or lists: text, the JSON of each.
const MARK: &str = "stratalog.type";

/// The mark of fields whose column is declared to hold anything, whatever it holds.
const DECLARED: (&str, &str) = ("stratalog.declared", "any");

/// The field with that mark.
pub fn declared_any(field: &Field) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.insert(DECLARED.0.to_owned(), DECLARED.1.to_owned());
    field.clone().with_metadata(metadata)
}

/// Whether a field has that mark.
pub fn is_declared_any(field: &Field) -> bool {
    field.metadata().contains_key(DECLARED.0)
}

/// The type of a column whose field has a mark: its values travel as JSON.
pub(crate) fn marked(field: &Field) -> Option<DataType> {
    let mark = field.metadata().get(MARK).filter(|_| field.data_type() == &ArrowType::Utf8)?;
    [DataType::Any, DataType::List].into_iter().find(|marked| *mark == marked.to_string())
}

/// The Arrow field of a result column.
pub fn field(name: &str, data_type: DataType) -> Field {
    let field = Field::new(name, data_type.arrow(), true);
    match data_type {
        DataType::List | DataType::Any => {
            field.with_metadata([(MARK.to_owned(), data_type.to_string())].into())
        }
        _ => field,
    }
}

/// Decodes a column whose values are all Null or of this type.
pub fn decode(codes: &[Code], codec: &Codec, data_type: DataType) -> ArrayRef {
    let values = codes.iter().map(|code| codec.value(*code));
    match data_type {
        DataType::Unknown => Arc::new(NullArray::new(codes.len())),
        DataType::Int if codes.iter().all(|code| *code < INLINE_END) => {
            Arc::new(Int64Array::from_iter_values(codes.iter().map(|code| i64::from(*code))))
        }
        DataType::Int => Arc::new(decode_primitive::<Int64Type>(codes, |code| match codec.entry(code) {
            Some(Value::Int(n)) => *n,
            _ => i64::from(code),
        })),
        DataType::Float => Arc::new(decode_primitive::<Float64Type>(codes, |code| match codec.entry(code) {
            Some(Value::Float(x)) => *x,
            _ => 0.0,
        })),
        DataType::Bool => Arc::new(BooleanArray::from_iter(values.map(|value| match value {
            ValueRef::Bool(b) => Some(b),
            _ => None,
        }))),
        DataType::Timestamp => {
            let milliseconds = |code| match codec.entry(code) {
                Some(Value::Timestamp(t)) => *t,
                _ => 0,
            };
            let times = decode_primitive::<TimestampMillisecondType>(codes, milliseconds);
            Arc::new(times.with_timezone("UTC"))
        }
        DataType::Text => {
            let texts: Vec<Option<&str>> = codes
                .iter()
                .map(|code| match codec.entry(*code) {
                    Some(Value::Text(text)) => Some(&**text),
                    _ => None,
                })
                .collect();
            Arc::new(StringArray::from(texts))
        }
        DataType::Vector(length) => decode_vectors(codes, codec, length),
        DataType::VectorInt8(_) => decode_vectors_int8(codes, codec),
        DataType::List | DataType::Any => {
            let numbers = if data_type == DataType::List { Numbers::AsTheyAre } else { Numbers::InVectors };
            let mut texts = StringBuilder::with_capacity(codes.len(), codes.len() * 8);
            let mut text = String::new();
            for value in values {
                if matches!(value, ValueRef::Null) {
                    texts.append_null();
                } else {
                    text.clear();
                    write_json(&mut text, value, numbers);
                    texts.append_value(&text);
                }
            }
            Arc::new(texts.finish())
        }
    }
}

/// Nothing is done between two values that could keep the processor from looking many of them up at once.
fn decode_primitive<T: ArrowPrimitiveType>(
    codes: &[Code],
    native: impl Fn(Code) -> T::Native,
) -> PrimitiveArray<T> {
    let values: Vec<T::Native> = codes.iter().map(|code| native(*code)).collect();
    let valid = codes.contains(&NULL).then(|| codes.iter().map(|code| *code != NULL).collect());
    PrimitiveArray::new(values.into(), valid)
}

fn decode_vectors(codes: &[Code], codec: &Codec, length: Option<u32>) -> ArrayRef {
    let mut elements: Vec<f32> = Vec::new();
    let mut lengths = Vec::with_capacity(codes.len());
    let mut valid = Vec::with_capacity(codes.len());
    for code in codes {
        let before = elements.len();
        match codec.value(*code) {
            ValueRef::Vector(vector) => {
                elements.extend_from_slice(vector);
                valid.push(true);
            }
            _ => {
                elements.extend(std::iter::repeat_n(0.0, length.unwrap_or(0) as usize));
                valid.push(false);
            }
        }
        lengths.push(elements.len() - before);
    }
    let item = Arc::new(Field::new("item", ArrowType::Float32, false));
    let elements = Arc::new(Float32Array::from(elements));
    let nulls = Some(valid.into());
    match length.filter(|n| *n > 0).and_then(|n| i32::try_from(n).ok()) {
        Some(n) => Arc::new(FixedSizeListArray::new(item, n, elements, nulls)),
        None => Arc::new(ListArray::new(item, OffsetBuffer::from_lengths(lengths), elements, nulls)),
    }
}

fn decode_vectors_int8(codes: &[Code], codec: &Codec) -> ArrayRef {
    let mut elements: Vec<i8> = Vec::new();
    let mut lengths = Vec::with_capacity(codes.len());
    let mut valid = Vec::with_capacity(codes.len());
    for code in codes {
        let before = elements.len();
        if let ValueRef::VectorInt8(vector) = codec.value(*code) {
            elements.extend_from_slice(vector);
            valid.push(true);
        } else {
            valid.push(false);
        }
        lengths.push(elements.len() - before);
    }
    let item = Arc::new(Field::new("item", ArrowType::Int8, false));
    let offsets = OffsetBuffer::from_lengths(lengths);
    Arc::new(ListArray::new(item, offsets, Arc::new(Int8Array::from(elements)), Some(valid.into())))
}

/// The JSON text of a value, as it stands in a mixed column. Where an array would be read as something else, it has a mark,
/// which others take for a blank: a list begins with a tab, and a vector ends with one.
pub(crate) fn write_json(out: &mut String, value: ValueRef<'_>, numbers: Numbers) {
    // Writing to a `String` cannot fail.
    let _ = match value {
        ValueRef::Text(text) => {
            out.push('"');
            for c in text.chars() {
                match c {
                    '"' => out.push_str("\\\""),
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    c if (c as u32) < 0x20 => {
                        let _ = write!(out, "\\u{:04x}", c as u32);
                    }
                    c => out.push(c),
                }
            }
            out.push('"');
            Ok(())
        }
        ValueRef::Timestamp(milliseconds) => write!(out, "{milliseconds}"),
        ValueRef::List(elements) => {
            let is_number =
                |element: &Value| matches!(element, Value::Int(_) | Value::Float(_) | Value::Timestamp(_));
            let is_marked = numbers == Numbers::InVectors && elements.iter().all(is_number);
            out.push_str(if is_marked { "[\t" } else { "[" });
            for (i, element) in elements.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_json(out, element.as_ref(), numbers);
            }
            out.push(']');
            Ok(())
        }
        ValueRef::Vector(elements) if numbers == Numbers::AsTheyAre && !elements.is_empty() => {
            let _ = write!(out, "{value}");
            out.truncate(out.len() - 1);
            out.push_str("\t]");
            Ok(())
        }
        // All other literals of the language are JSON.
        value => write!(out, "{value}"),
    };
}

/// Encodes a column that is [`marked`].
pub(crate) fn encode_mixed(
    array: &ArrayRef,
    numbers: Numbers,
    dictionary: &Dictionary,
    string_limit: usize,
) -> Result<Vec<Code>, EncodeError> {
    let unsupported = || EncodeError::Unsupported { found: array.data_type().clone() };
    let texts = downcast::<StringArray>(array).ok_or_else(unsupported)?;
    let code = |text: Option<&str>| {
        let Some(text) = text else { return Ok(NULL) };
        let value = value_of_json(text, numbers, 0)
            .ok_or_else(|| EncodeError::NotJson { text: text.chars().take(40).collect() })?;
        match value.as_ref() {
            ValueRef::Text(text) if text.len() > string_limit => {
                Err(EncodeError::StringTooLong { length: text.len(), limit: string_limit })
            }
            value => Ok(dictionary.store(value)?),
        }
    };
    texts.iter().map(code).collect()
}

/// The value that JSON stands for; a number without a fraction is an integer, an array of numbers a vector if no mark says
/// otherwise, and any other array a list. `None` where it stands for none.
fn value_of_json(text: &str, numbers: Numbers, depth: usize) -> Option<Value> {
    if depth > MAX_LIST_DEPTH {
        return None;
    }
    if text.trim_start().starts_with('[') {
        let parts: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        let is_number = |part: &&RawValue| part.get().starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let (begins, ends) = (text.trim_start().starts_with("[\t"), text.trim_end().ends_with("\t]"));
        let is_list = match (begins, ends) {
            (true, false) => true,
            (true, true) if parts.is_empty() => true,
            (false, true) => false,
            _ => numbers == Numbers::AsTheyAre,
        };
        if is_list || !parts.iter().all(is_number) {
            let elements = parts.iter().map(|part| value_of_json(part.get(), numbers, depth + 1));
            return elements.collect::<Option<_>>().map(Value::List);
        }
        let element =
            |part: &&RawValue| part.get().parse::<f64>().ok().map(|x| x as f32).filter(|x| x.is_finite());
        return parts.iter().map(element).collect::<Option<_>>().map(Value::Vector);
    }
    Some(match serde_json::from_str(text).ok()? {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(b) => Value::Bool(b),
        // An integer beyond 64 bits would be rounded.
        serde_json::Value::Number(number) if text.contains(['.', 'e', 'E']) => Value::Float(number.as_f64()?),
        serde_json::Value::Number(number) => Value::Int(number.as_i64()?),
        serde_json::Value::String(text) => Value::text(text),
        serde_json::Value::Array(_) | serde_json::Value::Object(_) => return None,
    })
}

/// Which values of a column are encoded.
#[derive(Debug, Clone, Copy)]
pub enum Pass<'c> {
    /// All; the dictionary learns new ones.
    All,
    /// Those that the dictionary knows. The code of others is [`EMPTY`], and a column of nothing else has no type.
    Known,
    /// Those whose code is [`EMPTY`] here, where `Known` left it.
    Rest(&'c [Code]),
    /// All, of numbers, texts and times; a query's own dictionary learns those that its graph does not know.
    Own(&'c Codec),
}

impl Pass<'_> {
    fn codes<'v>(
        self,
        values: impl ExactSizeIterator<Item = ValueRef<'v>>,
        dictionary: &Dictionary,
    ) -> Result<Vec<Code>, DictionaryFull> {
        match self {
            Pass::All => dictionary.store_all(values),
            Pass::Known => Ok(dictionary.find_all(values)),
            Pass::Rest(known) => dictionary.store_rest(values, known),
            Pass::Own(codec) => codec.encode_all(values),
        }
    }
}

/// Encodes an Arrow column. Answers the codes and the type of the column. Of times, milliseconds are kept: see
/// [`reduced`](super::lossy::reduced).
pub fn encode(
    array: &ArrayRef,
    dictionary: &Dictionary,
    pass: Pass<'_>,
    string_limit: usize,
) -> Result<(Vec<Code>, DataType), EncodeError> {
    let unsupported = || EncodeError::Unsupported { found: array.data_type().clone() };
    let cast_to = |target: &ArrowType| cast(array, target).map_err(|_| unsupported());
    match array.data_type() {
        ArrowType::Null => Ok((vec![NULL; array.len()], DataType::Unknown)),
        ArrowType::Int64 => {
            let ints = downcast::<Int64Array>(array).ok_or_else(unsupported)?;
            let small = ints.iter().map(|n| n.map_or(Some(NULL), inline_int)).collect();
            let codes = match small {
                Some(codes) => codes,
                None => {
                    pass.codes(ints.iter().map(|n| n.map_or(ValueRef::Null, ValueRef::Int)), dictionary)?
                }
            };
            Ok((codes, DataType::Int))
        }
        ArrowType::Int8
        | ArrowType::Int16
        | ArrowType::Int32
        | ArrowType::UInt8
        | ArrowType::UInt16
        | ArrowType::UInt32 => encode(&cast_to(&ArrowType::Int64)?, dictionary, pass, string_limit),
        ArrowType::UInt64 => {
            let unsigned = downcast::<UInt64Array>(array).ok_or_else(unsupported)?;
            if let Some(value) = unsigned.iter().flatten().find(|n| i64::try_from(*n).is_err()) {
                return Err(EncodeError::TooLarge { value });
            }
            encode(&cast_to(&ArrowType::Int64)?, dictionary, pass, string_limit)
        }
        ArrowType::Float64 => {
            let floats = downcast::<Float64Array>(array).ok_or_else(unsupported)?;
            let values =
                floats.iter().map(|x| x.filter(|x| x.is_finite()).map_or(ValueRef::Null, ValueRef::Float));
            Ok((pass.codes(values, dictionary)?, DataType::Float))
        }
        ArrowType::Float16 | ArrowType::Float32 => {
            encode(&cast_to(&ArrowType::Float64)?, dictionary, pass, string_limit)
        }
        ArrowType::Boolean => {
            let booleans = downcast::<BooleanArray>(array).ok_or_else(unsupported)?;
            let values = booleans.iter().map(|b| b.map_or(ValueRef::Null, ValueRef::Bool));
            Ok((pass.codes(values, dictionary)?, DataType::Bool))
        }
        ArrowType::Utf8 => {
            let texts = downcast::<StringArray>(array).ok_or_else(unsupported)?;
            Ok((encode_texts(texts.iter(), dictionary, pass, string_limit)?, DataType::Text))
        }
        ArrowType::LargeUtf8 => {
            let texts = downcast::<LargeStringArray>(array).ok_or_else(unsupported)?;
            Ok((encode_texts(texts.iter(), dictionary, pass, string_limit)?, DataType::Text))
        }
        ArrowType::Utf8View => {
            let texts = downcast::<StringViewArray>(array).ok_or_else(unsupported)?;
            match (shared_views(texts), pass) {
                (None, _) => {
                    Ok((encode_texts(texts.iter(), dictionary, pass, string_limit)?, DataType::Text))
                }
                (Some(_), Pass::Known) => Ok((vec![EMPTY; array.len()], DataType::Unknown)),
                (Some((numbers, views)), Pass::All | Pass::Rest(_) | Pass::Own(_)) => {
                    let codes = encode_texts(views.iter(), dictionary, Pass::All, string_limit)?;
                    let rows = numbers.into_iter().map(|number| number.map_or(NULL, |number| codes[number]));
                    Ok((rows.collect(), DataType::Text))
                }
            }
        }
        ArrowType::Dictionary(..)
        | ArrowType::List(_)
        | ArrowType::LargeList(_)
        | ArrowType::FixedSizeList(..)
            if matches!(pass, Pass::Known) =>
        {
            Ok((vec![EMPTY; array.len()], DataType::Unknown))
        }
        ArrowType::Dictionary(_, values) => encode_dictionary(array, values, dictionary, string_limit),
        ArrowType::Date32 | ArrowType::Date64 | ArrowType::Timestamp(_, _) => {
            let milliseconds = cast_to(&ArrowType::Timestamp(TimeUnit::Millisecond, None))?;
            let times = downcast::<TimestampMillisecondArray>(&milliseconds).ok_or_else(unsupported)?;
            let values = times.iter().map(|t| t.map_or(ValueRef::Null, ValueRef::Timestamp));
            Ok((pass.codes(values, dictionary)?, DataType::Timestamp))
        }
        ArrowType::List(item) | ArrowType::LargeList(item) | ArrowType::FixedSizeList(item, _) => {
            if !takes_room(item.data_type())
                && (0..array.len()).any(|row| array.is_valid(row) && list_length(array, row) > 0)
            {
                return Err(unsupported());
            }
            if holds_values(item.data_type()) {
                return encode_lists_of_values(array, Numbers::InVectors, dictionary, string_limit);
            }
            let quantised = item.data_type() == &ArrowType::Int8;
            encode_lists(array, quantised, dictionary)?.ok_or_else(unsupported)
        }
        _ => Err(unsupported()),
    }
}

fn encode_texts<'a>(
    texts: impl ExactSizeIterator<Item = Option<&'a str>> + Clone,
    dictionary: &Dictionary,
    pass: Pass<'_>,
    limit: usize,
) -> Result<Vec<Code>, EncodeError> {
    if let Some(length) = texts.clone().flatten().map(str::len).find(|length| *length > limit) {
        return Err(EncodeError::StringTooLong { length, limit });
    }
    Ok(pass.codes(texts.map(|text| text.map_or(ValueRef::Null, ValueRef::Text)), dictionary)?)
}

/// The number of each row's view, and the views, where many rows share them: views of one buffer are no longer for being
/// many.
fn shared_views(texts: &StringViewArray) -> Option<(Vec<Option<usize>>, StringViewArray)> {
    let bytes: usize = texts.iter().flatten().map(str::len).sum();
    let held: usize = texts.data_buffers().iter().map(Buffer::len).sum();
    if bytes <= 2 * held.max(texts.len() * size_of::<u128>()) {
        return None;
    }
    let mut numbers: HashMap<u128, usize> = HashMap::new();
    let mut views = Vec::new();
    let number_of = |(row, view): (usize, &u128)| {
        texts.is_valid(row).then(|| {
            *numbers.entry(*view).or_insert_with(|| {
                views.push(*view);
                views.len() - 1
            })
        })
    };
    let rows = texts.views().iter().enumerate().map(number_of).collect();
    let views = StringViewArray::try_new(views.into(), texts.data_buffers().to_vec(), None);
    Some((rows, views.ok()?))
}

fn list_length(array: &ArrayRef, row: usize) -> usize {
    match array.data_type() {
        ArrowType::FixedSizeList(_, length) => usize::try_from(*length).unwrap_or(0),
        ArrowType::LargeList(_) => downcast::<LargeListArray>(array)
            .map_or(0, |list| usize::try_from(list.value_length(row)).unwrap_or(0)),
        _ => downcast::<ListArray>(array)
            .map_or(0, |list| usize::try_from(list.value_length(row)).unwrap_or(0)),
    }
}

/// Each distinct value is encoded once.
fn encode_dictionary(
    array: &ArrayRef,
    values: &ArrowType,
    dictionary: &Dictionary,
    string_limit: usize,
) -> Result<(Vec<Code>, DataType), EncodeError> {
    let wide = ArrowType::Dictionary(Box::new(ArrowType::Int64), Box::new(values.clone()));
    let unsupported = || EncodeError::Unsupported { found: array.data_type().clone() };
    let array = cast(array, &wide).map_err(|_| unsupported())?;
    let array = downcast::<DictionaryArray<Int64Type>>(&array).ok_or_else(unsupported)?;
    let (codes, data_type) = encode(array.values(), dictionary, Pass::All, string_limit)?;
    let rows = array.keys().iter().map(|key| {
        key.and_then(|key| usize::try_from(key).ok()).and_then(|key| codes.get(key).copied()).unwrap_or(NULL)
    });
    Ok((rows.collect(), data_type))
}

/// Vectors; `None` where the elements are no numbers.
fn encode_lists(
    array: &ArrayRef,
    quantised: bool,
    dictionary: &Dictionary,
) -> Result<Option<(Vec<Code>, DataType)>, EncodeError> {
    let element = if quantised { ArrowType::Int8 } else { ArrowType::Float32 };
    let target = ArrowType::List(Arc::new(Field::new("item", element, true)));
    let Ok(list) = cast(array, &target) else { return Ok(None) };
    let Some(list) = downcast::<ListArray>(&list) else { return Ok(None) };
    let mut codes = Vec::with_capacity(list.len());
    let mut data_type = DataType::Unknown;
    for row in 0..list.len() {
        if list.is_null(row) {
            codes.push(NULL);
            continue;
        }
        let elements = list.value(row);
        if elements.null_count() > 0 {
            return Ok(None);
        }
        let code = if let Some(floats) = downcast::<Float32Array>(&elements) {
            if floats.values().iter().any(|x| !x.is_finite()) {
                return Ok(None);
            }
            data_type = data_type.join(DataType::Vector(u32::try_from(floats.len()).ok()));
            dictionary.store(ValueRef::Vector(floats.values()))?
        } else if let Some(ints) = downcast::<Int8Array>(&elements) {
            data_type = DataType::VectorInt8(None);
            dictionary.store(ValueRef::VectorInt8(ints.values()))?
        } else {
            return Ok(None);
        };
        codes.push(code);
    }
    Ok(Some((codes, data_type)))
}

/// The kinds a type may hold beside Null; `None` where it may hold any.
pub fn kind_of_type(data_type: DataType) -> Option<Kind> {
    match data_type {
        DataType::Unknown | DataType::Any => None,
        DataType::Int => Some(Kind::Int),
        DataType::Float => Some(Kind::Float),
        DataType::Text => Some(Kind::Text),
        DataType::Bool => Some(Kind::Bool),
        DataType::Timestamp => Some(Kind::Timestamp),
        DataType::Vector(_) => Some(Kind::Vector),
        DataType::VectorInt8(_) => Some(Kind::VectorInt8),
        DataType::List => Some(Kind::List),
    }
}
