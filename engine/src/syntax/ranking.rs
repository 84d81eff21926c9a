//! What stands inside `top_k<..>` and its kin: numbers, then columns, one of them marked.

use super::ast::{AggregateArgument, Atom, Direction, Term, TermKind};
use crate::aggregates::Ranking;
use crate::data::Value;
use crate::diagnostic::Span;

/// The arguments of a ranking aggregate, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ranked<'t> {
    /// How many rows at most.
    pub(crate) count: Option<u64>,
    /// What the marked column must reach, or not exceed.
    pub(crate) bound: Option<Value>,
    /// The columns.
    pub(crate) columns: &'t [AggregateArgument],
    /// Which of them decides.
    pub(crate) by: usize,
    /// Which end of it is best.
    pub(crate) direction: Direction,
}

/// Why the arguments are none of a ranking aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RankingFault {
    /// The first argument is no count.
    #[error("the number of rows is written as digits, 0 or more")]
    Count,
    /// The threshold or radius is no number.
    #[error("the bound is a number")]
    Bound,
    /// Only numbers.
    #[error("there is no variable to rank by")]
    NoVariable,
    /// Several variables, and none is marked.
    #[error("of several variables, one is marked `:asc` or `:desc`")]
    NoMark,
    /// More than one mark.
    #[error("only one variable is marked `:asc` or `:desc`")]
    SeveralMarks,
}

/// Takes the arguments apart. A parameter in the place of a number counts as one that is right.
pub(crate) fn read(
    ranking: Ranking,
    arguments: &[AggregateArgument],
    span: Span,
) -> Result<Ranked<'_>, (RankingFault, Span)> {
    let mut rest = arguments;
    let mut count = None;
    let mut bound = None;
    if ranking.counts() {
        let (argument, after) = rest.split_first().ok_or((RankingFault::Count, span))?;
        let rows = match (&argument.term.kind, argument.order) {
            (TermKind::Constant(Value::Int(n)), None) => u64::try_from(*n).ok(),
            (TermKind::Parameter(_), None) => Some(0),
            _ => None,
        };
        count = Some(rows.ok_or((RankingFault::Count, argument.term.span))?);
        rest = after;
    }
    if ranking.is_bounded() {
        let (argument, after) = rest.split_first().ok_or((RankingFault::Bound, span))?;
        bound = match (&argument.term.kind, argument.order) {
            (TermKind::Constant(value @ (Value::Int(_) | Value::Float(_))), None) => Some(value.clone()),
            (TermKind::Parameter(_), None) => None,
            _ => return Err((RankingFault::Bound, argument.term.span)),
        };
        rest = after;
    }
    let mut marked = rest.iter().enumerate().filter_map(|(i, column)| Some((i, column.order?)));
    let (by, direction) = match (marked.next(), rest) {
        (_, []) => return Err((RankingFault::NoVariable, span)),
        (Some(mark), _) => mark,
        (None, [_]) => (0, Direction::Descending),
        (None, _) => return Err((RankingFault::NoMark, span)),
    };
    if let Some((second, _)) = marked.next() {
        return Err((RankingFault::SeveralMarks, rest[second].term.span));
    }
    // What is near comes first, however it is marked.
    let direction = if ranking.counts() { direction } else { Direction::Ascending };
    Ok(Ranked { count, bound, columns: rest, by, direction })
}

impl Term {
    /// The arguments that become columns, if this is a ranking aggregate.
    pub fn ranked_columns(&self) -> Option<&[AggregateArgument]> {
        match &self.kind {
            TermKind::Aggregate { function, arguments } => {
                let numbers = Ranking::named(&function.text)?.numbers();
                Some(arguments.get(numbers..).unwrap_or_default())
            }
            _ => None,
        }
    }

    /// How many columns of a head it makes.
    pub fn columns(&self) -> usize {
        self.ranked_columns().map_or(1, <[AggregateArgument]>::len)
    }
}

impl Atom {
    /// How many columns it makes as a head.
    pub fn head_columns(&self) -> usize {
        self.terms.iter().map(Term::columns).sum()
    }
}
