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
    /// The same as `Min`, of values that need not be of one kind.
    First,
    /// The same as `Max`, of values that need not be of one kind.
    Last,
    /// Mean of the numbers, a float. Skips Null.
    Avg,
    /// The value in the middle of the numbers, a float. Skips Null.
    Median,
    /// The value below which a portion of the numbers lies, a float. Skips Null.
    Quantile,
    /// Standard deviation of the numbers, a float. Skips Null.
    Stddev,
    /// Strings, one after the other. Skips Null.
    StringAgg,
    /// All values, in a list. Skips Null.
    Collect,
    /// Reciprocal rank fusion of ranks, a float. Skips Null.
    Rrf,
}

/// What stands beside the variable of an aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateOption {
    /// A number from 0 to 1, always.
    Portion,
    /// A string, or nothing.
    Separator,
    /// A number from 0, or nothing: what is added to each rank, so that the first few do not decide alone.
    Offset,
}

/// The offset of ranks if no other is given, as in Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms
/// Condorcet and individual rank learning methods, 2009.
pub const RANK_OFFSET: f64 = 60.0;

/// All aggregates.
pub const AGGREGATES: &[Aggregate] = &[
    Aggregate::Count,
    Aggregate::CountDistinct,
    Aggregate::Sum,
    Aggregate::Min,
    Aggregate::Max,
    Aggregate::First,
    Aggregate::Last,
    Aggregate::Avg,
    Aggregate::Median,
    Aggregate::Quantile,
    Aggregate::Stddev,
    Aggregate::StringAgg,
    Aggregate::Collect,
    Aggregate::Rrf,
];

/// Whether some aggregate has this name, in any case.
pub fn is_aggregate(name: &str) -> bool {
    Aggregate::named(name).is_some() || Ranking::named(name).is_some()
}

impl Aggregate {
    /// Finds an aggregate by its name, in any case; `countdistinct` and `any` are other names.
    pub fn named(name: &str) -> Option<Aggregate> {
        match name.to_ascii_lowercase().as_str() {
            "countdistinct" => Some(Aggregate::CountDistinct),
            "any" => Some(Aggregate::First),
            name => AGGREGATES.iter().copied().find(|aggregate| aggregate.name() == name),
        }
    }

    /// The name as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Aggregate::Count => "count",
            Aggregate::CountDistinct => "count_distinct",
            Aggregate::Sum => "sum",
            Aggregate::Min => "min",
            Aggregate::Max => "max",
            Aggregate::First => "first",
            Aggregate::Last => "last",
            Aggregate::Avg => "avg",
            Aggregate::Median => "median",
            Aggregate::Quantile => "quantile",
            Aggregate::Stddev => "stddev",
            Aggregate::StringAgg => "string_agg",
            Aggregate::Collect => "collect",
            Aggregate::Rrf => "rrf",
        }
    }

    /// What may stand beside its variable.
    pub fn option(self) -> Option<AggregateOption> {
        match self {
            Aggregate::Quantile => Some(AggregateOption::Portion),
            Aggregate::StringAgg => Some(AggregateOption::Separator),
            Aggregate::Rrf => Some(AggregateOption::Offset),
            _ => None,
        }
    }

    /// How it is written.
    pub fn usage(self) -> String {
        match self.option() {
            None => format!("{}<X>", self.name()),
            Some(AggregateOption::Portion) => format!("{}<X, 0.9>", self.name()),
            Some(AggregateOption::Separator) => format!("{0}<X>` or `{0}<X, \"; \">", self.name()),
            Some(AggregateOption::Offset) => format!("{0}<X>` or `{0}<X, 60>", self.name()),
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
            Aggregate::First => "The first value in the order of all values. Skips Null.",
            Aggregate::Last => "The last value in the order of all values. Skips Null.",
            Aggregate::Avg => "Mean, a float. Skips Null.",
            Aggregate::Median => {
                "The number in the middle, or between the two that are, a float. Skips Null."
            }
            Aggregate::Quantile => {
                "The number below which this portion of the numbers lies, from 0 to 1, a float: between the two nearest on the line that joins them. Skips Null."
            }
            Aggregate::Stddev => {
                "Standard deviation of a sample, a float; null of fewer than two numbers. Skips Null."
            }
            Aggregate::StringAgg => {
                "All strings in their order, with a separator in between: `, ` if none is given. Skips Null."
            }
            Aggregate::Collect => "A list of all values in their order. Skips Null.",
            Aggregate::Rrf => {
                "Reciprocal rank fusion: the sum of 1/(k + rank) over the ranks, which are integers from 1, with k = 60 if no other is given; a float. Skips Null."
            }
        }
    }
}
