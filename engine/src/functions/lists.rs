//! Functions of lists. Elements are compared by value, as `=` does. Where a list is taken, so is a vector: its elements are
//! floats then.

use std::borrow::Cow;
use std::collections::HashSet;

use super::ScalarFunction;
use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use crate::data::equality::{is_equal, representative};
use crate::data::{Value, ValueRef};

type Results = Result<Column, FunctionError>;

/// The elements of a list or vector.
pub(crate) fn elements(value: ValueRef<'_>) -> Option<Cow<'_, [Value]>> {
    match value {
        ValueRef::List(elements) => Some(Cow::Borrowed(elements)),
        ValueRef::Vector(elements) => Some(elements.iter().map(|x| Value::Float(f64::from(*x))).collect()),
        ValueRef::VectorInt8(elements) => Some(elements.iter().map(|n| Value::Int(i64::from(*n))).collect()),
        _ => None,
    }
}

/// The elements that differ, by identity, in their order: what `each` gives.
pub(crate) fn distinct_elements(value: ValueRef<'_>) -> Vec<Value> {
    let mut seen = HashSet::new();
    let elements = elements(value).unwrap_or_default();
    elements.iter().filter(|element| seen.insert(*element)).cloned().collect()
}

/// Whether it stands for every element in turn: that is a way to bind a variable, and nothing that can be computed.
pub(crate) fn is_each(function: &ScalarFunction) -> bool {
    function.name == "each"
}

/// `X = each(L)` where `X` has a value already.
pub(crate) fn membership() -> Option<&'static ScalarFunction> {
    ScalarFunction::named("has")
}

pub(super) fn each(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    Ok(Column::Values(arguments.each(|_| Value::Null)))
}

/// Where the first element stands that equals a value.
pub(super) fn place(elements: &[Value], sought: ValueRef<'_>) -> Option<usize> {
    elements.iter().position(|element| is_equal(element.as_ref(), sought))
}

pub(super) fn has(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    arguments.bools(|row| {
        elements(arguments.at(0, row)).map(|elements| place(&elements, arguments.at(1, row)).is_some())
    })
}

pub(super) fn list(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| {
        let elements = (0..arguments.count()).map(|column| arguments.at(column, row).to_value());
        circumstances.list(elements.collect())
    })
}

/// A list that is made of another one; Null of what is none.
fn made(
    arguments: &Arguments<'_>,
    circumstances: &Circumstances<'_>,
    make: impl Fn(&[Value], usize) -> Option<Vec<Value>>,
) -> Results {
    arguments.try_each(|row| {
        let Some(elements) = elements(arguments.at(0, row)) else { return Ok(Value::Null) };
        circumstances.work(size_of_val(&*elements))?;
        make(&elements, row).map_or(Ok(Value::Null), |elements| circumstances.list(elements))
    })
}

pub(super) fn append(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    made(arguments, circumstances, |elements, row| {
        let last = arguments.at(1, row).to_value();
        Some(elements.iter().cloned().chain([last]).collect())
    })
}

pub(super) fn extend(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    made(arguments, circumstances, |first, row| {
        elements(arguments.at(1, row)).map(|second| first.iter().chain(second.iter()).cloned().collect())
    })
}

pub(super) fn reverse(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    made(arguments, circumstances, |elements, _| Some(elements.iter().rev().cloned().collect()))
}

pub(super) fn sort(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    made(arguments, circumstances, |elements, _| {
        let mut sorted = elements.to_vec();
        sorted.sort();
        Some(sorted)
    })
}

pub(super) fn distinct(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    made(arguments, circumstances, |elements, _| {
        let mut seen = HashSet::new();
        let is_new = |element: &&Value| seen.insert(representative(element.as_ref()).to_value());
        Some(elements.iter().filter(is_new).cloned().collect())
    })
}

pub(super) fn slice(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    made(arguments, circumstances, |elements, row| {
        let (ValueRef::Int(start), ValueRef::Int(count)) = (arguments.at(1, row), arguments.at(2, row))
        else {
            return None;
        };
        let start = usize::try_from(start.max(0)).unwrap_or(usize::MAX);
        let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
        Some(elements.iter().skip(start).take(count).cloned().collect())
    })
}

pub(super) fn element(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    Ok(Column::Values(arguments.each(|row| {
        let (Some(elements), ValueRef::Int(at)) = (elements(arguments.at(0, row)), arguments.at(1, row))
        else {
            return Value::Null;
        };
        // From the end if it is negative.
        let at =
            if at < 0 { i64::try_from(elements.len()).unwrap_or(i64::MAX).saturating_add(at) } else { at };
        usize::try_from(at).ok().and_then(|at| elements.get(at)).cloned().unwrap_or(Value::Null)
    })))
}

pub(super) fn split(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row)) {
        (ValueRef::Text(text), ValueRef::Text(separator)) if !separator.is_empty() => {
            circumstances.work(text.len())?;
            circumstances.list(text.split(separator).map(Value::text).collect())
        }
        _ => Ok(Value::Null),
    })
}
