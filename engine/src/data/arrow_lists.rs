//! Lists of Arrow that are values of ours: of strings, of booleans, and of lists.

use arrow::array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Float64Array, Int64Array,
    LargeListArray, ListArray, StringArray,
};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::DataType as ArrowType;
use arrow::util::display::FormatOptions;

use super::codes::{Code, NULL};
use super::dictionary::Dictionary;
use super::encode_error::EncodeError;
use super::{DataType, MAX_LIST_DEPTH, Value};

/// What becomes of lists that hold nothing but numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// They are vectors.
    InVectors,
    /// They are lists like others: their column is declared so.
    AsTheyAre,
}

/// Whether this is a column of lists of numbers.
pub(crate) fn holds_numbers(list: &ArrowType) -> bool {
    let (ArrowType::List(item) | ArrowType::LargeList(item) | ArrowType::FixedSizeList(item, _)) = list
    else {
        return false;
    };
    let item = item.data_type();
    item.is_integer() || item.is_floating()
}

/// Whether lists of this are lists of values, and no vectors.
pub(super) fn holds_values(item: &ArrowType) -> bool {
    matches!(
        item,
        ArrowType::Utf8
            | ArrowType::LargeUtf8
            | ArrowType::Utf8View
            | ArrowType::Boolean
            | ArrowType::List(_)
            | ArrowType::LargeList(_)
            | ArrowType::FixedSizeList(..)
    )
}

/// Lists of strings, of booleans, of lists, and of numbers where they are no vectors.
pub(crate) fn encode_lists_of_values(
    array: &ArrayRef,
    numbers: Numbers,
    dictionary: &Dictionary,
    string_limit: usize,
) -> Result<(Vec<Code>, DataType), EncodeError> {
    let unsupported = || EncodeError::Unsupported { found: array.data_type().clone() };
    let mut codes = Vec::with_capacity(array.len());
    for list in lists_of(array).ok_or_else(unsupported)? {
        let Some(elements) = list else {
            codes.push(NULL);
            continue;
        };
        let list = list_value(&elements, numbers, 1).ok_or_else(unsupported)?;
        if let Some(length) = longest_text(&list).filter(|length| *length > string_limit) {
            return Err(EncodeError::StringTooLong { length, limit: string_limit });
        }
        codes.push(dictionary.store(list.as_ref())?);
    }
    Ok((codes, DataType::List))
}

/// The elements of each row.
fn lists_of(array: &ArrayRef) -> Option<Vec<Option<ArrayRef>>> {
    Some(match array.data_type() {
        ArrowType::List(_) => downcast::<ListArray>(array)?.iter().collect(),
        ArrowType::LargeList(_) => downcast::<LargeListArray>(array)?.iter().collect(),
        ArrowType::FixedSizeList(..) => downcast::<FixedSizeListArray>(array)?.iter().collect(),
        _ => return None,
    })
}

/// The array as one of this type, if it is one.
pub(super) fn downcast<T: 'static>(array: &ArrayRef) -> Option<&T> {
    array.as_any().downcast_ref::<T>()
}

/// Whether values of this type have bytes of their own in a message. Of others there are as many as it says.
pub(super) fn takes_room(item: &ArrowType) -> bool {
    match item {
        ArrowType::Null | ArrowType::RunEndEncoded(..) => false,
        ArrowType::FixedSizeList(item, length) => *length > 0 && takes_room(item.data_type()),
        _ => true,
    }
}

