//! Seals: a hash in front of everything that is kept in a database, so that damage is found and never served.

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::error::Damage;

/// Bytes of a hash.
const HASH: usize = 16;

/// `content` with the hash of its place and itself in front: content that has moved to another key is damage too.
pub(super) fn seal(place: &[u8], content: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(HASH + content.len());
    sealed.extend_from_slice(&hash_at(place, content).to_le_bytes());
    sealed.extend_from_slice(content);
    sealed
}

/// The content, if it is what was sealed for this place.
pub(super) fn unseal<'a>(place: &[u8], sealed: &'a [u8]) -> Result<&'a [u8], Damage> {
    let (hash, content) = sealed.split_at_checked(HASH).ok_or(Damage::Checksum)?;
    if hash == hash_at(place, content).to_le_bytes() { Ok(content) } else { Err(Damage::Checksum) }
}

fn hash_at(place: &[u8], content: &[u8]) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(&(place.len() as u64).to_le_bytes());
    hasher.update(place);
    hasher.update(content);
    hasher.digest128()
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
