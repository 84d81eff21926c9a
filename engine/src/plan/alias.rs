//! Strata without work: a relation handed through column for column, such as `?path(X, Y)` does, shares the runs of the
//! one that it reads.

use foldhash::{HashSet, HashSetExt};

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
    let [Literal::Atom(atom)] = rule.body.as_slice() else { return None };
    if stratum.recursive
        || rule.ranking.is_some()
        || program.relations[rule.head.index()].best.is_some()
        || statistics.rows(rule.head) > 0
        || rule.head_terms.len() != atom.arguments.len()
    {
        return None;
    }
    let mut seen = HashSet::new();
    let straight =
        rule.head_terms.iter().zip(&atom.arguments).all(|(term, argument)| match (term, argument) {
            (HeadTerm::Expression(Expression::Variable(out)), Argument::Variable(variable)) => {
                out == variable && seen.insert(*variable)
            }
            _ => false,
        });
    straight.then_some(Alias { rule, head: rule.head, source: atom.relation })
}
