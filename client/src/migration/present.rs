//! What there is in a graph: columns, rules and indexes.

use std::collections::{BTreeMap, BTreeSet};
use stratalog_client::{Client, ClientError, ExecuteOptions, Value};

/// A column: its name and its type.
pub(super) type Column = (String, String);

/// What there is.
pub(super) struct Present {
    /// The columns of each relation, in their order.
    pub(super) relations: BTreeMap<String, Vec<Column>>,
    /// The clauses of each derived relation.
    pub(super) rules: BTreeMap<String, Vec<String>>,
    /// The names of the indexes.
    pub(super) indexes: BTreeSet<String>,
    /// The relations that have facts.
    pub(super) filled: BTreeSet<String>,
}

impl Present {
    pub(super) async fn of(client: &Client) -> Result<Present, ClientError> {
        let mut relations: BTreeMap<String, Vec<Column>> = BTreeMap::new();
        let mut filled = BTreeSet::new();
        for relation in client.relations().all().await? {
            if relation.tuples.is_some_and(|facts| facts > 0) {
                filled.insert(relation.name.clone());
            }
            if relation.kind != "derived" {
                relations.insert(relation.name, Vec::new());
            }
        }
        // Those that are declared and have no rows are here alone.
        let described = client.execute(".rel describe", ExecuteOptions::default()).await?;
        for row in &described.rows {
            if let [Value::Text(relation), Value::Text(column), Value::Text(column_type)] = row.as_slice() {
                let columns = relations.entry(relation.clone()).or_default();
                columns.push((column.clone(), column_type.clone()));
            }
        }
        let mut rules = BTreeMap::new();
        for rule in client.rules().all().await? {
            let clauses = client.rules().clauses(&rule.name).await?;
            rules.insert(rule.name, clauses);
        }
        let indexes = client.indexes().all().await?.into_iter().map(|index| index.name).collect();
        Ok(Present { relations, rules, indexes, filled })
    }
}
