//! Relations and their schemas.

use super::listing::listed;
use super::word::command_word;
use crate::client::Client;
use crate::declaration::{declaration, is_name};
use crate::errors::ClientError;
use crate::files::Column;
use serde::Deserialize;

/// Relations and their schemas: [`Client::relations`].
pub struct Relations<'a>(&'a Client);

/// A relation, and how much there is of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RelationInfo {
    /// Its name.
    pub name: String,
    /// How many facts are stored; `None` for one that is only derived.
    pub tuples: Option<u64>,
    /// How many columns it has.
    pub arity: u64,
    /// Names and types of the columns, in one text.
    pub columns: String,
    /// `base`, `attached` (its rows are in files) or `derived`.
    pub kind: String,
}

impl Client {
    /// Relations and their schemas.
    ///
    /// ```no_run
    /// # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
    /// use stratalog_client::files::{Column, ColumnType};
    ///
    /// let column = |name: &str, column_type| Column { name: name.into(), column_type };
    /// let columns = [column("name", ColumnType::Text), column("people", ColumnType::Int)];
    /// client.relations().declare("city", &columns).await?;
    /// for relation in client.relations().all().await? {
    ///     eprintln!("{}: {:?} facts", relation.name, relation.tuples);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn relations(&self) -> Relations<'_> {
        Relations(self)
    }
}

impl Relations<'_> {
    /// The relations of the graph.
    pub async fn all(&self) -> Result<Vec<RelationInfo>, ClientError> {
        let mut all: Vec<RelationInfo> = listed(&self.0.command(".rel", true).await?)?;
        all.extend(listed::<RelationInfo>(&self.0.command(".rel derived", true).await?)?);
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// The columns of a relation; `None` if there is no such relation.
    pub async fn columns(&self, name: &str) -> Result<Option<Vec<Column>>, ClientError> {
        self.0.columns(name).await
    }

    /// Declares names and types of a relation's columns.
    pub async fn declare(&self, name: &str, columns: &[Column]) -> Result<(), ClientError> {
        if let Some(bad) = std::iter::once(name)
            .chain(columns.iter().map(|column| column.name.as_str()))
            .find(|name| !is_name(name))
        {
            let problem = format!("`{bad}` cannot be declared");
            return Err(ClientError::invalid(problem, "a name is letters, digits and `_`"));
        }
        self.0.command(&declaration(name, columns), false).await.map(drop)
    }

    /// Drops a relation: facts, schema and rules.
    pub async fn drop(&self, name: &str) -> Result<(), ClientError> {
        let name = command_word(name, "name of a relation")?;
        self.0.command(&format!(".rel drop {name}"), false).await.map(drop)
    }

    /// Deletes all facts of the relations whose names begin so; how many each.
    pub async fn clear_prefix(&self, prefix: &str) -> Result<Vec<(String, u64)>, ClientError> {
        #[derive(Deserialize)]
        struct Cleared {
            relation: String,
            count: u64,
        }
        let prefix = command_word(prefix, "beginning of names")?;
        let answer = self.0.command(&format!(".clear prefix {prefix}"), false).await?;
        if answer.is_message() {
            return Ok(Vec::new()); // there was nothing
        }
        let cleared: Vec<Cleared> = listed(&answer)?;
        Ok(cleared.into_iter().map(|each| (each.relation, each.count)).collect())
    }
}
