//! The aggregates: one list of those that give a value a group, one of those that rank rows. The checker, the executor
//! and the manual read them.

mod ranking;

pub use ranking::{RANKINGS, Ranking};

/// An aggregate function. It sees one value for each distinct solution of the rule's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Aggregate {
    /// Number of solutions.
    Count,
    /// Number of distinct values, Null among them.
    CountDistinct,
    /// Sum of the numbers: an integer when all are integers, else a float. Skips Null.
    Sum,
    /// Smallest value. Skips Null.
    Min,
    /// Largest value. Skips Null.
    Max,
    /// Mean of the numbers, a float. Skips Null.
    Avg,
}

/// All aggregates.
pub const AGGREGATES: &[Aggregate] = &[
    Aggregate::Count,
    Aggregate::CountDistinct,
    Aggregate::Sum,
    Aggregate::Min,
    Aggregate::Max,
    Aggregate::Avg,
];

/// Whether some aggregate has this name, in any case.
pub fn is_aggregate(name: &str) -> bool {
    Aggregate::named(name).is_some() || Ranking::named(name).is_some()
}

impl Aggregate {
    /// Finds an aggregate by its name, in any case; `countdistinct` is an alias.
    pub fn named(name: &str) -> Option<Aggregate> {
        let name = name.to_ascii_lowercase();
        if name == "countdistinct" {
            return Some(Aggregate::CountDistinct);
        }
        AGGREGATES.iter().copied().find(|aggregate| aggregate.name() == name)
    }

    /// The name as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Aggregate::Count => "count",
            Aggregate::CountDistinct => "count_distinct",
            Aggregate::Sum => "sum",
            Aggregate::Min => "min",
            Aggregate::Max => "max",
            Aggregate::Avg => "avg",
        }
    }

    /// One sentence for the manual.
    pub fn doc(self) -> &'static str {
        match self {
            Aggregate::Count => "Number of distinct solutions of the body.",
            Aggregate::CountDistinct => "Number of distinct values; Null is a value.",
            Aggregate::Sum => "Sum: exact for integers, a float when any value is one. Skips Null.",
            Aggregate::Min => "Smallest value. Skips Null.",
            Aggregate::Max => "Largest value. Skips Null.",
            Aggregate::Avg => "Mean, a float. Skips Null.",
        }
    }
}
