//! `Value`: one scalar, as the language defines it and independent of the engine's.
//!
//! Equality is typed (`1` and `1.0` differ). The order is that of sorting, `min` and `max`: Null, booleans, numbers by
//! value (an integer before the float that equals it), strings by code point, vectors.

use std::cmp::Ordering;
use std::fmt;

/// One row of a relation or an answer.
pub type Row = Vec<Value>;

/// A scalar.
#[derive(Debug, Clone)]
pub enum Value {
    /// The absence of a value; the same value as itself.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A finite float.
    Float(f64),
    /// Milliseconds since 1970.
    Timestamp(i64),
    /// A string.
    Text(String),
    /// A vector, of floats or of bytes.
    Vector(Vec<f32>),
    /// A quantised vector inside an expression; in an answer it is a vector.
    Bytes(Vec<i8>),
    /// A list; in an answer it is a vector if it holds nothing but floats.
    List(Vec<Value>),
}

impl Value {
    /// A string.
    pub fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    /// As it travels: times are integers in a list, and a list of nothing but floats is a vector.
    pub fn answered(self) -> Value {
        let Value::List(elements) = self else { return self };
        let float = |element: &Value| match element {
            Value::Float(x) => Some(*x as f32),
            _ => None,
        };
        match elements.iter().map(float).collect() {
            Some(floats) => Value::Vector(floats),
            None => Value::List(elements.into_iter().map(Value::inside).collect()),
        }
    }

    fn inside(self) -> Value {
        match self {
            Value::Timestamp(t) => Value::Int(t),
            other => other.answered(),
        }
    }

    /// The number, where this is one: its value as a float, exact for everything that tests use.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Int(n) | Value::Timestamp(n) => Some(*n as f64),
            Value::Float(x) => Some(*x),
            Value::Null
            | Value::Bool(_)
            | Value::Text(_)
            | Value::Vector(_)
            | Value::Bytes(_)
            | Value::List(_) => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Int(_) | Value::Float(_) | Value::Timestamp(_) => 2,
            Value::Text(_) => 3,
            Value::Vector(_) => 4,
            Value::Bytes(_) => 5,
            Value::List(_) => 6,
        }
    }

    /// Among equal numbers, integers come first.
    fn number_rank(&self) -> u8 {
        match self {
            Value::Float(_) => 1,
            Value::Timestamp(_) => 2,
            _ => 0,
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) | (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Vector(a), Value::Vector(b)) => a.len().cmp(&b.len()).then_with(|| {
                a.iter().zip(b).map(|(x, y)| x.total_cmp(y)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
            }),
            (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
            (Value::List(a), Value::List(b)) => a.cmp(b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => compare(a, b).then(self.number_rank().cmp(&other.number_rank())),
                _ => self.rank().cmp(&other.rank()),
            },
        }
    }
}

/// Finite floats by value: both zeros are equal.
fn compare(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Value {}

/// The literal form of the language.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(n) | Value::Timestamp(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Text(text) => write_text(f, text),
            Value::Vector(elements) => write!(f, "{elements:?}"),
            Value::Bytes(elements) => write!(f, "{elements:?}"),
            Value::List(elements) => {
                let elements: Vec<String> = elements.iter().map(Value::to_string).collect();
                write!(f, "list({})", elements.join(", "))
            }
        }
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn numbers_are_ordered_by_value_and_equal_only_within_a_type() {
        let ascending = [
            Value::Null,
            Value::Bool(false),
            Value::Bool(true),
            Value::Int(1),
            Value::Float(1.0),
            Value::Float(1.5),
            Value::Int(2),
            Value::text(""),
            Value::text("Z"),
            Value::text("a"),
            Value::Vector(vec![9.0]),
            Value::Vector(vec![1.0, 2.0]),
        ];
        assert!(ascending.is_sorted());
        assert!(ascending.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn values_print_as_literals() {
        let printed = |value: Value| value.to_string();
        assert_eq!(printed(Value::Float(2.0)), "2.0");
        assert_eq!(printed(Value::text("a\"b\\\n")), r#""a\"b\\\n""#);
        assert_eq!(printed(Value::Vector(vec![1.0, 2.5])), "[1.0, 2.5]");
        assert_eq!(printed(Value::Null), "null");
    }
}
