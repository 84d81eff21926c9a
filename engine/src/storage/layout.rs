//! How the values of a column are written: one after the other, or each once with numbers in the place of rows.
//!
//! What is long and comes again takes no more room on its way to disk than it does in memory: a text of 1 MB beside
//! 20,000 numbers is written once. What is short, or comes but once, is written as it comes.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, DictionaryArray, Int32Array, StringBuilder};
use arrow::datatypes::{DataType as ArrowType, Int32Type};

use super::mixed;
use crate::data::arrow_lists::Numbers;
use crate::data::{Code, Codec, DataType, Dictionary, NULL, ValueRef, arrow_columns};

/// Whom columns are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A record of the journal, which is in memory as a whole anyway.
    Record,
    /// A sealed run.
    Run,
    /// Other programs: vectors stay lists of numbers, whatever that takes on disk.
    Export,
}

impl Form {
    /// So many bytes of values that are written once stand in one batch.
    pub(super) fn dictionary_bytes(self) -> usize {
        match self {
            // Offsets have 32 bits.
            Form::Record => 1 << 30,
            Form::Run | Form::Export => 64 << 20,
        }
    }

    fn allows(self, data_type: DataType) -> bool {
        match data_type {
            DataType::Text | DataType::List | DataType::Any => true,
            DataType::Vector(_) | DataType::VectorInt8(_) => self != Form::Export,
            DataType::Unknown | DataType::Int | DataType::Float | DataType::Bool | DataType::Timestamp => {
                false
            }
        }
    }
}

/// How one column is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) data_type: DataType,
    /// Whether each value is written once.
    pub(super) is_once: bool,
    /// Bytes of the longest value; never too low.
    pub(super) longest: usize,
    /// Bytes of all values, as they are written; never too low.
    pub(super) bytes: usize,
}

/// Values that are this long on average are worth looking for others that are the same.
const LONG: usize = 64;

impl Layout {
    pub(super) fn of(codes: &[Code], codec: &Codec, form: Form) -> Layout {
        let data_type = match arrow_columns::type_of_codes(codes, codec) {
            // As text with kinds inside, as other values of several types.
            DataType::List => DataType::Any,
            data_type => data_type,
        };
        let plain = |longest, bytes| Layout { data_type, is_once: false, longest, bytes };
        let (longest, bytes) = match fixed_bytes(data_type) {
            Some(each) => (each, each * codes.len()),
            None => codes.iter().fold((0, 0), |(longest, sum), code| {
                let bytes = value_bytes(*code, data_type, codec);
                (longest.max(bytes), sum + bytes)
            }),
        };
        if bytes <= LONG * codes.len() || !form.allows(data_type) || codes.is_sorted_by(|a, b| a < b) {
            return plain(longest, bytes);
        }
        let once: usize = distinct(codes).into_iter().map(|code| value_bytes(code, data_type, codec)).sum();
        let once = once + codes.len() * size_of::<i32>();
        if 2 * once > bytes {
            plain(longest, bytes)
        } else {
            Layout { is_once: true, bytes: once, ..plain(longest, 0) }
        }
    }

    /// Whether there is a column of kinds beside it.
    pub(super) fn is_mixed(&self) -> bool {
        self.data_type == DataType::Any
    }

    /// The Arrow type of the column.
    pub(super) fn arrow(&self) -> ArrowType {
        let once = |values| ArrowType::Dictionary(Box::new(ArrowType::Int32), Box::new(values));
        match self.data_type {
            DataType::Vector(_) | DataType::VectorInt8(_) if self.is_once => once(ArrowType::Binary),
            data_type if self.is_once => once(data_type.arrow()),
            data_type => data_type.arrow(),
        }
    }

