//! `PackedRows`: rows of two columns or more as single words, as long as they fit; as bits where there may be few of them.

use std::any::Any;
use std::sync::Arc;

use super::bit_parts::BitParts;
use super::key_parts::{Buffers, KeyParts};
use super::parts::{Candidates, Parts};
use crate::data::keys::Key;
use crate::data::packing::Packing;
use crate::data::{Code, Rows, parallel, unpack};

/// Fewer rows are in the cache in any form.
const MANY: usize = 1 << 14;
/// Bytes that bits may take for each row,
const BYTES_PER_ROW: usize = 16;
/// and beside these.
const FREE_BYTES: usize = 1 << 20;

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
    Words(KeyParts<u64>),
    /// A bit for each word that there may be.
    Bits(BitParts),
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
            _ => Form::Words(KeyParts::new(parts)),
        };
        PackedRows { packing: Arc::new(Packing::empty(arity)), form, parts, next_look: MANY }
    }

    fn len(&self) -> usize {
        match &self.form {
            Form::Words(words) => words.len(),
            Form::Bits(bits) => bits.len(),
            Form::Whole(whole) => whole.len(),
        }
    }

    /// All rows. Until they have another form they are nowhere else.
    fn take_rows(&mut self) -> Rows {
        let arity = self.packing.arity();
        match &mut self.form {
            Form::Words(words) => self.packing.unpack(&words.take()),
            Form::Bits(bits) => self.packing.unpack(&bits.keys()),
            Form::Whole(whole) => unpack(&whole.take(), arity),
        }
    }

    /// Makes room for these rows, too, in a form that is best for all.
    fn make_room(&mut self, rows: &[&Rows]) {
        let known = self.take_rows();
        let packing = packing_of(self.packing.arity(), std::iter::once(&known).chain(rows.iter().copied()));
        self.put(packing, &known);
    }

    /// Where there have come to be many rows, they may be better off as bits.
    fn look_again(&mut self) {
        if self.len() < self.next_look {
            return;
        }
        self.next_look = 2 * self.len();
        let arity = self.packing.arity();
        let rows = match &self.form {
            Form::Bits(_) => return,
            Form::Words(words) => self.packing.unpack(&words.iter().collect::<Vec<_>>()),
            Form::Whole(whole) => unpack(&whole.iter().collect::<Vec<_>>(), arity),
        };
        let packing = packing_of(arity, std::iter::once(&rows));
        if packing.as_ref().is_some_and(|packing| is_few(packing.least_bits(), rows.len)) {
            self.put(packing, &rows);
        }
    }

    /// Gives these rows, which are all, the best form; `packing` has room for them, if a word has.
    fn put(&mut self, packing: Option<Packing>, rows: &Rows) {
        let columns = rows.slices();
        match packing {
            Some(packing) if is_few(packing.least_bits(), rows.len) => {
                let packing = packing.tight();
                let mut bits = BitParts::new(packing.bits(), self.parts);
                bits.take_in_keys(&mut packing.pack(&columns, rows.len));
                (self.packing, self.form) = (Arc::new(packing), Form::Bits(bits));
            }
            Some(packing) if packing.arity() > 2 => {
                let mut words = KeyParts::new(self.parts);
                words.take_in_keys(&mut packing.pack(&columns, rows.len));
                (self.packing, self.form) = (Arc::new(packing), Form::Words(words));
            }
            packing => {
                let mut whole = KeyParts::new(self.parts);
                let mut keys = Vec::with_capacity(rows.len);
                K::pack(&columns, 0, rows.len, &mut keys);
                whole.take_in_keys(&mut keys);
                self.packing = packing.map_or_else(|| Arc::clone(&self.packing), Arc::new);
                self.form = Form::Whole(whole);
            }
        }
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
                Form::Words(_) | Form::Bits(_) if Arc::ptr_eq(&packed.packing, &self.packing) => {
                    Candidates { keys: packed, len }
                }
                _ => self.collect_again(&packed.into_rows()),
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
fn packing_of<'r>(arity: usize, mut rows: impl Iterator<Item = &'r Rows>) -> Option<Packing> {
    rows.try_fold(Packing::empty(arity), |packing, rows| packing.widened(&rows.slices()))
}

/// Whether there are so few words of so many bits, beside so many rows, that each may have a bit.
fn is_few(bits: u32, rows: usize) -> bool {
    rows >= MANY && BitParts::bytes(bits) <= BYTES_PER_ROW * rows + FREE_BYTES
}

