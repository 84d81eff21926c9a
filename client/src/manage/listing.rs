//! Listings of the server as values with names: a field for each column.

use crate::answers::Answer;
use crate::errors::ClientError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

/// The rows of a listing. Columns that nobody asks for, such as those of a later version, are let go.
pub(super) fn listed<T: DeserializeOwned>(answer: &Answer) -> Result<Vec<T>, ClientError> {
    let unread =
        |error: serde_json::Error| ClientError::protocol(format!("a listing reads otherwise: {error}"));
    let item = |row: &Vec<_>| {
        let cells = answer
            .columns
            .iter()
            .zip(row)
            .map(|(name, value)| Ok((name.clone(), serde_json::to_value(value)?)));
        serde_json::from_value(Json::Object(cells.collect::<Result<Map<_, _>, _>>()?))
    };
    answer.rows.iter().map(item).collect::<Result<_, _>>().map_err(unread)
}

/// The row of a listing that has one.
pub(super) fn only<T: DeserializeOwned>(answer: &Answer) -> Result<T, ClientError> {
    let first = listed(answer)?.into_iter().next();
    first.ok_or_else(|| ClientError::protocol("a listing of one row has none"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use stratalog_protocol::Value;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Item {
        name: String,
        count: Option<u64>,
    }

    #[test]
    fn columns_are_fields_by_their_names() {
        let row = |name: &str, count| vec![count, Value::Bool(true), Value::Text(name.into())];
        let rows = vec![row("a", Value::Int(2)), row("b", Value::Null)];
        let answer = Answer::new(&["count", "later", "name"], rows);
        let item = |name: &str, count| Item { name: name.into(), count };
        assert_eq!(listed::<Item>(&answer).unwrap(), [item("a", Some(2)), item("b", None)]);
        assert!(only::<Item>(&Answer::new(&["name"], Vec::new())).is_err());
        assert!(listed::<Item>(&Answer::new(&["message"], vec![vec![Value::Int(1)]])).is_err());
    }
}
