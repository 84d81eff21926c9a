//! Rounds: what is new in one factor, times everything in the other.

use std::ops::Range;

use super::blocks::{BLOCK, BlockRows, CompleteRows, Row, RowRef, Scratch, lanes_of_blocks};
use super::steps::{Layout, Side, Step};
use crate::budget::{Budget, BudgetError};
use crate::data::parallel;

/// Rows of other matrices that are united in one lane.
const LANE_UNIONS: usize = 1 << 18;
/// Rows of the head between two looks at the budget.
const CHECK_ROWS: usize = 64;
/// Rows that are scattered between two looks at the budget.
const CHECK_SCATTERED: usize = 1_024;

/// The matrices between two rounds.
pub(super) struct State<'b> {
    layout: Layout,
    /// Rows, and columns, of each matrix.
    size: usize,
    matrices: Vec<Kept>,
    budget: &'b Budget,
    /// Bytes that are accounted for.
    charged: usize,
}

impl Drop for State<'_> {
    fn drop(&mut self) {
        self.budget.release(self.charged);
    }
}

/// A matrix, by rows and by columns.
#[derive(Default)]
struct Kept {
    grows: bool,
    known: [Option<Known>; 2],
    new: [BlockRows; 2],
}

enum Known {
    Growing(Vec<Row>),
    Complete(CompleteRows),
}

impl Known {
    #[inline]
    fn row(&self, row: u32) -> RowRef<'_> {
        match self {
            Known::Growing(rows) => rows[row as usize].as_ref(),
            Known::Complete(rows) => rows.row(row),
        }
    }
}

impl<'b> State<'b> {
    /// Empty matrices of this size.
    pub(super) fn new(layout: Layout, size: usize, budget: &'b Budget) -> State<'b> {
        let matrices = layout.forms.iter().map(|_| Kept::default()).collect();
        State { layout, size, matrices, budget, charged: 0 }
    }

    /// Fills a matrix; `rows` gives it by rows or by columns. What is in one that grows is new.
    pub(super) fn add_matrix(
        &mut self,
        number: usize,
        grows: bool,
        rows: impl Fn(usize) -> BlockRows,
    ) -> Result<(), BudgetError> {
        let forms = self.layout.forms[number];
        self.matrices[number].grows = grows;
        for by in (0..2).filter(|by| forms.known[*by]) {
            let known = if grows {
                self.charge(self.size * size_of::<Row>())?;
                Known::Growing(vec![Row::default(); self.size])
            } else {
                let complete = CompleteRows::new(rows(by), self.size);
                self.charge(complete.memory_bytes())?;
                Known::Complete(complete)
            };
            self.matrices[number].known[by] = Some(known);
        }
        if grows {
            let new = rows(self.layout.main[number]);
            self.budget.charge(new.memory_bytes())?;
            self.take_in(number, new)?;
        }
        Ok(())
    }

    fn charge(&mut self, bytes: usize) -> Result<(), BudgetError> {
        self.charged += bytes;
        self.budget.charge(bytes)
    }

    /// Rounds until one finds nothing; answers how many there were.
    pub(super) fn run(&mut self) -> Result<usize, BudgetError> {
        let mut rounds = 0;
        loop {
            rounds += 1;
            let mut found = Vec::new();
            for head in (0..self.matrices.len()).filter(|matrix| self.matrices[*matrix].grows) {
                found.push((head, self.find(head, rounds == 1)?));
            }
            let mut any = false;
            for (head, new) in found {
                any |= !new.is_empty();
                self.take_in(head, new)?;
            }
            if !any {
                return Ok(rounds);
            }
        }
    }

    /// Takes out what is known of a matrix, and whether that is by rows or by columns.
    pub(super) fn take(&mut self, matrix: usize) -> (Vec<Row>, usize) {
        let by = self.layout.main[matrix];
        match self.matrices[matrix].known[by].take() {
            Some(Known::Growing(rows)) => (rows, by),
            Some(Known::Complete(_)) | None => (Vec::new(), by),
        }
    }

    /// Adds what is new, and accounted for, to what is known.
    fn take_in(&mut self, number: usize, new: BlockRows) -> Result<(), BudgetError> {
        let (main, forms) = (self.layout.main[number], self.layout.forms[number]);
        let other = 1 - main;
        let turned = if forms.known[other] || forms.new[other] {
            new.transpose(self.size, self.budget)?
        } else {
            BlockRows::default()
        };
        self.charged += new.memory_bytes();
        self.charge(turned.memory_bytes())?;
        let mut grown = 0;
        let matrix = &mut self.matrices[number];
        for (by, new) in [(main, new), (other, turned)] {
            if let Some(Known::Growing(rows)) = &mut matrix.known[by] {
                grown += merge(rows, &new, self.size.div_ceil(BLOCK));
            }
            let old = std::mem::replace(&mut matrix.new[by], new).memory_bytes();
            self.charged -= old;
            self.budget.release(old);
        }
        self.charge(grown)
    }

    /// What this round finds for a matrix.
    fn find(&self, head: usize, is_first: bool) -> Result<BlockRows, BudgetError> {
        let main = self.layout.main[head];
        let Some(Known::Growing(known)) = &self.matrices[head].known[main] else {
            return Ok(BlockRows::default());
        };
        let work: Vec<Work<'_>> = self
            .layout
            .steps
            .iter()
            .filter(|step| step.head == head)
            .filter_map(|step| self.work(step, is_first))
            .collect();
        if work.is_empty() {
            return Ok(BlockRows::default());
        }
        let unions: usize = work.iter().map(Work::unions).sum();
        let lanes = lanes_of_blocks(self.size, (unions / LANE_UNIONS).min(self.size / BLOCK));
        let parts = parallel::map(lanes, |lane| self.find_rows(&lane, known, &work));
        let mut all = BlockRows::default();
        for part in parts {
            all.append(part?);
        }
        Ok(all)
    }

    /// What a step has to do, if anything.
    fn work(&self, step: &Step, is_first: bool) -> Option<Work<'_>> {
        let new = |side: Side| &self.matrices[side.matrix].new[side.by];
        let known = |side: Side| self.matrices[side.matrix].known[side.by].as_ref();
        let Some(right) = step.right else {
            let work =
                Work { off_diagonal: step.off_diagonal, left: new(step.left), times: None, scattered: None };
            return (!work.left.is_empty()).then_some(work);
        };
        // Two complete matrices are multiplied once.
        let left = match known(step.left) {
            Some(Known::Complete(left)) if is_first && !self.matrices[right.matrix].grows => left.rows(),
            _ => new(step.left),
        };
        let work = Work {
            off_diagonal: step.off_diagonal,
            left,
            times: known(right),
            scattered: known(step.left.turned()).map(|left| (left, new(right))),
        };
        let is_idle = work.left.is_empty() && work.scattered.is_none_or(|(_, new)| new.is_empty());
        (!is_idle).then_some(work)
    }

