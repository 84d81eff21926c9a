//! A recursion as products of bit matrices.
//!
//! A row of a matrix is a set of bits, and what a rule finds for it is a union of rows of another matrix: 64 candidates
//! are found, and known ones are left out, by one instruction. Rounds are semi-naive, a row of the head is put together
//! at once in a buffer that stays in the cache (Gustavson, Two Fast Algorithms for Sparse Matrices, TOMS 1978), and
//! rows are divided over the threads.

mod blocks;
mod kept;
mod mixture;
mod order;
mod pairs;
mod round;
mod row;
mod row_ref;
mod scratch;
mod steps;
mod work;

pub(crate) use self::mixture::{Mixture, is_worth_mixing};

use self::blocks::BlockRows;
use self::round::State;
use self::steps::Layout;
use crate::data::{Code, RelationId, Rows, Run, parallel};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::{codes, edge_runs, edges_read};
use crate::exec::graphs::numbering::Numbering;
use crate::exec::growing::check_rows;
use crate::exec::tables::Tables;
use crate::plan::{Access, Matrices, Matrix, Version};

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
        Matrix::Own(_) | Matrix::Generators(_) | Matrix::Part => 0,
        Matrix::Complete(source) => edges_read(tables, source),
    };
    let read: usize = matrices.matrices.iter().map(read).sum();
    known >= tables.thresholds.matrix_rows
        && known.saturating_mul(tables.thresholds.matrix_reads_per_row) >= read
}

/// What has become of a relation.
pub(crate) struct Multiplied {
    pub(crate) relation: RelationId,
    /// All of its rows: those that were known, in their order, and then those of each round.
    pub(crate) rows: Run,
    /// How many each round has found.
    pub(crate) found: Vec<usize>,
}

/// Multiplies until nothing new is found.
pub(crate) fn multiply(
    tables: &Tables<'_>,
    matrices: &Matrices,
) -> Result<(Vec<Multiplied>, usize), ExecError> {
    let SetUp { domain, mut state, new, columns } = set_up(tables, matrices)?;
    let new = new.into_iter().enumerate().map(|(number, pairs)| in_form(pairs, state.form(number)));
    let new = new.collect();
    let own = matrices.matrices.iter().zip(columns).enumerate();
    let own = own.filter_map(|(number, (matrix, known))| match matrix {
        Matrix::Own(relation) => Some((*relation, number, known)),
        Matrix::Generators(_) | Matrix::Part | Matrix::Complete(_) => None,
    });
    let own: Vec<_> = own.collect();
    let known: usize = own.iter().map(|(_, _, [codes, _])| codes.len()).sum();
    let _held = tables.budget.hold(2 * known * size_of::<Code>())?;
    let rounds = state.run(new, true)?;
    let mut multiplied = Vec::new();
    for (relation, number, known) in own {
        let (found, by) = state.take_found(number)?;
        state.drop_matrix(number);
        let rows = unpack(tables, &known, &found.rounds, by, &domain)?;
        let rows = Run::new(rows.columns, rows.len);
        multiplied.push(Multiplied {
            relation,
            rows,
            found: found.rounds.iter().map(BlockRows::count).collect(),
        });
    }
    Ok((multiplied, rounds))
}

/// Matrices before their first round.
struct SetUp<'b> {
    domain: Numbering<'b>,
    /// Those that are complete are filled.
    state: State<'b>,
    /// What is new in each matrix that grows, as pairs of numbers.
    new: Vec<[Vec<u32>; 2]>,
    /// The codes of the relations of the stratum.
    columns: Vec<[Vec<Code>; 2]>,
}

fn set_up<'b>(tables: &Tables<'b>, matrices: &Matrices) -> Result<SetUp<'b>, ExecError> {
    let mut columns = Vec::new();
    let mut held = Vec::new();
    for matrix in &matrices.matrices {
        let pairs = match matrix {
            Matrix::Own(relation) => Pairs(tables.runs(Access::of(*relation, Version::All))?, [0, 1]),
            Matrix::Generators(relation) => {
                let access = Access { generators: true, ..Access::of(*relation, Version::All) };
                Pairs(tables.runs(access)?, [0, 1])
            }
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
    let mut state = State::new(Layout::new(matrices), domain.len(), tables.budget);
    for (number, (matrix, pairs)) in matrices.matrices.iter().zip(&mut pairs).enumerate() {
        let [rows, columns] = &*pairs;
        state.add_matrix(number, matrix, |by| {
            let (rows, columns) = if by == 0 { (rows, columns) } else { (columns, rows) };
            BlockRows::of_pairs(rows.iter().copied().zip(columns.iter().copied()).collect())
        })?;
        if matches!(matrix, Matrix::Complete(_)) {
            *pairs = Default::default();
        }
    }
    Ok(SetUp { domain, state, new: pairs, columns })
}

/// Pairs as a matrix by rows (0) or by columns (1).
fn in_form([rows, columns]: [Vec<u32>; 2], by: usize) -> BlockRows {
    let (rows, columns) = if by == 0 { (rows, columns) } else { (columns, rows) };
    BlockRows::of_pairs(rows.into_iter().zip(columns).collect())
}

/// Rows of two columns: those that were known, and those of each round, which are by rows of the matrix or by its columns.
fn unpack(
    tables: &Tables<'_>,
    known: &[Vec<Code>; 2],
    found: &[BlockRows],
    by: usize,
    domain: &Numbering<'_>,
) -> Result<Rows, ExecError> {
    /// Rows of one lane, about.
    const LANE_ROWS: usize = 1 << 18;
    let first_found = known[0].len();
    let total = first_found + found.iter().map(BlockRows::count).sum::<usize>();
    check_rows(total)?;
    tables.budget.charge(2 * total * size_of::<Code>())?;
    let mut columns = [vec![0; total], vec![0; total]];
    for (column, known) in columns.iter_mut().zip(known) {
        column[..first_found].copy_from_slice(known);
    }
    let [first, second] = columns.each_mut().map(|column| &mut column[first_found..]);
    let (mut first, mut second) = if by == 0 { (first, second) } else { (second, first) };
    let mut work = Vec::new();
    for found in found {
        let rows = found.rows().len();
        let lanes = found.count().div_ceil(LANE_ROWS).max(1);
        for lane in parallel::lanes(rows, rows.div_ceil(lanes)) {
            let count = lane.clone().map(|position| found.at(position).count()).sum();
            let (first_out, second_out);
            (first_out, first) = first.split_at_mut(count);
            (second_out, second) = second.split_at_mut(count);
            work.push((found, lane, first_out, second_out));
        }
    }
    let codes = domain.codes();
    let written = parallel::map(work, |(found, lane, first, second)| {
        tables.budget.check()?;
        let mut at = 0;
        for position in lane {
            let from = at;
            found.at(position).for_each(|column| {
                second[at] = codes[column as usize];
                at += 1;
            });
            first[from..at].fill(codes[found.rows()[position] as usize]);
        }
        Ok::<_, ExecError>(())
    });
    written.into_iter().collect::<Result<(), _>>()?;
    Ok(Rows { columns: columns.into(), len: total })
}
