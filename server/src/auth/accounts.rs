//! `Accounts`: the one directory of users, API keys and access entries.
//!
//! Reading takes a shared lock for the time of a lookup. Changing goes one way only ([`Accounts::apply`]): decided
//! against the accounts as they are, kept in the journal, taken in, and only then do sessions end.

pub(super) mod admission;

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use stratalog_engine::diagnostic::Diagnose as _;
use stratalog_engine::{Diagnostic, Keep, Need};
use stratalog_protocol::Secret;

use super::access;
use super::api_key::{ApiKey, KeyHash};
use super::book::{ADMIN, Book, Key};
use super::change::{AccountChange, AccountRecord, Edit};
use super::error::AccountError;
use super::journal::{Journal, JournalError};
use super::key_terms::KeyTerms;
use super::password::{self, Hash, Hasher, PasswordError};
use super::roles::{Level, Role};
use super::seats::{Ended, Seat, Seats};
use super::throttle::Throttle;
use crate::audit::Audit;
use crate::clock;
use crate::config::{DefaultGraph, Throttling};

/// Everybody who may use the server, and how.
pub(crate) struct Accounts {
    book: RwLock<Book>,
    /// Whoever holds it may change the book.
    journal: Mutex<Journal>,
    seats: Seats,
    hasher: Hasher,
    throttle: Throttle,
    /// Verified where no such user exists, so that it takes as long as a wrong password.
    decoy: Hash,
    default_graph: DefaultGraph,
    audit: Arc<Audit>,
    /// Whether there is nobody but who has opened the data.
    is_own: bool,
}

/// A key, without what is secret of it; times in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedKey {
    pub(crate) label: String,
    pub(crate) owner: String,
    pub(crate) created: i64,
    pub(crate) terms: KeyTerms,
}

impl Accounts {
    /// Takes over the records that a journal has kept. Where there is no user yet, `admin` is created with the given
    /// password, or with a new one, which is returned. Takes long: two hashes.
    pub(crate) fn open(
        journal: Journal,
        admin_password: Option<&Secret>,
        default_graph: DefaultGraph,
        throttling: Throttling,
        audit: Arc<Audit>,
    ) -> Result<(Arc<Accounts>, Option<Secret>), AccountError> {
        let mut book = Book::default();
        journal.records()?.into_iter().for_each(|record| book.edit(Edit::Put(record)));
        let empty = book.users().next().is_none();
        let accounts = Accounts {
            book: RwLock::new(book),
            journal: Mutex::new(journal),
            seats: Seats::default(),
            hasher: Hasher::new(),
            throttle: Throttle::new(throttling),
            decoy: password::hash(&password::generate()?)?,
            default_graph,
            audit,
            is_own: false,
        };
        let generated = if empty { accounts.create_admin(admin_password)? } else { None };
        Ok((Arc::new(accounts), generated))
    }

    /// The accounts where nobody is asked who they are: whoever has opened the data may do everything, as `admin`. Users that
    /// the data has are kept for the server, and nothing is written about people: a server that opens it first creates
    /// its `admin`.
    pub(crate) fn of_owner(journal: Journal, audit: Arc<Audit>) -> Result<Arc<Accounts>, AccountError> {
        let mut book = Book::default();
        journal.records()?.into_iter().for_each(|record| book.edit(Edit::Put(record)));
        if book.user(ADMIN).is_none() {
            let (name, role, password) = (ADMIN.to_owned(), Role::Admin, Hash::unusable());
            book.edit(Edit::Put(AccountRecord::User { name, role, password }));
        }
        Ok(Arc::new(Accounts {
            book: RwLock::new(book),
            journal: Mutex::new(journal),
            seats: Seats::default(),
            hasher: Hasher::new(),
            throttle: Throttle::new(Throttling::default()),
            decoy: Hash::unusable(),
            default_graph: DefaultGraph::default(),
            audit,
            is_own: true,
        }))
    }

    /// Whether there is nobody but who has opened the data.
    pub(crate) fn are_of_owner(&self) -> bool {
        self.is_own
    }

