//! Rules that are kept in the graph, and what belongs to the session alone.

use super::listing::listed;
use super::word::command_word;
use crate::client::Client;
use crate::errors::ClientError;
use serde::Deserialize;

/// Rules that are kept in the graph: [`Client::rules`].
pub struct Rules<'a>(&'a Client);

/// A derived relation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RuleInfo {
    /// Its name.
    pub name: String,
    /// How many clauses it has.
    pub clauses: u64,
}

/// Facts and rules that belong to this session alone: [`Client::own`].
pub struct Own<'a>(&'a Client);

/// A fact or clause of the session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct OwnItem {
    /// `fact` or `rule`.
    pub kind: String,
    /// Its number among its kind.
    pub number: u64,
    /// The relation that it is about.
    pub relation: String,
    /// The fact or clause as text.
    pub text: String,
}

#[derive(Deserialize)]
struct Clause {
    clause: String,
}

impl Client {
    /// Rules that are kept in the graph. Programs add them.
    ///
    /// ```no_run
    /// # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
    /// use stratalog_client::ExecuteOptions;
    ///
    /// client.execute("+leaf(X) <- edge(_, X), !edge(X, _)", ExecuteOptions::default()).await?;
    /// assert_eq!(client.rules().clauses("leaf").await?.len(), 1);
    /// client.rules().drop("leaf").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rules(&self) -> Rules<'_> {
        Rules(self)
    }

    /// Facts and rules that belong to this session alone.
    pub fn own(&self) -> Own<'_> {
        Own(self)
    }
}

impl Rules<'_> {
    /// The derived relations.
    pub async fn all(&self) -> Result<Vec<RuleInfo>, ClientError> {
        listed(&self.0.command(".rule", true).await?)
    }

    /// The clauses of a derived relation.
    pub async fn clauses(&self, name: &str) -> Result<Vec<String>, ClientError> {
        let name = command_word(name, "name of a rule")?;
        let found: Vec<Clause> = listed(&self.0.command(&format!(".rule def {name}"), true).await?)?;
        Ok(found.into_iter().map(|each| each.clause).collect())
    }

    /// Drops all clauses of a derived relation.
    pub async fn drop(&self, name: &str) -> Result<(), ClientError> {
        self.change("drop", name).await
    }

    /// Drops all clauses of the derived relations whose names begin so.
    pub async fn drop_prefix(&self, prefix: &str) -> Result<(), ClientError> {
        self.change("drop prefix", prefix).await
    }

    /// Drops one clause, counted from 1 as [`Rules::clauses`] lists them.
    pub async fn remove(&self, name: &str, number: u64) -> Result<(), ClientError> {
        let name = command_word(name, "name of a rule")?;
        self.0.command(&format!(".rule remove {name} {number}"), false).await.map(drop)
    }

    /// Drops all clauses but keeps the name: an empty relation.
    pub async fn clear(&self, name: &str) -> Result<(), ClientError> {
        self.change("clear", name).await
    }

    async fn change(&self, what: &str, name: &str) -> Result<(), ClientError> {
        let name = command_word(name, "name of a rule")?;
        self.0.command(&format!(".rule {what} {name}"), false).await.map(drop)
    }
}

impl Own<'_> {
    /// The session's facts and clauses.
    pub async fn all(&self) -> Result<Vec<OwnItem>, ClientError> {
        listed(&self.0.command(".session", true).await?)
    }

    /// Drops the session's clause of this number, or all its clauses of this name.
    pub async fn drop(&self, which: &str) -> Result<(), ClientError> {
        let which = command_word(which, "number or name of a rule")?;
        self.0.command(&format!(".session drop {which}"), false).await.map(drop)
    }

    /// Drops the session's facts of this relation.
    pub async fn forget(&self, relation: &str) -> Result<(), ClientError> {
        let relation = command_word(relation, "name of a relation")?;
        self.0.command(&format!(".session forget {relation}"), false).await.map(drop)
    }

    /// Drops all facts and rules of the session.
    pub async fn clear(&self) -> Result<(), ClientError> {
        self.0.command(".session clear", false).await.map(drop)
    }
}
