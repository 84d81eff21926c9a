//! Knowledge graphs.

use super::listing::listed;
use super::word::command_word;
use crate::client::Client;
use crate::errors::ClientError;
use serde::Deserialize;

/// Knowledge graphs: [`Client::graphs`].
pub struct Graphs<'a>(&'a Client);

/// A knowledge graph.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// Whether the session is bound to it.
    pub current: bool,
}

impl Client {
    /// Knowledge graphs.
    ///
    /// ```no_run
    /// # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
    /// client.graphs().create("lab").await?;
    /// assert_eq!(client.graph(), "lab");
    /// client.graphs().switch_to("default").await?;
    /// client.graphs().drop("lab").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn graphs(&self) -> Graphs<'_> {
        Graphs(self)
    }
}

impl Graphs<'_> {
    /// The graphs that you may see.
    pub async fn all(&self) -> Result<Vec<Graph>, ClientError> {
        listed(&self.0.command(".kg list", true).await?)
    }

    /// Creates a graph and switches to it.
    pub async fn create(&self, name: &str) -> Result<(), ClientError> {
        self.change("create", name).await
    }

    /// Switches to another graph; facts and rules of the session are dropped.
    pub async fn switch_to(&self, name: &str) -> Result<(), ClientError> {
        self.change("use", name).await
    }

    /// Drops a graph with all that is in it; not `default`, and not the one in use.
    pub async fn drop(&self, name: &str) -> Result<(), ClientError> {
        self.change("drop", name).await
    }

    async fn change(&self, what: &str, name: &str) -> Result<(), ClientError> {
        let name = command_word(name, "name of a graph")?;
        self.0.command(&format!(".kg {what} {name}"), false).await.map(drop)
    }
}
