//! Walks and relaxations whose edges are rows of relations: what begins or ends in a node is looked up there.

use super::edges::{Columns, EdgeSource};
use super::relaxation::{Made, Relaxation, Weight, Weighted, relaxation};
use super::walk::{Walk, walk};
use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Program, Rule, Stratum, Test};
use crate::data::{RelationId, Value, VariableId};

/// Two columns of those rows of a relation that fulfil all conditions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PairsOf {
    pub columns: Columns,
    pub conditions: Vec<Condition>,
}

/// What is asked of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    pub test: Test,
    pub left: Operand,
    pub right: Operand,
}

/// What is compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Column(usize),
    Constant(Value),
}

/// A walk from a carried value to nodes, of which each edge is a row of a relation.
#[derive(Debug, Clone)]
pub(crate) struct PlainWalk<'p> {
    /// The relation.
    pub relation: RelationId,
    /// The column that is carried.
    pub carried: usize,
    /// The column of the nodes.
    pub node: usize,
    /// From carried values to the nodes in which their walks begin.
    pub starts: Vec<PairsOf>,
    /// Rules that say so in another way.
    pub start_rules: Vec<&'p Rule>,
    /// From node to node.
    pub edges: Vec<PairsOf>,
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
    pub starts: Vec<PairsOf>,
    /// Rules that say so in another way.
    pub start_rules: Vec<&'p Rule>,
    /// From node to node, with what they add to the value.
    pub edges: Vec<(PairsOf, Weight)>,
}

/// The plain walk that a stratum is, if it is one.
pub(crate) fn plain_walk<'p>(stratum: &'p Stratum, program: &Program) -> Option<PlainWalk<'p>> {
    let Walk { relation, carried, node, edges, .. } = walk(stratum, program)?;
    let carried = carried?;
    let (starts, start_rules) = starts(stratum, program, relation, [carried, node]);
    let mut along = Vec::new();
    for edges in &edges {
        match PairsOf::of(&edges.source).filter(|_| edges.guard.is_none())? {
            // Known rows lead as far as the starts that they came from.
            source if source.columns.relation == relation && start_rules.is_empty() => {
                starts.iter().for_each(|start| add(&mut along, start.clone()));
            }
            source if source.columns.relation == relation => return None,
            source => add(&mut along, source),
        }
    }
    Some(PlainWalk { relation, carried, node, starts, start_rules, edges: along })
}

fn add(sources: &mut Vec<PairsOf>, source: PairsOf) {
    if !sources.contains(&source) {
        sources.push(source);
    }
}

/// The best values of nodes that a stratum derives, if it does nothing else.
pub(crate) fn plain_bests<'p>(stratum: &'p Stratum, program: &Program) -> Option<PlainBests<'p>> {
    let of_relaxation = || {
        let relaxation = relaxation(stratum, program).filter(|relaxation| relaxation.carried.is_empty())?;
        let Relaxation { relation, node, value, largest, edges, .. } = relaxation;
        let edges = edges.iter().map(weighted).collect::<Option<Vec<_>>>()?;
        let adds_nothing = edges.iter().all(|(_, weight)| *weight == Weight::Constant(0));
        (!largest || adds_nothing).then_some((relation, node, Some(value), largest, edges))
    };
    let of_walk = || {
        let Walk { relation, carried, node, edges, .. } = walk(stratum, program)?;
        let plain = edges.iter().map(|edges| Some((PairsOf::of(&edges.source)?, Weight::Constant(0))));
        Some((relation, node, None, false, plain.collect::<Option<_>>()?)).filter(|_| carried.is_none())
    };
    let (relation, node, value, largest, edges) = of_relaxation().or_else(of_walk)?;
    let (starts, start_rules) = starts(stratum, program, relation, [node, value.unwrap_or(node)]);
    Some(PlainBests { relation, node, value, largest, starts, start_rules, edges })
}

