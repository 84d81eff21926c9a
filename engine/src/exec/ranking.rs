//! Ranking: the best solutions of each group, as rows.
//!
//! A lane keeps what could still be among the best of its own solutions; the lanes' rows are then ranked together.
//! Ranks depend on values alone, so lanes may be cut in any way.

use std::cmp::Ordering;

use super::batch::Bindings;
use super::error::ExecError;
use super::pipeline::Pipeline;
use crate::analysis::program::{HeadTerm, Ranking};
use crate::budget::Budget;
use crate::data::{Code, Codec, INLINE_END, NULL, Number, Rows, compare_numbers};
use crate::syntax::ast::Direction;

/// A lane that holds so many rows throws away those that cannot win.
const PRUNE_ROWS: usize = 1 << 16;

/// The head of a ranking rule, taken apart.
pub(super) struct Ranker<'a> {
    head: &'a [HeadTerm],
    ranking: &'a Ranking,
    /// The columns that are not ranked.
    groups: Vec<usize>,
    bound: Option<Number>,
    count: usize,
}

/// The rows of one lane.
pub(super) struct Contenders {
    rows: Rows,
    prune_at: usize,
}

impl<'a> Ranker<'a> {
    pub(super) fn new(head: &'a [HeadTerm], ranking: &'a Ranking) -> Ranker<'a> {
        Ranker {
            head,
            ranking,
            groups: (0..head.len()).filter(|column| !ranking.columns.contains(column)).collect(),
            bound: ranking.bound.as_ref().and_then(|bound| bound.as_ref().as_number()),
            count: ranking.count.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX)),
        }
    }

    /// No rows yet.
    pub(super) fn start(&self) -> Contenders {
        Contenders { rows: Rows::empty(self.head.len()), prune_at: PRUNE_ROWS }
    }

    /// Adds solutions.
    pub(super) fn add(
        &self,
        contenders: &mut Contenders,
        pipeline: &Pipeline<'_>,
        codec: &Codec,
        solutions: &Bindings,
        budget: &Budget,
    ) -> Result<(), ExecError> {
        let mut columns = Vec::with_capacity(self.head.len());
        for term in self.head {
            if let HeadTerm::Expression(expression) = term {
                columns.push(pipeline.evaluator().codes(expression, solutions)?);
            }
        }
        let by = &columns[self.ranking.by];
        let good: Vec<usize> = (0..solutions.len).filter(|row| self.is_good(by[*row], codec)).collect();
        let rows = &mut contenders.rows;
        for (to, from) in rows.columns.iter_mut().zip(&columns) {
            to.extend(good.iter().map(|row| from[*row]));
        }
        rows.len += good.len();
        budget.charge(good.len() * self.row_bytes())?;
        if rows.len >= contenders.prune_at {
            let before = rows.len;
            let kept = self.best(std::mem::replace(rows, Rows::empty(0)), codec);
            budget.release((before - kept.len) * self.row_bytes());
            *contenders = Contenders { prune_at: PRUNE_ROWS.max(2 * kept.len), rows: kept };
        }
        Ok(())
    }

    /// The rows of the head.
    pub(super) fn finish(&self, lanes: Vec<Contenders>, codec: &Codec) -> Rows {
        let mut all = Rows::empty(self.head.len());
        for lane in lanes {
            let rows = self.best(lane.rows, codec);
            all.len += rows.len;
            for (column, more) in all.columns.iter_mut().zip(rows.columns) {
                column.extend(more);
            }
        }
        self.best(all, codec)
    }

    /// Null has no rank, and what is no number does not reach a bound.
    fn is_good(&self, code: Code, codec: &Codec) -> bool {
        match (self.ranking.bound.is_some(), self.bound) {
            (false, _) => code != NULL,
            (true, Some(bound)) => codec.value(code).as_number().is_some_and(|number| {
                let order = compare_numbers(number, bound);
                match self.ranking.direction {
                    Direction::Ascending => order.is_le(),
                    Direction::Descending => order.is_ge(),
                }
            }),
            (true, None) => false,
        }
    }

    /// The best rows of each group. Rows of one rank come in ascending order.
    fn best(&self, rows: Rows, codec: &Codec) -> Rows {
        if self.ranking.count.is_none() {
            return rows;
        }
        let group = |a: usize, b: usize| {
            let columns = self.groups.iter().map(|column| &rows.columns[*column]);
            columns
                .map(|codes| codes[a].cmp(&codes[b]))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        let value = |column: usize, a: usize, b: usize| {
            let codes = &rows.columns[column];
            compare(codes[a], codes[b], codec)
        };
        let rank = |a: usize, b: usize| match self.ranking.direction {
            Direction::Ascending => value(self.ranking.by, a, b),
            Direction::Descending => value(self.ranking.by, b, a),
        };
        let tuple = |a: usize, b: usize| {
            let mut columns = self.ranking.columns.clone();
            columns.find_map(|column| Some(value(column, a, b)).filter(|order| order.is_ne()))
        };
        let mut positions: Vec<usize> = (0..rows.len).collect();
        positions.sort_unstable_by(|&a, &b| {
            group(a, b).then_with(|| rank(a, b)).then_with(|| tuple(a, b).unwrap_or(Ordering::Equal))
        });
        let mut kept = Vec::new();
        let mut in_group = 0;
        for (i, &position) in positions.iter().enumerate() {
            if i > 0 && group(positions[i - 1], position).is_ne() {
                in_group = 0;
            }
            if in_group < self.count {
                kept.push(position);
            }
            in_group += 1;
        }
        let columns = rows.columns.iter().map(|codes| kept.iter().map(|row| codes[*row]).collect());
        Rows { columns: columns.collect(), len: kept.len() }
    }

    fn row_bytes(&self) -> usize {
        self.head.len() * size_of::<Code>()
    }
}

/// The order of two values; codes of small integers order as they do.
fn compare(a: Code, b: Code, codec: &Codec) -> Ordering {
    if a < INLINE_END && b < INLINE_END { a.cmp(&b) } else { codec.value(a).cmp(&codec.value(b)) }
}
