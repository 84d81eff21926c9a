//! Ranking: the best solutions of each group, as rows.
//!
//! A lane keeps what could still be among the best of its own solutions; the lanes' rows are then ranked together.
//! Ranks depend on values alone, so lanes may be cut in any way.

use std::cmp::Ordering;

use crate::analysis::program::{HeadTerm, Ranking};
use crate::budget::Budget;
use crate::data::{Code, Codec, INLINE_END, NULL, Number, Rows, compare_numbers, float_of};
use crate::exec::error::ExecError;
use crate::exec::operators::pipeline::Pipeline;
use crate::exec::values::batch::Bindings;
use crate::syntax::ast::Direction;

/// A lane that holds so many rows throws away those that cannot win, at first.
const PRUNE_ROWS: usize = 1 << 10;

/// The head of a ranking rule, taken apart.
pub(crate) struct Ranker<'a> {
    head: &'a [HeadTerm],
    ranking: &'a Ranking,
    /// The columns that are not ranked.
    groups: Vec<usize>,
    bound: Option<Number>,
    count: usize,
}

/// The rows of one lane.
pub(crate) struct Contenders {
    rows: Rows,
    prune_at: usize,
}

impl<'a> Ranker<'a> {
    pub(crate) fn new(head: &'a [HeadTerm], ranking: &'a Ranking) -> Ranker<'a> {
        Ranker {
            head,
            ranking,
            groups: (0..head.len()).filter(|column| !ranking.columns.contains(column)).collect(),
            bound: ranking.bound.as_ref().and_then(|bound| bound.as_ref().as_number()),
            count: ranking.count.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX)),
        }
    }

    /// No rows yet.
    pub(crate) fn start(&self) -> Contenders {
        let prune_at = PRUNE_ROWS.max(self.count.saturating_mul(2));
        Contenders { rows: Rows::empty(self.head.len()), prune_at }
    }

    /// Adds solutions.
    pub(crate) fn add(
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
            if let Some(bar) = pipeline.bar()
                && let Some(worst) = kept.columns[self.ranking.by].last()
                && let Some(worst) = codec.number(*worst)
            {
                bar.raise_to_last(kept.len, float_of(worst));
            }
            budget.release((before - kept.len) * self.row_bytes());
            *contenders = Contenders {
                prune_at: PRUNE_ROWS.max(2 * kept.len).max(self.count.saturating_mul(2)),
                rows: kept,
            };
        }
        Ok(())
    }

    /// The rows of the head.
    pub(crate) fn finish(&self, lanes: Vec<Contenders>, codec: &Codec) -> Rows {
        let mut all = Rows::empty(self.head.len());
        for lane in lanes {
            let rows = self.best(lane.rows, codec);
            all.len += rows.len;
            for (column, more) in all.columns.iter_mut().zip(rows.columns) {
                column.extend(more);
            }
        }
        let mut best = self.best(all, codec);
        if self.ranking.is_numbered {
            best.columns[self.ranking.columns.end - 1] = self.ranks(&best);
        }
        best
    }

    /// The number of each row in its group. The best of a group stand side by side, in their order.
    fn ranks(&self, rows: &Rows) -> Vec<Code> {
        let is_same = |a: usize, b: usize| {
            self.groups.iter().all(|column| rows.columns[*column][a] == rows.columns[*column][b])
        };
        let mut rank = 0;
        let number = |row: usize| {
            rank = if row > 0 && is_same(row - 1, row) { rank + 1 } else { 1 };
            rank
        };
        (0..rows.len).map(number).collect()
    }

    /// Null has no rank, and what is no number does not reach a bound.
    fn is_good(&self, code: Code, codec: &Codec) -> bool {
        match (self.ranking.bound.is_some(), self.bound) {
            (false, _) => code != NULL,
            (true, Some(bound)) => codec.number(code).is_some_and(|number| {
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
        let is_search = self.ranking.search.is_some();
        for (i, &position) in positions.iter().enumerate() {
            if i > 0 && group(positions[i - 1], position).is_ne() {
                in_group = 0;
            } else if is_search && i > 0 && tuple(positions[i - 1], position).is_none() {
                // The same row once more.
                continue;
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