    /// The values of these codes.
    pub(super) fn array(&self, codes: &[Code], codec: &Codec) -> ArrayRef {
        if !self.is_once {
            return decode(codes, codec, self.data_type);
        }
        let mut values = distinct(codes);
        values.retain(|code| *code != NULL);
        let number = |code: &Code| values.binary_search(code).ok().and_then(|n| i32::try_from(n).ok());
        let numbers: Int32Array = codes.iter().map(number).collect();
        let values = match self.data_type {
            DataType::Vector(_) | DataType::VectorInt8(_) => {
                Arc::new(BinaryArray::from_iter_values(values.iter().map(|code| bytes_of(*code, codec))))
            }
            data_type => decode(&values, codec, data_type),
        };
        // Every number is the place of a value, by construction.
        Arc::new(DictionaryArray::<Int32Type>::new(numbers, values))
    }
}

/// As answers have it, but for lists.
fn decode(codes: &[Code], codec: &Codec, data_type: DataType) -> ArrayRef {
    if data_type != DataType::Any {
        return arrow_columns::decode(codes, codec, data_type);
    }
    let mut texts = StringBuilder::new();
    let mut text = String::new();
    for code in codes {
        text.clear();
        match codec.value(*code) {
            ValueRef::Null => {
                texts.append_null();
                continue;
            }
            ValueRef::List(elements) => mixed::write_list(&mut text, elements),
            value => arrow_columns::write_json(&mut text, value, Numbers::InVectors),
        }
        texts.append_value(&text);
    }
    Arc::new(texts.finish())
}

/// The vector that [`Layout::array`] has written as bytes, as a code.
pub(super) fn vector_of(bytes: &[u8], data_type: DataType, dictionary: &Dictionary) -> Result<Code, String> {
    let full = |error: crate::data::DictionaryFull| error.to_string();
    if matches!(data_type, DataType::VectorInt8(_)) {
        let elements: Vec<i8> = bytes.iter().map(|byte| *byte as i8).collect();
        return dictionary.store(ValueRef::VectorInt8(&elements)).map_err(full);
    }
    let (elements, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err("a vector with a part of an element".to_owned());
    }
    let elements: Vec<f32> = elements.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    dictionary.store(ValueRef::Vector(&elements)).map_err(full)
}

fn bytes_of(code: Code, codec: &Codec) -> Vec<u8> {
    match codec.value(code) {
        ValueRef::Vector(elements) => elements.iter().flat_map(|x| x.to_le_bytes()).collect(),
        ValueRef::VectorInt8(elements) => elements.iter().map(|x| *x as u8).collect(),
        _ => Vec::new(),
    }
}

fn distinct(codes: &[Code]) -> Vec<Code> {
    let mut distinct = codes.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

/// Bytes of any value of a type, where all take the same.
fn fixed_bytes(data_type: DataType) -> Option<usize> {
    match data_type {
        DataType::Vector(Some(n)) => Some(n as usize * size_of::<f32>()),
        DataType::VectorInt8(Some(n)) => Some(n as usize),
        DataType::Unknown | DataType::Int | DataType::Float | DataType::Bool | DataType::Timestamp => Some(8),
        DataType::Text
        | DataType::Any
        | DataType::List
        | DataType::Vector(None)
        | DataType::VectorInt8(None) => None,
    }
}

/// Bytes of a value as JSON; never too low.
fn json_bytes(value: ValueRef<'_>) -> usize {
    match value {
        // A control character takes six bytes.
        ValueRef::Text(text) => 2 + 6 * text.len(),
        ValueRef::Vector(vector) => 24 * vector.len() + 2,
        ValueRef::VectorInt8(vector) => 6 * vector.len() + 2,
        ValueRef::List(elements) => {
            2 + elements.iter().map(|element| 4 + json_bytes(element.as_ref())).sum::<usize>()
        }
        _ => 24,
    }
}

/// Bytes of a value in a column of this type; an estimate that is never too low.
fn value_bytes(code: Code, data_type: DataType, codec: &Codec) -> usize {
    const OFFSET: usize = 4;
    if data_type == DataType::Any {
        return json_bytes(codec.value(code));
    }
    match codec.value(code) {
        ValueRef::Text(text) => text.len() + OFFSET,
        ValueRef::Vector(vector) => size_of_val(vector) + OFFSET,
        ValueRef::VectorInt8(vector) => vector.len() + OFFSET,
        _ => 24,
    }
}
