//! Reciprocal rank fusion: what several searches rank, put together by ranks alone, as scores of different searches
//! cannot be compared. Sums are exact, so the order of what is added is of no account.

use crate::aggregates::RANK_OFFSET;
use crate::data::{Code, Codec, NULL, Value, ValueRef, float_of};
use crate::exec::heads::sums::{Sums, Total};

/// A sum of reciprocal ranks for each group.
pub(crate) struct RankFusion {
    offset: f64,
    sums: Sums,
}

impl RankFusion {
    pub(crate) fn new(offset: Option<&Value>) -> RankFusion {
        let offset = offset.map(Value::as_ref).and_then(ValueRef::as_number);
        RankFusion { offset: offset.map_or(RANK_OFFSET, float_of), sums: Sums::default() }
    }

    pub(crate) fn resize(&mut self, groups: usize) {
        self.sums.resize(groups);
    }

    /// Bytes beside those of the groups.
    pub(crate) fn exact_bytes(&self) -> usize {
        self.sums.exact_bytes()
    }

    /// Adds ranks; answers what is none.
    pub(crate) fn add<'v>(
        &mut self,
        groups: &[u32],
        ranks: &'v [Code],
        codec: &'v Codec,
    ) -> impl Iterator<Item = Code> + use<'v> {
        for (group, code) in groups.iter().zip(ranks) {
            if let Some(rank) = rank(*code, codec) {
                self.sums.add_float(*group, 1.0 / (self.offset + rank));
            }
        }
        ranks.iter().copied().filter(|code| *code != NULL && rank(*code, codec).is_none())
    }

    /// Adds those of a later lane, whose groups have these numbers here.
    pub(crate) fn merge(&mut self, groups: &[u32], later: RankFusion) {
        self.sums.merge(groups, later.sums);
    }

    /// One sum for each group; none of nothing.
    pub(crate) fn totals(&self) -> impl Iterator<Item = Option<f64>> {
        self.sums.totals().map(|total| match total {
            Total::Float(sum) => Some(sum),
            Total::Nothing | Total::Int(_) => None,
        })
    }
}

/// An integer from 1.
fn rank(code: Code, codec: &Codec) -> Option<f64> {
    match codec.value(code) {
        ValueRef::Int(rank @ 1..) => Some(rank as f64),
        _ => None,
    }
}
