//! What an evaluation gives.

use std::time::Duration;

use foldhash::HashMap;

use super::remarks::Remark;
use super::rounds::Rounds;
use crate::data::{RelationId, Run};

/// What an evaluation gives.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The goal's rows: disjoint runs.
    pub runs: Vec<Run>,
    /// The rows of all other relations that were read or derived.
    pub complete: HashMap<RelationId, Vec<Run>>,
    /// Whether some integer operation was cut off at the end of the 64-bit range.
    pub saturated: bool,
    /// What aggregates met that they are not made for.
    pub remarks: Vec<Remark>,
    /// How long the stratum of each derived relation took.
    pub took: HashMap<RelationId, Duration>,
    /// When the rows of a derived relation were found, if that is known. Rounds are counted from the first stratum to the last.
    pub rounds: HashMap<RelationId, Rounds>,
}
