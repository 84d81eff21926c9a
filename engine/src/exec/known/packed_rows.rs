//! `PackedRows`: rows of two columns or more as single words, as long as they fit.

use std::any::Any;
use std::borrow::Borrow;
use std::sync::Arc;

use super::bit_parts::BitParts;
use super::key_parts::{Buffers, KeyParts};
use super::parts::{Answer, Candidates, Parts};
use super::word_set::{MANY, WordSet, are_bits};
use crate::data::keys::Key;
use crate::data::packing::Packing;
use crate::data::{Code, Rows, parallel, unpack};

/// Rows that are known.
pub(super) struct PackedRows<K> {
    packing: Arc<Packing>,
    form: Form<K>,
    parts: usize,
    /// With so many rows it is looked again which form is best.
    next_look: usize,
}

enum Form<K> {
    /// The words of rows.
    Words(WordSet),
    /// Rows as they are, where they do not fit a word, or fit one as they are.
    Whole(KeyParts<K>),
}

/// Candidates of a lane, collected with this packing.
struct PackedCandidates {
    packing: Arc<Packing>,
    packed: Buffers<u64>,
    /// Rows as they are, where some of a batch do not fit.
    unfit: Rows,
}

impl PackedCandidates {
    /// All of them as rows.
    fn into_rows(self) -> Rows {
        let mut rows = self.unfit;
        self.packed.iter().for_each(|keys| rows.append(self.packing.unpack(keys)));
        rows
    }
}

impl<K: Key> PackedRows<K> {
    /// No rows of so many columns, in so many parts.
    pub(super) fn new(parts: usize, arity: usize) -> Self {
        // Two codes are a word already.
        let form = match arity {
            0..=2 => Form::Whole(KeyParts::new(parts)),
            _ => Form::Words(WordSet::Hashed(KeyParts::new(parts))),
        };
        PackedRows { packing: Arc::new(Packing::empty(arity)), form, parts, next_look: MANY }
    }

    fn len(&self) -> usize {
        match &self.form {
            Form::Words(words) => words.len(),
            Form::Whole(whole) => whole.len(),
        }
    }

    /// All rows.
    fn rows(&self) -> Rows {
        match &self.form {
            Form::Words(words) => self.packing.unpack(&words.words()),
            Form::Whole(whole) => unpack(&whole.keys(), self.packing.arity()),
        }
    }

    /// Makes room for these rows, too, in a form that is best for all.
    fn make_room(&mut self, rows: &[&Rows]) {
        let known = self.rows();
        let packing = packing_of(self.packing.arity(), std::iter::once(&known).chain(rows.iter().copied()));
        self.put(packing, &known);
    }

    /// Where there have come to be many rows, they may be better off as bits.
    fn look_again(&mut self) {
        if self.len() < self.next_look || matches!(self.form, Form::Words(WordSet::Bits(_))) {
            return;
        }
        self.next_look = 2 * self.len();
        let packing = self.room();
        if packing.as_ref().is_some_and(|packing| are_bits(self.len(), packing.least_bits())) {
            self.put(packing, &self.rows());
        }
    }

    /// Room for all rows that are known, if a word has so much, and there is not more than they need.
    fn room(&self) -> Option<Packing> {
        let arity = self.packing.arity();
        match &self.form {
            Form::Words(WordSet::Hashed(words)) => {
                packing_of(arity, words.batches().map(|words| self.packing.unpack(&words)))
            }
            Form::Words(WordSet::Bits(_)) => Some(Packing::clone(&self.packing)),
            Form::Whole(whole) => packing_of(arity, whole.batches().map(|keys| unpack(&keys, arity))),
        }
    }

    /// Gives these rows, which are all, the best form; `packing` has room for them, if a word has.
    fn put(&mut self, packing: Option<Packing>, rows: &Rows) {
        let columns = rows.slices();
        // What was there goes before there is more.
        self.form = Form::Whole(KeyParts::new(self.parts));
        let is_bits = packing.as_ref().is_some_and(|packing| are_bits(rows.len, packing.least_bits()));
        let (packing, mut words) = match packing {
            Some(packing) if is_bits => {
                let packing = packing.tight();
                let bits = BitParts::new(packing.bits(), self.parts);
                (packing, WordSet::Bits(bits))
            }
            Some(packing) if packing.arity() > 2 => (packing, WordSet::Hashed(KeyParts::new(self.parts))),
            Some(_) | None => {
                let mut whole = KeyParts::new(self.parts);
                let mut keys = Vec::with_capacity(rows.len);
                K::pack(&columns, 0, rows.len, &mut keys);
                whole.take_in_keys(&mut keys);
                self.form = Form::Whole(whole);
                return;
            }
        };
        words.take_in(&mut packing.pack(&columns, rows.len));
        (self.packing, self.form) = (Arc::new(packing), Form::Words(words));
    }

    /// Candidates as what is in this form. They may have been collected before it was what it is.
    fn collect_again(&self, rows: &Rows) -> Candidates {
        let mut again = Candidates { keys: Parts::candidates(self), len: 0 };
        self.collect(&rows.slices(), rows.len, &mut again);
        again
    }

    /// Candidates that were collected in this form, or are collected again.
    fn brought_up_to_date(&self, lane: Candidates) -> Candidates {
        let Candidates { keys, len } = lane;
        match keys.downcast::<PackedCandidates>() {
            Ok(packed) => match self.form {
                Form::Words(_) if Arc::ptr_eq(&packed.packing, &self.packing) => {
                    Candidates { keys: packed, len }
                }
                Form::Words(_) | Form::Whole(_) => self.collect_again(&packed.into_rows()),
            },
            Err(keys) => match (keys.downcast::<Buffers<K>>(), &self.form) {
                (Ok(whole), Form::Whole(_)) => Candidates { keys: whole, len },
                (Ok(whole), _) => {
                    let mut rows = Rows::empty(self.packing.arity());
                    whole.iter().for_each(|keys| rows.append(unpack(keys, self.packing.arity())));
                    self.collect_again(&rows)
                }
                (Err(keys), _) => Candidates { keys, len },
            },
        }
    }
}

