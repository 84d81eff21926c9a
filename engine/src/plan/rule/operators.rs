//! `RulePlan`: a rule as a source and a row of steps. Batches of variable bindings flow through them.

use std::ops::{Bound, Range};

use crate::analysis::program::{Expression, HeadTerm, Ranking, Test};
use crate::data::{RelationId, Value, VariableId};
use crate::plan::access::{Access, Version};

/// A rule, ready to run.
#[derive(Debug, Clone, PartialEq)]
pub struct RulePlan {
    /// The relation it derives.
    pub head: RelationId,
    /// What each solution becomes.
    pub head_terms: Vec<HeadTerm>,
    /// Which solutions become one, if not all.
    pub ranking: Option<Ranking>,
    /// The literals of the body, by their positions in it, in the order of evaluation.
    pub order: Vec<usize>,
    /// Whether its rows are composed of others of their relation.
    pub composes: bool,
    /// Where bindings begin.
    pub source: Source,
    /// What happens to them, in order.
    pub steps: Vec<Step>,
    /// Number of variables.
    pub variables: usize,
    /// The rule's text.
    pub text: String,
    /// An auxiliary relation, and the bindings that there would not be if it were read: those that reach these steps.
    pub spares: Option<(RelationId, Range<usize>)>,
}

impl RulePlan {
    /// Whether solutions are grouped or ranked.
    pub fn aggregates(&self) -> bool {
        self.ranking.is_some()
            || self.head_terms.iter().any(|term| matches!(term, HeadTerm::Aggregate { .. }))
    }

    /// Whether some step may make several bindings of one.
    pub fn multiplies(&self) -> bool {
        let makes_several =
            |step: &Step| matches!(step, Step::Probe { .. } | Step::Intersect { .. } | Step::Unnest { .. });
        self.steps.iter().any(makes_several)
    }

    /// Whether it reads what the last round found.
    pub fn reads_delta(&self) -> bool {
        self.accesses().any(|access| access.version == Version::Delta)
    }

    /// What it reads, in order.
    pub fn accesses(&self) -> impl Iterator<Item = Access> + '_ {
        self.of_source().into_iter().chain(self.steps.iter().flat_map(Step::accesses))
    }

    /// What it finds rows in: it has no solutions without some.
    pub fn needed(&self) -> impl Iterator<Item = Access> + '_ {
        let steps = self.steps.iter().filter(|step| !matches!(step, Step::Exists { negated: true, .. }));
        self.of_source().into_iter().chain(steps.flat_map(Step::accesses))
    }

    fn of_source(&self) -> Option<Access> {
        match &self.source {
            Source::One => None,
            Source::Scan(scan) => Some(scan.access),
        }
    }
}

/// Where bindings begin.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// One binding of no variables.
    One,
    /// The rows of a relation.
    Scan(Scan),
}

/// A scan of a relation.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    /// What to read.
    pub access: Access,
    /// Columns that must hold a constant.
    pub constants: Vec<(usize, Value)>,
    /// Pairs of columns that must agree.
    pub equal: Vec<(usize, usize)>,
    /// Which column binds which variable.
    pub outputs: Vec<(usize, VariableId)>,
    /// Between which values a column has to lie, where runs know their rows by that.
    pub range: Option<ColumnRange>,
}

/// A range of a column's values.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnRange {
    /// The column.
    pub column: usize,
    /// Where it begins.
    pub from: Bound<Value>,
    /// Where it ends.
    pub to: Bound<Value>,
}

/// Rows that are looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    /// What to read.
    pub access: Access,
    /// Key columns with what they must hold; none means every row.
    pub key: Vec<(usize, KeyPart)>,
    /// Pairs of columns that must agree.
    pub equal: Vec<(usize, usize)>,
    /// How they are found.
    pub by: LookupBy,
}

impl Lookup {
    /// The columns that are looked up, or have to agree with another one, in ascending order.
    pub fn columns(&self) -> Vec<usize> {
        let key = self.key.iter().map(|(column, _)| *column);
        let mut columns: Vec<usize> = key.chain(self.equal.iter().map(|(_, column)| *column)).collect();
        columns.sort_unstable();
        columns
    }
}