    fn create_admin(&self, given: Option<&Secret>) -> Result<Option<Secret>, AccountError> {
        let generated = if given.is_none() { Some(password::generate()?) } else { None };
        let password = match given.or(generated.as_ref()) {
            Some(secret) => password::hash(secret)?,
            None => self.decoy.clone(),
        };
        let change = AccountChange::CreateUser { name: ADMIN.to_owned(), role: Role::Admin, password };
        self.keep(&change, |journal, edits| journal.write(edits))?;
        Ok(generated)
    }

    /// Makes a change in the name of a session, and ends the sessions that it leaves without ground.
    pub(super) fn apply(&self, change: &AccountChange, by: &Seat) -> Result<(), AccountError> {
        self.decide(change, by, |journal, edits| journal.write(edits))
    }

    /// The same together with something else: `keep` does both, or neither.
    pub(super) fn apply_with(
        &self,
        change: &AccountChange,
        by: &Seat,
        keep: Keep<'_>,
    ) -> Result<(), AccountError> {
        self.decide(change, by, |journal, edits| journal.write_with(edits, keep))
    }

    fn decide(
        &self,
        change: &AccountChange,
        by: &Seat,
        write: impl FnOnce(&mut Journal, &[Edit]) -> Result<(), JournalError>,
    ) -> Result<(), AccountError> {
        let own = matches!(change, AccountChange::DropUser { name } if *name == by.username && name != ADMIN);
        let kept = if own { Err(AccountError::OwnUser) } else { self.keep(change, write) };
        self.audit.record(&match &kept {
            Ok(()) => by.entry(change.action(), change.to_string()),
            // A word that names nothing may be a secret in the wrong place.
            Err(error) => {
                let entry = by.entry(change.action(), "nothing was changed".to_owned());
                entry.refused(error.diagnose().code.as_str())
            }
        });
        kept?;
        match change {
            AccountChange::DropUser { name } => {
                self.seats.end(Ended::UserDropped, |seat| seat.username == *name);
            }
            AccountChange::SetPassword { name, .. } => {
                let own = |seat: &Seat| std::ptr::eq(seat, by);
                self.seats.end(Ended::PasswordChanged, |seat| seat.username == *name && !own(seat));
            }
            AccountChange::RevokeKey { label } => {
                self.seats.end(Ended::KeyRevoked, |seat| seat.key.as_ref() == Some(label));
            }
            AccountChange::CreateUser { .. }
            | AccountChange::SetRole { .. }
            | AccountChange::CreateKey { .. }
            | AccountChange::Grant { .. }
            | AccountChange::Revoke { .. }
            | AccountChange::CreateGraph { .. }
            | AccountChange::DropGraph { .. } => {}
        }
        Ok(())
    }

    fn keep(
        &self,
        change: &AccountChange,
        write: impl FnOnce(&mut Journal, &[Edit]) -> Result<(), JournalError>,
    ) -> Result<(), AccountError> {
        let mut journal = self.journal.lock();
        let edits = self.book.read().edits(change)?;
        write(&mut journal, &edits)?;
        let mut book = self.book.write();
        edits.into_iter().for_each(|edit| book.edit(edit));
        Ok(())
    }

    /// Whether somebody may do something on a graph, as the simulation asks.
    #[cfg(test)]
    pub(crate) fn may(&self, username: &str, need: Need, graph: &str) -> bool {
        self.check(username, need, graph).is_ok()
    }

