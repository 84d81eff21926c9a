//! How the rows of an atom are looked up: the choice among the ways that [`LookupBy`] lists.

use super::operators::{KeyPart, Lookup, LookupBy, Source};
use crate::data::{RelationId, VariableId};
use crate::plan::statistics::Statistics;

/// How a probe finds rows, `arity` being the number of columns of its relation.
pub(super) fn probe_by(
    lookup: &Lookup,
    outputs: &[(usize, VariableId)],
    arity: usize,
    statistics: &dyn Statistics,
) -> LookupBy {
    if lookup.key.is_empty() {
        return LookupBy::Order;
    }
    let Some(layout) = statistics.layout(lookup.access.relation) else { return LookupBy::Index };
    if begins_with_constants(lookup) && layout.is_in_order() {
        return LookupBy::Order;
    }
    let ([(from, _)], [], [_]) = (lookup.key.as_slice(), lookup.equal.as_slice(), outputs) else {
        return LookupBy::Index;
    };
    if layout.is_masked() {
        LookupBy::Index
    } else if layout.may_be_key(*from) {
        LookupBy::Mapping
    } else if edges_serve(lookup.access.relation, *from, arity, statistics) {
        LookupBy::Adjacency
    } else {
        LookupBy::Index
    }
}

/// Whether edges from a column serve a look-up best: with more columns each pair of them would have its own, where one
/// index serves all.
pub fn edges_serve(relation: RelationId, from: usize, arity: usize, statistics: &dyn Statistics) -> bool {
    arity == 2 && statistics.layout(relation).is_some_and(|layout| !layout.is_indexed_by(from))
}

/// How a semijoin finds rows among bindings that come in the order of their source.
pub(super) fn exists_by(
    lookup: &Lookup,
    source: &Source,
    arity: usize,
    statistics: &dyn Statistics,
) -> LookupBy {
    if lookup.key.is_empty() {
        return LookupBy::Order;
    }
    let Some(layout) = statistics.layout(lookup.access.relation) else { return LookupBy::Index };
    if begins_with_constants(lookup) && layout.is_in_order() {
        return LookupBy::Order;
    }
    let Source::Scan(scan) = source else { return LookupBy::Index };
    let is_whole = lookup.key.len() == arity;
    let in_order = lookup.key.iter().enumerate().all(|(place, (column, part))| match part {
        KeyPart::Variable(variable) => *column == place && scan.outputs.contains(&(place, *variable)),
        KeyPart::Constant(_) => false,
    });
    let is_merged = is_whole
        && in_order
        && layout.is_in_order()
        && statistics.layout(scan.access.relation).is_some_and(|layout| layout.is_in_order());
    if is_merged { LookupBy::Merge } else { LookupBy::Index }
}

/// Whether constants are all that is looked up, in the first columns.
fn begins_with_constants(lookup: &Lookup) -> bool {
    lookup
        .key
        .iter()
        .enumerate()
        .all(|(place, (column, part))| *column == place && matches!(part, KeyPart::Constant(_)))
}
