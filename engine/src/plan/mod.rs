//! One rule to one pipeline of operators: which atom first, which next, what to keep.
//!
//! Plans are made when a stratum is about to run, so the sizes of everything below it are known.

mod chains;
mod display;
mod edges;
mod estimate;
mod explain;
mod explanation;
mod join_order;
mod large;
mod once;
mod physical;
mod pivot;
mod range;
mod relaxation;
mod rule_plan;
mod search;
mod share;
mod traversal;

pub use chains::{Chains, Factor, Matrix, Product};
pub use edges::EdgeSource;
pub use estimate::{expected_found, expected_rows, note};
pub use explain::explain;
pub use explanation::{
    AnswerNote, Course, Explanation, Measured, RelationNote, RewriteNote, RuleNote, Size, StepNote,
    StratumNote,
};
pub use join_order::Statistics;
pub use large::{Large, LargeNote};
pub use once::makes_rows_once;
pub use physical::{Access, ColumnRange, KeyPart, RulePlan, Scan, Side, Source, Step, Version};
pub use relaxation::{Relaxation, Weighted};
pub use rule_plan::{plan_delta_variants, plan_rule};
pub use search::{SearchPlan, Way};
pub use share::{Share, share};
pub use traversal::{Edges, Traversal};
