//! `Value`: one scalar as it is written in a program.
//!
//! Values exist where single constants are handled: program text, parameters, JSON rows, messages. Relations hold
//! columns of codes instead (see `codes.rs`).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// One scalar, cheap to copy: copies share long contents. Equality is typed: `1` and `1.0` differ, and so do `0.0` and `-0.0`.
#[derive(Debug, Clone)]
pub enum Value {
    /// The absence of a value; equal to itself.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A finite 64-bit float.
    Float(f64),
    /// Milliseconds since 1970, UTC.
    Timestamp(i64),
    /// Unicode text.
    Text(Arc<str>),
    /// A vector of 32-bit floats.
    Vector(Arc<[f32]>),
    /// A quantised vector.
    VectorInt8(Arc<[i8]>),
    /// Values of any kinds, in order.
    List(Arc<[Value]>),
}

/// The kind of a [`Value`], without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// [`Value::Null`].
    Null = 0,
    /// [`Value::Bool`].
    Bool = 1,
    /// [`Value::Int`].
    Int = 2,
    /// [`Value::Float`].
    Float = 3,
    /// [`Value::Timestamp`].
    Timestamp = 4,
    /// [`Value::Text`].
    Text = 5,
    /// [`Value::Vector`].
    Vector = 6,
    /// [`Value::VectorInt8`].
    VectorInt8 = 7,
    /// [`Value::List`].
    List = 8,
}

impl Kind {
    /// All kinds, each at its number.
    const ALL: [Kind; 9] = [
        Kind::Null,
        Kind::Bool,
        Kind::Int,
        Kind::Float,
        Kind::Timestamp,
        Kind::Text,
        Kind::Vector,
        Kind::VectorInt8,
        Kind::List,
    ];

    /// The kind with this number.
    pub fn from_number(number: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(number)).copied()
    }
}

