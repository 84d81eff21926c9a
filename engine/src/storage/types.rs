//! The names of column types on disk. They never change; a new type gets a new name.

use crate::data::DataType;

/// The name of a type on disk.
pub fn type_name(data_type: DataType) -> String {
    match data_type {
        DataType::Unknown => "unknown".to_owned(),
        DataType::Vector(None) => "vector".to_owned(),
        DataType::Vector(Some(n)) => format!("vector:{n}"),
        DataType::VectorInt8(None) => "vector_int8".to_owned(),
        DataType::VectorInt8(Some(n)) => format!("vector_int8:{n}"),
        DataType::Int
        | DataType::Float
        | DataType::Text
        | DataType::Bool
        | DataType::Timestamp
        | DataType::List
        | DataType::Any => data_type.to_string(),
    }
}

/// The type with this name.
pub fn type_from_name(name: &str) -> Option<DataType> {
    let (name, length) = match name.split_once(':') {
        Some((name, length)) => (name, Some(length.parse().ok()?)),
        None => (name, None),
    };
    Some(match (name, length) {
        ("vector", length) => DataType::Vector(length),
        ("vector_int8", length) => DataType::VectorInt8(length),
        (_, Some(_)) => return None,
        ("unknown", None) => DataType::Unknown,
        ("int", None) => DataType::Int,
        ("float", None) => DataType::Float,
        ("string", None) => DataType::Text,
        ("bool", None) => DataType::Bool,
        ("timestamp", None) => DataType::Timestamp,
        ("list", None) => DataType::List,
        ("any", None) => DataType::Any,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{type_from_name, type_name};
    use crate::data::DataType;

    #[test]
    fn every_type_has_a_name_that_leads_back() {
        let types = [
            DataType::Unknown,
            DataType::Int,
            DataType::Float,
            DataType::Text,
            DataType::Bool,
            DataType::Timestamp,
            DataType::Vector(None),
            DataType::Vector(Some(0)),
            DataType::Vector(Some(3)),
            DataType::VectorInt8(None),
            DataType::VectorInt8(Some(3)),
            DataType::List,
            DataType::Any,
        ];
        for data_type in types {
            assert_eq!(type_from_name(&type_name(data_type)), Some(data_type));
        }
        assert_eq!(type_from_name("int:3"), None);
        assert_eq!(type_from_name(""), None);
    }
}
