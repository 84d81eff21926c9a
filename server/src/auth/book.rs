//! `Book`: the accounts as they are at one moment. Decides what a change means, and takes its edits in.

use std::collections::{BTreeMap, HashMap};

use super::api_key::KeyHash;
use super::change::{AccountChange, AccountRecord, Edit, RecordKey};
use super::error::AccountError;
use super::key_terms::KeyTerms;
use super::password::Hash;
use super::roles::{Level, Role};

/// The user that the first start creates, and that always stays.
pub(super) const ADMIN: &str = "admin";

/// Users, keys and entries.
#[derive(Debug, Default)]
pub(super) struct Book {
    users: BTreeMap<String, User>,
    keys: BTreeMap<String, Key>,
    labels: HashMap<KeyHash, String>,
    /// Levels by graph and user.
    entries: BTreeMap<String, BTreeMap<String, Level>>,
    /// The number of the last password.
    passwords: u64,
}

/// A user.
#[derive(Debug, Clone)]
pub(super) struct User {
    pub(super) role: Role,
    pub(super) password: Hash,
    /// The number of the password: another one after each change, and for a user who was dropped and came again.
    pub(super) password_number: u64,
}

/// An API key.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) owner: String,
    pub(super) hash: KeyHash,
    /// When it was created, in milliseconds since 1970.
    pub(super) created: i64,
    /// What it opens, and until when.
    pub(super) terms: KeyTerms,
}

impl Book {
    /// A user by name.
    pub(super) fn user(&self, name: &str) -> Option<&User> {
        self.users.get(name)
    }

    /// All users by name.
    pub(super) fn users(&self) -> impl Iterator<Item = (&str, &User)> {
        self.users.iter().map(|(name, user)| (name.as_str(), user))
    }

