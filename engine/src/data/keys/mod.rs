//! Keys: the codes of one or several columns of a row, packed into one fixed-size word that is compared and hashed at
//! once. One or two codes fit a `u64`, four a `u128`, more an array. Keys order as rows do: by the first column, then by
//! the next.

/// A set of keys.
mod set;

/// A value for each key, or a number.
mod table;

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use super::codes::{Code, EMPTY};

pub(crate) use set::KeySet;
pub(crate) use table::{KeyNumbers, KeyTable};

/// A packed row of codes.
pub(crate) trait Key: Copy + Ord + Send + Sync + std::fmt::Debug + 'static {
    /// Marks an empty slot: no row packs to this.
    const EMPTY: Self;
    /// Appends the keys of rows `start..end` of equally long columns.
    fn pack(columns: &[&[Code]], start: usize, end: usize, out: &mut Vec<Self>);
    /// The key of one row.
    fn of_row(columns: &[&[Code]], row: usize) -> Self;
    /// The code at a position.
    fn code(&self, position: usize) -> Code;
    /// A well-mixed hash.
    fn hash(&self) -> u64;
}

/// So many places of a table are read before the first is looked at: who does so waits for memory once, and not for each.
pub(crate) const TOGETHER: usize = 64;

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// Multiply and fold: every bit of the input reaches every bit of the output.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Another one in every process: nobody can choose rows whose keys all come to lie in one place of a table.
static SPREAD: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(MIX) | 1);

/// Where a key with this hash goes in a table. What else is decided by the hash is the same in every process.
#[inline]
fn place(hash: u64, mask: usize) -> usize {
    fold(hash, *SPREAD) as usize & mask
}

/// The key of one code.
#[inline]
pub(crate) fn of_one(code: Code) -> u64 {
    u64::from(code) << 32
}

impl Key for u64 {
    const EMPTY: u64 = u64::MAX;

    fn pack(columns: &[&[Code]], start: usize, end: usize, out: &mut Vec<u64>) {
        match columns {
            [] => out.extend(std::iter::repeat_n(0, end - start)),
            [a] => out.extend(a[start..end].iter().map(|a| of_one(*a))),
            [a, b, ..] => {
                out.extend(a[start..end].iter().zip(&b[start..end]).map(|(a, b)| of_one(*a) | u64::from(*b)));
            }
        }
    }

    #[inline]
    fn of_row(columns: &[&[Code]], row: usize) -> u64 {
        match columns {
            [] => 0,
            [a] => of_one(a[row]),
            [a, b, ..] => of_one(a[row]) | u64::from(b[row]),
        }
    }

    #[inline]
    fn code(&self, position: usize) -> Code {
        (self >> (32 - 32 * position)) as Code
    }

    #[inline]
    fn hash(&self) -> u64 {
        fold(*self ^ 0xA076_1D64_78BD_642F, MIX)
    }
}

impl Key for u128 {
    const EMPTY: u128 = u128::MAX;

    fn pack(columns: &[&[Code]], start: usize, end: usize, out: &mut Vec<u128>) {
        let first = out.len();
        out.resize(first + end - start, 0);
        for (position, column) in columns.iter().enumerate() {
            for (key, code) in out[first..].iter_mut().zip(&column[start..end]) {
                *key |= u128::from(*code) << (96 - 32 * position);
            }
        }
    }

    #[inline]
    fn of_row(columns: &[&[Code]], row: usize) -> u128 {
        let code = |(position, column): (usize, &&[Code])| u128::from(column[row]) << (96 - 32 * position);
        columns.iter().enumerate().map(code).sum()
    }

    #[inline]
    fn code(&self, position: usize) -> Code {
        (self >> (96 - 32 * position)) as Code
    }

    #[inline]
    fn hash(&self) -> u64 {
        let high = fold((self >> 64) as u64 ^ 0xE703_7ED1_A0B4_28DB, MIX);
        fold(*self as u64 ^ high, MIX ^ 0x8EBC_6AF0_9C88_C6E3)
    }
}

impl<const N: usize> Key for [Code; N] {
    const EMPTY: [Code; N] = [EMPTY; N];

    fn pack(columns: &[&[Code]], start: usize, end: usize, out: &mut Vec<[Code; N]>) {
        let first = out.len();
        out.resize(first + end - start, [0; N]);
        for (position, column) in columns.iter().enumerate() {
            for (key, code) in out[first..].iter_mut().zip(&column[start..end]) {
                key[position] = *code;
            }
        }
    }

    #[inline]
    fn of_row(columns: &[&[Code]], row: usize) -> [Code; N] {
        let mut key = [0; N];
        key.iter_mut().zip(columns).for_each(|(code, column)| *code = column[row]);
        key
    }

    #[inline]
    fn code(&self, position: usize) -> Code {
        self[position]
    }

    #[inline]
    fn hash(&self) -> u64 {
        self.iter().fold(0xA076_1D64_78BD_642F, |state, code| fold(state ^ u64::from(*code), MIX))
    }
}

/// Codes as one: different ones are hardly ever the same.
pub(crate) fn fold_codes(codes: impl Iterator<Item = Code>) -> Code {
    codes.fold(0xA076_1D64_78BD_642F, |state, code| fold(state ^ u64::from(code), MIX)) as Code
}

/// Calls a generic function with the narrowest [`Key`] for so many codes. The engine's limit is 256 columns.
macro_rules! with_key {
    ($width:expr, $key:ident => $body:expr) => {
        match $width {
            0..=2 => {
                type $key = u64;
                $body
            }
            3..=4 => {
                type $key = u128;
                $body
            }
            5..=8 => {
                type $key = [$crate::data::Code; 8];
                $body
            }
            9..=16 => {
                type $key = [$crate::data::Code; 16];
                $body
            }
            17..=64 => {
                type $key = [$crate::data::Code; 64];
                $body
            }
            _ => {
                type $key = [$crate::data::Code; $crate::data::MAX_COLUMNS];
                $body
            }
        }
    };
}
pub(crate) use with_key;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn keys_that_were_chosen_to_lie_in_one_place_lie_in_many() {
        const MASK: usize = (1 << 12) - 1;
        let is_chosen = |key: &u64| key.hash() as usize & MASK == 0;
        let chosen: Vec<u64> = (0..).map(|code| of_one(code) | 1).filter(is_chosen).take(500).collect();
        let places: HashSet<usize> = chosen.iter().map(|key| place(key.hash(), MASK)).collect();
        assert!(places.len() > 400, "{} keys in {} places", chosen.len(), places.len());
    }
}
