//! `Users`: who there is, with role and password. In memory for now: users start anew with the server.

use std::collections::HashMap;

use parking_lot::RwLock;
use stratalog_protocol::Secret;

use super::password::{self, Hash, PasswordError, Verifier};
use super::{Identity, Role};
use crate::queries::NotRun;

/// The user that the first start creates.
const ADMIN: &str = "admin";

/// Everybody who may log in.
pub(crate) struct Users {
    by_name: RwLock<HashMap<String, User>>,
    verifier: Verifier,
    /// Verified where no such user exists, so that it takes as long as a wrong password.
    decoy: Hash,
}

struct User {
    role: Role,
    password: Hash,
}

/// Why the server could not set up its users.
pub type StartError = PasswordError;

impl Users {
    /// Creates `admin` with the given password, or with a new one, which is returned. Takes long: two hashes.
    pub(crate) fn first_start(given: Option<&Secret>) -> Result<(Users, Option<Secret>), StartError> {
        let generated = if given.is_none() { Some(password::generate()?) } else { None };
        let decoy = password::hash(&password::generate()?)?;
        let hash = match given.or(generated.as_ref()) {
            Some(secret) => password::hash(secret)?,
            None => decoy.clone(),
        };
        let admin = User { role: Role::Admin, password: hash };
        let by_name = RwLock::new(HashMap::from([(ADMIN.to_owned(), admin)]));
        Ok((Users { by_name, verifier: Verifier::new(), decoy }, generated))
    }

    /// Users without passwords.
    #[cfg(test)]
    pub(super) fn with(roles: &[(&str, Role)]) -> Users {
        let decoy = Hash::unusable();
        let user = |role| User { role, password: decoy.clone() };
        let by_name = roles.iter().map(|(name, role)| ((*name).to_owned(), user(*role))).collect();
        Users { by_name: RwLock::new(by_name), verifier: Verifier::new(), decoy }
    }

    /// Who logs in with this name and password; `None` does not tell which of the two is wrong.
    pub(crate) async fn log_in(&self, username: &str, password: Secret) -> Result<Option<Identity>, NotRun> {
        let known = self.by_name.read().get(username).map(|user| user.password.clone());
        let exists = known.is_some();
        let fits = self.verifier.verify(password, known.unwrap_or_else(|| self.decoy.clone())).await?;
        Ok((fits && exists).then(|| Identity { username: username.to_owned() }))
    }

    /// The role of a user at this moment; `None` once the user is gone.
    pub(crate) fn role(&self, identity: &Identity) -> Option<Role> {
        self.by_name.read().get(&identity.username).map(|user| user.role)
    }
}

#[cfg(test)]
mod tests {
    use stratalog_protocol::Secret;

    use super::Users;
    use crate::auth::Role;

    #[tokio::test]
    async fn admin_logs_in_with_the_given_password_only() {
        let (users, generated) = Users::first_start(Some(&Secret::new("lace"))).unwrap();
        assert!(generated.is_none());
        let admin = users.log_in("admin", Secret::new("lace")).await.unwrap().unwrap();
        assert_eq!(users.role(&admin), Some(Role::Admin));
        assert_eq!(users.log_in("admin", Secret::new("race")).await.unwrap(), None);
        assert_eq!(users.log_in("Admin", Secret::new("lace")).await.unwrap(), None);
    }

    #[tokio::test]
    async fn without_a_password_one_is_generated_and_works() {
        let (users, generated) = Users::first_start(None).unwrap();
        assert!(users.log_in("admin", generated.unwrap()).await.unwrap().is_some());
    }
}
