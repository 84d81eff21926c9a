//! `Delta`: what tells an answer from an earlier one to the same question.
//!
//! Each answer has codes of its own for values that its evaluation computed, and the graph may have another dictionary by
//! now. So the rows of the earlier one are written with the codes of the later one, and then rows are compared as codes.

use std::sync::Arc;

use crate::answer::Rows;
use crate::data::{Codec, DataType, DictionaryFull, Difference, Relation, Run, sorted_run};

/// The rows that have come and gone between two versions. No row is in both.
#[derive(Debug, Clone)]
pub struct Delta {
    /// Those that were not there and are now.
    pub added: Rows,
    /// Those that were there and are not now.
    pub removed: Rows,
}

impl Delta {
    /// What tells an answer, whose rows are in order, from the one before it: one with such columns and, in the codes of this one,
    /// with these rows.
    pub(super) fn between(like: &Rows, old: &Relation, after: &Rows) -> Result<Delta, DictionaryFull> {
        let (new, codec) = after.coded();
        let types = joined([like, after]);
        let new = Relation::of_runs(types.len(), vec![new.clone()]);
        let Difference { added, removed } = Difference::between(old, &new);
        let [added, removed] =
            [added, removed].map(|rows| after.with_rows(&types, Run::of_sorted(rows), codec.clone()));
        if !codec.has_own() {
            return Ok(Delta { added, removed });
        }
        // What is told is kept for long, and what the whole answer holds of values is not to be kept with it.
        let codec = Codec::over(Arc::clone(codec.shared()));
        let told = |rows: &Rows| Ok(rows.with_rows(&types, recoded(rows, &codec)?, codec.clone()));
        Ok(Delta { added: told(&added)?, removed: told(&removed)? })
    }

    /// What several deltas, each of which stands on the one before it, come to.
    pub(super) fn netted(deltas: &[Arc<Delta>]) -> Result<Option<Arc<Delta>>, DictionaryFull> {
        Ok(match deltas {
            [] => None,
            [delta] => Some(Arc::clone(delta)),
            deltas => {
                let (first, second) = deltas.split_at(deltas.len() / 2);
                match (Delta::netted(first)?, Delta::netted(second)?) {
                    (Some(first), Some(second)) => Some(Arc::new(first.then(&second)?)),
                    (first, second) => first.or(second),
                }
            }
        })
    }

    fn then(&self, next: &Delta) -> Result<Delta, DictionaryFull> {
        let (came, codec) = next.added.coded();
        let (left, _) = next.removed.coded();
        let (added, removed) = (recoded(&self.added, codec)?, recoded(&self.removed, codec)?);
        let types = joined([&self.added, &self.removed, &next.added, &next.removed]);
        let rows = |stays: Run, new: Run| next.added.with_rows(&types, both(&stays, &new), codec.clone());
        Ok(Delta {
            added: rows(minus(&added, left), minus(came, &removed)),
            removed: rows(minus(&removed, came), minus(left, &added)),
        })
    }

    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.row_count() == 0
    }

    /// How many rows have come or gone.
    pub fn row_count(&self) -> usize {
        self.added.row_count() + self.removed.row_count()
    }

    /// Bytes held, about.
    pub(super) fn bytes(&self) -> usize {
        /// What stands beside the codes of a few rows: arrays, a schema, names; measured.
        const BESIDE: usize = 6 << 10;
        let bytes = |rows: &Rows| rows.coded().0.memory_bytes();
        BESIDE + self.added.coded().1.own_bytes() + bytes(&self.added) + bytes(&self.removed)
    }
}

/// An answer whose rows are sorted by their codes, as deltas are made of them.
pub(super) fn sorted(answer: &Rows) -> Rows {
    let (rows, codec) = answer.coded();
    if rows.live().is_none() && rows.is_sorted() {
        return answer.clone();
    }
    let types: Vec<DataType> = answer.columns().iter().map(|column| column.data_type).collect();
    answer.with_rows(&types, sorted_run(rows.live_rows()).0, codec.clone())
}

/// The rows of an answer, sorted, in the codes that another one has for their values.
pub(super) fn recoded(answer: &Rows, to: &Codec) -> Result<Run, DictionaryFull> {
    let rows = answer.in_codes_of(to)?;
    Ok(if rows.number() == answer.coded().0.number() { rows } else { sorted_run(rows.live_rows()).0 })
}

/// The rows of the one that the other has not.
fn minus(rows: &Run, other: &Run) -> Run {
    let other = Relation::of_runs(other.columns().len(), vec![other.clone()]);
    Run::of_sorted(other.absent(&rows.live_rows()))
}

/// The rows of both, which have none in common.
fn both(a: &Run, b: &Run) -> Run {
    let mut rows = a.live_rows();
    rows.append(b.live_rows());
    sorted_run(rows).0
}

/// The types that hold the values of all of them.
fn joined<'r>(answers: impl IntoIterator<Item = &'r Rows>) -> Vec<DataType> {
    let types = |rows: &Rows| rows.columns().iter().map(|column| column.data_type).collect::<Vec<_>>();
    let join = |a: Vec<DataType>, b: Vec<DataType>| a.into_iter().zip(b).map(|(a, b)| a.join(b)).collect();
    answers.into_iter().map(types).reduce(join).unwrap_or_default()
}
