//! What a function works on and what it gives: columns of arguments, columns of results.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::budget::{Budget, BudgetError};
use crate::data::{Code, Codec, MAX_LIST_DEPTH, Value, ValueRef};
use crate::diagnostic::{self, Diagnose, Diagnostic};

/// Results that are smaller than this are accounted for with their rows.
const SMALL: usize = 64;
/// Work on so many bytes or elements asks whether it may go on.
const LARGE: usize = 4_096;

/// An argument of a call.
#[derive(Debug)]
pub enum Argument<'a> {
    /// The same value in every row.
    Constant(ValueRef<'a>),
    /// A value a row.
    Values(Vec<ValueRef<'a>>),
    /// A code a row: values are read where they are worked on, not all of them before.
    Codes(&'a [Code], &'a Codec),
}

/// The arguments of a call.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    columns: &'a [Argument<'a>],
    rows: usize,
}

impl<'a> Arguments<'a> {
    /// Arguments of so many rows.
    pub fn new(columns: &'a [Argument<'a>], rows: usize) -> Arguments<'a> {
        Arguments { columns, rows }
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Number of arguments.
    pub(super) fn count(&self) -> usize {
        self.columns.len()
    }

    /// One argument of one row.
    #[inline]
    pub(super) fn at(&self, column: usize, row: usize) -> ValueRef<'a> {
        match &self.columns[column] {
            Argument::Constant(value) => *value,
            Argument::Values(values) => values[row],
            Argument::Codes(codes, codec) => codec.value(codes[row]),
        }
    }

    /// An argument that is the same in all rows.
    pub(super) fn constant(&self, column: usize) -> Option<ValueRef<'a>> {
        match &self.columns[column] {
            Argument::Constant(value) => Some(*value),
            Argument::Values(_) | Argument::Codes(..) => None,
        }
    }

    /// The results of all rows.
    pub(super) fn each<T>(&self, result: impl FnMut(usize) -> T) -> Vec<T> {
        (0..self.rows).map(result).collect()
    }

    /// The results of all rows, until one fails.
    pub(super) fn try_each(
        &self,
        result: impl FnMut(usize) -> Result<Value, FunctionError>,
    ) -> Result<Column, FunctionError> {
        (0..self.rows).map(result).collect::<Result<_, _>>().map(Column::Values)
    }

    /// Integers.
    pub(super) fn ints(&self, result: impl FnMut(usize) -> Option<i64>) -> Result<Column, FunctionError> {
        Ok(Column::Ints(self.each(result)))
    }

    /// Floats; what is not finite is Null.
    pub(super) fn floats(
        &self,
        mut result: impl FnMut(usize) -> Option<f64>,
    ) -> Result<Column, FunctionError> {
        Ok(Column::Floats(self.each(|row| result(row).filter(|x| x.is_finite()).unwrap_or(f64::NAN))))
    }

    /// Booleans.
    pub(super) fn bools(
        &self,
        mut result: impl FnMut(usize) -> Option<bool>,
    ) -> Result<Column, FunctionError> {
        Ok(Column::Values(self.each(|row| result(row).map_or(Value::Null, Value::Bool))))
    }
}

/// The results of a call, one a row.
#[derive(Debug)]
pub enum Column {
    /// Integers; `None` is Null.
    Ints(Vec<Option<i64>>),
    /// Finite floats; NaN is Null.
    Floats(Vec<f64>),
    /// Anything.
    Values(Vec<Value>),
}

/// What a function may know and use beside its arguments.
#[derive(Debug)]
pub struct Circumstances<'a> {
    /// Set when an integer was cut off at the end of the range.
    pub saturated: &'a AtomicBool,
    /// What the request may use, and when it started.
    pub budget: &'a Budget,
}

