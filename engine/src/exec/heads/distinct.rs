//! `Distinct`: what a part of the work finds, each row once.
//!
//! Rows that agree in one column mostly come one after the other. Only such a group has to be compared, in a set that
//! stays in the innermost cache.

use crate::budget::Budget;
use crate::data::keys::{Key, KeySet, with_key};
use crate::data::{Code, Rows};
use crate::exec::error::ExecError;
use crate::exec::known::RowSet;

/// Rows, each once.
pub(crate) struct Distinct {
    rows: Rows,
    known: Known,
    /// Bytes of sets that are accounted for.
    charged: usize,
}

enum Known {
    /// The rows of the last group.
    OfGroup(Box<dyn RowsOfGroup>),
    /// All rows: a group has come a second time.
    All(RowSet),
}

trait RowsOfGroup {
    /// Adds rows that are new to `found`, as far as no group comes a second time; answers how far that is.
    fn add(&mut self, columns: &[&[Code]], rows: usize, found: &mut Rows) -> usize;
    fn memory_bytes(&self) -> usize;
}

impl Distinct {
    /// No rows of so many columns; those that agree in `column` are a group.
    pub(crate) fn new(arity: usize, column: usize) -> Distinct {
        let groups = with_key!(arity - 1, K => Box::new(GroupSet::<K>::new(column)) as Box<dyn RowsOfGroup>);
        Distinct { rows: Rows::empty(arity), known: Known::OfGroup(groups), charged: 0 }
    }

    /// Adds those of the rows that are new.
    pub(crate) fn add(&mut self, columns: &[&[Code]], rows: usize, budget: &Budget) -> Result<(), ExecError> {
        let before = self.rows.len;
        let done = match &mut self.known {
            Known::OfGroup(groups) => groups.add(columns, rows, &mut self.rows),
            Known::All(_) => 0,
        };
        if done < rows {
            let rest: Vec<&[Code]> = columns.iter().map(|codes| &codes[done..rows]).collect();
            self.add_to_all(&rest, rows - done);
        }
        let held = match &self.known {
            Known::OfGroup(groups) => groups.memory_bytes(),
            Known::All(set) => set.memory_bytes(),
        };
        let more = held.saturating_sub(self.charged);
        self.charged += more;
        budget.charge(more + (self.rows.len - before) * columns.len() * size_of::<Code>())?;
        Ok(())
    }

    fn add_to_all(&mut self, columns: &[&[Code]], rows: usize) {
        if let Known::OfGroup(_) = self.known {
            let mut all = RowSet::single(columns.len());
            all.take_in(&self.rows.slices(), self.rows.len, &mut Rows::empty(columns.len()));
            self.known = Known::All(all);
        }
        if let Known::All(all) = &mut self.known {
            all.take_in(columns, rows, &mut self.rows);
        }
    }

    /// The rows.
    pub(crate) fn finish(self, budget: &Budget) -> Rows {
        budget.release(self.charged);
        self.rows
    }
}

struct GroupSet<K> {
    column: usize,
    /// All groups so far, the last one among them.
    met: KeySet<u64>,
    last: Option<Code>,
    /// The other columns of the last group's rows.
    known: KeySet<K>,
    /// Those of the rows that come.
    keys: Vec<K>,
}

impl<K: Key> GroupSet<K> {
    fn new(column: usize) -> Self {
        let (met, known) = (KeySet::default(), KeySet::default());
        GroupSet { column, met, last: None, known, keys: Vec::new() }
    }
}

impl<K: Key> RowsOfGroup for GroupSet<K> {
    fn add(&mut self, columns: &[&[Code]], rows: usize, found: &mut Rows) -> usize {
        let groups = columns[self.column];
        let others: Vec<usize> = (0..columns.len()).filter(|column| *column != self.column).collect();
        let rest: Vec<&[Code]> = others.iter().map(|column| columns[*column]).collect();
        self.keys.clear();
        K::pack(&rest, 0, rows, &mut self.keys);
        let (mut done, mut new) = (0, 0);
        while done < rows {
            let group = groups[done];
            if self.last != Some(group) {
                let key = u64::from(group);
                if !self.met.insert(key, key.hash()) {
                    break;
                }
                self.last = Some(group);
                self.known.clear();
            }
            let before = new;
            while done < rows && groups[done] == group {
                let key = self.keys[done];
                // What is known is written over by the next one.
                self.keys[new] = key;
                new += usize::from(self.known.insert(key, key.hash()));
                done += 1;
            }
            found.columns[self.column].extend(std::iter::repeat_n(group, new - before));
        }
        for (position, column) in others.into_iter().enumerate() {
            found.columns[column].extend(self.keys[..new].iter().map(|key| key.code(position)));
        }
        found.len += new;
        done
    }

    fn memory_bytes(&self) -> usize {
        self.met.memory_bytes() + self.known.memory_bytes() + self.keys.capacity() * size_of::<K>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows_in_any_order_are_found_once() {
        let budget = Budget::unlimited();
        // In order of the second column, in no order, and in order at first.
        let in_order = |n: u32| (n * 7 % 50, n / 300, n % 2);
        let mixed = |n: u32| (n % 11, n % 7, n % 3);
        for row in [&in_order as &dyn Fn(u32) -> (u32, u32, u32), &mixed, &|n: u32| match n {
            0..2_000 => in_order(n),
            _ => mixed(n),
        }] {
            let mut distinct = Distinct::new(3, 1);
            for start in [0, 1_000, 2_500] {
                let rows: Vec<_> = (start..start + 1_000).map(row).collect();
                let columns: [Vec<Code>; 3] = [
                    rows.iter().map(|row| row.0).collect(),
                    rows.iter().map(|row| row.1).collect(),
                    rows.iter().map(|row| row.2).collect(),
                ];
                distinct.add(&columns.each_ref().map(Vec::as_slice), rows.len(), &budget).unwrap();
            }
            let found = distinct.finish(&budget);
            let expected: BTreeSet<_> = (0..2_000).chain(2_500..3_500).map(row).collect();
            let rows: BTreeSet<_> = (0..found.len)
                .map(|row| (found.columns[0][row], found.columns[1][row], found.columns[2][row]))
                .collect();
            assert_eq!((rows.len(), &rows), (found.len, &expected));
        }
    }
}
