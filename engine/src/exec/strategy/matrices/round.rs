//! Rounds: what is new in one factor, times everything in the other.

use std::ops::Range;

use super::blocks::{BlockRows, CompleteRows, lanes_of_blocks};
use super::kept::{Kept, Known};
use super::pairs::{DEALT_ROWS, Lanes, Pair, WAVE_PAIRS, ordered};
use super::row::Row;
use super::row_ref::BLOCK;
use super::scratch::Scratch;
use super::steps::{Layout, Side, Step};
use super::work::{Patience, Pending, Work};
use crate::budget::{Budget, BudgetError, Held};
use crate::data::parallel;
use crate::plan::Matrix;

/// Rows of other matrices that are united in one lane.
const LANE_UNIONS: usize = 1 << 14;
/// A round with less to do than this is not worth a second thread.
const SMALL: usize = 1 << 12;
/// Rows of the head between two looks at the budget.
const CHECK_ROWS: usize = 64;

/// The pairs of a lane: those of each product, in parts.
type Scattered = Vec<Vec<Vec<Pair>>>;

/// What rounds have found.
pub(super) struct Found<'b> {
    pub(super) rounds: Vec<BlockRows>,
    _held: Held<'b>,
}

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

impl<'b> State<'b> {
    /// Empty matrices of this size.
    pub(super) fn new(layout: Layout, size: usize, budget: &'b Budget) -> State<'b> {
        let matrices = layout.forms.iter().map(|_| Kept::default()).collect();
        State { layout, size, matrices, budget, charged: 0 }
    }

    /// Fills a matrix that is complete; `rows` gives it by rows or by columns. One that grows is empty at first.
    pub(super) fn add_matrix(
        &mut self,
        number: usize,
        matrix: &Matrix,
        rows: impl Fn(usize) -> BlockRows,
    ) -> Result<(), BudgetError> {
        let forms = self.layout.forms[number];
        let grows = !matches!(matrix, Matrix::Complete(_));
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
        if matches!(matrix, Matrix::Own(_)) {
            self.matrices[number].found = Some(Vec::new());
        }
        Ok(())
    }

    /// How many matrices there are.
    pub(super) fn len(&self) -> usize {
        self.matrices.len()
    }

    /// Whether a matrix takes in what is new by rows (0) or by columns (1).
    pub(super) fn form(&self, matrix: usize) -> usize {
        self.layout.main[matrix]
    }

    /// Lets all matrices have so many rows, and columns, if they have fewer.
    pub(super) fn widen(&mut self, size: usize) -> Result<(), BudgetError> {
        if size <= self.size {
            return Ok(());
        }
        let more = (size - self.size) * size_of::<Row>();
        for matrix in 0..self.matrices.len() {
            for by in 0..2 {
                if let Some(Known::Growing(rows)) = &mut self.matrices[matrix].known[by] {
                    self.budget.charge(more)?;
                    self.charged += more;
                    rows.resize(size, Row::default());
                }
            }
        }
        self.size = size;
        Ok(())
    }

    fn charge(&mut self, bytes: usize) -> Result<(), BudgetError> {
        self.charged += bytes;
        self.budget.charge(bytes)
    }

    /// Rounds until one finds nothing, from what is new in each matrix; answers how many there were. Matrices that are complete
    /// are multiplied with each other where this is the first time.
    pub(super) fn run(&mut self, new: Vec<BlockRows>, is_first: bool) -> Result<usize, BudgetError> {
        self.budget.charge(new.iter().map(BlockRows::memory_bytes).sum())?;
        self.take_in(new)?;
        let mut rounds = 0;
        loop {
            let found = self.find(is_first && rounds == 0)?;
            rounds += 1;
            let any = found.iter().any(|new| !new.is_empty());
            self.take_in(found)?;
            if !any {
                return Ok(rounds);
            }
        }
    }

    /// Takes out what each of the last rounds has found of a matrix, and whether that is by rows or by columns.
    pub(super) fn take_found(&mut self, matrix: usize) -> Result<(Found<'b>, usize), BudgetError> {
        let mut rounds = self.matrices[matrix].found.as_mut().map(std::mem::take).unwrap_or_default();
        // What the rounds before have ended with, and what was handed in, they have not found.
        rounds.drain(..rounds.len().min(2));
        let bytes = rounds.iter().map(BlockRows::memory_bytes).sum();
        self.charged = self.charged.saturating_sub(bytes);
        self.budget.release(bytes);
        let held = self.budget.hold(bytes)?;
        Ok((Found { rounds, _held: held }, self.layout.main[matrix]))
    }

    /// Lets a matrix go.
    pub(super) fn drop_matrix(&mut self, matrix: usize) {
        self.matrices[matrix] = Kept::default();
    }

    /// Adds what is new in each matrix, and accounted for, to what is known.
    fn take_in(&mut self, new: Vec<BlockRows>) -> Result<(), BudgetError> {
        let blocks: usize = new.iter().map(BlockRows::blocks_len).sum();
        let (layout, size, budget) = (&self.layout, self.size, self.budget);
        let matrices = self.matrices.iter_mut().zip(new).enumerate();
        let work: Vec<_> = matrices.filter(|(_, (matrix, _))| matrix.grows).collect();
        let take_in = |(number, (matrix, new)): (usize, (&mut Kept, BlockRows))| {
            matrix.take_in(new, layout.main[number], layout.forms[number], size, budget)
        };
        for change in in_parallel(work, blocks < SMALL, take_in) {
            self.charged = self.charged.saturating_add_signed(change?);
        }
        Ok(())
    }

    /// What a round finds for each matrix.
    fn find(&self, is_first: bool) -> Result<Vec<BlockRows>, BudgetError> {
        let mut work: Vec<Vec<Work<'_>>> = self.matrices.iter().map(|_| Vec::new()).collect();
        for step in &self.layout.steps {
            work[step.head].extend(self.work(step, is_first));
        }
        let unions: Vec<usize> = work.iter().map(|work| work.iter().map(Work::unions).sum()).collect();
        let all_unions: usize = unions.iter().sum();
        let is_small = all_unions < SMALL;
        let mut found: Vec<BlockRows> = self.matrices.iter().map(|_| BlockRows::default()).collect();
        let waves = lanes_of_blocks(self.size, all_unions.div_ceil(WAVE_PAIRS));
        for wave in &waves {
            let expected = all_unions.min(WAVE_PAIRS);
            let _held = self.budget.hold(expected * size_of::<Pair>())?;
            let lanes: Vec<Lanes> = unions
                .iter()
                .map(|unions| Lanes::new(wave.clone(), unions / waves.len() / LANE_UNIONS))
                .collect();
            let scattered = self.scatter(&work, &lanes, is_small)?;
            let pairs: usize = scattered.iter().flatten().flatten().flatten().map(Vec::len).sum();
            let _more_held = self.budget.hold(pairs.saturating_sub(expected) * size_of::<Pair>())?;
            let mut heads = Vec::new();
            for (head, of_lanes) in
                scattered.into_iter().enumerate().filter(|(head, _)| !work[*head].is_empty())
            {
                heads.extend(lanes[head].each().zip(of_lanes).map(|(lane, pairs)| (head, lane, pairs)));
            }
            let find = |(head, lane, pairs): (usize, Range<usize>, Scattered)| {
                Ok((head, self.find_rows(head, &lane, &work[head], &pairs)?))
            };
            for part in in_parallel(heads, is_small, find) {
                let (head, rows): (usize, BlockRows) = part?;
                found[head].append(rows);
            }
        }
        Ok(found)
    }

    /// The pairs of each head, by its lanes.
    fn scatter(
        &self,
        work: &[Vec<Work<'_>>],
        lanes: &[Lanes],
        is_small: bool,
    ) -> Result<Vec<Vec<Scattered>>, BudgetError> {
        let mut parts = Vec::new();
        for (head, work) in work.iter().enumerate() {
            for (number, work) in work.iter().enumerate() {
                let Some((left, new)) = work.scattered else { continue };
                let positions = parallel::lanes(new.rows().len(), DEALT_ROWS);
                parts.extend(positions.into_iter().map(|positions| (head, number, left, new, positions)));
            }
        }
        let found = in_parallel(parts, is_small, |(head, number, left, new, positions)| {
            let rows = positions.map(|position| (left.row(new.rows()[position]), position as u32));
            Ok((head, number, lanes[head].deal(rows, self.budget)?))
        });
        let nothing = |(work, lanes): (&Vec<_>, &Lanes)| vec![vec![Vec::new(); work.len()]; lanes.len()];
        let mut scattered: Vec<Vec<Scattered>> = work.iter().zip(lanes).map(nothing).collect();
        for part in found {
            let (head, number, of_lanes): (usize, usize, Vec<Vec<Pair>>) = part?;
            scattered[head].iter_mut().zip(of_lanes).for_each(|(lane, pairs)| lane[number].push(pairs));
        }
        Ok(scattered)
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

    /// What this round finds for some rows of the head. The pairs are those of each product.
    fn find_rows(
        &self,
        head: usize,
        lane: &Range<usize>,
        work: &[Work<'_>],
        pairs: &Scattered,
    ) -> Result<BlockRows, BudgetError> {
        let Some(known) = &self.matrices[head].known[self.layout.main[head]] else {
            return Ok(BlockRows::default());
        };
        let _scratch = self.budget.hold(Scratch::bytes(self.size))?;
        let mut scratch = Scratch::new(self.size);
        let mut touched = vec![0_u64; lane.len().div_ceil(BLOCK)];
        let mut touch = |row: u32| {
            let place = row as usize - lane.start;
            touched[place / BLOCK] |= 1 << (place % BLOCK);
        };
        let mut rows = Vec::with_capacity(work.len());
        let mut held = Vec::new();
        for (work, pairs) in work.iter().zip(pairs) {
            let left = work.left.rows();
            let from = left.partition_point(|row| (*row as usize) < lane.start);
            let to = from + left[from..].partition_point(|row| (*row as usize) < lane.end);
            left[from..to].iter().for_each(|row| touch(*row));
            let scattered = ordered(pairs, lane);
            scattered.iter().for_each(|(row, _)| touch(*row));
            held.push(self.budget.hold(scattered.len() * size_of::<Pair>())?);
            rows.push(Pending { left: from..to, scattered, at: 0, middles: Vec::new() });
        }
        let mut found = BlockRows::default();
        let mut charged = 0;
        let mut patience = Patience::new(self.budget);
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
                work.unite(row, pending, &mut scratch, &mut patience)?;
                if work.off_diagonal && !had_diagonal {
                    scratch.clear(row as usize);
                }
            }
            scratch.take_new(known.row(row), |block, mask| found.push(row, block, mask));
        }
        self.budget.charge(found.memory_bytes() - charged)?;
        Ok(found)
    }
}

/// `work` over every item, results in order; on this thread alone if there is little of it.
fn in_parallel<I: Send, T: Send>(
    items: Vec<I>,
    is_small: bool,
    work: impl Fn(I) -> T + Sync + Send,
) -> Vec<T> {
    if is_small { items.into_iter().map(work).collect() } else { parallel::map(items, work) }
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
