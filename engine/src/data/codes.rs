//! Codes: every value is a `u32`, so relations are columns of `u32` and equality of values is equality of codes.
//!
//! ```text
//! 0x0000_0000 .. 0x7FFF_FFFF   the integers 0 .. 2^31 - 1, as themselves
//! 0x8000_0000                  Null
//! 0x8000_0001, 0x8000_0002     false, true
//! 0x8000_0003 .. 0xBFFF_FFFF   entries of the graph's dictionary, in order of first appearance but for codes that were free:
//!                              values of its facts, and of rows of rules that are kept
//! 0xC000_0000 .. 0xFFFF_FFFE   entries of one query's dictionary: values that its expressions made
//! 0xFFFF_FFFF                  never a value: marks an empty slot in tables
//! ```

/// A value in a column: see the table above.
pub type Code = u32;

/// Codes below this are integers as themselves.
pub const INLINE_END: Code = 1 << 31;
/// The code of Null.
pub const NULL: Code = INLINE_END;
/// The code of `false`; that of `true` follows.
pub const FALSE: Code = INLINE_END + 1;
/// The code of `true`.
pub const TRUE: Code = INLINE_END + 2;
/// Marks an empty slot; never the code of a value.
pub const EMPTY: Code = Code::MAX;

/// The least and the largest of some codes.
pub fn bounds(codes: &[Code]) -> Option<(Code, Code)> {
    // Two passes without options between are vectorized.
    let least = codes.iter().fold(Code::MAX, |least, code| least.min(*code));
    let largest = codes.iter().fold(0, |largest, code| largest.max(*code));
    (!codes.is_empty()).then_some((least, largest))
}

/// The first of all codes between these bounds and how many follow, if these are not many more than there are items: then a table
/// may have a place for each.
pub fn dense_range(
    bounds: impl Iterator<Item = Option<(Code, Code)>>,
    items: usize,
) -> Option<(Code, usize)> {
    let unite = |(a, b): (Code, Code), (c, d)| (a.min(c), b.max(d));
    let (first, last) = bounds.flatten().reduce(unite).unwrap_or_default();
    let range = (last - first) as usize + 1;
    (range <= items.saturating_mul(4) + 1_024).then_some((first, range))
}

/// The code of an integer, if it is one that stands for itself.
#[inline]
pub fn inline_int(n: i64) -> Option<Code> {
    if (0..i64::from(INLINE_END)).contains(&n) { Some(n as Code) } else { None }
}

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
