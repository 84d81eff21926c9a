//! `DataType`: the type of a column, declared or found, and its Arrow twin. The only such table.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, TimeUnit};

use super::{Kind, Value};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DataType {
    /// Nothing is known: no declaration, and no value other than Null so far.
    Unknown,
    /// 64-bit integers.
    Int,
    /// 64-bit floats; integers are converted on the way in where this is declared.
    Float,
    /// Unicode text.
    Text,
    /// Booleans.
    Bool,
    /// Milliseconds since 1970, UTC.
    Timestamp,
    /// Vectors of 32-bit floats, of this length if one is declared.
    Vector(Option<u32>),
    /// Quantised vectors, of this length if one is declared.
    VectorInt8(Option<u32>),
    /// Lists of values.
    List,
    /// Values of several types.
    Any,
}

impl DataType {
    /// The type of one value; Null tells nothing.
    pub fn of(value: &Value) -> DataType {
        match value {
            Value::Null => DataType::Unknown,
            Value::Bool(_) => DataType::Bool,
            Value::Int(_) => DataType::Int,
            Value::Float(_) => DataType::Float,
            Value::Timestamp(_) => DataType::Timestamp,
            Value::Text(_) => DataType::Text,
            Value::Vector(_) => DataType::Vector(None),
            Value::VectorInt8(_) => DataType::VectorInt8(None),
            Value::List(_) => DataType::List,
        }
    }

    /// The type of a column that holds both.
    pub fn join(self, other: DataType) -> DataType {
        match (self, other) {
            (DataType::Unknown, t) | (t, DataType::Unknown) => t,
            (DataType::Vector(a), DataType::Vector(b)) => DataType::Vector(if a == b { a } else { None }),
            (DataType::VectorInt8(a), DataType::VectorInt8(b)) => {
                DataType::VectorInt8(if a == b { a } else { None })
            }
            (a, b) if a == b => a,
            _ => DataType::Any,
        }
    }

    /// Whether a value of the one type may equal a value of the other. Sets and joins are typed: an integer never
    /// equals a float.
    pub fn overlaps(self, other: DataType) -> bool {
        use DataType::{Any, Unknown, Vector, VectorInt8};
        match (self, other) {
            (Unknown | Any, _) | (_, Unknown | Any) => true,
            (Vector(a), Vector(b)) | (VectorInt8(a), VectorInt8(b)) => a.is_none() || b.is_none() || a == b,
            (a, b) => a == b,
        }
    }

    /// Whether `<` and arithmetic make sense: integer, float, timestamp, or not known.
    pub fn may_be_number(self) -> bool {
        match self {
            DataType::Unknown | DataType::Any | DataType::Int | DataType::Float | DataType::Timestamp => true,
            DataType::Text
            | DataType::Bool
            | DataType::Vector(_)
            | DataType::VectorInt8(_)
            | DataType::List => false,
        }
    }

    /// The Arrow type in which a column of this type leaves the engine.
    pub fn arrow(self) -> ArrowType {
        match self {
            DataType::Unknown => ArrowType::Null,
            DataType::Int => ArrowType::Int64,
            DataType::Float => ArrowType::Float64,
            DataType::Text => ArrowType::Utf8,
            DataType::Bool => ArrowType::Boolean,
            DataType::Timestamp => ArrowType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
            DataType::Vector(None | Some(0)) => {
                ArrowType::List(Arc::new(Field::new("item", ArrowType::Float32, false)))
            }
            DataType::Vector(Some(n)) => ArrowType::FixedSizeList(
                Arc::new(Field::new("item", ArrowType::Float32, false)),
                n.try_into().unwrap_or(i32::MAX),
            ),
            DataType::VectorInt8(_) => ArrowType::List(Arc::new(Field::new("item", ArrowType::Int8, false))),
            // As JSON.
            DataType::List | DataType::Any => ArrowType::Utf8,
        }
    }
}

impl From<Kind> for DataType {
    fn from(kind: Kind) -> DataType {
        match kind {
            Kind::Null => DataType::Unknown,
            Kind::Bool => DataType::Bool,
            Kind::Int => DataType::Int,
            Kind::Float => DataType::Float,
            Kind::Timestamp => DataType::Timestamp,
            Kind::Text => DataType::Text,
            Kind::Vector => DataType::Vector(None),
            Kind::VectorInt8 => DataType::VectorInt8(None),
            Kind::List => DataType::List,
        }
    }
}

/// As it is declared in a schema.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataType::Unknown | DataType::Any => f.write_str("any"),
            DataType::Int => f.write_str("int"),
            DataType::Float => f.write_str("float"),
            DataType::Text => f.write_str("string"),
            DataType::Bool => f.write_str("bool"),
            DataType::Timestamp => f.write_str("timestamp"),
            DataType::Vector(None) => f.write_str("vector"),
            DataType::Vector(Some(n)) => write!(f, "vector({n})"),
            DataType::List => f.write_str("list"),
            DataType::VectorInt8(None) => f.write_str("vector_int8"),
            DataType::VectorInt8(Some(n)) => write!(f, "vector_int8[{n}]"),
        }
    }
}