impl Value {
    /// Which kind of value this is.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::Float(_) => Kind::Float,
            Value::Timestamp(_) => Kind::Timestamp,
            Value::Text(_) => Kind::Text,
            Value::Vector(_) => Kind::Vector,
            Value::VectorInt8(_) => Kind::VectorInt8,
            Value::List(_) => Kind::List,
        }
    }

    /// A text value.
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind().hash(state);
        match self {
            Value::Null => {}
            Value::Bool(b) => b.hash(state),
            Value::Int(n) | Value::Timestamp(n) => n.hash(state),
            Value::Float(x) => x.to_bits().hash(state),
            Value::Text(text) => text.hash(state),
            Value::Vector(elements) => {
                elements.len().hash(state);
                elements.iter().for_each(|x| x.to_bits().hash(state));
            }
            Value::VectorInt8(elements) => elements.hash(state),
            Value::List(elements) => elements.hash(state),
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_ref().cmp(&other.as_ref())
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A borrowed [`Value`].
#[derive(Debug, Clone, Copy)]
pub enum ValueRef<'a> {
    /// See [`Value::Null`].
    Null,
    /// See [`Value::Bool`].
    Bool(bool),
    /// See [`Value::Int`].
    Int(i64),
    /// See [`Value::Float`].
    Float(f64),
    /// See [`Value::Timestamp`].
    Timestamp(i64),
    /// See [`Value::Text`].
    Text(&'a str),
    /// See [`Value::Vector`].
    Vector(&'a [f32]),
    /// See [`Value::VectorInt8`].
    VectorInt8(&'a [i8]),
    /// See [`Value::List`].
    List(&'a [Value]),
}

impl Value {
    /// Borrows the content.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Null => ValueRef::Null,
            Value::Bool(b) => ValueRef::Bool(*b),
            Value::Int(n) => ValueRef::Int(*n),
            Value::Float(x) => ValueRef::Float(*x),
            Value::Timestamp(t) => ValueRef::Timestamp(*t),
            Value::Text(text) => ValueRef::Text(text),
            Value::Vector(elements) => ValueRef::Vector(elements),
            Value::VectorInt8(elements) => ValueRef::VectorInt8(elements),
            Value::List(elements) => ValueRef::List(elements),
        }
    }
}

impl<'a> ValueRef<'a> {
    /// The bytes of its content, beside those of the value itself.
    pub fn content_bytes(self) -> usize {
        match self {
            ValueRef::Text(text) => text.len(),
            ValueRef::Vector(elements) => size_of_val(elements),
            ValueRef::VectorInt8(elements) => elements.len(),
            ValueRef::List(elements) => {
                let inside = elements.iter().map(|element| element.as_ref().content_bytes());
                size_of_val(elements) + inside.sum::<usize>()
            }
            ValueRef::Null
            | ValueRef::Bool(_)
            | ValueRef::Int(_)
            | ValueRef::Float(_)
            | ValueRef::Timestamp(_) => 0,
        }
    }

    /// How many lists stand in each other.
    pub fn depth(self) -> usize {
        match self {
            ValueRef::List(elements) => {
                1 + elements.iter().map(|element| element.as_ref().depth()).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Copies the content.
    pub fn to_value(self) -> Value {
        match self {
            ValueRef::Null => Value::Null,
            ValueRef::Bool(b) => Value::Bool(b),
            ValueRef::Int(n) => Value::Int(n),
            ValueRef::Float(x) => Value::Float(x),
            ValueRef::Timestamp(t) => Value::Timestamp(t),
            ValueRef::Text(text) => Value::Text(text.into()),
            ValueRef::Vector(elements) => Value::Vector(elements.into()),
            ValueRef::VectorInt8(elements) => Value::VectorInt8(elements.into()),
            ValueRef::List(elements) => Value::List(elements.into()),
        }
    }

    /// Which kind of value this is.
    pub fn kind(self) -> Kind {
        match self {
            ValueRef::Null => Kind::Null,
            ValueRef::Bool(_) => Kind::Bool,
            ValueRef::Int(_) => Kind::Int,
            ValueRef::Float(_) => Kind::Float,
            ValueRef::Timestamp(_) => Kind::Timestamp,
            ValueRef::Text(_) => Kind::Text,
            ValueRef::Vector(_) => Kind::Vector,
            ValueRef::VectorInt8(_) => Kind::VectorInt8,
            ValueRef::List(_) => Kind::List,
        }
    }

    /// Whether that value is this one. What is compared depends on this one alone, so nobody waits to know the other's
    /// kind before it goes on.
    pub(super) fn is(self, value: &Value) -> bool {
        match self {
            ValueRef::Null => matches!(value, Value::Null),
            ValueRef::Bool(a) => matches!(value, Value::Bool(b) if a == *b),
            ValueRef::Int(a) => matches!(value, Value::Int(b) if a == *b),
            ValueRef::Float(a) => matches!(value, Value::Float(b) if a.to_bits() == b.to_bits()),
            ValueRef::Timestamp(a) => matches!(value, Value::Timestamp(b) if a == *b),
            ValueRef::Text(a) => matches!(value, Value::Text(b) if a == &**b),
            ValueRef::Vector(a) => matches!(value, Value::Vector(b) if are_same(a, b)),
            ValueRef::VectorInt8(a) => matches!(value, Value::VectorInt8(b) if a == &**b),
            ValueRef::List(a) => matches!(value, Value::List(b) if a == &**b),
        }
    }

    /// The numeric value of an integer, float or timestamp.
    pub(crate) fn as_number(self) -> Option<Number> {
        match self {
            ValueRef::Int(n) | ValueRef::Timestamp(n) => Some(Number::Int(n)),
            ValueRef::Float(x) => Some(Number::Float(x)),
            _ => None,
        }
    }

    /// Position in the order across kinds; ties among numbers are broken by the second figure.
    fn rank(self) -> (u8, u8) {
        match self {
            ValueRef::Null => (0, 0),
            ValueRef::Bool(_) => (1, 0),
            ValueRef::Int(_) => (2, 0),
            ValueRef::Float(_) => (2, 1),
            ValueRef::Timestamp(_) => (2, 2),
            ValueRef::Text(_) => (3, 0),
            ValueRef::Vector(_) => (4, 0),
            ValueRef::VectorInt8(_) => (5, 0),
            ValueRef::List(_) => (6, 0),
        }
    }
}

impl PartialEq for ValueRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (ValueRef::Null, ValueRef::Null) => true,
            (ValueRef::Bool(a), ValueRef::Bool(b)) => a == b,
            (ValueRef::Int(a), ValueRef::Int(b)) | (ValueRef::Timestamp(a), ValueRef::Timestamp(b)) => a == b,
            (ValueRef::Float(a), ValueRef::Float(b)) => a.to_bits() == b.to_bits(),
            (ValueRef::Text(a), ValueRef::Text(b)) => a == b,
            (ValueRef::Vector(a), ValueRef::Vector(b)) => are_same(a, b),
            (ValueRef::VectorInt8(a), ValueRef::VectorInt8(b)) => a == b,
            (ValueRef::List(a), ValueRef::List(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for ValueRef<'_> {}

fn are_same(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

/// The order of sorting, `min` and `max`: Null, booleans, numbers by value (ties: integer, float, timestamp), text by
/// code point, vectors by length and then by element, lists by element as texts by character.
impl Ord for ValueRef<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (ValueRef::Bool(a), ValueRef::Bool(b)) => a.cmp(b),
            (ValueRef::Text(a), ValueRef::Text(b)) => a.cmp(b),
            (ValueRef::Vector(a), ValueRef::Vector(b)) => a.len().cmp(&b.len()).then_with(|| {
                a.iter().zip(*b).map(|(x, y)| x.total_cmp(y)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
            }),
            (ValueRef::VectorInt8(a), ValueRef::VectorInt8(b)) => {
                a.len().cmp(&b.len()).then_with(|| a.cmp(b))
            }
            (ValueRef::List(a), ValueRef::List(b)) => a.cmp(b),
            _ => match (self.as_number(), other.as_number()) {
                (Some(a), Some(b)) => compare_numbers(a, b)
                    .then(self.rank().cmp(&other.rank()))
                    // Zeros of both signs are two values.
                    .then_with(|| float_of(a).total_cmp(&float_of(b))),
                _ => self.rank().cmp(&other.rank()),
            },
        }
    }
}

impl PartialOrd for ValueRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A number as it is compared: exactly, whatever its kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    /// A float, if it is finite: nothing else is a value.
    pub(crate) fn finite(x: f64) -> Option<Number> {
        x.is_finite().then_some(Number::Float(x))
    }

    /// The float of the same number; none if not every integer of its size has one.
    pub(crate) fn exact(self) -> Option<f64> {
        const END: u64 = 1 << f64::MANTISSA_DIGITS;
        match self {
            Number::Float(x) => Some(x),
            Number::Int(n) => (n.unsigned_abs() <= END).then_some(n as f64),
        }
    }

    /// The value that it is.
    pub(crate) fn value(self) -> ValueRef<'static> {
        match self {
            Number::Int(n) => ValueRef::Int(n),
            Number::Float(x) => ValueRef::Float(x),
        }
    }
}

/// Compares by numeric value, exactly: an integer above 2^53 is not rounded to a float first.
pub(crate) fn compare_numbers(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b).unwrap_or_else(|| a.total_cmp(&b)),
        (Number::Int(a), Number::Float(b)) => compare_int_float(a, b),
        (Number::Float(a), Number::Int(b)) => compare_int_float(b, a).reverse(),
    }
}

/// The nearest float.
pub(crate) fn float_of(number: Number) -> f64 {
    match number {
        Number::Int(n) => n as f64,
        Number::Float(x) => x,
    }
}

fn compare_int_float(int: i64, float: f64) -> Ordering {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if float >= TWO_63 {
        return Ordering::Less;
    }
    if float < -TWO_63 {
        return Ordering::Greater;
    }
    let whole = float.trunc();
    int.cmp(&(whole as i64)).then_with(|| 0.0_f64.partial_cmp(&(float - whole)).unwrap_or(Ordering::Equal))
}

/// The literal form of the language: text in quotes with escapes, floats with a fraction, times as `t"2024-01-05T10:00:00Z"`.
impl fmt::Display for ValueRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueRef::Null => f.write_str("null"),
            ValueRef::Bool(b) => write!(f, "{b}"),
            ValueRef::Int(n) => write!(f, "{n}"),
            ValueRef::Timestamp(t) => super::time::write_literal(*t, f),
            ValueRef::Float(x) => write_float(f, *x),
            ValueRef::Text(text) => {
                f.write_str("\"")?;
                for c in text.chars() {
                    match c {
                        '"' => f.write_str("\\\"")?,
                        '\\' => f.write_str("\\\\")?,
                        '\n' => f.write_str("\\n")?,
                        '\t' => f.write_str("\\t")?,
                        '\r' => f.write_str("\\r")?,
                        c => write!(f, "{c}")?,
                    }
                }
                f.write_str("\"")
            }
            ValueRef::Vector(elements) => {
                f.write_str("[")?;
                for (i, x) in elements.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write_float(f, f64::from(*x))?;
                }
                f.write_str("]")
            }
            ValueRef::VectorInt8(elements) => {
                f.write_str("[")?;
                for (i, x) in elements.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{x}")?;
                }
                f.write_str("]")
            }
            ValueRef::List(elements) => {
                f.write_str("list(")?;
                for (i, element) in elements.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    element.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Shortest text that reads back as the same float, always with a fraction or an exponent.
fn write_float(f: &mut fmt::Formatter<'_>, x: f64) -> fmt::Result {
    write!(f, "{x:?}")
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}
