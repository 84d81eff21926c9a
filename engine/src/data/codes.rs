//! Sets of codes.

use super::dictionary::{Code, INLINE_END};

/// A set of codes that do not stand for themselves, which are nearly dense.
#[derive(Debug, Default, Clone)]
pub struct Codes(Vec<u64>);

impl Codes {
    /// Whether it has this code.
    pub fn has(&self, code: Code) -> bool {
        let bit = code.wrapping_sub(INLINE_END) as usize;
        self.0.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Adds a code; none that stands for an integer.
    pub fn set(&mut self, code: Code) {
        let Some(bit) = code.checked_sub(INLINE_END).map(|bit| bit as usize) else { return };
        if bit / 64 >= self.0.len() {
            self.0.resize(bit / 64 + 1, 0);
        }
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    /// All of them, in order.
    pub fn codes(&self) -> Vec<Code> {
        let words = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        words
            .flat_map(|(at, word)| {
                (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
            })
            .map(|bit| INLINE_END + bit as Code)
            .collect()
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.0.len() * size_of::<u64>()
    }
}
