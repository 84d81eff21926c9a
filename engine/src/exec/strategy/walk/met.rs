//! Which nodes a search has met: a bit each where their codes lie close together, else a set.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::data::Code;
use crate::data::keys::{Key, KeySet};

/// Nodes that were met.
pub(super) enum Met {
    /// A bit each.
    Bits(Seen),
    /// Codes that lie far apart.
    Codes(KeySet<u64>),
}

impl Met {
    /// None yet, of nodes between the first code and so many more, if that is known.
    pub(super) fn new(dense_range: Option<(Code, usize)>) -> Met {
        match dense_range {
            Some((first, range)) => Met::Bits(Seen::new(first, range)),
            None => Met::Codes(KeySet::default()),
        }
    }

    /// Adds those of the nodes that were not met before.
    #[inline]
    pub(super) fn insert(&mut self, codes: &[Code], new: &mut Vec<Code>) {
        match self {
            Met::Bits(seen) => seen.insert_alone(codes, new),
            Met::Codes(met) => {
                let is_new = |code: &Code| met.insert(u64::from(*code), u64::from(*code).hash());
                new.extend(codes.iter().copied().filter(is_new));
            }
        }
    }

    /// Whether a node was met.
    #[inline]
    pub(super) fn has(&self, code: Code) -> bool {
        match self {
            Met::Bits(seen) => seen.has(code),
            Met::Codes(met) => {
                let key = u64::from(code);
                met.contains_from(&key, met.touch(key.hash()))
            }
        }
    }

    /// Bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Met::Bits(seen) => size_of_val(seen.bits.as_slice()),
            Met::Codes(met) => met.memory_bytes(),
        }
    }
}

/// Nodes that were met, a bit each, from the first code on.
pub(super) struct Seen {
    pub(super) first: Code,
    pub(super) bits: Vec<AtomicU64>,
}

impl Seen {
    pub(super) fn new(first: Code, range: usize) -> Seen {
        Seen { first, bits: std::iter::repeat_with(AtomicU64::default).take(range.div_ceil(64)).collect() }
    }

    /// Adds those of the nodes that were not met before, while no other thread inserts any.
    #[inline]
    pub(super) fn insert_alone(&self, codes: &[Code], new: &mut Vec<Code>) {
        let mut at = new.len();
        new.resize(at + codes.len(), 0);
        for code in codes {
            let place = (code - self.first) as usize;
            let (word, bit) = (&self.bits[place / 64], place % 64);
            let met = word.load(Ordering::Relaxed);
            word.store(met | 1 << bit, Ordering::Relaxed);
            // Without a branch that nobody could foresee: what was met is written over by the next one.
            new[at] = *code;
            at += (!met >> bit & 1) as usize;
        }
        new.truncate(at);
    }

    /// Whether a node was met.
    #[inline]
    fn has(&self, code: Code) -> bool {
        let place = (code - self.first) as usize;
        self.bits[place / 64].load(Ordering::Relaxed) >> (place % 64) & 1 != 0
    }

    /// Marks a node as met, while other threads do the same.
    #[inline]
    pub(super) fn insert(&self, code: Code) {
        let place = (code - self.first) as usize;
        let (word, bit) = (&self.bits[place / 64], 1 << (place % 64));
        // Most have been met, and to look is cheap.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// All that were met, in ascending order.
    pub(super) fn codes(&self) -> Vec<Code> {
        let mut codes = Vec::with_capacity(self.words().map(|word| word.count_ones() as usize).sum());
        self.words().enumerate().for_each(|(word, bits)| self.codes_of(word, bits, &mut codes));
        codes
    }

    pub(super) fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.bits.iter().map(|word| word.load(Ordering::Relaxed))
    }

    /// Adds the codes of these bits of a word.
    #[inline]
    pub(super) fn codes_of(&self, word: usize, mut bits: u64, codes: &mut Vec<Code>) {
        while bits != 0 {
            codes.push(self.first + (word * 64) as Code + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
}
