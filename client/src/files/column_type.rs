//! Columns of files: their names, and their types by the names of the language.

use arrow::datatypes::{DataType, Field, TimeUnit};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Marks the fields of columns with values of several types (`any`), or with lists (`list`): text, the JSON of each value.
pub(crate) const MARK: &str = "stratalog.type";

/// Marks the fields of columns that are declared to hold anything, also where all values are of one type.
const DECLARED: (&str, &str) = ("stratalog.declared", "any");

/// A column with its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type.
    pub column_type: ColumnType,
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// 64-bit integers.
    Int,
    /// 64-bit floats.
    Float,
    /// Strings.
    Text,
    /// Booleans.
    Bool,
    /// Milliseconds since 1970, UTC.
    Timestamp,
    /// Vectors of floats, perhaps of one length.
    Vector(Option<u32>),
    /// Vectors of bytes, perhaps of one length.
    VectorInt8(Option<u32>),
    /// Lists of any values.
    List,
    /// Anything.
    Any,
}

impl ColumnType {
    /// The field of a column of this type.
    pub(crate) fn field(self, name: &str) -> Field {
        let list = |item| DataType::List(Arc::new(Field::new("item", item, false)));
        let data_type = match self {
            ColumnType::Int => DataType::Int64,
            ColumnType::Float => DataType::Float64,
            ColumnType::Text | ColumnType::List | ColumnType::Any => DataType::Utf8,
            ColumnType::Bool => DataType::Boolean,
            ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
            ColumnType::Vector(_) => list(DataType::Float32),
            ColumnType::VectorInt8(_) => list(DataType::Int8),
        };
        let field = Field::new(name, data_type, true);
        match self {
            ColumnType::List | ColumnType::Any => {
                field.with_metadata([(MARK.to_owned(), self.to_string())].into())
            }
            _ => field,
        }
    }

    /// The type of a column whose values are JSON.
    pub(crate) fn marked(field: &Field) -> Option<ColumnType> {
        match field.metadata().get(MARK)?.as_str() {
            "any" => Some(ColumnType::Any),
            "list" => Some(ColumnType::List),
            _ => None,
        }
    }

    /// Whether the column holds values of several types, or is declared so that it may.
    pub(crate) fn may_hold_any(field: &Field) -> bool {
        let is_declared = field.metadata().get(DECLARED.0).is_some_and(|mark| mark == DECLARED.1);
        is_declared || ColumnType::of(field) == ColumnType::Any
    }

    /// The type that a relation would have for such a field.
    pub(crate) fn of(field: &Field) -> ColumnType {
        match field.data_type() {
            DataType::Utf8 if let Some(marked) = ColumnType::marked(field) => marked,
            DataType::Dictionary(_, values) => ColumnType::of(&Field::new("", (**values).clone(), true)),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnType::Text,
            DataType::Boolean => ColumnType::Bool,
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, _) => ColumnType::Timestamp,
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                let length = match field.data_type() {
                    DataType::FixedSizeList(_, length) => u32::try_from(*length).ok(),
                    _ => None,
                };
                match item.data_type() {
                    DataType::Int8 => ColumnType::VectorInt8(length),
                    number if number.is_numeric() => ColumnType::Vector(length),
                    _ => ColumnType::List,
                }
            }
            other if other.is_integer() => ColumnType::Int,
            other if other.is_floating() => ColumnType::Float,
            _ => ColumnType::Any,
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ColumnType::Int => "int",
            ColumnType::Float => "float",
            ColumnType::Text => "string",
            ColumnType::Bool => "bool",
            ColumnType::Timestamp => "timestamp",
            ColumnType::Vector(Some(length)) => return write!(f, "vector({length})"),
            ColumnType::Vector(None) => "vector",
            ColumnType::VectorInt8(Some(length)) => return write!(f, "vector_int8({length})"),
            ColumnType::VectorInt8(None) => "vector_int8",
            ColumnType::List => "list",
            ColumnType::Any => "any",
        })
    }
}

impl FromStr for ColumnType {
    type Err = String;

    fn from_str(text: &str) -> Result<ColumnType, String> {
        let text = text.trim();
        let (word, rest) = text.split_at(text.find(['(', '[']).unwrap_or(text.len()));
        let length = rest.trim_matches(['(', ')', '[', ']', ' ']).parse().ok();
        Ok(match word.trim().to_ascii_lowercase().as_str() {
            "int" => ColumnType::Int,
            "float" => ColumnType::Float,
            "string" => ColumnType::Text,
            "bool" => ColumnType::Bool,
            "timestamp" => ColumnType::Timestamp,
            "vector" => ColumnType::Vector(length),
            "vector_int8" => ColumnType::VectorInt8(length),
            "list" => ColumnType::List,
            "any" => ColumnType::Any,
            other => {
                return Err(format!(
                    "`{other}` is not a type: expected int, float, string, bool, timestamp, vector, vector_int8, list or any"
                ));
            }
        })
    }
}

impl FromStr for Column {
    type Err = String;

    /// `name: type`
    fn from_str(text: &str) -> Result<Column, String> {
        let (name, column_type) =
            text.split_once(':').ok_or_else(|| format!("`{}` is not `name: type`", text.trim()))?;
        Ok(Column { name: name.trim().to_owned(), column_type: column_type.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_reads_as_it_is_written() {
        use ColumnType as T;
        for column_type in [
            T::Int,
            T::Float,
            T::Text,
            T::Bool,
            T::Timestamp,
            T::Vector(Some(3)),
            T::Vector(None),
            T::VectorInt8(Some(8)),
            T::List,
            T::Any,
        ] {
            assert_eq!(column_type.to_string().parse(), Ok(column_type));
        }
        assert_eq!("vector[3]".parse(), Ok(T::Vector(Some(3))));
        assert!("text".parse::<T>().is_err());
        assert_eq!("born : timestamp".parse(), Ok(Column { name: "born".into(), column_type: T::Timestamp }));
        assert!("born".parse::<Column>().is_err());
    }

    #[test]
    fn a_field_tells_its_type() {
        for column_type in [
            ColumnType::Int,
            ColumnType::List,
            ColumnType::Any,
            ColumnType::Timestamp,
            ColumnType::Vector(None),
        ] {
            assert_eq!(ColumnType::of(&column_type.field("a")), column_type);
        }
    }
}
