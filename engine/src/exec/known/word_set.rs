//! `WordSet`: a set of words, by hash or as bits.

use super::bit_parts::BitParts;
use super::key_parts::{Buffers, KeyParts};
use crate::data::Rows;

/// Fewer words are in the cache in any form.
pub(super) const MANY: usize = 1 << 14;
/// Bytes that bits may take for each word that is here,
const BYTES_PER_WORD: usize = 16;
/// and beside these.
const FREE_BYTES: usize = 1 << 20;

/// Words.
pub(super) enum WordSet {
    /// By their hash.
    Hashed(KeyParts<u64>),
    /// A bit for each word that there may be.
    Bits(BitParts),
}

/// Whether so many words of so many bits are better off as bits.
pub(super) fn are_bits(words: usize, bits: u32) -> bool {
    words >= MANY && BitParts::bytes(bits) <= BYTES_PER_WORD * words + FREE_BYTES
}

impl WordSet {
    pub(super) fn buffers(&self) -> Buffers<u64> {
        match self {
            WordSet::Hashed(words) => words.buffers(),
            WordSet::Bits(bits) => bits.buffers(),
        }
    }

    /// Collects those words that are not here; answers how many these are.
    pub(super) fn collect(&self, words: &[u64], buffers: &mut Buffers<u64>) -> usize {
        match self {
            WordSet::Hashed(known) => known.collect_keys(words, buffers),
            WordSet::Bits(known) => known.collect_keys(words, buffers),
        }
    }

    pub(super) fn mark(&self, words: &[u64], found: &mut [bool]) {
        match self {
            WordSet::Hashed(known) => known.mark_keys(words, found),
            WordSet::Bits(known) => known.mark_keys(words, found),
        }
    }

    /// Takes words in, in the order of lanes; answers those that are new as rows, a part at a time.
    pub(super) fn absorb(
        &mut self,
        lanes: Vec<Buffers<u64>>,
        unpack: impl Fn(&[u64]) -> Rows + Send + Sync,
    ) -> Vec<Rows> {
        match self {
            WordSet::Hashed(known) => known.absorb_keys(lanes, unpack),
            WordSet::Bits(known) => known.absorb_keys(lanes, unpack),
        }
    }

    /// Takes words in at once; leaves those that are new.
    pub(super) fn take_in(&mut self, words: &mut Vec<u64>) {
        match self {
            WordSet::Hashed(known) => known.take_in_keys(words),
            WordSet::Bits(known) => known.take_in_keys(words),
        }
    }

    /// Number of words.
    pub(super) fn len(&self) -> usize {
        match self {
            WordSet::Hashed(known) => known.len(),
            WordSet::Bits(known) => known.len(),
        }
    }

    /// All words.
    pub(super) fn words(&self) -> Vec<u64> {
        match self {
            WordSet::Hashed(known) => known.keys(),
            WordSet::Bits(known) => known.keys(),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            WordSet::Hashed(known) => known.memory_bytes(),
            WordSet::Bits(known) => known.memory_bytes(),
        }
    }
}
