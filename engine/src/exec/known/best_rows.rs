//! `BestRows`: the best row of each group, kept in place while a stratum is evaluated.
//!
//! Cut into parts by the hash of the group, as a row set is: threads collect candidates that are better than what is
//! known, then each part takes its candidates in, and nothing is shared.

use std::any::Any;

use crate::analysis::program::Best;
use crate::budget::{Budget, BudgetError};
use crate::data::keys::{Key, KeyNumbers, TOGETHER, with_key};
use crate::data::preference::Preference;
use crate::data::{Code, Codec, Rows, parallel, unpack};
use crate::exec::error::ExecError;
use crate::exec::growing::gather;

const PARTS: usize = 16;
/// Fewer candidates than these are not worth a second thread.
const SMALL: usize = 4_096;

/// The best rows of a relation with any number of columns.
pub(crate) struct BestRows {
    arity: usize,
    best: Best,
    groups: Box<dyn Groups>,
    /// All that was best for a while, if that is kept.
    replaced: Vec<Rows>,
}

/// Candidates of one lane: rows that were better than what was known when it looked.
pub(crate) struct Improvements {
    rows: Box<dyn Any + Send>,
    len: usize,
}

trait Groups: Send + Sync {
    fn improvements(&self) -> Box<dyn Any + Send>;
    fn collect(&self, groups: &[&[Code]], values: &[Code], into: &mut Improvements, order: &Preference<'_>);
    fn absorb(&mut self, lanes: Vec<Improvements>, order: &Preference<'_>);
    /// Groups and values: of all, or of those that changed since this was last asked.
    fn rows(&mut self, changed_only: bool, width: usize) -> (Rows, Vec<Code>);
    fn len(&self) -> usize;
    fn changed(&self) -> usize;
    fn memory_bytes(&self) -> usize;
}

impl BestRows {
    pub(crate) fn new(arity: usize, best: Best) -> BestRows {
        let width = arity.saturating_sub(1);
        let groups: Box<dyn Groups> = with_key!(width, K => Box::new(Parts::<K>::new()));
        BestRows { arity, best, groups, replaced: Vec::new() }
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Number of groups that [`BestRows::take_changed`] would take.
    pub(crate) fn changed(&self) -> usize {
        self.groups.changed()
    }

    /// An empty buffer for [`BestRows::collect`].
    pub(crate) fn improvements(&self) -> Improvements {
        Improvements { rows: self.groups.improvements(), len: 0 }
    }

    /// Collects those rows that are better than what is known of their group.
    pub(crate) fn collect(
        &self,
        columns: &[&[Code]],
        into: &mut Improvements,
        codec: &Codec,
        budget: &Budget,
    ) -> Result<(), ExecError> {
        let before = into.len;
        let mut groups = columns.to_vec();
        let values = groups.remove(self.best.column);
        self.groups.collect(&groups, values, into, &self.order(codec));
        budget.charge((into.len - before) * self.row_bytes())?;
        Ok(())
    }

    /// Takes candidates in.
    pub(crate) fn absorb(
        &mut self,
        lanes: Vec<Improvements>,
        codec: &Codec,
        budget: &Budget,
    ) -> Result<(), ExecError> {
        let candidates: usize = lanes.iter().map(|lane| lane.len).sum();
        let before = self.groups.memory_bytes();
        let order = Preference { largest: self.best.largest, codec };
        self.groups.absorb(lanes, &order);
        budget.charge(self.groups.memory_bytes().saturating_sub(before))?;
        budget.release(candidates * self.row_bytes());
        Ok(())
    }

    /// The rows that are new or better since this was last asked.
    pub(crate) fn take_changed(&mut self, budget: &Budget) -> Result<Rows, BudgetError> {
        let changed = self.rows(true);
        if self.best.keeps_replaced {
            budget.charge(Rows::bytes_to_store(self.arity, changed.len))?;
            self.replaced.push(changed.clone());
        }
        Ok(changed)
    }

    /// What is left in the end: one row a group, or all that were best for a while.
    pub(crate) fn complete(&mut self, budget: &Budget) -> Result<Rows, BudgetError> {
        if !self.best.keeps_replaced {
            return Ok(self.all());
        }
        self.take_changed(budget)?;
        Ok(gather(std::mem::take(&mut self.replaced), self.arity))
    }

    /// One row a group.
    pub(crate) fn all(&mut self) -> Rows {
        self.rows(false)
    }

    fn rows(&mut self, changed_only: bool) -> Rows {
        let (mut rows, values) = self.groups.rows(changed_only, self.arity.saturating_sub(1));
        rows.len = values.len();
        rows.columns.insert(self.best.column, values);
        rows
    }

    fn order<'c>(&self, codec: &'c Codec) -> Preference<'c> {
        Preference { largest: self.best.largest, codec }
    }

    fn row_bytes(&self) -> usize {
        (self.arity + 1) * size_of::<Code>()
    }
}

struct Parts<K> {
    parts: Vec<Part<K>>,
}

/// Groups by number, the best value of each, and which of them changed.
struct Part<K> {
    numbers: KeyNumbers<K>,
    keys: Vec<K>,
    values: Vec<Code>,
    is_changed: Vec<bool>,
    changed: Vec<u32>,
}

impl<K: Key> Part<K> {
    fn offer(&mut self, key: K, value: Code, order: &Preference<'_>) {
        let group = self.numbers.number(key);
        let position = group as usize;
        if position == self.keys.len() {
            self.keys.push(key);
            self.values.push(value);
            self.is_changed.push(false);
        } else if order.is_better(value, self.values[position]) {
            self.values[position] = value;
        } else {
            return;
        }
        if !std::mem::replace(&mut self.is_changed[position], true) {
            self.changed.push(group);
        }
    }
}

impl<K: Key> Parts<K> {
    fn new() -> Parts<K> {
        let part = || Part {
            numbers: KeyNumbers::default(),
            keys: Vec::new(),
            values: Vec::new(),
            is_changed: Vec::new(),
            changed: Vec::new(),
        };
        Parts { parts: (0..PARTS).map(|_| part()).collect() }
    }
}

impl<K: Key> Groups for Parts<K> {
    fn improvements(&self) -> Box<dyn Any + Send> {
        Box::new(vec![Vec::<(K, Code)>::new(); PARTS])
    }