    /// What this round finds for some rows of the head.
    fn find_rows(
        &self,
        lane: &Range<usize>,
        known: &[Row],
        work: &[Work<'_>],
    ) -> Result<BlockRows, BudgetError> {
        let _scratch = self.budget.hold(Scratch::bytes(self.size))?;
        let mut scratch = Scratch::new(self.size);
        let mut touched = vec![0_u64; lane.len().div_ceil(BLOCK)];
        let mut touch = |row: u32| {
            let place = row as usize - lane.start;
            touched[place / BLOCK] |= 1 << (place % BLOCK);
        };
        let mut rows = Vec::with_capacity(work.len());
        let mut held = Vec::new();
        for work in work {
            let left = work.left.rows();
            let from = left.partition_point(|row| (*row as usize) < lane.start);
            let to = from + left[from..].partition_point(|row| (*row as usize) < lane.end);
            left[from..to].iter().for_each(|row| touch(*row));
            let scattered = work.scatter(lane, self.budget)?;
            scattered.iter().for_each(|(row, _)| touch(*row));
            held.push(self.budget.hold(scattered.len() * size_of::<(u32, u32)>())?);
            rows.push(Pending { left: from..to, scattered, at: 0 });
        }
        let mut found = BlockRows::default();
        let mut charged = 0;
        for (looks, place) in bits(&touched).enumerate() {
            if looks % CHECK_ROWS == 0 {
                self.budget.check()?;
                let bytes = found.memory_bytes();
                self.budget.charge(bytes - charged)?;
                charged = bytes;
            }
            let row = (lane.start + place) as u32;
            for (work, pending) in work.iter().zip(&mut rows) {
                let had_diagonal = work.off_diagonal && scratch.has(row as usize);
                work.unite(row, pending, &mut scratch);
                if work.off_diagonal && !had_diagonal {
                    scratch.clear(row as usize);
                }
            }
            let known = known[row as usize].as_ref();
            scratch.take_new(known, |block, mask| found.push(row, block, mask));
        }
        self.budget.charge(found.memory_bytes() - charged)?;
        Ok(found)
    }
}

/// A step in a round: what is new on the left times all that is known on the right, and what is known on the left times
/// what is new on the right.
struct Work<'s> {
    off_diagonal: bool,
    /// By rows of the head.
    left: &'s BlockRows,
    /// The right factor; without one, the left one is added as it is.
    times: Option<&'s Known>,
    /// The left factor by its columns, and what is new on the right.
    scattered: Option<(&'s Known, &'s BlockRows)>,
}

