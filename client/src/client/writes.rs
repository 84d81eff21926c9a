//! Facts in and out without program text.

use super::Client;
use crate::answers::Answer;
use crate::declaration::is_name;
use crate::errors::ClientError;
use crate::inserted::Inserted;
use crate::numbers;
use crate::options::ExecuteOptions;
use crate::retry::Retry;
use crate::running::Running;
use crate::upload::Upload;
use crate::waiting::Kind;
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use std::collections::BTreeMap;
use stratalog_protocol::{Format, Insert, Request, Scope, Value};

impl Client {
    /// Inserts facts that stay: all of them, or none when any is refused. One message carries them, so their JSON has
    /// to fit the server's `http.max_message_bytes` (64 MiB unless configured).
    pub async fn insert_rows(&self, relation: &str, rows: Vec<Vec<Value>>) -> Result<Inserted, ClientError> {
        self.insert(relation, rows, Scope::Persistent).await
    }

    /// As [`Client::insert_rows`], for facts of this session or of the graph.
    pub async fn insert(
        &self,
        relation: &str,
        rows: Vec<Vec<Value>>,
        scope: Scope,
    ) -> Result<Inserted, ClientError> {
        numbers::check(rows.iter().flatten(), || format!("a fact of `{relation}`"))?;
        let insert = Insert { relation: relation.to_owned(), scope, rows: Some(rows), ..Insert::default() };
        let link = self.link(&mut Retry::within(self.reconnect)).await?;
        self.will_touch_session(scope == Scope::Session);
        let answer = self.request(&link, Request::Insert(insert), None, Kind::Writes).await?.answer().await?;
        Inserted::try_from(&answer)
    }

    /// Inserts Arrow batches that stay, of one schema: all of them, or none. They are sent one after the other, so they
    /// may be made while they are sent, and together be larger than memory.
    pub async fn insert_batches(
        &self,
        relation: &str,
        batches: impl IntoIterator<Item = RecordBatch>,
    ) -> Result<Inserted, ClientError> {
        let mut batches = batches.into_iter();
        let Some(first) = batches.next() else { return Ok(Inserted::default()) };
        let mut upload = self.upload(relation, &first.schema(), Scope::Persistent).await?;
        upload.write(&first).await?;
        for batch in batches {
            upload.write(&batch).await?;
        }
        upload.finish().await
    }

    /// Begins an insert whose batches come bit by bit. It is one commit when it is finished; dropped before, it inserts
    /// nothing. Meanwhile other requests of this client wait.
    pub async fn upload(&self, relation: &str, schema: &Schema, scope: Scope) -> Result<Upload, ClientError> {
        let link = self.link(&mut Retry::within(self.reconnect)).await?;
        self.will_touch_session(scope == Scope::Session);
        let format = Format::Arrow;
        let insert = Insert { relation: relation.to_owned(), scope, format, ..Insert::default() };
        let id = self.next_id();
        let (replies, turn) = link.connection.announce(Request::Insert(insert), id).await?;
        let running = Running::new(id, replies, &link.connection, None, true, &self.place);
        Upload::new(running, turn, schema)
    }

    /// Deletes facts, each named in full: all of them in one commit, or none. Those that are not there are let go. For
    /// facts that fulfil a condition there is the language: `-edge(X, Y) <- edge(X, Y), X > 5`.
    ///
    /// ```no_run
    /// # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
    /// use stratalog_client::Value;
    ///
    /// client.delete_rows("edge", vec![vec![Value::Int(1), Value::Int(2)]]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn delete_rows(&self, relation: &str, rows: Vec<Vec<Value>>) -> Result<Answer, ClientError> {
        if rows.is_empty() {
            return Ok(Answer::new(&["message"], Vec::new()));
        }
        let (program, params) = deletion(relation, rows)?;
        self.execute(&program, ExecuteOptions { params, ..ExecuteOptions::default() }).await
    }
}

/// A program whose values are parameters: text of theirs is never read as program.
fn deletion(relation: &str, rows: Vec<Vec<Value>>) -> Result<(String, BTreeMap<String, Value>), ClientError> {
    if !is_name(relation) {
        let problem = format!("`{relation}` is no name of a relation");
        return Err(ClientError::invalid(problem, "a name is letters, digits and `_`"));
    }
    let mut params = BTreeMap::new();
    let mut tuples = Vec::with_capacity(rows.len());
    for (number, row) in rows.into_iter().enumerate() {
        let mut names = Vec::with_capacity(row.len());
        for (place, value) in row.into_iter().enumerate() {
            let name = format!("v{number}_{place}");
            names.push(format!("${name}"));
            params.insert(name, value);
        }
        tuples.push(format!("({})", names.join(", ")));
    }
    Ok((format!("-{relation}[{}]", tuples.join(", ")), params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_deletion_are_parameters() {
        let text = |text: &str| Value::Text(text.to_owned());
        let rows = vec![vec![text("a\"), (\"b"), Value::Int(1)], vec![text("c"), Value::Null]];
        let (program, params) = deletion("edge", rows).unwrap();
        assert_eq!(program, "-edge[($v0_0, $v0_1), ($v1_0, $v1_1)]");
        assert_eq!(params["v0_0"], text("a\"), (\"b"));
        assert_eq!(params["v1_1"], Value::Null);
        assert!(deletion("edge(1), -other", vec![vec![Value::Int(1)]]).is_err());
    }
}
