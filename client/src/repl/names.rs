//! What can be named: relations and graphs as the server has them, and its commands.
//!
//! They are asked for in the background after each program, so that pressing Tab never waits for the server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stratalog_client::{Client, ClientError, ExecuteOptions, Value};

/// The names that are known, shared with those who complete.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(Arc<Mutex<Known>>);

/// The names at one time.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub relations: Vec<Relation>,
    pub graphs: Vec<String>,
    /// As `.help` writes them: `.kg use KG`.
    pub commands: Vec<(String, String)>,
}

/// A relation, stored or derived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Relation {
    pub name: String,
    /// Its columns with their types: `name: string, people: int`.
    pub columns: String,
    /// It has no facts yet.
    pub declared: bool,
}

impl Relation {
    /// The names of the columns.
    pub(super) fn column_names(&self) -> impl Iterator<Item = &str> {
        self.columns.split(", ").filter_map(|column| column.split(':').next()).filter(|name| !name.is_empty())
    }
}

impl Names {
    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the server. What cannot be had stays as it was.
    pub(super) async fn refresh(&self, client: &Client) -> Result<(), ClientError> {
        let relation = |row: &Vec<String>| {
            Some(Relation { name: row.first()?.clone(), columns: row.get(3)?.clone(), declared: false })
        };
        let mut relations = Vec::new();
        for command in [".rel", ".rel derived"] {
            relations.extend(list(client, command).await?.iter().filter_map(relation));
        }
        for row in list(client, ".rel describe").await? {
            let [name, column, column_type] = row.as_slice() else { continue };
            let column = format!("{column}: {column_type}");
            match relations.iter_mut().find(|known| known.name == *name) {
                // Those with facts are told with their columns.
                Some(known) if known.declared => known.columns = format!("{}, {column}", known.columns),
                Some(_) => {}
                None => relations.push(Relation { name: name.clone(), columns: column, declared: true }),
            }
        }
        self.known().relations = relations;
        let graphs = list(client, ".kg list").await?;
        self.known().graphs = graphs.into_iter().filter_map(|row| row.into_iter().next()).collect();
        if self.known().commands.is_empty() {
            let command = |row: &Vec<String>| Some((row.first()?.clone(), row.get(1)?.clone()));
            let commands = list(client, ".help").await?;
            self.known().commands = commands.iter().filter_map(command).collect();
        }
        Ok(())
    }
}

/// The rows of a listing; nothing where one may not see it.
async fn list(client: &Client, command: &str) -> Result<Vec<Vec<String>>, ClientError> {
    let answer = match client.execute(command, ExecuteOptions::default()).await {
        Ok(answer) => answer,
        Err(ClientError::Refused(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let text = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        other => other.to_string(),
    };
    Ok(answer.rows.iter().map(|row| row.iter().map(text).collect()).collect())
}
