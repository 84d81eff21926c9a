//! The bar that solutions of a ranking have to reach.

use std::sync::atomic::{self, AtomicU64};

use crate::analysis::program::{Expression, HeadTerm, Ranking};
use crate::data::{Value, VariableId};
use crate::syntax::ast::Direction;

/// So many values of one batch are worth finding the best among them before they get codes.
const MANY: usize = 64;

/// How far a value that decides may be from the best, as far as all lanes know: what is worse is dropped before it gets
/// a code. It is only ever raised, and never above what the result needs, so nobody has to wait for anybody.
pub(crate) struct Bar {
    pub(super) variable: VariableId,
    direction: Direction,
    /// So many solutions are wanted, where they are the best of all and not of each group.
    count: Option<usize>,
    worst: AtomicU64,
}

impl Bar {
    /// For a ranking by a variable; `is_one_group` where only the best of all solutions count.
    pub(super) fn new(head: &[HeadTerm], ranking: &Ranking, is_one_group: bool) -> Option<Bar> {
        let HeadTerm::Expression(Expression::Variable(variable)) = head.get(ranking.by)? else { return None };
        let is_fixed = |column: usize| {
            ranking.columns.contains(&column)
                || matches!(head[column], HeadTerm::Expression(Expression::Constant(_)))
        };
        let worst = match (&ranking.bound, ranking.direction) {
            (Some(Value::Float(bound)), _) => *bound,
            (_, Direction::Ascending) => f64::INFINITY,
            (_, Direction::Descending) => f64::NEG_INFINITY,
        };
        Some(Bar {
            variable: *variable,
            direction: ranking.direction,
            count: ranking
                .count
                .filter(|_| is_one_group || (0..head.len()).all(is_fixed))
                .map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
            worst: AtomicU64::new(worst.to_bits()),
        })
    }

    /// Where it is now.
    pub(super) fn worst(&self) -> f64 {
        f64::from_bits(self.worst.load(atomic::Ordering::Relaxed))
    }

    /// Whether a value reaches it.
    #[inline]
    pub(super) fn admits(&self, worst: f64, value: f64) -> bool {
        match self.direction {
            Direction::Ascending => value <= worst,
            Direction::Descending => value >= worst,
        }
    }

    /// Raises it by values that all reach the head. Of some solutions there may be several alike, which count as one:
    /// so it is the last of as many different values as solutions are wanted.
    pub(super) fn raise_by(&self, values: impl Iterator<Item = f64>) {
        let Some(last) = self.count.and_then(|count| count.checked_sub(1)) else { return };
        let worst = self.worst();
        let mut better: Vec<f64> = values.filter(|value| self.admits(worst, *value)).collect();
        if better.len() < MANY.max(last.saturating_mul(2)) {
            return;
        }
        better.sort_unstable_by(|a, b| match self.direction {
            Direction::Ascending => a.total_cmp(b),
            Direction::Descending => b.total_cmp(a),
        });
        better.dedup();
        if let Some(value) = better.get(last) {
            self.raise(*value);
        }
    }

    /// Raises it to the worst of the best solutions of a lane, if these are as many as are wanted.
    pub(crate) fn raise_to_last(&self, solutions: usize, worst: f64) {
        if self.count == Some(solutions) {
            self.raise(worst);
        }
    }

    fn raise(&self, value: f64) {
        let better = |worst: u64| {
            let worst = f64::from_bits(worst);
            (self.admits(worst, value) && value != worst).then_some(value.to_bits())
        };
        // Someone else may have raised it higher.
        let _ = self.worst.fetch_update(atomic::Ordering::Relaxed, atomic::Ordering::Relaxed, better);
    }
}
