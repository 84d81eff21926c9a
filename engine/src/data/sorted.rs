//! `SortedRows`: the rows of a run in the order of one column's values, so that those of a range stand side by side.

use std::cmp::Ordering;
use std::ops::{Bound, Range};

use super::codes::{Code, INLINE_END};
use super::dictionary::Codec;
use super::lazy::{GoOn, Stopped};
use super::{ValueRef, parallel};

/// Rows in the order of a column: the order of all values, in which numbers stand by value and before texts.
#[derive(Debug)]
pub struct SortedRows {
    rows: Vec<u32>,
}

impl SortedRows {
    /// Sorts the rows of a column.
    pub(super) fn new(codes: &[Code], codec: &Codec, go_on: GoOn<'_>) -> Result<SortedRows, Stopped> {
        let rows: Vec<u32> = (0..codes.len() as u32).collect();
        let rows = parallel::sort_stable_by(rows, go_on, |a, b| {
            let (a, b) = (codes[*a as usize], codes[*b as usize]);
            // Codes of small integers order as they do.
            if a < INLINE_END && b < INLINE_END || a == b {
                a.cmp(&b)
            } else {
                codec.value(a).cmp(&codec.value(b))
            }
        })?;
        Ok(SortedRows { rows })
    }

    /// The rows whose values lie between these, compared as `<` compares: values of other kinds lie nowhere.
    pub fn between(
        &self,
        codes: &[Code],
        codec: &Codec,
        from: Bound<ValueRef<'_>>,
        to: Bound<ValueRef<'_>>,
    ) -> &[u32] {
        let value = |row: &u32| codec.value(codes[*row as usize]);
        let class = match (from, to) {
            (Bound::Included(bound) | Bound::Excluded(bound), _)
            | (_, Bound::Included(bound) | Bound::Excluded(bound)) => Class::of(bound),
            (Bound::Unbounded, Bound::Unbounded) => return &self.rows,
        };
        let of_class = self.rows.partition_point(|row| Class::of(value(row)) < class)
            ..self.rows.partition_point(|row| Class::of(value(row)) <= class);
        let rows = &self.rows[of_class];
        let start = rows.partition_point(|row| match from {
            Bound::Unbounded => false,
            Bound::Included(bound) => compare(value(row), bound).is_lt(),
            Bound::Excluded(bound) => compare(value(row), bound).is_le(),
        });
        let end = rows.partition_point(|row| match to {
            Bound::Unbounded => true,
            Bound::Included(bound) => compare(value(row), bound).is_le(),
            Bound::Excluded(bound) => compare(value(row), bound).is_lt(),
        });
        let range: Range<usize> = start..end.max(start);
        &rows[range]
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.rows.len() * size_of::<u32>()
    }
}

/// Values that `<` compares with each other, in the order of all values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Null,
    Bool,
    Number,
    Text,
    Other,
}

impl Class {
    fn of(value: ValueRef<'_>) -> Class {
        match value {
            ValueRef::Null => Class::Null,
            ValueRef::Bool(_) => Class::Bool,
            ValueRef::Int(_) | ValueRef::Float(_) | ValueRef::Timestamp(_) => Class::Number,
            ValueRef::Text(_) => Class::Text,
            ValueRef::Vector(_) | ValueRef::VectorInt8(_) | ValueRef::List(_) => Class::Other,
        }
    }
}

/// Numbers by value alone, whatever their kind.
fn compare(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => super::compare_numbers(a, b),
        _ => a.cmp(&b),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::{Dictionary, Value};

    #[test]
    fn a_range_holds_what_a_comparison_of_each_value_finds() {
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::Int(-3),
            Value::Int(7),
            Value::Float(7.0),
            Value::Float(7.5),
            Value::Int(8),
            Value::Timestamp(9),
            Value::text("a"),
            Value::text("b"),
            Value::Vector([1.0].into()),
        ];
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        // Neither in the order of values nor of codes.
        let codes: Vec<Code> =
            values.iter().rev().map(|value| codec.shared().store(value.as_ref()).unwrap()).collect();
        let sorted = SortedRows::new(&codes, &codec, &|| true).unwrap();
        let between = |from, to| {
            let rows = sorted.between(&codes, &codec, from, to);
            rows.iter()
                .map(|row| codec.value(codes[*row as usize]).to_value().to_string())
                .collect::<Vec<_>>()
        };
        let (seven, eight) = (Value::Int(7), Value::Float(8.0));
        let (b, a) = (Value::text("b"), Value::text("a"));
        assert_eq!(
            between(Bound::Excluded(seven.as_ref()), Bound::Unbounded),
            ["7.5", "8", "t\"1970-01-01T00:00:00.009Z\""]
        );
        assert_eq!(
            between(Bound::Included(seven.as_ref()), Bound::Excluded(eight.as_ref())),
            ["7", "7.0", "7.5"]
        );
        assert_eq!(between(Bound::Unbounded, Bound::Excluded(seven.as_ref())), ["-3"]);
        assert_eq!(between(Bound::Included(eight.as_ref()), Bound::Excluded(seven.as_ref())), [""; 0]);
        assert_eq!(between(Bound::Unbounded, Bound::Excluded(b.as_ref())), ["\"a\""]);
        assert_eq!(between(Bound::Excluded(a.as_ref()), Bound::Unbounded), ["\"b\""]);
    }
}