/// Where the rows of a relation begin: in rows of these relations, and in what these rules derive otherwise.
fn starts<'p>(
    stratum: &'p Stratum,
    program: &Program,
    relation: RelationId,
    [from, to]: [usize; 2],
) -> (Vec<PairsOf>, Vec<&'p Rule>) {
    let (mut starts, mut start_rules) = (Vec::new(), Vec::new());
    // Where the best of values is kept, whatever is aggregated may stand beside it.
    let keeps_best = program.relations[relation.index()].best.is_some();
    for rule in stratum.rules.iter().filter(|rule| rule.reads().all(|read| read != relation)) {
        match handed_on(rule, from, to).filter(|_| keeps_best || !rule.aggregates()) {
            Some(source) => add(&mut starts, source),
            None => start_rules.push(rule),
        }
    }
    if program.relations[relation.index()].stored {
        add(&mut starts, PairsOf { columns: Columns { relation, from, to }, conditions: Vec::new() });
    }
    (starts, start_rules)
}

/// The rows that a rule hands on, if it does nothing else, or what it aggregates of them, in two columns of its head.
fn handed_on(rule: &Rule, from: usize, to: usize) -> Option<PairsOf> {
    let end = |column: usize| match &rule.head_terms[column] {
        HeadTerm::Expression(Expression::Variable(variable)) => Some(*variable),
        HeadTerm::Expression(_) => None,
        HeadTerm::Aggregate { argument, .. } => Some(*argument),
    };
    let rows = RowsOf::of(&rule.body).filter(|_| rule.ranking.is_none())?;
    let columns =
        Columns { relation: rows.atom.relation, from: rows.column(end(from)?)?, to: rows.column(end(to)?)? };
    Some(PairsOf { columns, conditions: rows.conditions })
}

impl PairsOf {
    /// The rows that edges are, if each is one.
    fn of(edges: &EdgeSource) -> Option<PairsOf> {
        match edges {
            EdgeSource::Relation(columns) => Some(PairsOf { columns: *columns, conditions: Vec::new() }),
            EdgeSource::Rule(rule) => handed_on(rule, 0, 1),
        }
    }
}

/// Edges with what they add, if they add something that is in a column or always the same.
fn weighted(edges: &Weighted) -> Option<(PairsOf, Weight)> {
    let weight = match (&edges.source, edges.weight) {
        (_, None) => Weight::Constant(0),
        (_, Some((made, _))) if made != Made::Sum => return None,
        (EdgeSource::Rule(rule), Some((_, Weight::Column(column)))) => match rule.head_terms.get(column)? {
            HeadTerm::Expression(Expression::Variable(added)) => {
                Weight::Column(RowsOf::of(&rule.body)?.column(*added)?)
            }
            _ => return None,
        },
        (_, Some((_, weight))) => weight,
    };
    Some((PairsOf::of(&edges.source)?, weight))
}

/// Rows of an atom, and what else a body asks of them: nothing that has to be looked up.
struct RowsOf<'b> {
    atom: &'b Atom,
    conditions: Vec<Condition>,
}

impl<'b> RowsOf<'b> {
    fn of(body: &'b [Literal]) -> Option<RowsOf<'b>> {
        let mut others = body.iter().filter(|literal| !matches!(literal, Literal::Filter { .. }));
        let (Some(Literal::Atom(atom)), None) = (others.next(), others.next()) else { return None };
        let mut rows = RowsOf { atom, conditions: Vec::new() };
        for (column, argument) in atom.arguments.iter().enumerate() {
            let same = match argument {
                Argument::Any => continue,
                Argument::Constant(value) => Operand::Constant(value.clone()),
                Argument::Variable(variable) => match rows.column(*variable)? {
                    first if first == column => continue,
                    first => Operand::Column(first),
                },
            };
            let condition = Condition { test: Test::Same, left: Operand::Column(column), right: same };
            rows.conditions.push(condition);
        }
        for literal in body {
            if let Literal::Filter { operator, left, right } = literal {
                let (left, right) = (rows.operand(left)?, rows.operand(right)?);
                rows.conditions.push(Condition { test: *operator, left, right });
            }
        }
        Some(rows)
    }

    fn column(&self, variable: VariableId) -> Option<usize> {
        self.atom.arguments.iter().position(|argument| *argument == Argument::Variable(variable))
    }

    fn operand(&self, expression: &Expression) -> Option<Operand> {
        match expression {
            Expression::Variable(variable) => Some(Operand::Column(self.column(*variable)?)),
            Expression::Constant(value) => Some(Operand::Constant(value.clone())),
            Expression::Arithmetic { .. } | Expression::Call { .. } => None,
        }
    }
}
