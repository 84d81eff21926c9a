//! Strata without work: a relation handed through column for column, such as `?path(X, Y)` does, shares the runs of the
//! one that it reads.

use crate::analysis::program::{Argument, Expression, HeadTerm, Literal, Program, Rule, Stratum};
use crate::data::RelationId;
use crate::plan::statistics::Statistics;

/// A relation that has exactly the rows of another one.
pub struct Alias<'p> {
    /// The relation.
    pub head: RelationId,
    /// The other one.
    pub whole: HandedOn<'p>,
}

/// What a stratum shares, if it does no more than that.
pub(super) fn alias<'p>(
    stratum: &'p Stratum,
    program: &Program,
    statistics: &dyn Statistics,
) -> Option<Alias<'p>> {
    let [rule] = stratum.rules.as_slice() else { return None };
    let whole = HandedOn::of(rule)?;
    let is_alone = !stratum.recursive
        && program.relations[rule.head.index()].best.is_none()
        && statistics.rows(rule.head) == 0;
    (is_alone && whole.is_straight()).then_some(Alias { head: rule.head, whole })
}

/// All rows of a relation, with their columns as they are or in another order.
pub struct HandedOn<'p> {
    /// The rule that says so.
    pub(super) rule: &'p Rule,
    /// The relation.
    pub source: RelationId,
    /// The column of it that becomes each column.
    pub columns: Vec<usize>,
}

impl<'p> HandedOn<'p> {
    /// What a rule hands on, if it does nothing else.
    pub(crate) fn of(rule: &'p Rule) -> Option<HandedOn<'p>> {
        let [Literal::Atom(atom)] = rule.body.as_slice() else { return None };
        let arity = atom.arguments.len();
        if rule.ranking.is_some() || rule.head_terms.len() != arity {
            return None;
        }
        let column_of = |term: &HeadTerm| match term {
            HeadTerm::Expression(Expression::Variable(variable)) => {
                atom.arguments.iter().position(|argument| *argument == Argument::Variable(*variable))
            }
            HeadTerm::Expression(_) | HeadTerm::Aggregate { .. } => None,
        };
        let columns: Vec<usize> = rule.head_terms.iter().map(column_of).collect::<Option<_>>()?;
        // Then each argument is a variable of its own.
        let is_whole = (0..arity).all(|column| columns.contains(&column));
        is_whole.then_some(HandedOn { rule, source: atom.relation, columns })
    }

    /// Whether columns stay where they are.
    pub fn is_straight(&self) -> bool {
        self.columns.iter().copied().eq(0..self.columns.len())
    }
}
