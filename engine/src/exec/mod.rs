//! Plans at work on columns of codes: a program's strata, one after the other, and the rows of its goal.

mod aggregate;
mod apart;
mod batch;
mod beside;

mod best_rows;
mod chains;
mod comparison;
mod derive;
mod distinct;
mod domain;
mod edges;
mod error;
mod expression;
mod extremes;
mod float_sum;
mod gathered;
mod group_numbers;
mod growing;
mod intersect;
mod large;
mod lookup;
mod merge;
mod numbers;
mod pipeline;
mod pivot;
mod profile;
mod rank_fusion;
mod ranking;
mod reading;
mod relations;
mod relaxation;
mod remarks;
mod row_set;
mod search;
mod sort;
mod stratum;
mod sums;
mod thresholds;
mod traversal;

use std::collections::HashMap;

use crate::analysis::program::Program;
use crate::budget::Budget;
use crate::data::{Codec, RelationId, Run};

pub use error::ExecError;
pub use profile::Profile;
pub use relations::Relations;
pub use remarks::{Remark, Unlike};
pub use sort::{Order, sort_limit};
pub use thresholds::Thresholds;

/// What an evaluation gives.
#[derive(Debug)]
pub struct Outcome {
    /// The goal's rows: disjoint runs.
    pub runs: Vec<Run>,
    /// The rows of all other relations that were read or derived.
    pub complete: HashMap<RelationId, Vec<Run>>,
    /// Whether some integer operation was cut off at the end of the 64-bit range.
    pub saturated: bool,
    /// What aggregates met that they are not made for.
    pub remarks: Vec<Remark>,
}

/// Evaluates a program bottom-up, stratum by stratum (semi-naive where a stratum is recursive), and measures it if a
/// profile is given.
pub fn execute(
    program: &Program,
    relations: &dyn Relations,
    codec: &Codec,
    budget: &Budget,
    thresholds: Thresholds,
    mut profile: Option<&mut Profile>,
) -> Result<Outcome, ExecError> {
    let mut view = stratum::View::new(program, relations, codec, budget, thresholds);
    for stratum in &program.strata {
        match &mut profile {
            None => view.evaluate(stratum, None)?,
            Some(profile) => profile.add(view.measure(stratum)?),
        }
    }
    Ok(view.finish())
}
