//! Passwords: argon2id, off the asynchronous threads, and only a few at once.
//!
//! Each hash takes 19 MiB and tens of milliseconds on purpose, so a storm of logins must queue here and nowhere else.

use std::fmt;
use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use serde::{Deserialize, Serialize};
use stratalog_protocol::Secret;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::queries::{NotRun, off_thread};

/// Letters and digits that are not mistaken for one another: five bits each.
const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz23456789A";

/// A password as it is kept: algorithm, cost, salt and hash in one text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub(crate) struct Hash(Arc<str>);

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hash(..)")
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> String {
        hash.0.as_ref().to_owned()
    }
}

impl From<String> for Hash {
    fn from(text: String) -> Hash {
        Hash(text.into())
    }
}

impl Hash {
    /// A hash that no password fits.
    pub(crate) fn unusable() -> Hash {
        Hash("".into())
    }

    /// Whatever text.
    #[cfg(test)]
    pub(super) fn of_text(text: &str) -> Hash {
        Hash(text.into())
    }
}

/// Why a password could not be hashed or made.
#[derive(Debug, thiserror::Error)]
#[error("cannot hash or generate a password: {0}")]
pub(crate) struct PasswordError(String);

impl PasswordError {
    pub(super) fn new(error: &impl fmt::Display) -> PasswordError {
        PasswordError(error.to_string())
    }
}

/// Hashes a password with a new salt. Takes long.
pub(super) fn hash(password: &Secret) -> Result<Hash, PasswordError> {
    let hash =
        argon2().hash_password(password.expose().as_bytes()).map_err(|error| PasswordError::new(&error))?;
    Ok(Hash(hash.to_string().into()))
}

/// Algorithm and cost of new hashes.
#[cfg(not(test))]
fn argon2() -> Argon2<'static> {
    Argon2::default()
}

/// As cheap as can be: the simulation opens the accounts over and over.
#[cfg(test)]
fn argon2() -> Argon2<'static> {
    let least = argon2::Params::new(argon2::Params::MIN_M_COST, 1, 1, None).expect("the least is valid");
    Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, least)
}

/// Whether this is the password. Takes long.
fn verify(password: &Secret, hash: &Hash) -> bool {
    PasswordHash::new(&hash.0)
        .is_ok_and(|hash| Argon2::default().verify_password(password.expose().as_bytes(), &hash).is_ok())
}

/// A new password of 100 random bits.
pub(super) fn generate() -> Result<Secret, PasswordError> {
    let mut bytes = [0; 20];
    getrandom::fill(&mut bytes).map_err(|error| PasswordError::new(&error))?;
    Ok(Secret::new(bytes.map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).iter().collect::<String>()))
}

/// Hashes and verifies passwords, a bounded number at once.
#[derive(Debug)]
pub(super) struct Hasher {
    places: Arc<Semaphore>,
}

impl Hasher {
    /// Half of the cores, so that queries keep the other half.
    pub(super) fn new() -> Hasher {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Hasher { places: Arc::new(Semaphore::new((cores / 2).max(1))) }
    }

    /// Hashes a password with a new salt. Blocks, and takes long: not for asynchronous threads.
    pub(super) fn hash(&self, password: &Secret) -> Result<Hash, PasswordError> {
        let runtime = Handle::try_current().map_err(|error| PasswordError::new(&error))?;
        let _place = runtime.block_on(self.places.acquire()).map_err(|error| PasswordError::new(&error))?;
        hash(password)
    }

    /// Whether this is the password.
    pub(super) async fn verify(&self, password: Secret, hash: Hash) -> Result<bool, NotRun> {
        let place = self.places.clone().acquire_owned().await.map_err(|_| NotRun::Overloaded)?;
        off_thread(move || {
            let _place = place;
            verify(&password, &hash)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use stratalog_protocol::Secret;

    use super::{generate, hash, verify};

    #[test]
    fn only_the_same_password_fits_its_hash() {
        let kept = hash(&Secret::new("lace")).unwrap();
        assert!(kept.0.starts_with("$argon2id$v=19$"));
        assert!(verify(&Secret::new("lace"), &kept));
        assert!(!verify(&Secret::new("Lace"), &kept));
        assert!(!verify(&Secret::new(""), &kept));
    }

    #[test]
    fn generated_passwords_are_long_and_differ() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_eq!(one.expose().len(), 20);
        assert_ne!(one, other);
    }
}
