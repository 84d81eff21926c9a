//! Passwords: argon2id, off the asynchronous threads, and only a few at once.
//!
//! Each hash takes 19 MiB and tens of milliseconds on purpose, so a storm of logins must queue here and nowhere else.

use std::sync::Arc;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use stratalog_protocol::Secret;
use tokio::sync::Semaphore;

use crate::queries::{NotRun, off_thread};

/// Letters and digits that are not mistaken for one another: five bits each.
const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz23456789A";

/// A password as it is kept: algorithm, cost, salt and hash in one text.
#[derive(Clone)]
pub(crate) struct Hash(Arc<str>);

#[cfg(test)]
impl Hash {
    /// A hash that no password fits.
    pub(super) fn unusable() -> Hash {
        Hash("".into())
    }
}

/// Why a password could not be hashed or made.
#[derive(Debug, thiserror::Error)]
#[error("cannot hash or generate a password: {0}")]
pub struct PasswordError(String);

/// Hashes a password with a new salt. Takes long.
pub(crate) fn hash(password: &Secret) -> Result<Hash, PasswordError> {
    let hash = Argon2::default()
        .hash_password(password.expose().as_bytes())
        .map_err(|error| PasswordError(error.to_string()))?;
    Ok(Hash(hash.to_string().into()))
}

/// Whether this is the password. Takes long.
fn verify(password: &Secret, hash: &Hash) -> bool {
    PasswordHash::new(&hash.0)
        .is_ok_and(|hash| Argon2::default().verify_password(password.expose().as_bytes(), &hash).is_ok())
}

/// A new password of 100 random bits.
pub(crate) fn generate() -> Result<Secret, PasswordError> {
    let mut bytes = [0; 20];
    getrandom::fill(&mut bytes).map_err(|error| PasswordError(error.to_string()))?;
    Ok(Secret::new(bytes.map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).iter().collect::<String>()))
}

/// Verifies passwords, a bounded number at once.
#[derive(Debug)]
pub(crate) struct Verifier {
    places: Arc<Semaphore>,
}

impl Verifier {
    /// Half of the cores, so that queries keep the other half.
    pub(crate) fn new() -> Verifier {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Verifier { places: Arc::new(Semaphore::new((cores / 2).max(1))) }
    }

    /// Whether this is the password.
    pub(crate) async fn verify(&self, password: Secret, hash: Hash) -> Result<bool, NotRun> {
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
