//! How a program is evaluated: everything that can be done in more than one way is decided here.
//!
//! [`plan_stratum`] plans a stratum when it is about to run, so the sizes of everything below it are known.

/// Which rows are read.
mod access;

/// From when on what pays.
mod cost;

/// What is known of the rows that will be read.
mod statistics;

/// A rule to a pipeline of operators.
mod rule;

/// A relation that has the rows of another one.
mod alias;

/// A relation that has the rows of several others.
mod union;

/// A search by an index or by all rows.
mod search;

/// What takes the place of rounds when there is much to do.
mod strategy;

/// All of it, of one stratum.
mod stratum;

/// Plans as people read them.
mod explain;

pub use access::{Access, Version};
pub use alias::{Alias, HandedOn};
pub use cost::{LANE_ROWS, Thresholds};
pub use explain::expected::explain;
pub use explain::notes::{
    AnswerNote, Course, Explanation, Fate, Forward, Measured, OlderNote, RelationNote, RewriteNote, RuleNote,
    Size, StepNote, StratumNote,
};
pub use explain::rules::{note_handed_on, note_rule, note_search};
pub use explain::strategies::StrategyNote;
pub use rule::estimate::{expected_found, expected_rows, expected_spared};
pub use rule::lookup::edges_serve;
pub use rule::operators::{
    BestOfRows, Between, ColumnRange, KeyPart, Lookup, LookupBy, RulePlan, Scan, Side, Source, Step,
};
pub use rule::partitioned::Partitioning;
pub use rule::rule_plan::{plan, plan_again, plan_rule};
pub use rule::variation::{Distinct, Own, Variation};
pub use search::{SearchPlan, Way};
pub use statistics::{Layout, Statistics, distinct_of, rows_in, rows_of, sample_of};
pub use strategy::Strategy;
pub use strategy::edges::{Columns, EdgeSource};
pub use strategy::matrices::{Factor, Matrices, Matrix, Mixed, Product};
pub use strategy::partitions::Partitions;
pub(crate) use strategy::plain::{Condition, Operand, PairsOf, PlainBests, plain_bests, plain_walk};
pub use strategy::relaxation::{Made, Relaxation, Weight, Weighted};
pub use strategy::walk::{Edges, Walk};
pub use stratum::{Once, OncePlan, Prospect, Recursion, RulesPlan, StratumPlan, Variant, plan_stratum};
pub use union::Union;
