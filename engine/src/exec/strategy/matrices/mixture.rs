//! Products beside tuples: some rules of a recursion are products of matrices, and each of both ways reads what is new from the
//! other one.
//!
//! Before each round of tuples the products go on until they find nothing more. What they find is new to the rounds like what
//! these have found themselves, and known to them, so that nothing is found twice.

use foldhash::HashSet;

use super::blocks::BlockRows;
use super::round::State;
use super::{SetUp, in_form, set_up, unpack};
use crate::budget::{Budget, BudgetError};
use crate::data::{RelationId, Rows};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::edges_read;
use crate::exec::graphs::numbering::Numbering;
use crate::exec::growing::{Growing, NewRows};
use crate::exec::known::KnownRows;
use crate::exec::tables::Tables;
use crate::plan::{Matrix, Mixed};

/// Products between two rounds of tuples.
pub(crate) struct Mixture<'b> {
    /// The relations of the stratum that are matrices.
    own: Vec<Own>,
    domain: Numbering<'b>,
    state: State<'b>,
    /// What is new in each matrix beside what rounds of tuples find, until the first products.
    new: Option<Vec<[Vec<u32>; 2]>>,
}

/// A relation of the stratum.
struct Own {
    relation: RelationId,
    /// The position of its matrix.
    matrix: usize,
    /// That of its rows that are not composed of others, if there is one.
    generators: Option<usize>,
    /// Whether rules that stay tuples ask for its rows, or find some.
    is_asked_for: bool,
}

/// Whether products would do sooner what tuples do: by what these have done so far in their place.
pub(crate) fn is_worth_mixing(tables: &Tables<'_>, mixed: &Mixed) -> bool {
    let matrices = || mixed.matrices.matrices.iter();
    let known = |matrix: &Matrix| match matrix {
        Matrix::Own(relation) => tables.growing.get(relation).map_or(0, Growing::rows),
        Matrix::Generators(_) | Matrix::Part | Matrix::Complete(_) => 0,
    };
    let read = |matrix: &Matrix| match matrix {
        Matrix::Complete(source) => edges_read(tables, source),
        Matrix::Own(_) | Matrix::Generators(_) | Matrix::Part => 0,
    };
    let known: usize = matrices().map(known).sum();
    let done = usize::try_from(tables.measured.of_products()).unwrap_or(usize::MAX);
    let is_worth = |rows: usize| done >= rows.saturating_mul(tables.thresholds.product_bindings);
    known >= tables.thresholds.matrix_rows
        && is_worth(known)
        && is_worth(known + matrices().map(read).sum::<usize>())
}

impl<'b> Mixture<'b> {
    /// Matrices of all that is known before the next round. Rules that stay tuples ask for rows of some relations, whether they are
    /// known or what they are.
    pub(crate) fn begin(
        tables: &Tables<'b>,
        mixed: &Mixed,
        asked_for: &HashSet<RelationId>,
    ) -> Result<Mixture<'b>, ExecError> {
        let SetUp { mut domain, state, new, .. } = set_up(tables, &mixed.matrices)?;
        domain.renumber();
        let own = mixed.matrices.matrices.iter().enumerate().filter_map(|(matrix, of)| match of {
            Matrix::Own(relation) => {
                let is_generators =
                    |of: &Matrix| matches!(of, Matrix::Generators(other) if other == relation);
                let generators = mixed.matrices.matrices.iter().position(is_generators);
                let is_asked_for = asked_for.contains(relation);
                Some(Own { relation: *relation, matrix, generators, is_asked_for })
            }
            Matrix::Generators(_) | Matrix::Part | Matrix::Complete(_) => None,
        });
        Ok(Mixture { own: own.collect(), domain, state, new: Some(new) })
    }

    /// Multiplies until nothing new is found, from what the last round of tuples has; answers how many rounds that were. What
    /// each of them has found follows it in `fresh`, for each of these relations.
    pub(crate) fn multiply(
        &mut self,
        tables: &Tables<'_>,
        relations: &[RelationId],
        known: &mut KnownRows,
        fresh: &mut NewRows,
    ) -> Result<usize, ExecError> {
        let is_first = self.new.is_some();
        let new = self.take_new(fresh, tables.budget)?;
        if !is_first && new.iter().all(BlockRows::is_empty) {
            return Ok(0);
        }
        // The last one has found nothing.
        let rounds = self.state.run(new, is_first)? - 1;
        for own in &self.own {
            let (found, by) = self.state.take_found(own.matrix)?;
            for found in found.rounds.chunks(1) {
                let rows = unpack(tables, &Default::default(), found, by, &self.domain)?;
                if own.is_asked_for
                    && let Some(known) = known.get_mut(&own.relation)
                {
                    known.learn(&rows, tables.budget)?;
                }
                fresh.entry(own.relation).or_default().add_round(rows);
            }
        }
        let is_other = |relation: &&RelationId| self.own.iter().all(|own| own.relation != **relation);
        for relation in relations.iter().filter(is_other) {
            let fresh = fresh.entry(*relation).or_default();
            (0..rounds).for_each(|_| fresh.add_round(Rows::empty(tables.arity(*relation))));
        }
        Ok(rounds)
    }

    /// What is new in each matrix.
    fn take_new(&mut self, fresh: &NewRows, budget: &Budget) -> Result<Vec<BlockRows>, BudgetError> {
        let mut new = self.new.take().unwrap_or_else(|| vec![Default::default(); self.state.len()]);
        let found = |own: &Own| fresh.get(&own.relation).into_iter().flat_map(|fresh| fresh.pieces());
        for rows in self.own.iter().flat_map(found) {
            rows.columns.iter().try_for_each(|codes| self.domain.extend(codes))?;
        }
        self.state.widen(self.domain.len())?;
        let rows: usize = self.own.iter().flat_map(found).map(|rows| rows.len).sum();
        let _held = budget.hold(4 * rows * size_of::<u32>())?;
        for own in &self.own {
            for matrix in [Some(own.matrix), own.generators].into_iter().flatten() {
                for rows in found(own) {
                    for (numbers, codes) in new[matrix].iter_mut().zip(&rows.columns) {
                        numbers.extend(codes.iter().map(|code| self.domain.number(*code)));
                    }
                }
            }
        }
        let in_form = |(matrix, pairs)| in_form(pairs, self.state.form(matrix));
        Ok(new.into_iter().enumerate().map(in_form).collect())
    }
}