    fn collect(&self, groups: &[&[Code]], values: &[Code], into: &mut Improvements, order: &Preference<'_>) {
        let Some(buffers) = into.rows.downcast_mut::<Vec<Vec<(K, Code)>>>() else { return };
        let mut keys = Vec::with_capacity(values.len());
        K::pack(groups, 0, values.len(), &mut keys);
        let part_of = |key: &K| (key.hash() >> 60) as usize % PARTS;
        for (keys, values) in keys.chunks(TOGETHER).zip(values.chunks(TOGETHER)) {
            keys.iter().for_each(|key| self.parts[part_of(key)].numbers.touch(key));
            let mut known = [None; TOGETHER];
            for (key, known) in keys.iter().zip(&mut known) {
                let part = &self.parts[part_of(key)];
                *known = part.numbers.get(key).map(|group| part.values[*group as usize]);
            }
            for ((key, value), known) in keys.iter().zip(values).zip(known) {
                if known.is_none_or(|known| order.is_better(*value, known)) {
                    buffers[part_of(key)].push((*key, *value));
                    into.len += 1;
                }
            }
        }
    }

    fn absorb(&mut self, lanes: Vec<Improvements>, order: &Preference<'_>) {
        let total: usize = lanes.iter().map(|lane| lane.len).sum();
        let mut by_part: Vec<Vec<Vec<(K, Code)>>> =
            (0..PARTS).map(|_| Vec::with_capacity(lanes.len())).collect();
        for lane in lanes {
            if let Ok(buffers) = lane.rows.downcast::<Vec<Vec<(K, Code)>>>() {
                by_part.iter_mut().zip(*buffers).for_each(|(part, buffer)| part.push(buffer));
            }
        }
        let take_in = |(mut part, buffers): (Part<K>, Vec<Vec<(K, Code)>>)| {
            for (key, value) in buffers.into_iter().flatten() {
                part.offer(key, value, order);
            }
            part
        };
        let work: Vec<_> = std::mem::take(&mut self.parts).into_iter().zip(by_part).collect();
        self.parts = if total < SMALL {
            work.into_iter().map(take_in).collect()
        } else {
            parallel::map(work, take_in)
        };
    }

    fn rows(&mut self, changed_only: bool, width: usize) -> (Rows, Vec<Code>) {
        let mut keys = Vec::new();
        let mut values = Vec::new();
        for part in &mut self.parts {
            if changed_only {
                for group in part.changed.drain(..) {
                    part.is_changed[group as usize] = false;
                    keys.push(part.keys[group as usize]);
                    values.push(part.values[group as usize]);
                }
            } else {
                keys.extend_from_slice(&part.keys);
                values.extend_from_slice(&part.values);
            }
        }
        (unpack(&keys, width), values)
    }

    fn len(&self) -> usize {
        self.parts.iter().map(|part| part.keys.len()).sum()
    }

    fn changed(&self) -> usize {
        self.parts.iter().map(|part| part.changed.len()).sum()
    }

    fn memory_bytes(&self) -> usize {
        let row = size_of::<K>() + 2 * size_of::<Code>() + 1;
        self.parts.iter().map(|part| part.numbers.memory_bytes() + part.keys.capacity() * row).sum()
    }
}
