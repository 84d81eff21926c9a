//! Strata that put relations together, each as it is: `edge(X, Y) <- calls(X, Y)`, `edge(X, Y) <- imports(X, Y)`. Stored rows
//! stand in the order of their columns, so they are merged: rows that come twice are found without a set of all of them, and the
//! result stands in order as well.

use super::alias::HandedOn;
use super::cost::Thresholds;
use super::statistics::Statistics;
use crate::analysis::program::{Program, Stratum};
use crate::data::RelationId;

/// A relation that has the rows of several others, and those that are stored of it.
pub struct Union<'p> {
    /// The relation.
    pub head: RelationId,
    /// The others.
    pub parts: Vec<HandedOn<'p>>,
}

/// What a stratum puts together, if it does no more than that, and at least half of the rows are in order.
pub(super) fn union<'p>(
    stratum: &'p Stratum,
    program: &Program,
    statistics: &dyn Statistics,
    thresholds: &Thresholds,
) -> Option<Union<'p>> {
    let [head] = *stratum.relations.as_slice() else { return None };
    let known = &program.relations[head.index()];
    if stratum.recursive || stratum.rules.len() < 2 || known.best.is_some() || known.arity == 0 {
        return None;
    }
    let parts: Vec<HandedOn<'_>> = stratum.rules.iter().map(HandedOn::of).collect::<Option<_>>()?;
    let is_in_order = |relation| statistics.layout(relation).is_some_and(|layout| layout.is_in_order());
    let rows = |part: &HandedOn<'_>| statistics.rows(part.source);
    let stored = statistics.rows(head);
    let all = stored + parts.iter().map(rows).sum::<usize>();
    let ordered = parts.iter().filter(|part| part.is_straight() && is_in_order(part.source));
    let ordered = stored + ordered.map(rows).sum::<usize>();
    (all >= thresholds.union_rows && ordered * 2 >= all && (stored == 0 || is_in_order(head)))
        .then_some(Union { head, parts })
}
