//! The scalar functions that random programs call, defined once more over plain values.
//!
//! What a function is not made for gives Null. Nothing here is shared with the engine, but for Rust's own mathematics.

mod calendar;
pub mod lists;
mod math;
mod quantised;
mod text;
mod time;
mod vector;

use std::fmt;

use crate::value::Value;

/// Which values a function takes or gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any value.
    Any,
    /// Integers and floats.
    Number,
    /// A small integer that is written out.
    Small,
    /// Strings.
    Text,
    /// `true` and `false`.
    Bool,
    /// Vectors of floats.
    Vector,
    /// Lists: only other functions see them.
    List,
    /// Quantised vectors: only other functions see them.
    Bytes,
    /// Points in time, integers among them: only other functions see what is none of these.
    Time,
}

/// A function of a fixed number of arguments.
pub struct Function {
    /// As it is written.
    pub name: &'static str,
    /// What it is made for.
    pub takes: &'static [Kind],
    /// What it gives, or Null.
    pub gives: Kind,
    /// Whether sums of its results do not depend on their order.
    pub exact: bool,
    /// What it is.
    pub evaluate: fn(&[Value]) -> Value,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// All of them.
pub fn functions() -> impl Iterator<Item = &'static Function> {
    [
        math::FUNCTIONS,
        text::FUNCTIONS,
        vector::FUNCTIONS,
        quantised::FUNCTIONS,
        time::FUNCTIONS,
        calendar::FUNCTIONS,
        lists::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// The function of this name.
pub fn function(name: &str) -> &'static Function {
    functions().find(|function| function.name == name).unwrap_or_else(|| panic!("no function {name}"))
}

/// One entry of a list.
const fn entry(
    name: &'static str,
    takes: &'static [Kind],
    gives: Kind,
    evaluate: fn(&[Value]) -> Value,
) -> Function {
    Function { name, takes, gives, exact: true, evaluate }
}

/// One whose results are rounded.
const fn rounded(
    name: &'static str,
    takes: &'static [Kind],
    gives: Kind,
    evaluate: fn(&[Value]) -> Value,
) -> Function {
    Function { name, takes, gives, exact: false, evaluate }
}

/// A finite float, or Null.
fn float(x: f64) -> Value {
    if x.is_finite() { Value::Float(x) } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::{Kind, function, functions};
    use crate::value::Value;

    fn call(name: &str, arguments: &[Value]) -> Value {
        (function(name).evaluate)(arguments)
    }

    #[test]
    fn there_are_many_and_each_gives_null_for_null() {
        assert!(functions().count() >= 25);
        for function in functions().filter(|function| !["concat", "list"].contains(&function.name)) {
            let nulls = vec![Value::Null; function.takes.len()];
            assert_eq!((function.evaluate)(&nulls), Value::Null, "{}", function.name);
        }
        for kind in [Kind::Number, Kind::Text, Kind::Bool, Kind::Vector, Kind::Bytes, Kind::Time] {
            assert!(functions().any(|function| function.gives == kind), "{kind:?}");
        }
    }

    #[test]
    fn the_numbers_of_the_reference_come_out() {
        let vector = |elements: &[f32]| Value::Vector(elements.to_vec());
        let float = Value::Float;
        assert_eq!(call("euclidean", &[vector(&[1.0, 0.0]), vector(&[0.0, 2.0])]), float(2.23606797749979));
        let Value::Float(distance) = call("cosine", &[vector(&[3.0, 4.0]), vector(&[1.0, 0.0])]) else {
            panic!()
        };
        assert!((distance - 0.4).abs() < 1e-7);
        let buckets = [([1.0, 0.0], 56), ([0.0, 2.0], 200), ([3.0, 4.0], 136)];
        for (of, bucket) in buckets {
            let found = call("lsh_bucket", &[vector(&of), Value::Int(0), Value::Int(8)]);
            assert_eq!(found, Value::Int(bucket), "{of:?}");
        }
        let numbers = vector(&[1.0, 2.0, 3.0]);
        assert_eq!(
            call("quantize_linear", std::slice::from_ref(&numbers)),
            Value::Bytes(vec![-128, -1, 127])
        );
        assert_eq!(call("quantize_symmetric", &[numbers]), Value::Bytes(vec![42, 85, 127]));
        let times = |times: [i64; 3]| times.map(Value::Int);
        assert_eq!(call("time_decay", &times([1000, 2000, 1000])), float(0.5));
        assert_eq!(call("time_decay_linear", &times([1500, 2000, 1000])), float(0.5));
    }
}
