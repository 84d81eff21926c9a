//! `AccountChange`: everything that can happen to accounts; and the records that accounts consist of.
//!
//! A change is decided once, against the accounts as they are, and becomes edits of records. Edits are what a journal
//! keeps, so that nothing about a change has to be decided again when it is read back.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::api_key::KeyHash;
use super::key_terms::KeyTerms;
use super::password::Hash;
use super::roles::{Level, Role};

/// Something that happens to accounts.
#[derive(Debug, Clone)]
pub(crate) enum AccountChange {
    /// A new user.
    CreateUser { name: String, role: Role, password: Hash },
    /// A user goes, with keys and entries.
    DropUser { name: String },
    /// A user gets another password.
    SetPassword { name: String, password: Hash },
    /// A user gets another role.
    SetRole { name: String, role: Role },
    /// A new API key; `created` is in milliseconds since 1970.
    CreateKey { label: String, owner: String, hash: KeyHash, created: i64, terms: KeyTerms },
    /// A key opens nothing any more.
    RevokeKey { label: String },
    /// A user gets a level on a graph, in place of any before.
    Grant { graph: String, user: String, level: Level },
    /// A user loses their level on a graph.
    Revoke { graph: String, user: String },
    /// A graph begins, with its creator as owner and nobody else.
    CreateGraph { graph: String, owner: String },
    /// A graph ends, and all entries for it.
    DropGraph { graph: String },
}

/// One record of the accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(crate) enum AccountRecord {
    /// A user.
    User { name: String, role: Role, password: Hash },
    /// An API key.
    Key {
        label: String,
        owner: String,
        hash: KeyHash,
        created: i64,
        #[serde(flatten)]
        terms: KeyTerms,
    },
    /// What a user may do on a graph.
    Entry { graph: String, user: String, level: Level },
}

impl AccountRecord {
    /// What the record is found by.
    pub(super) fn key(&self) -> RecordKey {
        match self {
            AccountRecord::User { name, .. } => RecordKey::User { name: name.clone() },
            AccountRecord::Key { label, .. } => RecordKey::Key { label: label.clone() },
            AccountRecord::Entry { graph, user, .. } => {
                RecordKey::Entry { graph: graph.clone(), user: user.clone() }
            }
        }
    }
}

/// What a record is found by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(crate) enum RecordKey {
    /// A user by name.
    User { name: String },
    /// A key by its label.
    Key { label: String },
    /// An entry by graph and user.
    Entry { graph: String, user: String },
}

/// One step of a change. All steps of a change are kept together, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Adds a record, or replaces the one with the same key.
    Put(AccountRecord),
    /// Removes a record.
    Remove(RecordKey),
}

impl AccountChange {
    /// What the audit log calls it.
    pub(super) fn action(&self) -> &'static str {
        match self {
            AccountChange::CreateUser { .. } => "user.create",
            AccountChange::DropUser { .. } => "user.drop",
            AccountChange::SetPassword { .. } => "user.password",
            AccountChange::SetRole { .. } => "user.role",
            AccountChange::CreateKey { .. } => "key.create",
            AccountChange::RevokeKey { .. } => "key.revoke",
            AccountChange::Grant { .. } => "access.grant",
            AccountChange::Revoke { .. } => "access.revoke",
            AccountChange::CreateGraph { .. } => "graph.create",
            AccountChange::DropGraph { .. } => "graph.drop",
        }
    }
}

impl fmt::Display for AccountChange {
    /// For the log: everything but passwords and keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccountChange::CreateUser { name, role, .. } => {
                write!(f, "user {name} created as {}", role.as_str())
            }
            AccountChange::DropUser { name } => write!(f, "user {name} dropped"),
            AccountChange::SetPassword { name, .. } => write!(f, "password of user {name} changed"),
            AccountChange::SetRole { name, role } => write!(f, "user {name} is {} now", role.as_str()),
            AccountChange::CreateKey { label, owner, terms, .. } => {
                write!(f, "API key {label} created for {owner}{terms}")
            }
            AccountChange::RevokeKey { label } => write!(f, "API key {label} revoked"),
            AccountChange::Grant { graph, user, level } => {
                write!(f, "user {user} is {} of knowledge graph {graph} now", level.as_str())
            }
            AccountChange::Revoke { graph, user } => {
                write!(f, "user {user} has no entry for knowledge graph {graph} any more")
            }
            AccountChange::CreateGraph { graph, owner } => {
                write!(f, "knowledge graph {graph} created by {owner}")
            }
            AccountChange::DropGraph { graph } => write!(f, "knowledge graph {graph} dropped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AccountChange, AccountRecord};
    use crate::auth::api_key::KeyHash;
    use crate::auth::key_terms::{KeyScope, KeyTerms};
    use crate::auth::password::Hash;
    use crate::auth::roles::{Level, Role};

    #[test]
    fn records_have_this_text() {
        let records = [
            (
                AccountRecord::User { name: "ada".into(), role: Role::Editor, password: Hash::unusable() },
                r#"{"record":"user","name":"ada","role":"editor","password":""}"#.to_owned(),
            ),
            (
                AccountRecord::Entry { graph: "lab".into(), user: "ada".into(), level: Level::Owner },
                r#"{"record":"entry","graph":"lab","user":"ada","level":"owner"}"#.to_owned(),
            ),
            (
                AccountRecord::Key {
                    label: "ci".into(),
                    owner: "ada".into(),
                    hash: KeyHash::of("k"),
                    created: 7,
                    terms: KeyTerms::default(),
                },
                format!(
                    r#"{{"record":"key","label":"ci","owner":"ada","hash":"{}","created":7}}"#,
                    "8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a"
                ),
            ),
            (
                AccountRecord::Key {
                    label: "ci".into(),
                    owner: "ada".into(),
                    hash: KeyHash::of("k"),
                    created: 7,
                    terms: KeyTerms { scope: KeyScope::Read, expires: Some(8) },
                },
                format!(
                    r#"{{"record":"key","label":"ci","owner":"ada","hash":"{}","created":7,"scope":"read","expires":8}}"#,
                    "8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a"
                ),
            ),
        ];
        for (record, text) in records {
            assert_eq!(serde_json::to_string(&record).unwrap(), text);
            assert_eq!(serde_json::from_str::<AccountRecord>(&text).unwrap(), record);
        }
    }

    #[test]
    fn neither_debug_nor_the_log_shows_a_hash() {
        let password = Hash::of_text("$argon2id$v=19$secret");
        let change = AccountChange::CreateUser { name: "ada".into(), role: Role::Admin, password };
        for text in [format!("{change:?}"), change.to_string()] {
            assert!(!text.contains("secret"), "{text}");
        }
        let hash = KeyHash::of("k");
        let (label, owner) = ("ci".into(), "ada".into());
        let change = AccountChange::CreateKey { label, owner, hash, created: 7, terms: KeyTerms::default() };
        for text in [format!("{change:?}"), change.to_string()] {
            assert!(!text.contains("8254c3"), "{text}");
        }
    }
}