    /// Whether this API key opens what is not a session: every one does that is still valid.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.book.read().key(&KeyHash::of(key)).is_some_and(|(_, key)| !key.terms.are_over())
    }

    /// Where it is written what happens to people and rights.
    pub(crate) fn audit(&self) -> &Audit {
        &self.audit
    }

    /// The role of a user at this moment; `None` once the user is gone.
    pub(super) fn role(&self, username: &str) -> Option<Role> {
        self.book.read().user(username).map(|user| user.role)
    }

    /// Whether a user may do something on a graph at this moment.
    pub(super) fn check(&self, username: &str, need: Need, graph: &str) -> Result<(), Diagnostic> {
        access::check(&self.book.read(), self.default_graph, username, need, graph)
    }

    /// Hashes a new password. Blocks, and takes long.
    pub(crate) fn hash(&self, password: &Secret) -> Result<Hash, PasswordError> {
        self.hasher.hash(password)
    }

    /// Whether there is a user of this name.
    pub(crate) fn has_user(&self, name: &str) -> bool {
        self.book.read().user(name).is_some()
    }

    /// All users with their roles, by name.
    pub(crate) fn users(&self) -> Vec<(String, Role)> {
        self.book.read().users().map(|(name, user)| (name.to_owned(), user.role)).collect()
    }

    /// All keys, by label.
    pub(crate) fn keys(&self) -> Vec<ListedKey> {
        self.book.read().keys().map(|(label, key)| ListedKey::of(label, key)).collect()
    }

    /// How many graphs a user owns.
    pub(super) fn owned(&self, user: &str) -> usize {
        self.book.read().owned(user)
    }

    /// The entries for a graph, by user.
    pub(crate) fn entries(&self, graph: &str) -> Vec<(String, Level)> {
        self.book.read().entries(graph).map(|(user, level)| (user.to_owned(), level)).collect()
    }
}

impl ListedKey {
    fn of(label: &str, key: &Key) -> ListedKey {
        let (label, owner) = (label.to_owned(), key.owner.clone());
        ListedKey { label, owner, created: key.created, terms: key.terms }
    }
}