/// One list; a vector where it holds numbers, as in JSON. `None` where its elements have no counterpart.
fn list_value(elements: &ArrayRef, numbers: Numbers, depth: usize) -> Option<Value> {
    let item = elements.data_type();
    if depth > MAX_LIST_DEPTH || !(elements.is_empty() || takes_room(item)) {
        return None;
    }
    Some(match item {
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => {
            let texts = cast(elements, &ArrowType::Utf8).ok()?;
            let texts = downcast::<StringArray>(&texts)?;
            Value::List(texts.iter().map(|text| text.map_or(Value::Null, Value::text)).collect())
        }
        ArrowType::Boolean => {
            let booleans = downcast::<BooleanArray>(elements)?;
            Value::List(booleans.iter().map(|b| b.map_or(Value::Null, Value::Bool)).collect())
        }
        ArrowType::List(_) | ArrowType::LargeList(_) | ArrowType::FixedSizeList(..) => {
            let inner = lists_of(elements)?.into_iter().map(|list| match list {
                Some(elements) => list_value(&elements, numbers, depth + 1),
                None => Some(Value::Null),
            });
            Value::List(inner.collect::<Option<_>>()?)
        }
        ArrowType::Null if numbers == Numbers::AsTheyAre => Value::List([].into()),
        ArrowType::Null => Value::Vector([].into()),
        _ if numbers == Numbers::AsTheyAre && item.is_integer() => {
            let integers = cast_with_options(elements, &ArrowType::Int64, &STRICT).ok()?;
            let integers = downcast::<Int64Array>(&integers)?;
            Value::List(integers.iter().map(|n| n.map_or(Value::Null, Value::Int)).collect())
        }
        _ if numbers == Numbers::AsTheyAre && item.is_floating() => {
            let floats = cast(elements, &ArrowType::Float64).ok()?;
            let floats = downcast::<Float64Array>(&floats)?;
            if floats.iter().flatten().any(f64::is_infinite) {
                return None;
            }
            let float = |x: Option<f64>| x.filter(|x| !x.is_nan()).map_or(Value::Null, Value::Float);
            Value::List(floats.iter().map(float).collect())
        }
        _ if item.is_numeric() => {
            let floats = cast(elements, &ArrowType::Float32).ok()?;
            let floats = downcast::<Float32Array>(&floats)?;
            let elements: Option<Vec<f32>> = floats.iter().map(|x| x.filter(|x| x.is_finite())).collect();
            Value::Vector(elements?.into())
        }
        _ => return None,
    })
}

/// What does not fit is no number here, and not null.
const STRICT: CastOptions<'static> = CastOptions { safe: false, format_options: FormatOptions::new() };

fn longest_text(value: &Value) -> Option<usize> {
    match value {
        Value::Text(text) => Some(text.len()),
        Value::List(elements) => elements.iter().filter_map(longest_text).max(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        ArrayRef, FixedSizeListArray, Float64Array, ListArray, NullArray, StringArray, UInt64Array,
    };
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::{DataType as ArrowType, Field, Int64Type};

    use super::{Numbers, list_value, takes_room};
    use crate::data::Value;

    fn lists(item: ArrayRef, lengths: &[usize]) -> ArrayRef {
        let field = Arc::new(Field::new("item", item.data_type().clone(), true));
        Arc::new(ListArray::new(field, OffsetBuffer::from_lengths(lengths.iter().copied()), item, None))
    }

    fn list(elements: &[Value]) -> Value {
        Value::List(elements.into())
    }

    #[test]
    fn lists_of_lists_are_values_and_of_numbers_vectors() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
        let inner = [list(&[Value::text("a"), Value::Null]), list(&[Value::text("b")])];
        assert_eq!(list_value(&lists(texts, &[2, 1]), Numbers::InVectors, 1), Some(list(&inner)));
        let numbers = ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1), Some(2)]), None]);
        let numbers: ArrayRef = Arc::new(numbers);
        let vectors = [Value::Vector([1.0, 2.0].into()), Value::Null];
        assert_eq!(list_value(&numbers, Numbers::InVectors, 1), Some(list(&vectors)));
    }

    #[test]
    fn numbers_are_exact_where_they_are_no_vectors() {
        let exact = |elements: ArrayRef| list_value(&elements, Numbers::AsTheyAre, 1);
        let integers: ArrayRef = Arc::new(UInt64Array::from(vec![Some((1 << 53) + 1), None]));
        assert_eq!(exact(integers), Some(list(&[Value::Int((1 << 53) + 1), Value::Null])));
        assert_eq!(exact(Arc::new(UInt64Array::from(vec![u64::MAX]))), None);
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![0.1, f64::NAN]));
        assert_eq!(exact(floats), Some(list(&[Value::Float(0.1), Value::Null])));
        assert_eq!(exact(Arc::new(Float64Array::from(vec![f64::INFINITY]))), None);
    }

    #[test]
    fn what_takes_no_room_is_refused_however_deep() {
        let many: ArrayRef = Arc::new(NullArray::new(1 << 20));
        assert_eq!(list_value(&many, Numbers::InVectors, 1), None);
        let field = Arc::new(Field::new("item", ArrowType::Null, true));
        let empty =
            FixedSizeListArray::try_new(Arc::clone(&field), 1 << 20, Arc::new(NullArray::new(1 << 20)), None);
        let empty: ArrayRef = Arc::new(empty.expect("as many as it says"));
        assert!(!takes_room(empty.data_type()));
        assert_eq!(list_value(&empty, Numbers::InVectors, 1), None);
    }

    #[test]
    fn the_depth_has_a_limit() {
        let mut list: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        for _ in 0..100 {
            list = lists(list, &[1]);
        }
        assert_eq!(list_value(&list, Numbers::InVectors, 1), None);
    }
}
