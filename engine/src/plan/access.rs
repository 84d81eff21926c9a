//! Which rows of a relation a plan reads.

use crate::data::RelationId;

/// Which rows of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The relation.
    pub relation: RelationId,
    /// Which of its rows, by age.
    pub version: Version,
    /// Only those of them that are not composed of others, as `rule/composition.rs` says.
    pub generators: bool,
}

impl Access {
    /// All rows of a version.
    pub fn of(relation: RelationId, version: Version) -> Access {
        Access { relation, version, generators: false }
    }
}

/// Rows by age, inside a fixpoint. A relation that is complete has all of them in every version but `Delta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Every row known when the round began.
    All,
    /// Those known before the last round.
    Old,
    /// Those that came in the last round.
    Delta,
}
