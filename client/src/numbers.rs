//! Numbers that JSON cannot carry. Written as `null`, as is usual, they would be other values in silence.

use crate::errors::ClientError;
use stratalog_protocol::Value;

/// Refuses NaN and the infinities, on their own, in vectors and in lists.
pub(crate) fn check<'a>(
    values: impl IntoIterator<Item = &'a Value>,
    place: impl Fn() -> String,
) -> Result<(), ClientError> {
    if values.into_iter().all(is_finite) {
        return Ok(());
    }
    let problem = format!("{} is or holds a number that is not finite", place());
    Err(ClientError::invalid(
        problem,
        "NaN and the infinities cannot be stored: send `Value::Null` for what is not known",
    ))
}

fn is_finite(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_finite(),
        Value::Vector(elements) => elements.iter().all(|element| element.is_finite()),
        Value::List(elements) => elements.iter().all(is_finite),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Text(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        let checked = |value: Value| check([&Value::Int(1), &value], || "`$x`".to_owned());
        for value in [Value::Null, Value::Float(0.5), Value::Vector(vec![1.0]), Value::Text("NaN".into())] {
            assert!(checked(value).is_ok());
        }
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for value in [Value::Float(number), Value::Vector(vec![1.0, number])] {
                let error = checked(value).unwrap_err().to_string();
                assert!(error.starts_with("`$x` is or holds a number that is not finite"), "{error}");
            }
        }
    }
}
