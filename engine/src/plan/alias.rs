//! Strata without work: a relation handed through column for column, such as `?path(X, Y)` does, shares the runs of the
//! one that it reads.

use crate::analysis::program::{Argument, Expression, HeadTerm, Literal, Program, Rule, Stratum};
use crate::data::RelationId;
use crate::plan::statistics::Statistics;

/// A relation that has exactly the rows of another one.
pub struct Alias<'p> {
    /// The rule that says so.
    pub(super) rule: &'p Rule,
    /// The relation.
    pub head: RelationId,
    /// Whose rows it has.
    pub source: RelationId,
}

/// What a stratum shares, if it does no more than that.
pub(super) fn alias<'p>(
    stratum: &'p Stratum,
    program: &Program,
    statistics: &dyn Statistics,
) -> Option<Alias<'p>> {
    let [rule] = stratum.rules.as_slice() else { return None };
    let HandedOn { source, columns } = HandedOn::of(rule)?;
    let is_alone = !stratum.recursive
        && program.relations[rule.head.index()].best.is_none()
        && statistics.rows(rule.head) == 0;
    (is_alone && is_straight(&columns)).then_some(Alias { rule, head: rule.head, source })
}

/// All rows of a relation, with their columns in another order or as they are.
pub(super) struct HandedOn {
    pub(super) source: RelationId,
    /// The column of the source that becomes each column.
    pub(super) columns: Vec<usize>,
}

impl HandedOn {
    /// What a rule hands on, if it does nothing else.
    pub(super) fn of(rule: &Rule) -> Option<HandedOn> {
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
        is_whole.then_some(HandedOn { source: atom.relation, columns })
    }
}

/// Whether columns stay where they are.
pub(super) fn is_straight(columns: &[usize]) -> bool {
    columns.iter().copied().eq(0..columns.len())
}
