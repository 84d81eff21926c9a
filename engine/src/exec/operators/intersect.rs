//! What two relations of two columns have in common beside two codes: a step towards triangles and other cycles.

use std::cell::RefCell;
use std::sync::Arc;

use crate::data::{Code, MarkedCodes, OrderedNeighbours, Pairing, Run, VariableId, intersect};
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::exec::values::batch::{BATCH, Bindings, Emit};
use crate::plan::Side;

/// Both sides, and the variable that is bound to what they have in common.
pub(super) struct Intersect<'a> {
    variable: VariableId,
    bound: [VariableId; 2],
    edges: [Vec<Edges>; 2],
    keep: &'a [VariableId],
}

impl<'a> Intersect<'a> {
    pub(super) fn open(
        variable: VariableId,
        sides: &[Side; 2],
        keep: &'a [VariableId],
        tables: &Tables<'_>,
    ) -> Result<Intersect<'a>, ExecError> {
        let [first, second] = sides;
        let edges = [Edges::of(first, tables)?, Edges::of(second, tables)?];
        Ok(Intersect { variable, bound: [first.bound, second.bound], edges, keep })
    }

    pub(super) fn run(
        &self,
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let bound = self.bound.map(|variable| input.column(variable));
        let [first, second] = &self.edges;
        for left in first {
            for right in second {
                left.intersect(right, bound, BATCH, |positions, codes| {
                    output.clear();
                    output.gather(input, self.keep, positions);
                    output.column_mut(self.variable).extend_from_slice(codes);
                    emit(output)
                })?;
            }
        }
        Ok(())
    }
}

/// Two columns of a run.
struct Edges {
    run: Run,
    neighbours: Arc<OrderedNeighbours>,
}

impl Edges {
    /// The edges of one side, run by run.
    fn of(side: &Side, tables: &Tables<'_>) -> Result<Vec<Edges>, ExecError> {
        let runs = tables.runs(side.access)?.into_iter().filter(|run| !run.is_empty());
        runs.map(|run| {
            let cost = run.beside_cost(side.from, side.to, Pairing::Ordered);
            let neighbours =
                tables.budget.build(cost, |go_on| run.ordered_neighbours(side.from, side.to, go_on))?;
            Ok(Edges { run, neighbours })
        })
        .collect()
    }

    /// Calls `emit` with positions in both columns of codes, and the code in which edges from the two end together;
    /// about `batch` at a time.
    fn intersect(
        &self,
        other: &Edges,
        [from, other_from]: [&[Code]; 2],
        batch: usize,
        mut emit: impl FnMut(&[u32], &[Code]) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        let repeats = |codes: &[Code]| codes.windows(2).filter(|pair| pair[0] == pair[1]).count();
        let (left, right) = (repeats(from), repeats(other_from));
        if self.run.live().is_none() && other.run.live().is_none() && 2 * left.max(right) >= from.len() {
            return match left >= right {
                true => self.intersect_marked(other, [from, other_from], batch, emit),
                false => other.intersect_marked(self, [other_from, from], batch, emit),
            };
        }
        let mut met = Met::default();
        for (position, (from, other_from)) in from.iter().zip(other_from).enumerate() {
            let (ends, rows) = self.neighbours.of(*from);
            let (others, other_rows) = other.neighbours.of(*other_from);
            intersect(ends, others, |a, b| {
                if self.run.is_live(rows[a] as usize) && other.run.is_live(other_rows[b] as usize) {
                    met.codes.push(ends[a]);
                }
            });
            met.all_at(position);
            met.hand_on(batch, &mut emit)?;
        }
        met.hand_on(1, &mut emit)
    }

    /// The same where codes of this side come several times in a row: what is beside such a code is marked once, and what
    /// is beside the other codes is looked up there.
    fn intersect_marked(
        &self,
        other: &Edges,
        [from, other_from]: [&[Code]; 2],
        batch: usize,
        mut emit: impl FnMut(&[u32], &[Code]) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        // Whoever comes here meanwhile, further down the pipeline, begins with another one.
        let mut marked = MARKED.take();
        let (mut met, mut position) = (Met::default(), 0);
        for group in from.chunk_by(|a, b| a == b) {
            let (ends, _) = self.neighbours.of(group[0]);
            let others = &other_from[position..position + group.len()];
            marked.with(ends, |marked| {
                for code in others {
                    let (others, _) = other.neighbours.of(*code);
                    let longer = if ends.len() < others.len() { other.neighbours.long(*code) } else { None };
                    match (marked, longer) {
                        (_, Some(others)) => others.find(ends, &mut met.codes),
                        (Some(marked), None) if others.len() < SEARCHED * ends.len() => {
                            marked.find(others, &mut met.codes);
                        }
                        (_, None) => intersect(ends, others, |a, _| met.codes.push(ends[a])),
                    }
                    met.all_at(position);
                    met.hand_on(batch, &mut emit)?;
                    position += 1;
                }
                Ok::<_, ExecError>(())
            })?;
        }
        MARKED.set(marked);
        met.hand_on(1, &mut emit)
    }
}

/// Codes that lists have in common, each with the position of the lists.
#[derive(Default)]
struct Met {
    positions: Vec<u32>,
    codes: Vec<Code>,
}

impl Met {
    /// The codes that have no position yet have this one.
    fn all_at(&mut self, position: usize) {
        self.positions.resize(self.codes.len(), position as u32);
    }

    /// Hands them on if there are at least so many.
    fn hand_on(
        &mut self,
        least: usize,
        emit: &mut impl FnMut(&[u32], &[Code]) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        if self.codes.len() >= least {
            emit(&self.positions, &self.codes)?;
            self.positions.clear();
            self.codes.clear();
        }
        Ok(())
    }
}

/// A list of so many times the length of what is marked is searched, and not read.
const SEARCHED: usize = 16;

thread_local! {
    static MARKED: RefCell<MarkedCodes> = RefCell::default();
}
