//! What the rules of a graph read, and which of its relations need each other.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::dependencies::{Dependencies, Use};
use crate::catalog::Catalog;

/// A derived relation, and one that its rules read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleEdge<'c> {
    /// The derived relation.
    pub(crate) relation: &'c str,
    /// What its rules read, and how; nothing where they read no relation.
    pub(crate) reads: Option<(&'c str, Use)>,
    /// How many relations have to be derived one after the other before this one.
    pub(crate) stratum: usize,
    /// Whether the two follow from each other.
    pub(crate) is_recursive: bool,
}

/// Every derived relation with everything that its rules read, in the order of the names.
pub(crate) fn rule_graph(catalog: &Catalog) -> Vec<RuleEdge<'_>> {
    let names: Vec<&str> = catalog.derived().map(|(name, _)| name).collect();
    let numbers: HashMap<&str, usize> = names.iter().copied().zip(0..).collect();
    let reads: Vec<BTreeSet<(&str, Use)>> = names.iter().map(|name| reads_of(name, catalog)).collect();
    let mut dependencies = Dependencies::new(names.len());
    for (number, reads) in reads.iter().enumerate() {
        for (read, how) in reads {
            if let Some(read) = numbers.get(read) {
                dependencies.add(number, *read, *how);
            }
        }
    }
    // Each component comes after those that it reads.
    let (mut component_of, mut strata) = (vec![0; names.len()], Vec::new());
    for (number, component) in dependencies.components().into_iter().enumerate() {
        component.iter().for_each(|node| component_of[*node] = number);
        let read = component.iter().flat_map(|node| dependencies.of(*node)).map(|(to, _)| component_of[*to]);
        let below = read.filter(|read| *read != number).map(|read| strata[read] + 1).max();
        strata.push(below.unwrap_or(0));
    }
    let mut edges = Vec::new();
    for (number, reads) in reads.iter().enumerate() {
        let component = component_of[number];
        let is_inside = |read: &str| numbers.get(read).is_some_and(|read| component_of[*read] == component);
        let edge = |reads, is_recursive| RuleEdge {
            relation: names[number],
            reads,
            stratum: strata[component],
            is_recursive,
        };
        if reads.is_empty() {
            edges.push(edge(None, false));
        }
        edges.extend(reads.iter().map(|read| edge(Some(*read), is_inside(read.0))));
    }
    edges
}

/// The relations that the rules of one read. Of an index that is searched, the relation that it is of.
fn reads_of<'c>(head: &'c str, catalog: &'c Catalog) -> BTreeSet<(&'c str, Use)> {
    let uses = catalog.uses();
    let mut reads = BTreeSet::new();
    for (name, how) in uses.of(head) {
        let mut is_index = false;
        if !catalog.has_rule(name) {
            for (searched, _) in uses.of(name) {
                is_index = true;
                reads.insert((searched, how));
            }
        }
        if !is_index {
            reads.insert((name, how));
        }
    }
    reads
}
