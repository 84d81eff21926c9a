//! When two values are equal: the one place that says so. Analysis, planner, indexes and kernels ask here.
//!
//! *Identity* is the equality of sets: the same type and the same content. Facts are distinct by it, what is stored joins
//! by it, and Null is Null. Codes stand for it: the same code is the same value.
//!
//! Equality *by value* is that of `=`, and of whatever is written or computed: numbers are equal if they are the same
//! number, exactly, whatever their types; all else is equal if it is identical. Only the literal `null` equals nothing in a
//! comparison, which is up to whoever compares.

use std::cmp::Ordering;

use super::data_type::DataType;
use super::value::{Number, Value, ValueRef, compare_numbers};

/// Whether two values are equal by value.
pub(crate) fn is_equal(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => compare_numbers(a, b).is_eq(),
        (None, None) => a == b,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// The order of two values that `<` can compare: numbers by value, texts by code point, booleans. Where there is one, it
/// agrees with [`is_equal`].
pub(crate) fn order(a: ValueRef<'_>, b: ValueRef<'_>) -> Option<Ordering> {
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => Some(compare_numbers(a, b)),
        (None, None) => match (a, b) {
            (ValueRef::Text(a), ValueRef::Text(b)) => Some(a.cmp(b)),
            (ValueRef::Bool(a), ValueRef::Bool(b)) => Some(a.cmp(&b)),
            _ => None,
        },
        (Some(_), None) | (None, Some(_)) => None,
    }
}

/// Whether two values are numbers both, or else of the same kind: their order then says something about them.
pub(crate) fn are_of_one_kind(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (a.as_number(), b.as_number()) {
        (Some(_), Some(_)) => true,
        (None, None) => a.kind() == b.kind(),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// The one value that stands for all that are equal to this one by value: an integer for a float or a point in time that
/// is a whole number. Two values are equal by value if and only if these are identical.
pub(crate) fn representative(value: ValueRef<'_>) -> ValueRef<'_> {
    match value {
        ValueRef::Float(x) => whole(x).map_or(value, ValueRef::Int),
        ValueRef::Timestamp(at) => ValueRef::Int(at),
        _ => value,
    }
}

/// Whether each value in a column of this type is its own representative, so that identity and equality by value are the
/// same there.
pub(crate) fn is_representative(column: DataType) -> bool {
    match column {
        DataType::Unknown
        | DataType::Int
        | DataType::Bool
        | DataType::Text
        | DataType::Vector(_)
        | DataType::VectorInt8(_)
        | DataType::List => true,
        DataType::Float | DataType::Timestamp | DataType::Any => false,
    }
}

/// The only value in a column of this type that may equal a constant by value; nothing if there may be several.
pub(crate) fn only_equal(constant: &Value, column: DataType) -> Option<Value> {
    match (constant, column) {
        (Value::Timestamp(at), column) => only_equal(&Value::Int(*at), column),
        (Value::Int(_) | Value::Float(_), DataType::Any | DataType::Unknown) => None,
        // Two zeros.
        (Value::Int(0), DataType::Float) => None,
        (Value::Float(x), DataType::Float) if *x == 0.0 => None,
        (Value::Int(n), DataType::Float) if *n as f64 as i128 == i128::from(*n) => {
            Some(Value::Float(*n as f64))
        }
        (Value::Int(n), DataType::Timestamp) => Some(Value::Timestamp(*n)),
        (Value::Float(x), DataType::Int) => Some(whole(*x).map_or(Value::Float(*x), Value::Int)),
        (Value::Float(x), DataType::Timestamp) => Some(whole(*x).map_or(Value::Float(*x), Value::Timestamp)),
        (value, _) => Some(value.clone()),
    }
}

/// The integer that equals a float.
fn whole(x: f64) -> Option<i64> {
    let n = x as i64;
    compare_numbers(Number::Int(n), Number::Float(x)).is_eq().then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_53: i64 = 1 << 53;

    fn values() -> Vec<Value> {
        let ints = [0, 1, -1, 2, TWO_53, TWO_53 + 1, i64::MAX, i64::MIN];
        let floats =
            [0.0, -0.0, 1.0, 0.5, 0.3, 0.300_000_000_000_000_04, 2.0, 9_007_199_254_740_992.0, 9.3e18];
        let others = [Value::Null, Value::Bool(true), Value::text("1"), Value::Vector([1.0].into())];
        ints.into_iter()
            .flat_map(|n| [Value::Int(n), Value::Timestamp(n)])
            .chain(floats.map(Value::Float))
            .chain(others)
            .collect()
    }

    #[test]
    fn numbers_are_equal_if_they_are_the_same_number() {
        let equal = |a: Value, b: Value| is_equal(a.as_ref(), b.as_ref());
        assert!(equal(Value::Int(2), Value::Float(2.0)));
        assert!(equal(Value::Timestamp(2), Value::Int(2)));
        assert!(equal(Value::Float(0.0), Value::Float(-0.0)));
        assert!(!equal(Value::Int(TWO_53 + 1), Value::Float(TWO_53 as f64)));
        assert!(!equal(Value::Float(0.3), Value::Float(0.300_000_000_000_000_04)));
        assert!(!equal(Value::Int(1), Value::text("1")));
        assert!(equal(Value::Null, Value::Null));
    }

    #[test]
    fn representatives_are_identical_where_values_are_equal_and_nowhere_else() {
        for a in values() {
            for b in values() {
                let identical = representative(a.as_ref()) == representative(b.as_ref());
                assert_eq!(identical, is_equal(a.as_ref(), b.as_ref()), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn the_only_equal_value_of_a_column_is_the_only_one() {
        for constant in values() {
            for stored in values() {
                let column = DataType::of(&stored);
                let Some(only) = only_equal(&constant, column) else { continue };
                let equal = is_equal(constant.as_ref(), stored.as_ref());
                assert_eq!(only == stored, equal, "{constant:?} {stored:?}");
            }
        }
    }

    #[test]
    fn order_agrees_with_equality() {
        for a in values() {
            for b in values() {
                if let Some(order) = order(a.as_ref(), b.as_ref()) {
                    assert_eq!(order.is_eq(), is_equal(a.as_ref(), b.as_ref()), "{a:?} {b:?}");
                }
            }
        }
    }
}
