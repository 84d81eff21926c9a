//! Rows that a search has met, what they stand by, and how high each stands by the smallest proof among that.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::budget::{Budget, BudgetError};
use crate::data::{Code, RelationId};

/// The height of a row of which no proof is known yet.
pub(super) const UNKNOWN: u32 = u32::MAX;

#[derive(Default)]
pub(super) struct MetRows {
    rows: Vec<Row>,
    /// By relation and codes.
    numbers: HashTable<u32>,
    hasher: RandomState,
    solutions: Vec<StandsBy>,
    /// The rows that solutions read, one solution after the other.
    read: Vec<u32>,
}

pub(super) struct Row {
    pub(super) relation: RelationId,
    pub(super) codes: Vec<Code>,
    /// The height of its smallest proof among what is known.
    pub(super) height: u32,
    /// It stands so high at least.
    pub(super) least: u32,
    /// How much higher it is than what it stands by.
    pub(super) step: u32,
    /// Whether all that it stands by is known.
    pub(super) is_complete: bool,
    /// By which solutions it stands: those of one way are neighbours.
    stands_by: Vec<u32>,
    /// The solutions that read it.
    read_by: Vec<u32>,
}

/// A solution by which a row stands.
pub(super) struct StandsBy {
    row: u32,
    way: u32,
    /// Whether the row stands by all solutions of its group.
    is_group: bool,
    /// How high the row stands by conditions alone that need no search.
    pub(super) level: u32,
    read: Range<u32>,
}

impl MetRows {
    /// What a row takes, of a few columns, with its number and the lists of what it stands by and is read by.
    pub(super) const BYTES_OF_ROW: usize = size_of::<Row>() + 64;

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn row(&self, number: u32) -> &Row {
        &self.rows[number as usize]
    }

    pub(super) fn row_mut(&mut self, number: u32) -> &mut Row {
        &mut self.rows[number as usize]
    }

    /// The number of a row, if it was met.
    pub(super) fn find(&self, relation: RelationId, codes: &[Code]) -> Option<u32> {
        let hash = hash(&self.hasher, relation, codes);
        self.numbers.find(hash, |number| is_row(&self.rows, *number, relation, codes)).copied()
    }

    /// The number of a row, which may be met for the first time.
    pub(super) fn meet(&mut self, relation: RelationId, codes: &[Code], step: u32) -> u32 {
        let MetRows { rows, numbers, hasher, .. } = self;
        let hash_of = |number: &u32| {
            let row = &rows[*number as usize];
            hash(hasher, row.relation, &row.codes)
        };
        let is_it = |number: &u32| is_row(rows, *number, relation, codes);
        let next = rows.len() as u32;
        let number = *numbers.entry(hash(hasher, relation, codes), is_it, hash_of).or_insert(next).get();
        if number == next {
            rows.push(Row {
                relation,
                codes: codes.to_vec(),
                height: UNKNOWN,
                least: 0,
                step,
                is_complete: false,
                stands_by: Vec::new(),
                read_by: Vec::new(),
            });
        }
        number
    }

    /// Lets a row stand by a solution that reads these rows.
    pub(super) fn stand(&mut self, row: u32, way: usize, is_group: bool, level: u32, read: &[u32]) {
        let number = self.solutions.len() as u32;
        let first = self.read.len() as u32;
        self.read.extend_from_slice(read);
        for read in read {
            self.row_mut(*read).read_by.push(number);
        }
        self.row_mut(row).stands_by.push(number);
        let read = first..self.read.len() as u32;
        self.solutions.push(StandsBy { row, way: way as u32, is_group, level, read });
    }

    /// What a row stands by.
    pub(super) fn stands_by(&self, row: u32) -> impl Iterator<Item = &StandsBy> {
        self.row(row).stands_by.iter().map(|solution| &self.solutions[*solution as usize])
    }

    /// The rows that a solution reads.
    pub(super) fn read(&self, by: &StandsBy) -> &[u32] {
        &self.read[by.read.start as usize..by.read.end as usize]
    }

    /// What a solution takes.
    pub(super) fn bytes_of_solution(read: usize) -> usize {
        size_of::<StandsBy>() + size_of::<u32>() * (2 * read + 1)
    }

    /// Finds the smallest proofs anew, where it was learnt what these rows stand by, or how high they stand: rows that stand low
    /// first, so that each is found at its height (Knuth, *A Generalization of Dijkstra's Algorithm*, Information Processing
    /// Letters 6, 1977).
    pub(super) fn settle(
        &mut self,
        rows: impl IntoIterator<Item = u32>,
        budget: &Budget,
    ) -> Result<(), BudgetError> {
        let mut open: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for number in rows {
            let height = self.lowest(number).min(self.row(number).height);
            self.row_mut(number).height = height;
            open.entry(height).or_default().push(number);
        }
        open.remove(&UNKNOWN);
        while let Some((_, rows)) = open.pop_first() {
            budget.check()?;
            let mut groups: BTreeSet<(u32, u32)> = BTreeSet::new();
            let mut found: Vec<(u32, u32)> = Vec::new();
            for row in rows {
                for solution in 0..self.row(row).read_by.len() {
                    let by = &self.solutions[self.row(row).read_by[solution] as usize];
                    if by.is_group {
                        groups.insert((by.row, by.way));
                    } else {
                        found.push((by.row, self.height_by(by)));
                    }
                }
                self.take_lower(&mut found, &mut open);
            }
            found.extend(groups.into_iter().map(|(row, way)| (row, self.height_of_group(row, way))));
            self.take_lower(&mut found, &mut open);
        }
        Ok(())
    }

    /// Takes those of some heights of rows that are lower than what was known.
    fn take_lower(&mut self, found: &mut Vec<(u32, u32)>, open: &mut BTreeMap<u32, Vec<u32>>) {
        for (number, height) in found.drain(..) {
            let row = self.row_mut(number);
            if height < row.height {
                row.height = height;
                open.entry(height).or_default().push(number);
            }
        }
    }

    /// How high a row stands by the lowest of what it stands by.
    fn lowest(&self, row: u32) -> u32 {
        let groups: BTreeSet<u32> = self.stands_by(row).filter(|by| by.is_group).map(|by| by.way).collect();
        let of_groups = groups.into_iter().map(|way| self.height_of_group(row, way));
        let single = self.stands_by(row).filter(|by| !by.is_group).map(|by| self.height_by(by));
        single.chain(of_groups).min().unwrap_or(UNKNOWN)
    }

    fn height_of_group(&self, row: u32, way: u32) -> u32 {
        let of_group = self.stands_by(row).filter(|by| by.way == way);
        of_group.map(|by| self.height_by(by)).max().unwrap_or(UNKNOWN)
    }

    fn height_by(&self, by: &StandsBy) -> u32 {
        let step = self.row(by.row).step;
        let read = self.read(by).iter().map(|read| self.row(*read).height.saturating_add(step));
        read.fold(by.level, u32::max)
    }
}

fn hash(hasher: &RandomState, relation: RelationId, codes: &[Code]) -> u64 {
    let mut hasher = hasher.build_hasher();
    relation.hash(&mut hasher);
    codes.hash(&mut hasher);
    hasher.finish()
}

fn is_row(rows: &[Row], number: u32, relation: RelationId, codes: &[Code]) -> bool {
    let row = &rows[number as usize];
    row.relation == relation && row.codes == codes
}
