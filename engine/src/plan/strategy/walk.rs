//! Which recursions walk through a graph.

use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Program, Rule, Stratum};
use crate::data::RelationId;
use crate::plan::strategy::edges::{Columns, EdgeSource, derive, edges_of, end, variable, variables_of};

/// A recursion whose every step goes from a row to rows in which one column, the node, has moved along an edge. The
/// other column, if there is one, is carried along unchanged: `t(X, Z) <- t(X, Y), e(Y, Z)` carries `X` from `Y` to `Z`.
#[derive(Debug, Clone)]
pub struct Walk {
    /// The relation.
    pub relation: RelationId,
    /// The column that is carried.
    pub carried: Option<usize>,
    /// The column of the nodes.
    pub node: usize,
    /// One entry a recursive rule.
    pub edges: Vec<Edges>,
    /// Whether known rows are edges themselves. None has been taken along all of them then.
    pub is_own: bool,
}

/// The edges of one rule.
#[derive(Debug, Clone)]
pub struct Edges {
    /// Where they come from.
    pub source: EdgeSource,
    /// If not every carried value may take them: which may, as a rule with one column.
    pub guard: Option<Rule>,
}

/// The graph that a stratum walks through, if it does nothing else.
pub(super) fn walk(stratum: &Stratum, program: &Program) -> Option<Walk> {
    let [relation] = *stratum.relations.as_slice() else { return None };
    let described = &program.relations[relation.index()];
    if described.best.is_some() {
        return None;
    }
    let choices: &[(Option<usize>, usize)] = match described.arity {
        1 => &[(None, 0)],
        2 => &[(Some(0), 1), (Some(1), 0)],
        _ => return None,
    };
    let reads_own = |rule: &&Rule| rule.atoms().any(|atom| atom.relation == relation);
    let recursive: Vec<&Rule> = stratum.rules.iter().filter(reads_own).collect();
    if recursive.is_empty() {
        return None;
    }
    choices.iter().find_map(|&(carried, node)| {
        let edges: Vec<Edges> =
            recursive.iter().map(|rule| edges(rule, relation, carried, node)).collect::<Option<_>>()?;
        let own = |edges: &&Edges| edges.source.reads(relation);
        let is_own = edges.iter().any(|edges| own(&edges));
        if is_own {
            // Rows that are edges themselves lead as far as what they were derived from, so those that are known are
            // edges enough. That holds where no step depends on who takes it, and none is taken backwards.
            let forward = EdgeSource::Relation(Columns { relation, from: carried?, to: node });
            let is_closed = edges.iter().filter(own).all(|edges| edges.source == forward)
                && edges.iter().all(|edges| edges.guard.is_none());
            is_closed.then_some(())?;
        }
        Some(Walk { relation, carried, node, edges, is_own })
    })
}

/// What a rule walks along. Apart from the row that it starts from, its body is one atom with the edges, conditions on
/// them, and conditions on the carried value.
fn edges(rule: &Rule, relation: RelationId, carried: Option<usize>, node: usize) -> Option<Edges> {
    let own: Vec<&Atom> = rule.atoms().filter(|atom| atom.relation == relation).collect();
    if rule.ranking.is_some() {
        return None;
    }
    // The row that it starts from has the carried value.
    let hands_on = |atom: &&Atom, column: usize| match (&rule.head_terms[column], &atom.arguments[column]) {
        (HeadTerm::Expression(Expression::Variable(out)), Argument::Variable(variable)) => out == variable,
        _ => false,
    };
    let start = match (own.as_slice(), carried) {
        ([start], None) => *start,
        ([_] | [_, _], Some(column)) => *own.iter().find(|atom| hands_on(atom, column))?,
        _ => return None,
    };
    let carried = carried.and_then(|column| variable(&end(start, column)?));
    let from = end(start, node)?;
    let HeadTerm::Expression(to) = &rule.head_terms[node] else { return None };

    let mut conditions = Vec::new();
    let mut guards = Vec::new();
    for literal in &rule.body {
        if literal.atom().is_some_and(|atom| std::ptr::eq(atom, start)) {
            continue;
        }
        let read = variables_of(literal)?;
        if carried.is_some_and(|carried| read.contains(&carried)) {
            // Who may walk has to be known before the walk begins.
            if read.len() > 1 || literal.atom()?.relation == relation {
                return None;
            }
            guards.push(literal.clone());
        } else {
            conditions.push(literal.clone());
        }
    }
    if carried.is_some() && [&from, to].into_iter().any(|end| variable(end) == carried) {
        return None;
    }
    let source = edges_of(rule, &conditions, vec![from, to.clone()])?;
    let guard = carried
        .filter(|_| !guards.is_empty())
        .map(|carried| derive(rule, vec![Expression::Variable(carried)], guards));
    Some(Edges { source, guard })
}