/// How rows are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupBy {
    /// Rows stand in order, and constants are what they begin with: those that match lie side by side.
    Order,
    /// Whole rows that stand in the order of the bindings: as two lists are merged.
    Merge,
    /// One column as a function of another, where it turns out to be one; by adjacency or an index where not.
    Mapping,
    /// What stands in one column beside the codes of another.
    Adjacency,
    /// An index of the key columns.
    Index,
    /// The set by which it is told whether a row is new, where whole rows are looked up.
    Set,
    /// An index of the key columns in which the rows of a key stand in the order of another column: only those of a range are
    /// read.
    Range,
    /// An index that knows the best rows of each such range.
    Best,
}

/// Between what a column of the rows that are looked up has to lie, ends included. The comparisons that say so stay where they
/// are, and drop what is at an end that does not count.
#[derive(Debug, Clone, PartialEq)]
pub struct Between {
    /// The column.
    pub column: usize,
    /// Where it begins.
    pub from: Option<Expression>,
    /// Where it ends.
    pub to: Option<Expression>,
}

/// Of which column the best value is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BestOfRows {
    /// The column.
    pub value: usize,
    /// Whether the largest value is best, or the least.
    pub largest: bool,
    /// Whether the only end of the range does not count to it.
    pub strict: bool,
}

/// One operator. `keep` lists the variables that later steps or the head still read.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Joins with the rows whose key columns match.
    Probe {
        /// The rows.
        lookup: Lookup,
        /// Between what one of its columns has to lie, where that is looked up too.
        between: Option<Between>,
        /// Of rows that only differ there and in a value of which the head keeps the best, those with the best one, where that is
        /// looked up too.
        best: Option<BestOfRows>,
        /// Which column binds which variable.
        outputs: Vec<(usize, VariableId)>,
        /// See above.
        keep: Vec<VariableId>,
    },
    /// Keeps the bindings that have a match (semijoin), or none (antijoin).
    Exists {
        /// The rows.
        lookup: Lookup,
        /// Whether a match drops the binding.
        negated: bool,
        /// See above.
        keep: Vec<VariableId>,
    },
    /// Binds a variable to the values that two relations of two columns have in common, each beside a bound variable.
    Intersect {
        /// The variable.
        variable: VariableId,
        /// The relations.
        sides: [Side; 2],
        /// See above.
        keep: Vec<VariableId>,
    },
    /// Keeps the bindings for which a comparison holds.
    Filter {
        /// The operator.
        operator: Test,
        /// Left side.
        left: Expression,
        /// Right side.
        right: Expression,
        /// See above.
        keep: Vec<VariableId>,
    },
    /// Binds a variable to a computed value.
    Compute {
        /// The variable.
        variable: VariableId,
        /// Its value.
        expression: Expression,
        /// See above.
        keep: Vec<VariableId>,
    },
    /// Binds a variable to each of the elements of a list that differ.
    Unnest {
        /// The variable.
        variable: VariableId,
        /// The list.
        list: Expression,
        /// See above.
        keep: Vec<VariableId>,
    },
}

impl Step {
    fn accesses(&self) -> Vec<Access> {
        match self {
            Step::Probe { lookup, .. } | Step::Exists { lookup, .. } => vec![lookup.access],
            Step::Intersect { sides, .. } => sides.iter().map(|side| side.access).collect(),
            Step::Filter { .. } | Step::Compute { .. } | Step::Unnest { .. } => Vec::new(),
        }
    }
}

/// One side of an intersection.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// What to read.
    pub access: Access,
    /// The column of the bound variable.
    pub from: usize,
    /// That variable.
    pub bound: VariableId,
    /// The column of the new one.
    pub to: usize,
}

/// What a key column must hold.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyPart {
    /// The value of a bound variable.
    Variable(VariableId),
    /// A constant.
    Constant(Value),
}
