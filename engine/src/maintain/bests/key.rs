//! `Key`: a value as it is compared and added to.

use std::cmp::Ordering;

use crate::data::{Code, Codec, Learning, Number};
use crate::exec::ExecError;

/// A number in the order of values; the smallest is the best.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key(Number);

/// How values are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'v> {
    pub(super) largest: bool,
    /// If not, a node is reached or not.
    pub(super) are_there: bool,
    pub(super) codec: &'v Codec,
}

impl Values<'_> {
    /// Values that are no numbers are left to evaluation from scratch, and so are the largest of fractions, and `-0.0`: it
    /// compares as `0.0` does, and is another value.
    pub(super) fn key(self, value: Code) -> Result<Key, ExecError> {
        if !self.are_there {
            return Ok(Key(Number::Int(0)));
        }
        match self.number(value)? {
            Number::Float(x) if x == 0.0 && x.is_sign_negative() => Err(ExecError::NotWorth),
            number if !self.largest => Ok(Key(number)),
            Number::Int(n) => Ok(Key(Number::Int(n.checked_neg().ok_or(ExecError::NotWorth)?))),
            Number::Float(_) => Err(ExecError::NotWorth),
        }
    }

    /// The code of a value.
    pub(super) fn code(self, key: Key, learning: &mut Learning<'_>) -> Result<Code, ExecError> {
        let number = match key.0 {
            Number::Int(n) if self.largest => Number::Int(-n),
            number => number,
        };
        Ok(learning.value(number.value())?)
    }

    /// What an edge adds: nothing that makes a value better.
    pub(super) fn added(self, weight: Code) -> Result<Key, ExecError> {
        match self.number(weight)? {
            Number::Int(..0) => Err(ExecError::NotWorth),
            Number::Float(x) if x < 0.0 => Err(ExecError::NotWorth),
            number => Ok(Key(number)),
        }
    }

    /// The sum is never better than what is added to.
    pub(super) fn sum(self, key: Key, added: Key) -> Result<Key, ExecError> {
        let sum = match (key.0, added.0) {
            (Number::Int(key), Number::Int(added)) => key.checked_add(added).map(Number::Int),
            (key, added) => {
                key.exact().zip(added.exact()).and_then(|(key, added)| Number::finite(key + added))
            }
        };
        sum.map(Key).ok_or(ExecError::NotWorth)
    }

    fn number(self, code: Code) -> Result<Number, ExecError> {
        self.codec.int_or_float(code).ok_or(ExecError::NotWorth)
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (Number::Int(a), Number::Int(b)) => a.cmp(&b),
            (a, b) => a.value().cmp(&b.value()),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}
