//! Who is let in: by name and password, by an API key, or as the owner of the data. Each gets a seat and an [`Identity`].

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use stratalog_protocol::Secret;

use super::{Accounts, ListedKey};
use crate::auth::api_key::KeyHash;
use crate::auth::book::ADMIN;
use crate::auth::identity::Identity;
use crate::auth::key_terms::KeyScope;
use crate::auth::seats::Entrance;
use crate::queries::NotRun;

/// Why a key opens no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyRefusal {
    /// There is no such key.
    Unknown,
    /// It has expired.
    Expired,
    /// It is for something else.
    Scope(KeyScope),
}

/// Why somebody was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The credentials are wrong; which part of them is not told.
    Wrong,
    /// Too many wait already.
    TooMany {
        /// When to try again.
        retry: Duration,
    },
}

impl Accounts {
    /// Whoever has opened the data, where nobody else uses it.
    pub(crate) fn owner(self: &Arc<Self>, from: IpAddr) -> Option<Identity> {
        let entrance = Entrance { username: ADMIN, key: None, from };
        let seat = self.seats.take(&entrance, || self.is_own)?;
        Some(Identity::new(self.clone(), seat))
    }

    /// Who logs in with this name and password.
    pub(crate) async fn log_in(
        self: &Arc<Self>,
        address: IpAddr,
        username: &str,
        password: Secret,
    ) -> Result<Result<Identity, Refusal>, NotRun> {
        let turn = match self.throttle.turn(address, username).await {
            Ok(turn) => turn,
            Err(retry) => return Ok(Err(Refusal::TooMany { retry })),
        };
        let known = self.book.read().user(username).map(|user| (user.password.clone(), user.password_number));
        let (hash, number) = known.map_or((self.decoy.clone(), None), |(hash, n)| (hash, Some(n)));
        let fits = self.hasher.verify(password, hash).await?;
        if !fits || number.is_none() {
            turn.failed();
            return Ok(Err(Refusal::Wrong));
        }
        turn.succeeded();
        let current = || self.book.read().user(username).map(|user| user.password_number);
        let entrance = Entrance { username, key: None, from: address };
        let seat = self.seats.take(&entrance, || current() == number);
        Ok(seat.map(|seat| Identity::new(self.clone(), seat)).ok_or(Refusal::Wrong))
    }

    /// Who has this API key, if it opens sessions; an error names the key where there is such a one.
    pub(crate) fn authenticate(
        self: &Arc<Self>,
        from: IpAddr,
        key: &Secret,
    ) -> Result<Identity, (KeyRefusal, Option<ListedKey>)> {
        let hash = KeyHash::of(key.expose());
        let find = || self.book.read().key(&hash).map(|(label, key)| ListedKey::of(label, key));
        let found = find().ok_or((KeyRefusal::Unknown, None))?;
        let terms = found.terms;
        if terms.are_over() {
            return Err((KeyRefusal::Expired, Some(found)));
        }
        if !terms.scope.opens_sessions() {
            return Err((KeyRefusal::Scope(terms.scope), Some(found)));
        }
        let entrance = Entrance { username: &found.owner, key: Some((&found.label, terms)), from };
        let seat = self.seats.take(&entrance, || find().is_some()).ok_or((KeyRefusal::Unknown, None))?;
        Ok(Identity::new(self.clone(), seat))
    }

