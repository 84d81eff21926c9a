//! Rows of an `insert`, read without room to spare: most rows are as long as the one before.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, SeqAccess, Visitor};

use crate::value::Value;

/// The most values that a row is given room for before they are seen.
const LARGEST_GUESS: usize = 256;

/// Reads rows, or `null` for none.
pub(crate) fn rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Vec<Value>>>, D::Error> {
    Ok(Option::<Rows>::deserialize(deserializer)?.map(|rows| rows.0))
}

/// Reads rows.
pub(crate) fn tuples<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<Value>>, D::Error> {
    Ok(Rows::deserialize(deserializer)?.0)
}

struct Rows(Vec<Vec<Value>>);

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rows, D::Error> {
        deserializer.deserialize_seq(RowsVisitor).map(Rows)
    }
}

struct RowsVisitor;

impl<'de> Visitor<'de> for RowsVisitor {
    type Value = Vec<Vec<Value>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of rows, each an array of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut rows: Vec<Vec<Value>> = Vec::new();
        let mut guess = 0;
        while let Some(row) = sequence.next_element_seed(Row { guess })? {
            guess = row.len().min(LARGEST_GUESS);
            rows.push(row);
        }
        Ok(rows)
    }
}

/// One row, of about so many values.
struct Row {
    guess: usize,
}

impl<'de> DeserializeSeed<'de> for Row {
    type Value = Vec<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Value>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row {
    type Value = Vec<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row: an array of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<Value>, A::Error> {
        let mut row = Vec::with_capacity(self.guess);
        while let Some(value) = sequence.next_element()? {
            row.push(value);
        }
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;
    use crate::value::Value;

    #[test]
    fn rows_of_one_length_take_no_more_room_than_they_need() {
        let rows = serde_json::from_str::<Rows>("[[1],[2],[3]]").unwrap().0;
        assert_eq!(rows, [[Value::Int(1)], [Value::Int(2)], [Value::Int(3)]]);
        assert_eq!(rows[2].capacity(), 1);
    }

    #[test]
    fn what_is_no_row_is_named() {
        let error = serde_json::from_str::<Rows>("[[1],2]").err().unwrap().to_string();
        assert!(error.contains("expected a row: an array of values"), "{error}");
        let error = serde_json::from_str::<Rows>("7").err().unwrap().to_string();
        assert!(error.contains("expected an array of rows"), "{error}");
    }
}
