//! One rule to one pipeline of operators: which atom first, which next, what to keep.
//!
//! Plans are made when a stratum is about to run, so the sizes of everything below it are known.

mod display;
mod estimate;
mod join_order;
mod physical;
mod pivot;
mod rule_plan;
mod traversal;

pub use display::{Explanation, RewriteNote, RuleNote, StepNote, StratumNote};
pub use estimate::explain;
pub use join_order::Statistics;
pub use physical::{Access, KeyPart, RulePlan, Scan, Source, Step, Version};
pub use pivot::pivot_column;
pub use rule_plan::{plan_delta_variants, plan_rule};
pub use traversal::{EdgeSource, Edges, Traversal, traversal};