    /// All keys by label.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&str, &Key)> {
        self.keys.iter().map(|(label, key)| (label.as_str(), key))
    }

    /// The key with this hash, and its label.
    pub(super) fn key(&self, hash: &KeyHash) -> Option<(&str, &Key)> {
        let label = self.labels.get(hash)?;
        Some((label, self.keys.get(label)?))
    }

    /// The entry of a user for a graph.
    pub(super) fn entry(&self, graph: &str, user: &str) -> Option<Level> {
        self.entries.get(graph)?.get(user).copied()
    }

    /// How many graphs a user owns.
    pub(super) fn owned(&self, user: &str) -> usize {
        self.entries.values().filter(|levels| levels.get(user) == Some(&Level::Owner)).count()
    }

    /// All entries for a graph, by user.
    pub(super) fn entries(&self, graph: &str) -> impl Iterator<Item = (&str, Level)> {
        self.entries.get(graph).into_iter().flatten().map(|(user, level)| (user.as_str(), *level))
    }

    /// What a change does to the records, or why it cannot be.
    pub(super) fn edits(&self, change: &AccountChange) -> Result<Vec<Edit>, AccountError> {
        Ok(match change {
            AccountChange::CreateUser { name, role, password } => {
                if self.users.contains_key(name) {
                    return Err(AccountError::UserExists(name.clone()));
                }
                vec![put_user(name, *role, password)]
            }
            AccountChange::DropUser { name } => {
                self.known(name)?;
                if name == ADMIN {
                    return Err(AccountError::AdminStays);
                }
                let keys = self.keys.iter().filter(|(_, key)| key.owner == *name);
                let keys = keys.map(|(label, _)| RecordKey::Key { label: label.clone() });
                let entries = self.entries.iter().filter(|(_, users)| users.contains_key(name));
                let entries =
                    entries.map(|(graph, _)| RecordKey::Entry { graph: graph.clone(), user: name.clone() });
                let user = RecordKey::User { name: name.clone() };
                keys.chain(entries).chain([user]).map(Edit::Remove).collect()
            }
            AccountChange::SetPassword { name, password } => {
                vec![put_user(name, self.known(name)?.role, password)]
            }
            AccountChange::SetRole { name, role } => {
                let user = self.known(name)?;
                if name == ADMIN && *role != Role::Admin {
                    return Err(AccountError::AdminRules);
                }
                vec![put_user(name, *role, &user.password)]
            }
            AccountChange::CreateKey { label, owner, hash, created, terms } => {
                self.known(owner)?;
                if self.keys.contains_key(label) {
                    return Err(AccountError::KeyExists(label.clone()));
                }
                let (label, owner, hash) = (label.clone(), owner.clone(), *hash);
                let (created, terms) = (*created, *terms);
                vec![Edit::Put(AccountRecord::Key { label, owner, hash, created, terms })]
            }
            AccountChange::RevokeKey { label } => match self.keys.contains_key(label) {
                true => vec![Edit::Remove(RecordKey::Key { label: label.clone() })],
                false => return Err(AccountError::NoSuchKey(label.clone())),
            },
            AccountChange::Grant { graph, user, level } => {
                self.known(user)?;
                vec![put_entry(graph, user, *level)]
            }
            AccountChange::Revoke { graph, user } => {
                let (graph, user) = (graph.clone(), user.clone());
                match self.entry(&graph, &user) {
                    Some(_) => vec![Edit::Remove(RecordKey::Entry { graph, user })],
                    None => return Err(AccountError::NoSuchEntry { graph, user }),
                }
            }
            AccountChange::CreateGraph { graph, owner } => {
                self.known(owner)?;
                self.without_entries(graph).chain([put_entry(graph, owner, Level::Owner)]).collect()
            }
            AccountChange::DropGraph { graph } => self.without_entries(graph).collect(),
        })
    }

    fn known(&self, name: &str) -> Result<&User, AccountError> {
        self.users.get(name).ok_or_else(|| AccountError::NoSuchUser(name.to_owned()))
    }

    fn without_entries(&self, graph: &str) -> impl Iterator<Item = Edit> {
        let graph = graph.to_owned();
        let users = self.entries.get(&graph).into_iter().flatten();
        users
            .map(move |(user, _)| Edit::Remove(RecordKey::Entry { graph: graph.clone(), user: user.clone() }))
    }

    /// Takes an edit in.
    pub(super) fn edit(&mut self, edit: Edit) {
        match edit {
            Edit::Put(AccountRecord::User { name, role, password }) => {
                let same = self.users.get(&name).filter(|user| user.password == password);
                let password_number = same.map_or(self.passwords + 1, |user| user.password_number);
                self.passwords = self.passwords.max(password_number);
                self.users.insert(name, User { role, password, password_number });
            }
            Edit::Put(AccountRecord::Key { label, owner, hash, created, terms }) => {
                self.labels.insert(hash, label.clone());
                self.keys.insert(label, Key { owner, hash, created, terms });
            }
            Edit::Put(AccountRecord::Entry { graph, user, level }) => {
                self.entries.entry(graph).or_default().insert(user, level);
            }
            Edit::Remove(RecordKey::User { name }) => {
                self.users.remove(&name);
            }
            Edit::Remove(RecordKey::Key { label }) => {
                if let Some(key) = self.keys.remove(&label) {
                    self.labels.remove(&key.hash);
                }
            }
            Edit::Remove(RecordKey::Entry { graph, user }) => {
                if let Some(users) = self.entries.get_mut(&graph) {
                    users.remove(&user);
                    if users.is_empty() {
                        self.entries.remove(&graph);
                    }
                }
            }
        }
    }
}

fn put_user(name: &str, role: Role, password: &Hash) -> Edit {
    Edit::Put(AccountRecord::User { name: name.to_owned(), role, password: password.clone() })
}

fn put_entry(graph: &str, user: &str, level: Level) -> Edit {
    Edit::Put(AccountRecord::Entry { graph: graph.to_owned(), user: user.to_owned(), level })
}

#[cfg(test)]
mod tests {
    use super::Book;
    use crate::auth::api_key::KeyHash;
    use crate::auth::change::AccountChange;
    use crate::auth::error::AccountError;
    use crate::auth::key_terms::KeyTerms;
    use crate::auth::password::Hash;
    use crate::auth::roles::{Level, Role};

    fn change(book: &mut Book, change: &AccountChange) -> Result<(), AccountError> {
        book.edits(change).map(|edits| edits.into_iter().for_each(|edit| book.edit(edit)))
    }

    fn book() -> Book {
        let mut book = Book::default();
        for (name, role) in [("admin", Role::Admin), ("ada", Role::Editor), ("bob", Role::Viewer)] {
            let password = Hash::of_text(name);
            change(&mut book, &AccountChange::CreateUser { name: name.into(), role, password }).unwrap();
        }
        book
    }