impl<K: Key> Parts for PackedRows<K> {
    fn candidates(&self) -> Box<dyn Any + Send> {
        let packed = match &self.form {
            Form::Whole(whole) => return whole.candidates(),
            Form::Words(words) => words.buffers(),
            Form::Bits(bits) => bits.buffers(),
        };
        let (packing, unfit) = (Arc::clone(&self.packing), Rows::empty(self.packing.arity()));
        Box::new(PackedCandidates { packing, packed, unfit })
    }

    fn collect(&self, columns: &[&[Code]], rows: usize, into: &mut Candidates) {
        if let Form::Whole(whole) = &self.form {
            return whole.collect(columns, rows, into);
        }
        let Some(candidates) = into.keys.downcast_mut::<PackedCandidates>() else { return };
        if !self.packing.fits(columns) {
            let columns = columns.iter().map(|codes| codes[..rows].to_vec()).collect();
            candidates.unfit.append(Rows { columns, len: rows });
            into.len += rows;
            return;
        }
        let keys = self.packing.pack(columns, rows);
        into.len += match &self.form {
            Form::Words(words) => words.collect_keys(&keys, &mut candidates.packed),
            Form::Bits(bits) => bits.collect_keys(&keys, &mut candidates.packed),
            Form::Whole(_) => 0,
        };
    }

    fn absorb(&mut self, lanes: Vec<Candidates>, arity: usize) -> Vec<Rows> {
        let packed = lanes.iter().filter_map(|lane| lane.keys.downcast_ref::<PackedCandidates>());
        let unfit: Vec<&Rows> = packed.map(|lane| &lane.unfit).filter(|rows| rows.len > 0).collect();
        if !matches!(self.form, Form::Whole(_)) && !unfit.is_empty() {
            self.make_room(&unfit);
        }
        let lanes = parallel::map(lanes, |lane| self.brought_up_to_date(lane));
        // Rows that came from another form may be of no size that this one has room for.
        let packed = lanes.iter().filter_map(|lane| lane.keys.downcast_ref::<PackedCandidates>());
        let unfit: Vec<&Rows> = packed.map(|lane| &lane.unfit).filter(|rows| rows.len > 0).collect();
        if !unfit.is_empty() {
            self.make_room(&unfit);
            return self.absorb(lanes, arity);
        }
        let new = match &mut self.form {
            Form::Whole(whole) => whole.absorb(lanes, arity),
            form => {
                let packed =
                    lanes.into_iter().filter_map(|lane| lane.keys.downcast::<PackedCandidates>().ok());
                let packed = packed.map(|lane| lane.packed).collect();
                let unpack = |keys: &[u64]| self.packing.unpack(keys);
                match form {
                    Form::Words(words) => words.absorb_keys(packed, unpack),
                    Form::Bits(bits) => bits.absorb_keys(packed, unpack),
                    Form::Whole(_) => Vec::new(),
                }
            }
        };
        self.look_again();
        new
    }

    fn mark(&self, columns: &[&[Code]], rows: usize, found: &mut [bool]) {
        let mark = |columns: &[&[Code]], rows: usize, found: &mut [bool]| match &self.form {
            Form::Words(words) => words.mark_keys(&self.packing.pack(columns, rows), found),
            Form::Bits(bits) => bits.mark_keys(&self.packing.pack(columns, rows), found),
            Form::Whole(whole) => whole.mark(columns, rows, found),
        };
        if matches!(self.form, Form::Whole(_)) || self.packing.fits(columns) {
            return mark(columns, rows, found);
        }
        // What does not fit is not known.
        for (row, found) in found[..rows].iter_mut().enumerate() {
            let row: Vec<&[Code]> = columns.iter().map(|codes| &codes[row..=row]).collect();
            if self.packing.fits(&row) {
                mark(&row, 1, std::slice::from_mut(found));
            }
        }
    }

    fn take_in(&mut self, columns: &[&[Code]], rows: usize, new: &mut Rows) {
        if !matches!(self.form, Form::Whole(_)) && !self.packing.fits(columns) {
            let columns = columns.iter().map(|codes| codes[..rows].to_vec()).collect();
            self.make_room(&[&Rows { columns, len: rows }]);
        }
        match &mut self.form {
            Form::Whole(whole) => whole.take_in(columns, rows, new),
            form => {
                let mut keys = self.packing.pack(columns, rows);
                match form {
                    Form::Words(words) => words.take_in_keys(&mut keys),
                    Form::Bits(bits) => bits.take_in_keys(&mut keys),
                    Form::Whole(_) => {}
                }
                new.append(self.packing.unpack(&keys));
            }
        }
        self.look_again();
    }

    fn memory_bytes(&self) -> usize {
        match &self.form {
            Form::Words(words) => words.memory_bytes(),
            Form::Bits(bits) => bits.memory_bytes(),
            Form::Whole(whole) => whole.memory_bytes(),
        }
    }
}