/// A new key under this label, and the change that makes it valid.
pub(crate) fn new_key(
    label: &str,
    owner: &str,
    terms: KeyTerms,
) -> Result<(Secret, AccountChange), PasswordError> {
    let ApiKey { secret, hash } = ApiKey::generate()?;
    let (label, owner, created) = (label.to_owned(), owner.to_owned(), clock::now_ms());
    Ok((secret, AccountChange::CreateKey { label, owner, hash, created, terms }))
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;

    use stratalog_engine::{Caller, Engine, EngineOptions, Need};
    use stratalog_protocol::Secret;

    use super::admission::KeyRefusal;
    use super::{ADMIN, Accounts, new_key};
    use crate::audit::{Audit, AuditTo};
    use crate::auth::change::{AccountChange, AccountRecord, Edit, RecordKey};
    use crate::auth::identity::Identity;
    use crate::auth::journal::Journal;
    use crate::auth::key_terms::KeyTerms;
    use crate::auth::password::{self, Hash};
    use crate::auth::roles::{Level, Role};
    use crate::config::{DefaultGraph, Throttling};

    pub(super) const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    pub(super) fn user(name: &str, role: Role, password: Hash) -> AccountRecord {
        AccountRecord::User { name: name.to_owned(), role, password }
    }

    pub(super) fn open(records: Vec<AccountRecord>, default_graph: DefaultGraph) -> Arc<Accounts> {
        let engine = Engine::in_memory(EngineOptions::default()).unwrap();
        let (accounts, _) =
            Accounts::open(Journal::new(engine), None, default_graph, Throttling::default(), audit())
                .unwrap();
        {
            let mut book = accounts.book.write();
            book.edit(Edit::Remove(RecordKey::User { name: ADMIN.to_owned() }));
            records.into_iter().for_each(|record| book.edit(Edit::Put(record)));
        }
        accounts
    }

    pub(super) fn audit() -> Arc<Audit> {
        Arc::new(Audit::open(&AuditTo::Log).unwrap())
    }

    /// What each user may do on a graph: `.` nothing, `e` enter, `r` read, `w` write, `m` manage.
    fn rights(accounts: &Accounts, graph: &str) -> Vec<String> {
        let needs = [(Need::Enter, 'e'), (Need::Read, 'r'), (Need::Write, 'w'), (Need::Manage, 'm')];
        let of = |name: &str| {
            let allowed = needs.iter().filter(|(need, _)| accounts.check(name, *need, graph).is_ok());
            allowed.map(|(_, letter)| *letter).collect::<String>()
        };
        accounts.users().iter().map(|(name, _)| format!("{name}:{}", of(name))).collect()
    }

    #[test]
    fn each_role_and_level_may_do_this_and_no_more() {
        let levels = [None, Some(Level::Viewer), Some(Level::Editor), Some(Level::Owner)];
        let mut records = vec![user("admin", Role::Admin, Hash::unusable())];
        for (role, letter) in [(Role::Editor, "e"), (Role::Viewer, "v")] {
            for (number, level) in levels.iter().enumerate() {
                let name = format!("{letter}{number}");
                records.push(user(&name, role, Hash::unusable()));
                for graph in ["default", "lab"] {
                    let entry = level.map(|level| AccountRecord::Entry {
                        graph: graph.to_owned(),
                        user: name.clone(),
                        level,
                    });
                    records.extend(entry);
                }
            }
        }
        let by_role = open(records.clone(), DefaultGraph::Role);
        let by_entry = open(records, DefaultGraph::Acl);
        let lab = ["admin:erwm", "e0:", "e1:er", "e2:erw", "e3:erwm", "v0:", "v1:er", "v2:erw", "v3:erwm"];
        assert_eq!(rights(&by_role, "lab"), lab);
        assert_eq!(rights(&by_entry, "lab"), lab);
        let default =
            ["admin:erwm", "e0:erw", "e1:er", "e2:erw", "e3:erwm", "v0:er", "v1:er", "v2:erw", "v3:erwm"];
        assert_eq!(rights(&by_role, "default"), default);
        let default =
            ["admin:erwm", "e0:e", "e1:er", "e2:erw", "e3:erwm", "v0:e", "v1:er", "v2:erw", "v3:erwm"];
        assert_eq!(rights(&by_entry, "default"), default);
        let may = |name: &str, need| by_role.check(name, need, "new").is_ok();
        for (name, creates, administers) in [
            ("admin", true, true),
            ("e0", true, false),
            ("e3", true, false),
            ("v0", false, false),
            ("v3", false, false),
        ] {
            assert_eq!(
                (may(name, Need::CreateGraph), may(name, Need::Administer)),
                (creates, administers),
                "{name}"
            );
            assert!(may(name, Need::Nothing));
        }
        assert!(!may("nobody", Need::Nothing));
    }

    pub(super) async fn log_in(accounts: &Arc<Accounts>, name: &str, password: &str) -> Option<Identity> {
        accounts.log_in(HERE, name, Secret::new(password)).await.unwrap().ok()
    }

    #[tokio::test]
    async fn a_changed_password_ends_the_other_sessions_of_its_user_only() {
        let hash = password::hash(&Secret::new("lace")).unwrap();
        let records = vec![user("ada", Role::Admin, hash.clone()), user("bob", Role::Viewer, hash)];
        let accounts = open(records, DefaultGraph::Role);
        let one = log_in(&accounts, "ada", "lace").await.unwrap();
        let other = log_in(&accounts, "ada", "lace").await.unwrap();
        let bob = log_in(&accounts, "bob", "lace").await.unwrap();
        let password = password::hash(&Secret::new("new")).unwrap();
        one.change(&AccountChange::SetPassword { name: "ada".to_owned(), password }).unwrap();
        let present = |who: &Identity| who.allows(Need::Nothing, "default").is_ok();
        assert_eq!((present(&one), present(&other), present(&bob)), (true, false, true));
        assert!(log_in(&accounts, "ada", "lace").await.is_none());
        assert!(log_in(&accounts, "ada", "new").await.is_some());
    }

    #[tokio::test]
    async fn a_revoked_key_ends_its_own_sessions_only() {
        let hash = password::hash(&Secret::new("lace")).unwrap();
        let accounts = open(vec![user("ada", Role::Admin, hash)], DefaultGraph::Role);
        let ada = log_in(&accounts, "ada", "lace").await.unwrap();
        let (key, create) = new_key("ci", "ada", KeyTerms::default()).unwrap();
        assert_eq!(accounts.authenticate(HERE, &key).unwrap_err().0, KeyRefusal::Unknown);
        ada.change(&create).unwrap();
        let robot = accounts.authenticate(HERE, &key).unwrap();
        assert_eq!((robot.username(), accounts.has_key(key.expose())), ("ada", true));
        ada.change(&AccountChange::RevokeKey { label: "ci".to_owned() }).unwrap();
        assert!(robot.allows(Need::Nothing, "default").is_err());
        assert!(ada.allows(Need::Nothing, "default").is_ok());
        assert!(accounts.authenticate(HERE, &key).is_err() && !accounts.has_key(key.expose()));
    }
}
