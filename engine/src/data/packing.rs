//! `Packing`: rows of three columns or more in one word, as far as their codes are small or close together.
//!
//! Codes are a *zone*, their two highest bits, and a number in it: small integers are in the first ones, values of a
//! dictionary behind them. A column with codes of one zone takes as many bits as its largest number needs, others two more. (As
//! columns are stored by frame of reference: Goldstein, Ramakrishnan and Shaft, Compressing relations and indexes, 1998.)

use super::{Code, Rows};

/// Bits of a word that is no row's, whatever the other one is.
const BITS: u32 = 63;
const ZONES: u32 = 2;

/// Where each column stands in the word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Packing {
    fields: Vec<Field>,
}

/// The bits of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Field {
    /// What all codes have had in common, and what any of them has had.
    all: Code,
    any: Code,
    /// What is subtracted from a code, and how it is turned then, so that it is small.
    base: Code,
    turn: u32,
    bits: u32,
    shift: u32,
}

impl Field {
    /// `all` and `any` are the other way round as long as there are no codes.
    fn of(all: Code, any: Code) -> Field {
        if all > any {
            return Field { all, any, base: 0, turn: 0, bits: 0, shift: 0 };
        }
        let is_one_zone = (all ^ any) >> (Code::BITS - ZONES) == 0;
        let base = if is_one_zone { any >> (Code::BITS - ZONES) << (Code::BITS - ZONES) } else { 0 };
        let turn = if is_one_zone { 0 } else { ZONES };
        let largest = (any - base).rotate_left(turn);
        Field { all, any, base, turn, bits: Code::BITS - largest.leading_zeros(), shift: 0 }
    }

    #[inline]
    fn pack(&self, code: Code) -> Code {
        code.wrapping_sub(self.base).rotate_left(self.turn)
    }

    #[inline]
    fn unpack(&self, key: u64) -> Code {
        let packed = (key >> self.shift) & ((1 << self.bits) - 1);
        (packed as Code).rotate_right(self.turn).wrapping_add(self.base)
    }

    fn fits(&self, codes: &[Code]) -> bool {
        let any = codes.iter().fold(0, |any, code| any | self.pack(*code));
        u64::from(any) >> self.bits == 0
    }
}

impl Packing {
    /// Room for no rows of so many columns.
    pub(crate) fn empty(arity: usize) -> Packing {
        Packing { fields: vec![Field::of(Code::MAX, 0); arity] }
    }

    /// The same with room for these rows, too, and for somewhat larger ones, if a word has so much.
    pub(crate) fn widened(&self, columns: &[&[Code]]) -> Option<Packing> {
        let field = |(field, codes): (&Field, &&[Code])| {
            codes.iter().fold((field.all, field.any), |(all, any), code| (all & code, any | code))
        };
        Packing::with(self.fields.iter().zip(columns).map(field))
    }

    fn with(fields: impl Iterator<Item = (Code, Code)>) -> Option<Packing> {
        let mut fields: Vec<Field> = fields.map(|(all, any)| Field::of(all, any)).collect();
        let bits: u32 = fields.iter().map(|field| field.bits).sum();
        let room = BITS.checked_sub(bits)? / fields.len().max(1) as u32;
        for field in &mut fields {
            field.bits = (field.bits + room.min(2)).min(Code::BITS);
        }
        Some(Packing { fields: placed(fields) })
    }

    /// Bits of a word that has no more room than is needed.
    pub(crate) fn least_bits(&self) -> u32 {
        self.fields.iter().map(|field| Field::of(field.all, field.any).bits).sum()
    }

    /// The same without more room than is needed.
    pub(crate) fn tight(&self) -> Packing {
        let fields = self.fields.iter().map(|field| Field::of(field.all, field.any)).collect();
        Packing { fields: placed(fields) }
    }

    /// Bits of its words.
    pub(crate) fn bits(&self) -> u32 {
        self.fields.iter().map(|field| field.bits).sum()
    }

    /// Number of columns.
    pub(crate) fn arity(&self) -> usize {
        self.fields.len()
    }

    /// Whether all of these rows have a place.
    pub(crate) fn fits(&self, columns: &[&[Code]]) -> bool {
        self.fields.iter().zip(columns).all(|(field, codes)| field.fits(codes))
    }

    /// The keys of so many rows, all of which fit.
    pub(crate) fn pack(&self, columns: &[&[Code]], rows: usize) -> Vec<u64> {
        let mut keys = vec![0; rows];
        for (field, codes) in self.fields.iter().zip(columns) {
            for (key, code) in keys.iter_mut().zip(&codes[..rows]) {
                *key |= u64::from(field.pack(*code)) << field.shift;
            }
        }
        keys
    }

    /// The rows of keys.
    pub(crate) fn unpack(&self, keys: &[u64]) -> Rows {
        let column = |field: &Field| keys.iter().map(|key| field.unpack(*key)).collect();
        Rows { columns: self.fields.iter().map(column).collect(), len: keys.len() }
    }
}

/// Lets the last column stand in the lowest bits: what one look-up finds differs there, and lies close together.
fn placed(mut fields: Vec<Field>) -> Vec<Field> {
    let mut shift = 0;
    for field in fields.iter_mut().rev() {
        field.shift = shift;
        shift += field.bits;
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::INLINE_END;

    #[test]
    fn what_is_packed_comes_back() {
        let columns: [&[Code]; 4] =
            [&[0, 5, 1_000_000], &[INLINE_END, INLINE_END + 7, 3], &[9, 9, 9], &[INLINE_END + 1; 3]];
        let packing = Packing::empty(4).widened(&columns).unwrap();
        assert!(packing.fits(&columns));
        let keys = packing.pack(&columns, 3);
        assert!(keys.iter().all(|key| *key < u64::MAX >> 1));
        assert_eq!(packing.unpack(&keys).slices(), columns);
    }

    #[test]
    fn what_does_not_fit_is_told_and_makes_it_wider() {
        let small: [&[Code]; 3] = [&[1, 2], &[3, 4], &[5, 6]];
        let packing = Packing::empty(3).widened(&small).unwrap();
        for other in [[&[70][..], &[0], &[0]], [&[0], &[INLINE_END], &[0]], [&[0], &[0], &[Code::MAX - 1]]] {
            assert!(!packing.fits(&other));
            if let Some(wider) = packing.widened(&other) {
                assert!(wider.fits(&other) && wider.fits(&small));
                assert_eq!(wider.unpack(&wider.pack(&other, 1)).slices(), other);
            }
        }
        let far: [&[Code]; 3] = [&[0, 1 << 29], &[0, 1 << 29], &[0, 1 << 29]];
        assert_eq!(Packing::empty(3).widened(&far), None);
    }

    #[test]
    fn no_rows_take_no_room() {
        let (packing, columns): (_, [&[Code]; 3]) = (Packing::empty(3), [&[], &[], &[]]);
        assert!(packing.fits(&columns) && packing.widened(&columns).is_some());
        assert_eq!(packing.unpack(&packing.pack(&columns, 0)).len, 0);
    }
}
