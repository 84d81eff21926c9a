//! `BitParts`: a set of words of few bits, a bit for each that there may be, cut into parts.

use super::key_parts::{Buffers, absorb_by_part};
use crate::data::Rows;

/// Words whose bits lie together, whatever part they are in: as many as a line of the cache has.
const LINE_BITS: u32 = 9;
const WORD_BITS: u32 = u64::BITS;

/// A bit for each word.
pub(super) struct BitParts {
    /// The bits of a part, which has every so-manieth line.
    parts: Vec<Vec<u64>>,
    part_bits: u32,
    len: usize,
}

/// Where the bit of a word stands.
#[derive(Clone, Copy)]
struct Place {
    part: usize,
    word: usize,
    bit: u64,
}

impl BitParts {
    /// Bytes that it takes to have room for words of so many bits.
    pub(super) fn bytes(bits: u32) -> usize {
        1_usize.checked_shl(bits.saturating_sub(3)).unwrap_or(usize::MAX)
    }

    /// No words of so many bits, in so many parts, a power of two.
    pub(super) fn new(bits: u32, parts: usize) -> BitParts {
        let part_bits = parts.ilog2();
        let lines = 1_usize << bits.saturating_sub(LINE_BITS + part_bits);
        let words = lines << (LINE_BITS - WORD_BITS.ilog2());
        BitParts { parts: vec![vec![0; words]; parts], part_bits, len: 0 }
    }

    #[inline]
    fn place(&self, key: u64) -> Place {
        let line = key >> LINE_BITS;
        let in_line = key & ((1 << LINE_BITS) - 1);
        let bit = (line >> self.part_bits << LINE_BITS) | in_line;
        let part = line as usize & ((1 << self.part_bits) - 1);
        Place { part, word: (bit / u64::from(WORD_BITS)) as usize, bit: 1 << (bit % u64::from(WORD_BITS)) }
    }

    #[inline]
    fn contains(&self, Place { part, word, bit }: Place) -> bool {
        self.parts[part][word] & bit != 0
    }

    /// Number of words.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn buffers(&self) -> Buffers<u64> {
        vec![Vec::new(); self.parts.len()]
    }

    /// Collects those words that are not here; answers how many these are.
    pub(super) fn collect_keys(&self, keys: &[u64], buffers: &mut Buffers<u64>) -> usize {
        let mut collected = 0;
        for key in keys {
            let place = self.place(*key);
            if !self.contains(place) {
                buffers[place.part].push(*key);
                collected += 1;
            }
        }
        collected
    }

    pub(super) fn mark_keys(&self, keys: &[u64], found: &mut [bool]) {
        keys.iter().zip(found).for_each(|(key, found)| *found |= self.contains(self.place(*key)));
    }

    /// Takes words in, in the order of lanes; answers those that are new as rows, a part at a time.
    pub(super) fn absorb_keys(
        &mut self,
        lanes: Vec<Buffers<u64>>,
        unpack: impl Fn(&[u64]) -> Rows + Send + Sync,
    ) -> Vec<Rows> {
        let mut parts = std::mem::take(&mut self.parts);
        let place = &*self;
        let new = absorb_by_part(&mut parts, lanes, |words, buffers| {
            let is_new = |key: &u64| {
                let Place { word, bit, .. } = place.place(*key);
                let was = words[word];
                words[word] |= bit;
                was & bit == 0
            };
            unpack(&buffers.into_iter().flatten().filter(is_new).collect::<Vec<u64>>())
        });
        self.parts = parts;
        self.len += new.iter().map(|rows| rows.len).sum::<usize>();
        new
    }

    /// Takes words in at once; leaves those that are new.
    pub(super) fn take_in_keys(&mut self, keys: &mut Vec<u64>) {
        keys.retain(|key| {
            let place = self.place(*key);
            let is_new = !self.contains(place);
            self.parts[place.part][place.word] |= place.bit;
            is_new
        });
        self.len += keys.len();
    }

    /// All words.
    pub(super) fn keys(&self) -> Vec<u64> {
        let mut keys = Vec::with_capacity(self.len);
        for (part, words) in self.parts.iter().enumerate() {
            for (word, bits) in words.iter().enumerate() {
                let mut bits = *bits;
                while bits != 0 {
                    let bit = word as u64 * u64::from(WORD_BITS) + u64::from(bits.trailing_zeros());
                    let line = bit >> LINE_BITS << self.part_bits | part as u64;
                    keys.push(line << LINE_BITS | bit & ((1 << LINE_BITS) - 1));
                    bits &= bits - 1;
                }
            }
        }
        keys
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.parts.iter().map(|words| words.len() * size_of::<u64>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    #[test]
    fn words_are_here_once() {
        for (bits, parts) in [(0, 1), (7, 16), (12, 16), (21, 16), (14, 1)] {
            let mut set = BitParts::new(bits, parts);
            assert!(set.memory_bytes() >= BitParts::bytes(bits));
            let keys: Vec<u64> = (0..3_000_u64).map(|n| n * n % (1 << bits)).collect();
            let mut distinct = keys.clone();
            distinct.sort_unstable();
            distinct.dedup();
            let (some, rest) = keys.split_at(500);
            let mut some = some.to_vec();
            set.take_in_keys(&mut some);
            let mut buffers = set.buffers();
            set.collect_keys(rest, &mut buffers);
            let new = set.absorb_keys(vec![buffers], |keys| Rows { columns: Vec::new(), len: keys.len() });
            assert_eq!(some.len() + new.iter().map(|rows| rows.len).sum::<usize>(), distinct.len());
            let mut found = set.keys();
            found.sort_unstable();
            assert_eq!((found, set.len()), (distinct, set.len()));
            let mut marked = vec![false; 1 << bits.min(12)];
            set.mark_keys(&(0..marked.len() as u64).collect::<Vec<_>>(), &mut marked);
            (0..).zip(&marked).for_each(|(key, marked)| assert_eq!(keys.contains(&key), *marked));
        }
    }
}