impl Circumstances<'_> {
    /// An integer that was cut off.
    pub(super) fn saturate(&self, bound: i64) -> i64 {
        self.saturated.store(true, Ordering::Relaxed);
        bound
    }

    /// A float without its fraction.
    pub(super) fn whole(&self, x: f64) -> i64 {
        const TWO_63: f64 = 9_223_372_036_854_775_808.0;
        if (-TWO_63..TWO_63).contains(&x) { x as i64 } else { self.saturate(x as i64) }
    }

    /// Asks whether to go on, where a row is much work.
    pub(super) fn work(&self, size: usize) -> Result<(), FunctionError> {
        if size >= LARGE { Ok(self.budget.check()?) } else { Ok(()) }
    }

    /// A text, if it is not too long.
    pub(super) fn text(&self, text: String) -> Result<Value, FunctionError> {
        self.check_length(text.len())?;
        self.account(text.len())?;
        Ok(Value::text(text))
    }

    /// A vector; Null if an element is not finite.
    pub(super) fn vector(&self, elements: Vec<f32>) -> Result<Value, FunctionError> {
        self.account(elements.len() * size_of::<f32>())?;
        Ok(if elements.iter().all(|x| x.is_finite()) { Value::Vector(elements.into()) } else { Value::Null })
    }

    /// A quantised vector.
    pub(super) fn vector_int8(&self, elements: Vec<i8>) -> Result<Value, FunctionError> {
        self.account(elements.len())?;
        Ok(Value::VectorInt8(elements.into()))
    }

    /// A list, if it is neither too long nor too deep.
    pub(super) fn list(&self, elements: Vec<Value>) -> Result<Value, FunctionError> {
        new_list(elements, self.budget)
    }

    /// Refuses a text before it is made.
    pub(super) fn check_length(&self, bytes: usize) -> Result<(), FunctionError> {
        let limit = self.budget.string_bytes();
        if bytes <= limit { Ok(()) } else { Err(FunctionError::TextTooLong { limit }) }
    }

    fn account(&self, bytes: usize) -> Result<(), FunctionError> {
        if bytes > SMALL {
            self.budget.charge(bytes)?;
        }
        self.work(bytes)
    }
}

/// A list, if it is neither too long nor too deep.
pub(crate) fn new_list(elements: Vec<Value>, budget: &Budget) -> Result<Value, FunctionError> {
    let list = Value::List(elements.into());
    let (bytes, limit) = (list.as_ref().content_bytes(), budget.string_bytes());
    if bytes > limit {
        return Err(FunctionError::ListTooLong { limit });
    }
    if list.as_ref().depth() > MAX_LIST_DEPTH {
        return Err(FunctionError::ListTooDeep);
    }
    budget.charge(bytes)?;
    Ok(list)
}

/// Why a function stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FunctionError {
    /// Time, memory or patience ran out.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A text would be longer than texts may be.
    #[error("a function gave a string of more than {limit} bytes")]
    TextTooLong {
        /// The bytes that a string may have.
        limit: usize,
    },
    /// A list would be longer than strings may be.
    #[error("a function gave a list of more than {limit} bytes")]
    ListTooLong {
        /// The bytes that it may have.
        limit: usize,
    },
    /// Too many lists in each other.
    #[error("a function gave more than {MAX_LIST_DEPTH} lists that stand in each other")]
    ListTooDeep,
}

impl Diagnose for FunctionError {
    fn diagnose(&self) -> Diagnostic {
        match self {
            FunctionError::Budget(stopped) => stopped.diagnose(),
            FunctionError::TextTooLong { limit } => {
                Diagnostic::error(diagnostic::Code::LimitExceeded, self.to_string())
                    .help("shorten the strings first, as with `substr`")
                    .limit("max_string_bytes", *limit as u64)
            }
            FunctionError::ListTooLong { limit } => {
                Diagnostic::error(diagnostic::Code::LimitExceeded, self.to_string())
                    .help("keep less in it, or give each element a row")
                    .limit("max_string_bytes", *limit as u64)
            }
            FunctionError::ListTooDeep => {
                Diagnostic::error(diagnostic::Code::LimitExceeded, self.to_string())
                    .help("put elements one after the other, as `extend` does")
            }
        }
    }
}
