//! Seals: a hash in front of everything that is kept in a database, so that damage is found and never served.

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::error::Damage;

/// Bytes of a seal.
pub(super) const SEAL_BYTES: usize = 16;

/// `content` with its seal in front.
pub(super) fn seal(place: &[u8], content: &[u8]) -> Vec<u8> {
    [seal_of(place, content).as_slice(), content].concat()
}

/// A hash of the place too: content that has moved to another key is damage.
pub(super) fn seal_of(place: &[u8], content: &[u8]) -> [u8; SEAL_BYTES] {
    let mut hasher = Xxh3::new();
    hasher.update(&(place.len() as u64).to_le_bytes());
    hasher.update(place);
    hasher.update(content);
    hasher.digest128().to_le_bytes()
}

/// The content, if it is what was sealed for this place.
pub(super) fn unseal<'a>(place: &[u8], sealed: &'a [u8]) -> Result<&'a [u8], Damage> {
    let (seal, content) = sealed.split_at_checked(SEAL_BYTES).ok_or(Damage::Checksum)?;
    if seal == seal_of(place, content) { Ok(content) } else { Err(Damage::Checksum) }
}

/// The hash of a whole file, in hexadecimal.
pub fn file_hash(content: &[u8]) -> String {
    format!("{:032x}", xxh3_128(content))
}

/// Hashes a file while it is written.
#[derive(Default)]
pub(super) struct FileHasher(Xxh3);

impl FileHasher {
    /// The next bytes of the file.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// As [`file_hash`].
    pub(super) fn finish(&self) -> String {
        format!("{:032x}", self.0.digest128())
    }
}

#[cfg(test)]
mod tests {
    use super::{FileHasher, file_hash, seal, unseal};

    #[test]
    fn any_changed_byte_breaks_the_seal() {
        let sealed = seal(b"here", b"content");
        assert_eq!(unseal(b"here", &sealed).unwrap(), b"content");
        assert!(unseal(b"there", &sealed).is_err());
        for i in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[i] ^= 1;
            assert!(unseal(b"here", &damaged).is_err());
            assert!(unseal(b"here", &sealed[..i]).is_err());
        }
    }

    #[test]
    fn a_file_hashed_in_pieces_has_the_hash_of_the_whole() {
        let mut hasher = FileHasher::default();
        hasher.update(b"ab");
        hasher.update(b"c");
        assert_eq!(hasher.finish(), file_hash(b"abc"));
    }
}
