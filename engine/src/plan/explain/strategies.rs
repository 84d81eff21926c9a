//! Strategies of recursions in words.

use serde_json::{Value, json};

use crate::plan::strategy::Strategy;
use crate::plan::stratum::Recursion;

/// What a plan tells of how a recursion goes on once there is much to do. Columns count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StrategyNote {
    /// In rounds, as it began.
    Tuples,
    /// As a walk along edges, in which the values of this column are nodes.
    Walk {
        /// The column.
        column: usize,
    },
    /// As a walk from both ends of a row at once.
    BothEnds,
    /// In products of bit matrices.
    Matrices,
    /// In sweeps over edges that are relaxed.
    Relaxation,
    /// In rounds, apart for each part of this column's values.
    Partitions {
        /// The column.
        column: usize,
    },
    /// By the cluster, as plans over files; recursions in rounds.
    Plans,
    /// By the cluster, in parts that need nothing of each other.
    PlansInParts,
    /// By the cluster in memory, as there is no plan for this.
    NoPlan {
        /// Why not.
        why: &'static str,
    },
    /// In products of bit matrices for so many rules, in rounds for the others.
    Mixed {
        /// The rules.
        rules: usize,
    },
}

impl StrategyNote {
    /// What is told of a strategy.
    pub fn of(strategy: &Strategy) -> StrategyNote {
        match strategy {
            Strategy::Tuples => StrategyNote::Tuples,
            Strategy::Walk(walk) => StrategyNote::Walk { column: walk.node + 1 },
            Strategy::Matrices(_) => StrategyNote::Matrices,
            Strategy::Relaxation(_) => StrategyNote::Relaxation,
            Strategy::Partitions(partitions) => StrategyNote::Partitions { column: partitions.column + 1 },
        }
    }

    /// What is told of a recursion, as long as it goes on in rounds.
    pub fn of_recursion(recursion: &Recursion<'_>) -> StrategyNote {
        match &recursion.mixed {
            Some(mixed) => StrategyNote::Mixed { rules: mixed.rules.len() },
            None => StrategyNote::of(&recursion.strategy),
        }
    }

    /// For programs.
    pub(super) fn to_json(self) -> Value {
        match self {
            StrategyNote::Tuples => json!({ "name": "tuples" }),
            StrategyNote::Walk { column } => json!({ "name": "walk", "column": column }),
            StrategyNote::BothEnds => json!({ "name": "both_ends" }),
            StrategyNote::Matrices => json!({ "name": "matrices" }),
            StrategyNote::Relaxation => json!({ "name": "relaxation" }),
            StrategyNote::Partitions { column } => json!({ "name": "partitions", "column": column }),
            StrategyNote::Plans => json!({ "name": "plans" }),
            StrategyNote::PlansInParts => json!({ "name": "plans_in_parts" }),
            StrategyNote::NoPlan { why } => json!({ "name": "no_plan", "why": why }),
            StrategyNote::Mixed { rules } => json!({ "name": "mixed", "rules": rules }),
        }
    }

    /// What can be done, or was. Rounds are not worth a word.
    pub(super) fn text(self, is_done: bool) -> Option<String> {
        let name = match self {
            StrategyNote::Tuples => return None,
            StrategyNote::Walk { column } => format!("walk along column {column}"),
            StrategyNote::BothEnds => "walk from both ends".to_owned(),
            StrategyNote::Matrices => "matrices".to_owned(),
            StrategyNote::Relaxation => "relaxation".to_owned(),
            StrategyNote::Partitions { column } => format!("partitions of column {column}"),
            StrategyNote::Plans => "plans".to_owned(),
            StrategyNote::PlansInParts => "plans in parts".to_owned(),
            StrategyNote::NoPlan { why } => format!("no plan ({why})"),
            StrategyNote::Mixed { rules } => format!("matrices for {rules} of the rules"),
        };
        Some(if is_done { name } else { format!("{name} if large") })
    }
}
