//! What can be named: relations and graphs as the server has them, and its commands.
//!
//! They are asked for in the background after each program, so that pressing Tab never waits for the server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stratalog_client::{Client, ClientError, ExecuteOptions, Value};
use stratalog_engine::Limits;
use stratalog_engine::syntax::parse;
use stratalog_language::complete::Relation;

/// The names that are known, shared with those who complete.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(Arc<Mutex<Known>>);

/// The names at one time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub relations: Vec<Relation>,
    pub graphs: Vec<String>,
    /// As `.help` writes them: `.kg use KG`.
    pub commands: Vec<(String, String)>,
}

impl Names {
    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the server. What cannot be had stays as it was.
    pub(crate) async fn refresh(&self, client: &Client) -> Result<(), ClientError> {
        let relation =
            |row: &Vec<String>| Some(Relation { name: row.first()?.clone(), columns: row.get(3)?.clone() });
        let mut relations = Vec::new();
        for command in [".rel", ".rel derived"] {
            relations.extend(list(client, command).await?.iter().filter_map(relation));
        }
        let with_facts = relations.len();
        for row in list(client, ".rel describe").await? {
            let [name, column, column_type] = row.as_slice() else { continue };
            let column = format!("{column}: {column_type}");
            match relations.iter().position(|known| known.name == *name) {
                // Those with facts are told with their columns.
                Some(known) if known >= with_facts => {
                    relations[known].columns = format!("{}, {column}", relations[known].columns);
                }
                Some(_) => {}
                None => relations.push(Relation { name: name.clone(), columns: column }),
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

/// The relations that the graph stores, as declarations.
pub(crate) async fn declarations(client: &Client) -> Result<String, ClientError> {
    let names = Names::default();
    names.refresh(client).await?;
    let mut text = String::new();
    // What is derived has no types here: its rules give it some.
    for relation in names.known().relations.iter().filter(|relation| relation.columns.contains(": ")) {
        let any: Vec<String> = relation.column_names().map(|column| format!("{column}: any")).collect();
        let declared =
            [&relation.columns, &any.join(", ")].map(|columns| format!("+{}({columns})\n", relation.name));
        // Types that cannot be declared, as those of mixed columns, are left open.
        let readable = declared.iter().find(|text| parse(text, &Limits::default()).1.is_empty());
        text += readable.map_or("", |text| text);
    }
    Ok(text)
}

/// The rules of the graph.
pub(crate) async fn rules(client: &Client) -> Result<String, ClientError> {
    let mut text = String::new();
    for rule in client.rules().all().await? {
        for clause in client.rules().clauses(&rule.name).await? {
            text += &format!("+{}\n", clause.trim_start_matches('+'));
        }
    }
    Ok(text)
}

/// Both: what a program needs to stand on its own.
pub(crate) async fn definitions(client: &Client) -> Result<String, ClientError> {
    Ok(declarations(client).await? + &rules(client).await?)
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
