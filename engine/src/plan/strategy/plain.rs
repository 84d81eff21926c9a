//! Walks and relaxations whose edges are rows of relations as they are: what begins or ends in a node is looked up there.

use std::collections::BTreeSet;

use super::edges::{Columns, EdgeSource};
use super::relaxation::{Relaxation, Weighted, relaxation};
use super::walk::{Walk, walk};
use crate::analysis::program::{Expression, HeadTerm, Program, Rule, Stratum};
use crate::data::{Code, RelationId, Value, inline_int};

/// A walk from a carried value to nodes, of which each start and each edge is in two columns of a row.
#[derive(Debug, Clone)]
pub(crate) struct PlainWalk {
    /// The relation.
    pub relation: RelationId,
    /// The column that is carried.
    pub carried: usize,
    /// The column of the nodes.
    pub node: usize,
    /// From carried values to the nodes in which their walks begin.
    pub starts: Vec<Columns>,
    /// From node to node.
    pub edges: Vec<Columns>,
}

/// The best value of each node that edges lead to, or whether any do.
#[derive(Debug, Clone)]
pub(crate) struct PlainBests<'p> {
    /// The relation.
    pub relation: RelationId,
    /// The column of the nodes.
    pub node: usize,
    /// The column of their values, if they have any.
    pub value: Option<usize>,
    /// Whether large values are better than small ones. Edges add nothing then.
    pub largest: bool,
    /// From the nodes in which it begins to their values.
    pub starts: Vec<Columns>,
    /// Rules that say so in another way.
    pub start_rules: Vec<&'p Rule>,
    /// From node to node, with what they add to the value.
    pub edges: Vec<(Columns, Weight)>,
}

/// What an edge adds to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Always the same.
    Constant(Code),
    /// What is in a column.
    Column(usize),
}

/// The plain walk that a stratum is, if it is one.
pub(crate) fn plain_walk(stratum: &Stratum, program: &Program) -> Option<PlainWalk> {
    let Walk { relation, carried, node, edges, .. } = walk(stratum, program)?;
    let carried = carried?;
    let stored = program.relations[relation.index()].stored;
    let stored = stored.then_some(Columns { relation, from: carried, to: node });
    let starts = exit_rules(stratum, relation).map(|rule| handed_on(rule, carried, node));
    let starts = starts.chain(stored.map(Some)).collect::<Option<BTreeSet<Columns>>>()?;
    let mut along = BTreeSet::new();
    for edges in edges {
        match edges.source.columns().filter(|_| edges.guard.is_none())? {
            // Known rows lead as far as the starts that they came from.
            columns if columns.relation == relation => along.extend(&starts),
            columns => along.extend([columns]),
        }
    }
    let (starts, edges) = (starts.into_iter().collect(), along.into_iter().collect());
    Some(PlainWalk { relation, carried, node, starts, edges })
}

/// The best values of nodes that a stratum derives, if it does nothing else.
pub(crate) fn plain_bests<'p>(stratum: &'p Stratum, program: &Program) -> Option<PlainBests<'p>> {
    let of_relaxation = || {
        let Relaxation { relation, node, largest, edges } = relaxation(stratum, program)?;
        let edges = edges.iter().map(weighted).collect::<Option<Vec<_>>>()?;
        let adds_nothing = edges.iter().all(|(_, weight)| *weight == Weight::Constant(0));
        (!largest || adds_nothing).then_some((relation, node, Some(1 - node), largest, edges))
    };
    let of_walk = || {
        let Walk { relation, carried, node, edges, .. } = walk(stratum, program)?;
        let plain = edges.iter().map(|edges| Some((edges.source.columns()?, Weight::Constant(0))));
        Some((relation, node, None, false, plain.collect::<Option<_>>()?)).filter(|_| carried.is_none())
    };
    let (relation, node, value, largest, edges) = of_relaxation().or_else(of_walk)?;
    let (mut starts, mut start_rules) = (Vec::new(), Vec::new());
    for rule in exit_rules(stratum, relation) {
        match handed_on(rule, node, value.unwrap_or(node)) {
            Some(columns) => starts.push(columns),
            None => start_rules.push(rule),
        }
    }
    if program.relations[relation.index()].stored {
        starts.push(Columns { relation, from: node, to: value.unwrap_or(node) });
    }
    Some(PlainBests { relation, node, value, largest, starts, start_rules, edges })
}

/// The rules that read nothing of what they derive.
fn exit_rules(stratum: &Stratum, relation: RelationId) -> impl Iterator<Item = &Rule> {
    stratum.rules.iter().filter(move |rule| rule.reads().all(|read| read != relation))
}

/// The columns of a relation between which a rule's head has these, if it hands them on as they are.
fn handed_on(rule: &Rule, from: usize, to: usize) -> Option<Columns> {
    let end = |column: usize| match &rule.head_terms[column] {
        HeadTerm::Expression(expression) => expression.clone(),
        HeadTerm::Aggregate { argument, .. } => Expression::Variable(*argument),
    };
    let source = EdgeSource::between(&rule.body, &end(from), &end(to))?;
    source.columns().filter(|_| rule.ranking.is_none())
}

/// Edges with what they add, if that is in a column or always the same.
fn weighted(edges: &Weighted) -> Option<(Columns, Weight)> {
    match (&edges.source, edges.weight) {
        (EdgeSource::Relation(columns), weight) => {
            Some((*columns, weight.map_or(Weight::Constant(0), Weight::Column)))
        }
        (EdgeSource::Rule(rule), Some(weight)) => match rule.head_terms.get(weight)? {
            HeadTerm::Expression(Expression::Constant(Value::Int(added))) => {
                Some((handed_on(rule, 0, 1)?, Weight::Constant(inline_int(*added)?)))
            }
            _ => None,
        },
        (EdgeSource::Rule(_), None) => None,
    }
}