    /// Somebody of this name, who has not been asked who they are.
    #[cfg(test)]
    pub(crate) fn identity(self: &Arc<Self>, username: &str) -> Option<Identity> {
        let entrance = Entrance { username, key: None, from: std::net::Ipv4Addr::LOCALHOST.into() };
        let seat = self.seats.take(&entrance, || self.has_user(username))?;
        Some(Identity::new(self.clone(), seat))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use stratalog_engine::{Caller, Engine, EngineOptions, Need, StorageOptions};
    use stratalog_protocol::Secret;
    use tempfile::TempDir;

    use super::{KeyRefusal, Refusal};
    use crate::auth::accounts::tests::{HERE, audit, log_in, open, user};
    use crate::auth::accounts::{Accounts, new_key};
    use crate::auth::identity::Identity;
    use crate::auth::journal::Journal;
    use crate::auth::key_terms::{KeyScope, KeyTerms};
    use crate::auth::password;
    use crate::auth::roles::Role;
    use crate::config::{DefaultGraph, Throttling};

    /// Accounts of a server that keeps its data in a folder.
    fn open_in(folder: &Path, admin: Option<&str>) -> (Arc<Accounts>, Option<Secret>) {
        let engine = Engine::open(EngineOptions::default(), StorageOptions::new(folder.to_owned())).unwrap();
        let admin = admin.map(Secret::new);
        Accounts::open(
            Journal::new(engine),
            admin.as_ref(),
            DefaultGraph::Role,
            Throttling::default(),
            audit(),
        )
        .unwrap()
    }

    #[tokio::test]
    async fn admin_logs_in_with_the_given_password_only() {
        let folder = TempDir::new().unwrap();
        let (accounts, generated) = open_in(folder.path(), Some("lace"));
        assert!(generated.is_none());
        let admin = accounts.log_in(HERE, "admin", Secret::new("lace")).await.unwrap().unwrap();
        assert_eq!(admin.role(), Some(Role::Admin));
        for (name, password) in [("admin", "race"), ("Admin", "lace"), ("", "")] {
            let refused = accounts.log_in(HERE, name, Secret::new(password)).await.unwrap();
            assert_eq!(refused.unwrap_err(), Refusal::Wrong);
        }
    }

    #[tokio::test]
    async fn a_generated_password_works_and_stays_whatever_is_given_later() {
        let folder = TempDir::new().unwrap();
        let (accounts, generated) = open_in(folder.path(), None);
        let generated = generated.unwrap();
        assert!(accounts.log_in(HERE, "admin", generated.clone()).await.unwrap().is_ok());
        drop(accounts);
        let (accounts, again) = open_in(folder.path(), Some("another"));
        assert!(again.is_none());
        assert!(accounts.log_in(HERE, "admin", generated).await.unwrap().is_ok());
        assert!(accounts.log_in(HERE, "admin", Secret::new("another")).await.unwrap().is_err());
    }

    #[tokio::test]
    async fn a_key_opens_what_its_terms_say_of_what_its_owner_may() {
        let hash = password::hash(&Secret::new("lace")).unwrap();
        let records = vec![user("ada", Role::Admin, hash.clone()), user("vic", Role::Viewer, hash)];
        let accounts = open(records, DefaultGraph::Role);
        let ada = log_in(&accounts, "ada", "lace").await.unwrap();
        let opened = |label: &str, owner: &str, scope, expires| {
            let (key, create) = new_key(label, owner, KeyTerms { scope, expires }).unwrap();
            ada.change(&create).unwrap();
            let valid = accounts.has_key(key.expose());
            (accounts.authenticate(HERE, &key).map_err(|(why, _)| why), valid)
        };
        let needs =
            [Need::Nothing, Need::Read, Need::Write, Need::Manage, Need::CreateGraph, Need::Administer];
        let may = |who: &Identity| needs.map(|need| who.allows(need, "default").is_ok());
        let (all, _) = opened("all", "ada", KeyScope::All, None);
        assert_eq!(may(&all.unwrap()), [true; 6]);
        let (write, _) = opened("write", "ada", KeyScope::Write, None);
        assert_eq!(may(&write.unwrap()), [true, true, true, false, false, false]);
        let (read, _) = opened("read", "ada", KeyScope::Read, None);
        assert_eq!(may(&read.unwrap()), [true, true, false, false, false, false]);
        let (lent, _) = opened("lent", "vic", KeyScope::Write, None);
        assert_eq!(may(&lent.unwrap()), [true, true, false, false, false, false], "a viewer writes nothing");
        let (metrics, valid) = opened("metrics", "ada", KeyScope::Metrics, None);
        assert_eq!((metrics.unwrap_err(), valid), (KeyRefusal::Scope(KeyScope::Metrics), true));
        let (expired, valid) = opened("expired", "ada", KeyScope::All, Some(1));
        assert_eq!((expired.unwrap_err(), valid), (KeyRefusal::Expired, false));
    }
}
