//! What runs on the server, and the server itself.

use super::listing::{listed, only};
use super::word::command_word;
use crate::client::Client;
use crate::errors::ClientError;
use serde::Deserialize;

/// What runs on the server, for administrators: [`Client::requests`].
pub struct Requests<'a>(&'a Client);

/// A request that waits or runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RunningRequest {
    /// What to give to [`Requests::kill`].
    pub id: i64,
    /// Whose it is.
    pub user: String,
    /// The graph that it is about.
    pub knowledge_graph: String,
    /// The session that it came by.
    pub session: String,
    /// Whether it waits or runs.
    pub state: String,
    /// When it came, in milliseconds since 1970.
    pub started: i64,
    /// How long ago that was.
    pub elapsed_ms: u64,
    /// Its text, without secrets.
    pub program: String,
}

/// The server itself: [`Client::server`].
pub struct ServerCommands<'a>(&'a Client);

/// The server, and what it stores as far as you may see it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Status {
    /// Its version.
    pub version: String,
    /// The graph in use.
    pub knowledge_graph: String,
    /// How many graphs there are.
    pub knowledge_graphs: u64,
    /// How many relations they have.
    pub relations: u64,
    /// How many of them are derived.
    pub views: u64,
    /// How many facts are stored.
    pub tuples: u64,
    /// What they take.
    pub memory_bytes: u64,
}

impl Client {
    /// What runs on the server, for administrators.
    pub fn requests(&self) -> Requests<'_> {
        Requests(self)
    }

    /// The server itself.
    pub fn server(&self) -> ServerCommands<'_> {
        ServerCommands(self)
    }
}

impl Requests<'_> {
    /// The requests that wait or run, this one among them.
    pub async fn all(&self) -> Result<Vec<RunningRequest>, ClientError> {
        listed(&self.0.command(".query list", true).await?)
    }

    /// Stops a request of anybody's; they get the error `cancelled`.
    pub async fn kill(&self, id: i64) -> Result<(), ClientError> {
        self.0.command(&format!(".query kill {id}"), false).await.map(drop)
    }
}

impl ServerCommands<'_> {
    /// The version, and what is stored in the graphs that you may see.
    pub async fn status(&self) -> Result<Status, ClientError> {
        only(&self.0.command(".status", true).await?)
    }

    /// Copies all graphs and accounts to a new folder of this name in the server's backup folder.
    pub async fn backup(&self, name: &str) -> Result<(), ClientError> {
        let name = command_word(name, "name of a backup")?;
        self.0.command(&format!(".backup {name}"), false).await.map(drop)
    }

    /// Rewrites what the graph stores without the rows that were deleted.
    pub async fn compact(&self) -> Result<(), ClientError> {
        self.0.command(".compact", false).await.map(drop)
    }
}
