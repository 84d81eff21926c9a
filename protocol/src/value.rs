//! `Value`: one cell of a row, or one parameter, as JSON.
//!
//! A number with a fraction or an exponent is a float, one without is a 64-bit integer: `2` and `2.0` are two values,
//! and both come back as they went in.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};

/// One value on the wire.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction; a timestamp travels so, too, as milliseconds since 1970.
    Int(i64),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// A string.
    Text(String),
    /// A vector: an array of floats.
    Vector(Vec<f64>),
    /// Any other array: a list. What is sent as an array of nothing but numbers is a vector all the same.
    List(Vec<Value>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(b) => serializer.serialize_bool(*b),
            Value::Int(n) => serializer.serialize_i64(*n),
            Value::Float(x) => serializer.serialize_f64(*x),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Vector(elements) => elements.serialize(serializer),
            Value::List(elements) => elements.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a boolean, a number, a string or an array of these")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Value, E> {
        Ok(Value::Int(n))
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<Value, E> {
        i64::try_from(n).map(Value::Int).map_err(|_| {
            E::invalid_value(Unexpected::Unsigned(n), &"an integer of at most 64 bits with sign")
        })
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Value, E> {
        Ok(Value::Float(x))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut elements: Vec<Value> = Vec::new();
        while let Some(element) = sequence.next_element()? {
            elements.push(element);
        }
        let float = |element: &Value| match element {
            Value::Float(x) => Some(*x),
            _ => None,
        };
        Ok(match elements.iter().map(float).collect() {
            Some(floats) => Value::Vector(floats),
            None => Value::List(elements),
        })
    }
}

impl JsonSchema for Value {
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One cell: null, a boolean, an integer of 64 bits (a timestamp is one, in milliseconds since \
                            1970), a float (a number with a fraction or an exponent), a string, a vector (an array of numbers), \
                            or a list (an array of cells).",
            "type": ["null", "boolean", "number", "string", "array"],
            "items": true
        })
    }
}

/// As JSON, for showing a cell.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn integers_and_floats_stay_what_they_are() {
        assert_eq!(read("9223372036854775807"), Value::Int(i64::MAX));
        assert_eq!(read("-9223372036854775808"), Value::Int(i64::MIN));
        assert_eq!(read("2.0"), Value::Float(2.0));
        assert_eq!(read("1e3"), Value::Float(1000.0));
        assert_eq!(Value::Float(2.0).to_string(), "2.0");
        assert_eq!(Value::Int(9_007_199_254_740_993).to_string(), "9007199254740993");
    }

    #[test]
    fn an_array_of_floats_is_a_vector_and_any_other_a_list() {
        assert_eq!(read("[1.0, 2.5]"), Value::Vector(vec![1.0, 2.5]));
        assert_eq!(read("[]"), Value::Vector(vec![]));
        assert_eq!(read("[1, 2.5]"), Value::List(vec![Value::Int(1), Value::Float(2.5)]));
        assert_eq!(read("[\"a\", [null]]").to_string(), "[\"a\",[null]]");
        assert!(serde_json::from_str::<Value>("{\"a\":1}").is_err());
    }

    #[test]
    fn an_integer_beyond_64_bits_is_refused_not_rounded() {
        let error = serde_json::from_str::<Value>("9223372036854775808").unwrap_err().to_string();
        assert!(error.contains("at most 64 bits"), "{error}");
    }

    #[test]
    fn null_booleans_and_text_are_themselves() {
        assert_eq!(read("[null]".trim_matches(['[', ']'])), Value::Null);
        assert_eq!(read("true"), Value::Bool(true));
        assert_eq!(read("\"a\\n\\\"\""), Value::Text("a\n\"".to_owned()));
        assert_eq!(Value::Text("a\n\"".to_owned()).to_string(), "\"a\\n\\\"\"");
    }
}
