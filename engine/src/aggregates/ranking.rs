//! The ranking aggregates: whole rows that come first, not one value a group.

/// A ranking aggregate. Its variables become columns of their own; one of them decides the rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ranking {
    /// So many of the best rows.
    TopK,
    /// So many of the best rows, among those that are good enough.
    TopKThreshold,
    /// All rows that are near enough.
    WithinRadius,
}

/// All ranking aggregates.
pub const RANKINGS: &[Ranking] = &[Ranking::TopK, Ranking::TopKThreshold, Ranking::WithinRadius];

impl Ranking {
    /// Finds a ranking aggregate by its name, in any case.
    pub fn named(name: &str) -> Option<Ranking> {
        RANKINGS.iter().copied().find(|ranking| ranking.name().eq_ignore_ascii_case(name))
    }

    /// The name as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Ranking::TopK => "top_k",
            Ranking::TopKThreshold => "top_k_threshold",
            Ranking::WithinRadius => "within_radius",
        }
    }

    /// How it is written.
    pub fn usage(self) -> &'static str {
        match self {
            Ranking::TopK => "top_k<3, Name, Score:desc>",
            Ranking::TopKThreshold => "top_k_threshold<3, 0.5, Name, Score:desc>",
            Ranking::WithinRadius => "within_radius<0.5, Name, Distance:asc>",
        }
    }

    /// One sentence for the manual.
    pub fn doc(self) -> &'static str {
        match self {
            Ranking::TopK => "The k best rows by the marked variable. Skips Null.",
            Ranking::TopKThreshold => {
                "The k best rows by the marked variable, of those that reach the threshold. Skips Null."
            }
            Ranking::WithinRadius => "The rows whose marked variable is at most the radius. Skips Null.",
        }
    }

    /// Whether it begins with a count of rows.
    pub fn counts(self) -> bool {
        match self {
            Ranking::TopK | Ranking::TopKThreshold => true,
            Ranking::WithinRadius => false,
        }
    }

    /// Whether a bound stands before the variables.
    pub fn is_bounded(self) -> bool {
        match self {
            Ranking::TopK => false,
            Ranking::TopKThreshold | Ranking::WithinRadius => true,
        }
    }

    /// How many numbers stand before the variables.
    pub fn numbers(self) -> usize {
        usize::from(self.counts()) + usize::from(self.is_bounded())
    }
}
