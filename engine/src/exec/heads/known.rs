//! What is known of the relations that a stratum derives, so that each row counts once.

use std::collections::HashMap;

use super::best_rows::BestRows;
use super::row_set::RowSet;
use crate::data::{RelationId, Rows};
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::plan::Distinct;

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

/// Adds rows to the known ones; answers those that are new. Best rows are asked for what has changed instead.
pub(crate) fn take_in(
    tables: &Tables<'_>,
    known: &mut KnownRows,
    relation: RelationId,
    rows: &Rows,
) -> Result<Rows, ExecError> {
    match known.get_mut(&relation) {
        Some(Known::All(set)) => {
            let mut candidates = set.candidates();
            set.collect(&rows.slices(), rows.len, &mut candidates, tables.budget)?;
            set.absorb(vec![candidates], tables.budget)
        }
        Some(Known::Best(best)) => {
            let mut improvements = best.improvements();
            best.collect(&rows.slices(), &mut improvements, tables.codec, tables.budget)?;
            best.absorb(vec![improvements], tables.codec, tables.budget)?;
            Ok(Rows::empty(tables.arity(relation)))
        }
        Some(Known::Nothing) | None => Ok(Rows::empty(tables.arity(relation))),
    }
}