/// How far a lane has come in a step.
struct Pending {
    /// Positions in the left rows.
    left: Range<usize>,
    /// Rows of the head, ascending, each with the position of a new row on the right.
    scattered: Vec<(u32, u32)>,
    at: usize,
}

impl Work<'_> {
    /// About how many rows it will unite.
    fn unions(&self) -> usize {
        let scattered = self
            .scattered
            .map_or(0, |(left, new)| new.rows().iter().map(|row| left.row(*row).blocks_len()).sum());
        scattered + if self.times.is_some() { self.left.blocks_len() } else { self.left.rows().len() }
    }

    /// The rows of the head that a new row on the right belongs to.
    fn scatter(&self, lane: &Range<usize>, budget: &Budget) -> Result<Vec<(u32, u32)>, BudgetError> {
        let Some((left, new)) = self.scattered else { return Ok(Vec::new()) };
        let mut pairs = Vec::new();
        for (position, row) in new.rows().iter().enumerate() {
            if position % CHECK_SCATTERED == 0 {
                budget.check()?;
            }
            left.row(*row).between(lane).for_each(|row| pairs.push((row, position as u32)));
        }
        Ok(order(pairs, lane))
    }

    /// Unites everything that belongs to a row of the head.
    fn unite(&self, row: u32, pending: &mut Pending, scratch: &mut Scratch) {
        if self.left.rows()[pending.left.clone()].first() == Some(&row) {
            let left = self.left.at(pending.left.start);
            pending.left.start += 1;
            match self.times {
                None => scratch.unite(left),
                Some(right) => left.for_each(|middle| scratch.unite(right.row(middle))),
            }
        }
        if let Some((_, new)) = self.scattered {
            while let Some((_, position)) =
                pending.scattered.get(pending.at).filter(|(other, _)| *other == row)
            {
                scratch.unite(new.at(*position as usize));
                pending.at += 1;
            }
        }
    }
}

/// Pairs in the order of their rows.
fn order(mut pairs: Vec<(u32, u32)>, lane: &Range<usize>) -> Vec<(u32, u32)> {
    if pairs.len() < lane.len() / 4 {
        pairs.sort_unstable();
        return pairs;
    }
    let mut next = vec![0_usize; lane.len() + 1];
    for (row, _) in &pairs {
        next[*row as usize - lane.start + 1] += 1;
    }
    for row in 0..lane.len() {
        next[row + 1] += next[row];
    }
    let mut ordered = vec![(0, 0); pairs.len()];
    for pair in pairs {
        let place = &mut next[pair.0 as usize - lane.start];
        ordered[*place] = pair;
        *place += 1;
    }
    ordered
}

/// The places of the bits that are set.
fn bits(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(word, bits)| {
        let mut bits = *bits;
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| word * BLOCK + bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(bit)
        })
    })
}

/// Adds new rows to known ones; answers by how many bytes these have grown.
fn merge(known: &mut [Row], new: &BlockRows, all_blocks: usize) -> usize {
    /// New rows of one lane.
    const LANE_ROWS: usize = 2_048;
    let mut work = Vec::new();
    let mut rest = known;
    let mut first = 0;
    for lane in parallel::lanes(new.rows().len(), LANE_ROWS).into_iter().filter(|lane| !lane.is_empty()) {
        let end = new.rows()[lane.end - 1] as usize + 1;
        let (rows, others) = std::mem::take(&mut rest).split_at_mut(end - first);
        work.push((lane, rows, first));
        (rest, first) = (others, end);
    }
    let grown = parallel::map(work, |(lane, rows, first)| {
        let grow = |position: usize| {
            let row = new.rows()[position] as usize - first;
            rows[row].add(new.at(position), all_blocks)
        };
        lane.map(grow).sum::<usize>()
    });
    grown.into_iter().sum()
}
