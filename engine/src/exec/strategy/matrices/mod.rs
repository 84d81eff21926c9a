//! A recursion as products of bit matrices.
//!
//! A row of a matrix is a set of bits, and what a rule finds for it is a union of rows of another matrix: 64 candidates
//! are found, and known ones are left out, by one instruction. Rounds are semi-naive, a row of the head is put together
//! at once in a buffer that stays in the cache (Gustavson, Two Fast Algorithms for Sparse Matrices, TOMS 1978), and
//! rows are divided over the threads.

mod blocks;
mod kept;
mod order;
mod pairs;
mod round;
mod row;
mod scratch;
mod steps;
mod work;

use self::blocks::{BLOCK, BlockRows, lanes_of_blocks};
use self::round::State;
use self::row::Row;
use self::steps::Layout;
use crate::budget::BudgetError;
use crate::data::{Code, RelationId, Run, parallel};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::{codes, edge_runs, edges_read};
use crate::exec::graphs::numbering::Numbering;
use crate::exec::growing::check_rows;
use crate::exec::tables::Tables;
use crate::plan::{Matrices, Matrix};

/// Rows of two columns.
struct Pairs(Vec<Run>, [usize; 2]);

impl Pairs {
    /// The codes of both columns.
    fn columns(&self) -> [Vec<Code>; 2] {
        self.1.map(|column| codes(self.0.iter(), column))
    }
}

/// Whether there is enough to do to leave tuples for matrices.
pub(crate) fn is_worth_multiplying(tables: &Tables<'_>, matrices: &Matrices, known: usize) -> bool {
    let read = |matrix: &Matrix| match matrix {
        Matrix::Own(_) | Matrix::Part => 0,
        Matrix::Complete(source) => edges_read(tables, source),
    };
    let read: usize = matrices.matrices.iter().map(read).sum();
    known >= tables.thresholds.matrix_rows
        && known.saturating_mul(tables.thresholds.matrix_reads_per_row) >= read
}

/// Multiplies until nothing new is found. `known` has the rows of each relation of the stratum; the answer has all
/// of them, and how many rounds it took.
pub(crate) fn multiply(
    tables: &Tables<'_>,
    matrices: &Matrices,
    known: impl Fn(RelationId) -> Result<Vec<Run>, BudgetError>,
) -> Result<(Vec<(RelationId, Run)>, usize), ExecError> {
    let mut columns = Vec::new();
    let mut held = Vec::new();
    for matrix in &matrices.matrices {
        let pairs = match matrix {
            Matrix::Own(relation) => Pairs(known(*relation)?, [0, 1]),
            Matrix::Part => Pairs(Vec::new(), [0, 1]),
            Matrix::Complete(source) => {
                let (runs, columns) = edge_runs(source, tables)?;
                Pairs(runs, columns)
            }
        };
        let rows: usize = pairs.0.iter().map(Run::len).sum();
        held.push(tables.budget.hold(4 * rows * size_of::<Code>())?);
        columns.push(pairs.columns());
    }
    let all: Vec<&[Code]> = columns.iter().flatten().map(Vec::as_slice).collect();
    let mut domain = Numbering::new(&all, tables.budget)?;
    let mut pairs: Vec<[Vec<u32>; 2]> =
        columns.iter().map(|columns| columns.each_ref().map(|codes| domain.numbers(codes))).collect();
    let places = order::places(&pairs, domain.len(), tables.budget)?;
    domain.reorder(&places);
    pairs.iter_mut().flatten().flatten().for_each(|number| *number = places[*number as usize]);
    let layout = Layout::new(matrices);
    let mut state = State::new(layout, domain.len(), tables.budget);
    for (number, (matrix, [rows, columns])) in matrices.matrices.iter().zip(pairs).enumerate() {
        let grows = !matches!(matrix, Matrix::Complete(_));
        state.add_matrix(number, grows, |by| {
            let (rows, columns) = if by == 0 { (&rows, &columns) } else { (&columns, &rows) };
            BlockRows::of_pairs(rows.iter().copied().zip(columns.iter().copied()).collect())
        })?;
    }
    drop(held);
    let rounds = state.run()?;
    let own = matrices.matrices.iter().enumerate().filter_map(|(number, matrix)| match matrix {
        Matrix::Own(relation) => Some((*relation, number)),
        Matrix::Part | Matrix::Complete(_) => None,
    });
    let mut found = Vec::new();
    for (relation, number) in own {
        found.push((relation, unpack(tables, &mut state, number, &domain)?));
    }
    Ok((found, rounds))
}

/// A matrix as rows of two columns.
fn unpack(
    tables: &Tables<'_>,
    state: &mut State<'_>,
    matrix: usize,
    domain: &Numbering<'_>,
) -> Result<Run, ExecError> {
    let (rows, by) = state.take(matrix);
    let total: usize = rows.iter().map(Row::count).sum();
    check_rows(total)?;
    tables.budget.charge(2 * total * size_of::<Code>())?;
    let mut columns = [vec![0; total], vec![0; total]];
    {
        let [first, second] = &mut columns;
        let (mut first, mut second) = (first.as_mut_slice(), second.as_mut_slice());
        let mut work = Vec::new();
        for lane in lanes_of_blocks(rows.len(), total.div_ceil(1 << 18).min(rows.len() / BLOCK)) {
            let count = rows[lane.clone()].iter().map(Row::count).sum();
            let (first_out, second_out);
            (first_out, first) = first.split_at_mut(count);
            (second_out, second) = second.split_at_mut(count);
            work.push((lane, first_out, second_out));
        }
        let codes = domain.codes();
        let written = parallel::map(work, |(lane, first, second)| {
            tables.budget.check()?;
            let mut at = 0;
            for row in lane {
                let from = at;
                rows[row].as_ref().for_each(|column| {
                    second[at] = codes[column as usize];
                    at += 1;
                });
                first[from..at].fill(codes[row]);
            }
            Ok::<_, ExecError>(())
        });
        written.into_iter().collect::<Result<(), _>>()?;
    }
    let [rows, others] = columns;
    let columns = if by == 0 { vec![rows, others] } else { vec![others, rows] };
    Ok(Run::new(columns, total))
}