/// Room for all of these rows, if a word has so much. What a packing has room for says nothing of what it was used for.
fn packing_of(arity: usize, mut rows: impl Iterator<Item = impl Borrow<Rows>>) -> Option<Packing> {
    rows.try_fold(Packing::empty(arity), |packing, rows| packing.widened(&rows.borrow().slices()))
}

impl<K: Key> Parts for PackedRows<K> {
    fn candidates(&self) -> Box<dyn Any + Send> {
        match &self.form {
            Form::Whole(whole) => whole.candidates(),
            Form::Words(words) => {
                let (packing, unfit) = (Arc::clone(&self.packing), Rows::empty(self.packing.arity()));
                Box::new(PackedCandidates { packing, packed: words.buffers(), unfit })
            }
        }
    }

    fn collect(&self, columns: &[&[Code]], rows: usize, into: &mut Candidates) {
        let words = match &self.form {
            Form::Whole(whole) => return whole.collect(columns, rows, into),
            Form::Words(words) => words,
        };
        let Some(candidates) = into.keys.downcast_mut::<PackedCandidates>() else { return };
        if self.packing.fits(columns) {
            into.len += words.collect(&self.packing.pack(columns, rows), &mut candidates.packed);
        } else {
            candidates.unfit.append(copied(columns, rows));
            into.len += rows;
        }
    }

    fn absorb(&mut self, lanes: Vec<Candidates>, arity: usize, answer: Answer) -> Vec<Rows> {
        let mut lanes: Vec<Candidates> = parallel::map(lanes, |lane| self.brought_up_to_date(lane));
        let is_unfit = |lane: &Candidates| {
            lane.keys.downcast_ref::<PackedCandidates>().is_some_and(|packed| packed.unfit.len > 0)
        };
        if lanes.iter().any(is_unfit) {
            // Room for those that fitted, too: it may be another one.
            let packed = lanes.into_iter().filter_map(|lane| lane.keys.downcast::<PackedCandidates>().ok());
            let rows: Vec<Rows> = packed.map(|packed| packed.into_rows()).collect();
            self.make_room(&rows.iter().collect::<Vec<_>>());
            lanes = parallel::map(rows, |rows| self.collect_again(&rows));
        }
        let new = match &mut self.form {
            Form::Whole(whole) => whole.absorb(lanes, arity, answer),
            Form::Words(words) => {
                let packed =
                    lanes.into_iter().filter_map(|lane| lane.keys.downcast::<PackedCandidates>().ok());
                let packed = packed.map(|lane| lane.packed).collect();
                words.absorb(packed, |keys| answer.of(keys.len(), || self.packing.unpack(keys)))
            }
        };
        self.look_again();
        new
    }

    fn mark(&self, columns: &[&[Code]], rows: usize, found: &mut [bool]) {
        let words = match &self.form {
            Form::Whole(whole) => return whole.mark(columns, rows, found),
            Form::Words(words) => words,
        };
        if self.packing.fits(columns) {
            return words.mark(&self.packing.pack(columns, rows), found);
        }
        // What does not fit is not known.
        for (row, found) in found[..rows].iter_mut().enumerate() {
            let row: Vec<&[Code]> = columns.iter().map(|codes| &codes[row..=row]).collect();
            if self.packing.fits(&row) {
                words.mark(&self.packing.pack(&row, 1), std::slice::from_mut(found));
            }
        }
    }

    fn take_in(&mut self, columns: &[&[Code]], rows: usize, new: &mut Rows) {
        if matches!(self.form, Form::Words(_)) && !self.packing.fits(columns) {
            self.make_room(&[&copied(columns, rows)]);
        }
        match &mut self.form {
            Form::Whole(whole) => whole.take_in(columns, rows, new),
            Form::Words(words) => {
                let mut keys = self.packing.pack(columns, rows);
                words.take_in(&mut keys);
                new.append(self.packing.unpack(&keys));
            }
        }
        self.look_again();
    }

    fn memory_bytes(&self) -> usize {
        match &self.form {
            Form::Words(words) => words.memory_bytes(),
            Form::Whole(whole) => whole.memory_bytes(),
        }
    }
}

/// The first rows of columns.
fn copied(columns: &[&[Code]], rows: usize) -> Rows {
    Rows { columns: columns.iter().map(|codes| codes[..rows].to_vec()).collect(), len: rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fitted_before_is_there_when_more_room_is_made() {
        // A packing has room for one row, of whatever bits; another one of other bits takes all of it.
        const FAR: Code = 0x8000_0006;
        for rows in [[0, FAR], [FAR, 0], [0, 0], [FAR, 1]] {
            let mut known = PackedRows::<u128>::new(1, 3);
            let mut lane = Candidates { keys: Parts::candidates(&known), len: 0 };
            for code in rows {
                known.collect(&[&[code], &[code], &[code]], 1, &mut lane);
            }
            let new: usize = known.absorb(vec![lane], 3, Answer::Rows).iter().map(|rows| rows.len).sum();
            let expected = if rows[0] == rows[1] { 1 } else { 2 };
            assert_eq!((new, known.len()), (expected, expected), "{rows:?}");
        }
    }
}
