//! Indexes.

use super::listing::{listed, only};
use super::word::command_word;
use crate::client::Client;
use crate::errors::ClientError;
use serde::Deserialize;

/// Indexes: [`Client::indexes`].
pub struct Indexes<'a>(&'a Client);

/// An index.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Index {
    /// Its name.
    pub name: String,
    /// The relation that it is on.
    pub relation: String,
    /// The column of that.
    pub column: String,
    /// How distances are measured, where it finds what is near.
    pub metric: Option<String>,
    /// How many rows the relation has.
    pub row_count: u64,
    /// `hnsw`, `text`, `sorted` or `hash`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether nothing waits to be taken in.
    pub valid: bool,
}

/// How far an index is built.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct IndexState {
    /// How many rows the relation has.
    pub row_count: u64,
    /// What the index takes.
    pub memory_bytes: u64,
    /// Whether nothing waits to be taken in.
    pub valid: bool,
    /// How many vectors are in it.
    pub vectors: Option<u64>,
    /// How many of them are deleted.
    pub tombstones: Option<u64>,
    /// How many rows wait to be taken in.
    pub waiting: Option<u64>,
    /// How many numbers a vector has.
    pub dimension: Option<u64>,
    /// Which part of the nearest it finds, as measured when it was built.
    pub recall: Option<f64>,
    /// Of texts: whose stems their words have.
    #[serde(default)]
    pub language: Option<String>,
}

impl Client {
    /// Indexes.
    ///
    /// ```no_run
    /// # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
    /// client.indexes().create("near_docs", "doc", "v", "metric cosine").await?;
    /// eprintln!("{:?}", client.indexes().state("near_docs").await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn indexes(&self) -> Indexes<'_> {
        Indexes(self)
    }
}

impl Indexes<'_> {
    /// The indexes of the graph.
    pub async fn all(&self) -> Result<Vec<Index>, ClientError> {
        listed(&self.0.command(".index", true).await?)
    }

    /// Creates an index on a column, which is then built in the background. The options are words as
    /// `.index create` takes them: `type hnsw metric l2 m 16`, or none.
    pub async fn create(
        &self,
        name: &str,
        relation: &str,
        column: &str,
        options: &str,
    ) -> Result<(), ClientError> {
        let name = command_word(name, "name of an index")?;
        let relation = command_word(relation, "name of a relation")?;
        let column = command_word(column, "name of a column")?;
        let options: Vec<&str> =
            options.split_whitespace().map(|word| command_word(word, "option")).collect::<Result<_, _>>()?;
        let text = format!(".index create {name} on {relation}({column}) {}", options.join(" "));
        self.0.command(text.trim_end(), false).await.map(drop)
    }

    /// How far an index is built.
    pub async fn state(&self, name: &str) -> Result<IndexState, ClientError> {
        let name = command_word(name, "name of an index")?;
        only(&self.0.command(&format!(".index stats {name}"), true).await?)
    }

    /// Builds an index anew, in the background; the old one serves until then.
    pub async fn rebuild(&self, name: &str) -> Result<(), ClientError> {
        let name = command_word(name, "name of an index")?;
        self.0.command(&format!(".index rebuild {name}"), false).await.map(drop)
    }

    /// Drops an index.
    pub async fn drop(&self, name: &str) -> Result<(), ClientError> {
        let name = command_word(name, "name of an index")?;
        self.0.command(&format!(".index drop {name}"), false).await.map(drop)
    }
}
