//! `Key`: a value as it is compared and added to.

use std::cmp::Ordering;

use crate::data::{Code, Codec, INLINE_END, Learning, Value, ValueRef};
use crate::exec::ExecError;

/// A number; the smallest is the best.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key {
    Int(i64),
    Float(f64),
}

/// How values are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'v> {
    pub(super) largest: bool,
    /// If not, a node is reached or not.
    pub(super) are_there: bool,
    pub(super) codec: &'v Codec,
}

impl Values<'_> {
    /// Values that are no numbers are left to evaluation from scratch, and so is the largest of fractions.
    pub(super) fn key(self, value: Code) -> Result<Key, ExecError> {
        if !self.are_there {
            return Ok(Key::Int(0));
        }
        match self.number(value)? {
            Key::Float(_) if self.largest => Err(ExecError::NotWorth),
            Key::Int(n) if self.largest => Ok(Key::Int(n.checked_neg().ok_or(ExecError::NotWorth)?)),
            key => Ok(key),
        }
    }

    /// The code of a value.
    pub(super) fn code(self, key: Key, learning: &mut Learning<'_>) -> Result<Code, ExecError> {
        Ok(learning.value(match key {
            Key::Int(n) if self.largest => ValueRef::Int(-n),
            key => key.value(),
        })?)
    }

    /// What an edge adds: nothing that makes a value better.
    pub(super) fn added(self, weight: Code) -> Result<Key, ExecError> {
        match self.number(weight)? {
            Key::Int(..0) => Err(ExecError::NotWorth),
            Key::Float(x) if x < 0.0 => Err(ExecError::NotWorth),
            key => Ok(key),
        }
    }

    /// The sum is never better than what is added to.
    pub(super) fn sum(self, key: Key, added: Key) -> Result<Key, ExecError> {
        let sum = match (key, added) {
            (Key::Int(key), Key::Int(added)) => key.checked_add(added).map(Key::Int),
            (key, added) => {
                let sum = key.float()? + added.float()?;
                sum.is_finite().then_some(Key::Float(sum))
            }
        };
        sum.ok_or(ExecError::NotWorth)
    }

    fn number(self, code: Code) -> Result<Key, ExecError> {
        match self.codec.entry(code) {
            Some(Value::Int(n)) => Ok(Key::Int(*n)),
            Some(Value::Float(x)) => Ok(Key::Float(*x)),
            None if code < INLINE_END => Ok(Key::Int(i64::from(code))),
            _ => Err(ExecError::NotWorth),
        }
    }
}

impl Key {
    fn value(self) -> ValueRef<'static> {
        match self {
            Key::Int(n) => ValueRef::Int(n),
            Key::Float(x) => ValueRef::Float(x),
        }
    }

    /// The float of the same value.
    fn float(self) -> Result<f64, ExecError> {
        /// All integers up to here are floats.
        const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
        match self {
            Key::Int(n) if n.unsigned_abs() > EXACT => Err(ExecError::NotWorth),
            Key::Int(n) => Ok(n as f64),
            Key::Float(x) => Ok(x),
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Key::Int(a), Key::Int(b)) => a.cmp(b),
            _ => self.value().cmp(&other.value()),
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
