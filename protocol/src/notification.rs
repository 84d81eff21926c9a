//! `Notification`: what the server tells unasked. One variant of [`Change`] a type.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something has changed. It carries no id, as it answers nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// What.
    #[serde(flatten)]
    pub change: Change,
    /// When, in milliseconds since 1970, by the server's clock.
    pub timestamp_ms: i64,
    /// Its number: each is greater than those before it, also after a restart of the server.
    pub seq: u64,
    /// The session that made the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Change {
    /// Facts that stay were inserted or deleted.
    PersistentUpdate {
        /// The graph.
        knowledge_graph: String,
        /// The relation; `multiple` for an update.
        relation: String,
        /// What was done.
        operation: RowOperation,
        /// To how many facts.
        count: u64,
    },
    /// A derived relation has more clauses, or fewer.
    RuleChange {
        /// The graph.
        knowledge_graph: String,
        /// The derived relation.
        rule_name: String,
        /// What was done.
        operation: RuleOperation,
    },
    /// A graph was created or dropped.
    KgChange {
        /// The graph.
        knowledge_graph: String,
        /// What was done.
        operation: GraphOperation,
    },
    /// A relation or type was declared, or a relation dropped.
    SchemaChange {
        /// The graph.
        knowledge_graph: String,
        /// The relation or type.
        entity: String,
        /// What was done.
        operation: SchemaOperation,
    },
}

/// What was done to facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowOperation {
    /// They are new.
    Insert,
    /// They are gone.
    Delete,
    /// Some are gone and some are new, perhaps of several relations.
    Update,
}

/// What was done to a derived relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleOperation {
    /// A clause is new.
    Registered,
    /// One clause is gone, or all.
    Dropped,
}

/// What became of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GraphOperation {
    /// It exists from now on.
    Created,
    /// It is gone.
    Dropped,
}

/// What was done to a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SchemaOperation {
    /// It was made, or made anew.
    Declared,
    /// It is gone, with its facts and rules.
    Dropped,
}

#[cfg(test)]
mod tests {
    use super::{Change, GraphOperation, Notification, RowOperation, RuleOperation, SchemaOperation};
    use crate::response::{Reply, Response};

    fn check(text: &str, change: Change, session_id: Option<&str>) {
        let notification =
            Notification { change, timestamp_ms: 7, seq: 9, session_id: session_id.map(str::to_owned) };
        let reply = Reply { response: Response::Notification(notification), id: None };
        assert_eq!(reply.to_json(), text);
        assert_eq!(Reply::parse(text).unwrap(), reply);
    }

    #[test]
    fn every_type_has_this_text() {
        let graph = || "lab".to_owned();
        check(
            r#"{"type":"persistent_update","knowledge_graph":"lab","relation":"edge","operation":"insert","count":2,"timestamp_ms":7,"seq":9,"session_id":"s"}"#,
            Change::PersistentUpdate {
                knowledge_graph: graph(),
                relation: "edge".to_owned(),
                operation: RowOperation::Insert,
                count: 2,
            },
            Some("s"),
        );
        check(
            r#"{"type":"rule_change","knowledge_graph":"lab","rule_name":"path","operation":"registered","timestamp_ms":7,"seq":9}"#,
            Change::RuleChange {
                knowledge_graph: graph(),
                rule_name: "path".to_owned(),
                operation: RuleOperation::Registered,
            },
            None,
        );
        check(
            r#"{"type":"kg_change","knowledge_graph":"lab","operation":"dropped","timestamp_ms":7,"seq":9}"#,
            Change::KgChange { knowledge_graph: graph(), operation: GraphOperation::Dropped },
            None,
        );
        check(
            r#"{"type":"schema_change","knowledge_graph":"lab","entity":"edge","operation":"declared","timestamp_ms":7,"seq":9}"#,
            Change::SchemaChange {
                knowledge_graph: graph(),
                entity: "edge".to_owned(),
                operation: SchemaOperation::Declared,
            },
            None,
        );
    }
}
