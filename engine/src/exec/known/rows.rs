//! `Known`: what is known of one relation, all of its rows or the best ones, and how lanes and rounds add to it.

use foldhash::HashMap;

use super::best_rows::{BestRows, Improvements};
use super::parts::Candidates;
use super::row_set::RowSet;
use crate::budget::Budget;
use crate::data::{Code, RelationId, Rows, parallel};
use crate::exec::error::ExecError;
use crate::exec::growing::gather;
use crate::exec::tables::Tables;
use crate::plan::{Distinct, LANE_ROWS};

/// What is known of a relation while its stratum is evaluated.
pub(crate) enum Known {
    /// Every row.
    All(RowSet),
    /// The best row of each group.
    Best(BestRows),
    /// Nothing, as no row comes twice.
    Nothing,
}

/// What is known of each relation of a stratum.
pub(crate) type KnownRows = HashMap<RelationId, Known>;

impl Known {
    /// No rows of so many columns.
    pub(crate) fn new(distinct: Distinct, arity: usize) -> Known {
        match distinct {
            Distinct::Unneeded => Known::Nothing,
            Distinct::Rows => Known::All(RowSet::shared(arity)),
            Distinct::Best(best) => Known::Best(BestRows::new(arity, best)),
        }
    }
}

/// What one lane has found that was not known when it looked.
pub(crate) enum Found {
    /// Rows.
    Rows(Candidates),
    /// Better rows.
    Better(Improvements),
    /// Nothing, as nobody asks.
    Nothing,
}

impl Known {
    /// An empty buffer for [`Known::collect`].
    pub(crate) fn start(&self) -> Found {
        match self {
            Known::All(set) => Found::Rows(set.candidates()),
            Known::Best(best) => Found::Better(best.improvements()),
            Known::Nothing => Found::Nothing,
        }
    }

    /// Collects those rows that are not known.
    pub(crate) fn collect(
        &self,
        columns: &[&[Code]],
        rows: usize,
        into: &mut Found,
        tables: &Tables<'_>,
    ) -> Result<(), ExecError> {
        match (self, into) {
            (Known::All(set), Found::Rows(candidates)) => {
                set.collect(columns, rows, candidates, tables.budget)
            }
            (Known::Best(best), Found::Better(improvements)) => {
                best.collect(columns, improvements, tables.codec, tables.budget)
            }
            _ => Ok(()),
        }
    }

    /// Marks those rows that are in a set of all rows.
    pub(crate) fn mark(&self, columns: &[&[Code]], rows: usize, found: &mut [bool]) {
        if let Known::All(set) = self {
            set.mark(columns, rows, found);
        }
    }

    /// Takes in what lanes have found, in their order; answers the rows that are new, in pieces. Best rows are asked for what has
    /// changed instead.
    pub(crate) fn absorb(&mut self, lanes: Vec<Found>, tables: &Tables<'_>) -> Result<Vec<Rows>, ExecError> {
        match self {
            Known::All(set) => {
                let candidates = lanes.into_iter().filter_map(|found| match found {
                    Found::Rows(candidates) => Some(candidates),
                    Found::Better(_) | Found::Nothing => None,
                });
                set.absorb(candidates.collect(), tables.budget)
            }
            Known::Best(best) => {
                let improvements = lanes.into_iter().filter_map(|found| match found {
                    Found::Better(improvements) => Some(improvements),
                    Found::Rows(_) | Found::Nothing => None,
                });
                best.absorb(improvements.collect(), tables.codec, tables.budget)?;
                Ok(Vec::new())
            }
            Known::Nothing => Ok(Vec::new()),
        }
    }

    /// Adds rows to a set of all rows that are known not to be there.
    pub(crate) fn learn(&mut self, rows: &Rows, budget: &Budget) -> Result<(), ExecError> {
        /// Lanes whose candidates are held at once.
        const WAVE_LANES: usize = 64;
        let Known::All(set) = self else { return Ok(()) };
        for wave in parallel::lanes(rows.len, LANE_ROWS).chunks(WAVE_LANES) {
            budget.check()?;
            let lanes = parallel::map(wave.to_vec(), |lane| {
                let mut candidates = set.candidates();
                let columns: Vec<&[Code]> = rows.columns.iter().map(|codes| &codes[lane.clone()]).collect();
                set.collect(&columns, lane.len(), &mut candidates, budget)?;
                Ok::<_, ExecError>(candidates)
            });
            set.learn(lanes.into_iter().collect::<Result<_, _>>()?, budget)?;
        }
        Ok(())
    }

    /// Number of rows that [`Known::absorb`] has changed since they were last asked for, beside those that it answers.
    pub(crate) fn changed(&self) -> usize {
        match self {
            Known::Best(best) => best.changed(),
            Known::All(_) | Known::Nothing => 0,
        }
    }
}

/// Adds rows to the known ones; answers those that are new. Best rows are asked for what has changed instead.
pub(crate) fn take_in(
    tables: &Tables<'_>,
    known: &mut KnownRows,
    relation: RelationId,
    rows: &Rows,
) -> Result<Rows, ExecError> {
    let arity = tables.arity(relation);
    let Some(known) = known.get_mut(&relation) else { return Ok(Rows::empty(arity)) };
    let mut found = known.start();
    known.collect(&rows.slices(), rows.len, &mut found, tables)?;
    Ok(gather(known.absorb(vec![found], tables)?, arity))
}