    fn create_key(label: &str, owner: &str) -> AccountChange {
        AccountChange::CreateKey {
            label: label.into(),
            owner: owner.into(),
            hash: KeyHash::of(label),
            created: 0,
            terms: KeyTerms::default(),
        }
    }

    fn owner(book: &Book, label: &str) -> Option<String> {
        book.key(&KeyHash::of(label)).map(|(_, key)| key.owner.clone())
    }

    fn grant(graph: &str, user: &str, level: Level) -> AccountChange {
        AccountChange::Grant { graph: graph.into(), user: user.into(), level }
    }

    #[test]
    fn a_dropped_user_takes_keys_and_entries_along() {
        let mut book = book();
        change(&mut book, &create_key("ci", "ada")).unwrap();
        change(&mut book, &create_key("other", "bob")).unwrap();
        change(&mut book, &grant("lab", "ada", Level::Owner)).unwrap();
        change(&mut book, &grant("lab", "bob", Level::Viewer)).unwrap();
        change(&mut book, &AccountChange::DropUser { name: "ada".into() }).unwrap();
        assert!(book.user("ada").is_none());
        assert_eq!(owner(&book, "ci"), None);
        assert_eq!(owner(&book, "other").as_deref(), Some("bob"));
        assert_eq!(book.entries("lab").collect::<Vec<_>>(), [("bob", Level::Viewer)]);
    }

    #[test]
    fn admin_stays_what_it_is() {
        let mut book = book();
        let dropped = change(&mut book, &AccountChange::DropUser { name: "admin".into() });
        assert!(matches!(dropped, Err(AccountError::AdminStays)));
        let demoted = AccountChange::SetRole { name: "admin".into(), role: Role::Editor };
        assert!(matches!(change(&mut book, &demoted), Err(AccountError::AdminRules)));
        let same = AccountChange::SetRole { name: "admin".into(), role: Role::Admin };
        assert!(change(&mut book, &same).is_ok());
    }

    #[test]
    fn a_new_graph_inherits_nobody() {
        let mut book = book();
        change(&mut book, &grant("lab", "bob", Level::Owner)).unwrap();
        let created = AccountChange::CreateGraph { graph: "lab".into(), owner: "ada".into() };
        change(&mut book, &created).unwrap();
        assert_eq!(book.entries("lab").collect::<Vec<_>>(), [("ada", Level::Owner)]);
        change(&mut book, &AccountChange::DropGraph { graph: "lab".into() }).unwrap();
        assert_eq!(book.entries("lab").count(), 0);
    }

    #[test]
    fn only_another_password_gets_another_number() {
        let mut book = book();
        let number = |book: &Book| book.user("ada").unwrap().password_number;
        let before = number(&book);
        change(&mut book, &AccountChange::SetRole { name: "ada".into(), role: Role::Viewer }).unwrap();
        assert_eq!(number(&book), before);
        let password = Hash::of_text("new");
        change(&mut book, &AccountChange::SetPassword { name: "ada".into(), password }).unwrap();
        assert_ne!(number(&book), before);
        change(&mut book, &AccountChange::DropUser { name: "ada".into() }).unwrap();
        let password = Hash::of_text("ada");
        let again = AccountChange::CreateUser { name: "ada".into(), role: Role::Editor, password };
        change(&mut book, &again).unwrap();
        assert!(number(&book) > before);
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let mut book = book();
        change(&mut book, &create_key("ci", "ada")).unwrap();
        let password = Hash::of_text("x");
        let refused = [
            AccountChange::CreateUser { name: "ada".into(), role: Role::Admin, password: password.clone() },
            AccountChange::DropUser { name: "eve".into() },
            AccountChange::SetPassword { name: "eve".into(), password },
            AccountChange::SetRole { name: "eve".into(), role: Role::Viewer },
            create_key("ci", "bob"),
            create_key("new", "eve"),
            AccountChange::RevokeKey { label: "none".into() },
            grant("lab", "eve", Level::Viewer),
            AccountChange::Revoke { graph: "lab".into(), user: "ada".into() },
            AccountChange::CreateGraph { graph: "lab".into(), owner: "eve".into() },
        ];
        for refused in refused {
            assert!(change(&mut book, &refused).is_err(), "{refused}");
        }
        assert_eq!(book.user("ada").unwrap().role, Role::Editor);
        assert_eq!(owner(&book, "ci").as_deref(), Some("ada"));
    }
}
