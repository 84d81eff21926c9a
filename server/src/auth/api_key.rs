//! API keys: 256 random bits as 64 hexadecimal digits. Only the SHA-256 of a key is kept.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use stratalog_protocol::Secret;

use super::password::PasswordError;

/// A new key, known to nobody else yet.
pub(crate) struct ApiKey {
    /// The key itself, to be shown once.
    pub(crate) secret: Secret,
    /// What is kept of it.
    pub(crate) hash: KeyHash,
}

/// The SHA-256 of a key. It needs no salt and no slow hash: nobody can guess 256 random bits. For the same reason it
/// may be looked up like any other value; how long that takes tells about the hash, from which no key can be made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct KeyHash([u8; 32]);

impl ApiKey {
    /// Makes a key.
    pub(crate) fn generate() -> Result<ApiKey, PasswordError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| PasswordError::new(&error))?;
        let text = hex(&bytes);
        Ok(ApiKey { hash: KeyHash::of(&text), secret: Secret::new(text) })
    }
}

impl KeyHash {
    /// The hash of a key as it was presented.
    pub(crate) fn of(key: &str) -> KeyHash {
        KeyHash(Sha256::digest(key.as_bytes()).into())
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(..)")
    }
}

impl From<KeyHash> for String {
    fn from(hash: KeyHash) -> String {
        hex(&hash.0)
    }
}

impl TryFrom<String> for KeyHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<KeyHash, &'static str> {
        const WRONG: &str = "the hash of a key has 64 hexadecimal digits";
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(WRONG);
        }
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| WRONG)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| WRONG)?;
        }
        Ok(KeyHash(bytes))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect()
}

fn digit(nibble: u8) -> char {
    char::from(b"0123456789abcdef"[usize::from(nibble)])
}

#[cfg(test)]
mod tests {
    use super::{ApiKey, KeyHash};

    #[test]
    fn a_key_has_64_digits_and_is_found_by_its_hash() {
        let (one, other) = (ApiKey::generate().unwrap(), ApiKey::generate().unwrap());
        assert_eq!(one.secret.expose().len(), 64);
        assert!(one.secret.expose().bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
        assert_eq!(KeyHash::of(one.secret.expose()), one.hash);
        assert_ne!(one.hash, other.hash);
    }

    #[test]
    fn a_hash_is_the_sha_256_of_the_text() {
        // From the test vectors of FIPS 180-4.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(String::from(KeyHash::of("abc")), expected);
        assert_eq!(KeyHash::try_from(expected.to_owned()), Ok(KeyHash::of("abc")));
        assert!(KeyHash::try_from("abc".to_owned()).is_err());
        assert!(KeyHash::try_from("+f".repeat(32)).is_err());
    }
}
