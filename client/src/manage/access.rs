//! Who may do what on which graph.

use super::listing::listed;
use super::word::command_word;
use crate::client::Client;
use crate::errors::ClientError;
use serde::Deserialize;
use std::fmt;

/// Who may do what on which graph: [`Client::access`].
pub struct Access<'a>(&'a Client);

/// An access entry of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// Whose.
    pub username: String,
    /// What they may do.
    pub level: Level,
}

/// What a user may do on a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Read.
    Viewer,
    /// Read and write.
    Editor,
    /// That, drop it, and say who may what.
    Owner,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Viewer => "viewer",
            Level::Editor => "editor",
            Level::Owner => "owner",
        })
    }
}

impl Client {
    /// Who may do what on which graph.
    ///
    /// ```no_run
    /// # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
    /// use stratalog_client::manage::Level;
    ///
    /// client.access().grant("lab", "ada", Level::Editor).await?;
    /// for grant in client.access().of("lab").await? {
    ///     eprintln!("{} is {}", grant.username, grant.level);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn access(&self) -> Access<'_> {
        Access(self)
    }
}

impl Access<'_> {
    /// Who has an entry for a graph.
    pub async fn of(&self, graph: &str) -> Result<Vec<Grant>, ClientError> {
        let graph = command_word(graph, "name of a graph")?;
        listed(&self.0.command(&format!(".kg acl list {graph}"), true).await?)
    }

    /// Gives a user a level on a graph, in place of any before.
    pub async fn grant(&self, graph: &str, user: &str, level: Level) -> Result<(), ClientError> {
        let (graph, user) = names(graph, user)?;
        self.0.command(&format!(".kg acl grant {graph} {user} {level}"), false).await.map(drop)
    }

    /// Takes a user's level on a graph away.
    pub async fn revoke(&self, graph: &str, user: &str) -> Result<(), ClientError> {
        let (graph, user) = names(graph, user)?;
        self.0.command(&format!(".kg acl revoke {graph} {user}"), false).await.map(drop)
    }
}

fn names<'a>(graph: &'a str, user: &'a str) -> Result<(&'a str, &'a str), ClientError> {
    Ok((command_word(graph, "name of a graph")?, command_word(user, "name of a user")?))
}
