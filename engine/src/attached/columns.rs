//! Which columns of Parquet can be attached, and how they are read.

use arrow::array::ArrayRef;
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Field};
use arrow::error::ArrowError;

use crate::data::arrow_columns::{Pass, encode, marked};
use crate::data::lossy::{Loss, reduced};
use crate::data::{Code, Codec, DataType, EncodeError};

/// The type of a column here; none where it has none that can be attached. Values of several types, lists and vectors can be
/// imported.
pub(super) fn type_of(field: &Field) -> Option<DataType> {
    if marked(field).is_some() {
        return None;
    }
    plain_type(field.data_type())
}

fn plain_type(found: &ArrowType) -> Option<DataType> {
    Some(match found {
        ArrowType::Dictionary(_, values) => return plain_type(values),
        ArrowType::Boolean => DataType::Bool,
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => DataType::Text,
        ArrowType::Date32 | ArrowType::Date64 | ArrowType::Timestamp(..) => DataType::Timestamp,
        ArrowType::Decimal32(_, scale)
        | ArrowType::Decimal64(_, scale)
        | ArrowType::Decimal128(_, scale)
        | ArrowType::Decimal256(_, scale) => match scale {
            ..=0 => DataType::Int,
            _ => DataType::Float,
        },
        found if found.is_integer() => DataType::Int,
        found if found.is_floating() => DataType::Float,
        _ => return None,
    })
}

/// Why a column cannot be read.
pub(super) enum Unread {
    /// Arrow refuses it.
    Arrow(ArrowError),
    /// It has no codes.
    Encode(EncodeError),
}

/// The codes of a column, and what was lost of it.
pub(super) fn codes(
    array: &ArrayRef,
    codec: &Codec,
    string_bytes: usize,
) -> Result<(Vec<Code>, Option<Loss>), Unread> {
    let (array, loss) = reduced(array).map_err(Unread::Arrow)?;
    // Each value is looked up where the others are, so that it has one code.
    let plain = match array.data_type() {
        ArrowType::Dictionary(_, values) => cast(&array, values).map_err(Unread::Arrow)?,
        ArrowType::Utf8View => cast(&array, &ArrowType::LargeUtf8).map_err(Unread::Arrow)?,
        _ => array,
    };
    let encoded = encode(&plain, codec.shared(), Pass::Own(codec), string_bytes);
    let (codes, _) = encoded.map_err(Unread::Encode)?;
    Ok((codes, loss))
}
