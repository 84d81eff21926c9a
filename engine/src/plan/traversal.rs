//! Which recursions walk through a graph.

use super::edges::{EdgeSource, derive, edges_of, variable, variables_of};
use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Program, Rule, Stratum};
use crate::data::{RelationId, VariableId};

/// A recursion whose every step goes from a row to rows in which one column, the node, has moved along an edge. The
/// other column, if there is one, is carried along unchanged: `t(X, Z) <- t(X, Y), e(Y, Z)` carries `X` from `Y` to `Z`.
#[derive(Debug, Clone)]
pub struct Traversal {
    /// The relation.
    pub relation: RelationId,
    /// The column that is carried.
    pub carried: Option<usize>,
    /// The column of the nodes.
    pub node: usize,
    /// One entry a recursive rule.
    pub edges: Vec<Edges>,
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
pub(super) fn traversal(stratum: &Stratum, program: &Program) -> Option<Traversal> {
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
    let is_own = |literal: &&Literal| matches!(literal, Literal::Atom(atom) if atom.relation == relation);
    let recursive: Vec<&Rule> =
        stratum.rules.iter().filter(|rule| rule.body.iter().any(|literal| is_own(&literal))).collect();
    if recursive.is_empty() {
        return None;
    }
    choices.iter().find_map(|&(carried, node)| {
        let edges: Vec<Edges> =
            recursive.iter().map(|rule| edges(rule, relation, carried, node)).collect::<Option<_>>()?;
        let own = |edges: &&Edges| edges.source.reads(relation);
        if edges.iter().any(|edges| own(&edges)) {
            // Rows that are edges themselves lead as far as what they were derived from, so those that are known are
            // edges enough. That holds where no step depends on who takes it, and none is taken backwards.
            let forward = EdgeSource::Relation { relation, from: carried?, to: node };
            let is_closed = edges.iter().filter(own).all(|edges| edges.source == forward)
                && edges.iter().all(|edges| edges.guard.is_none());
            is_closed.then_some(())?;
        }
        Some(Traversal { relation, carried, node, edges })
    })
}

/// What a rule walks along. Apart from the row that it starts from, its body is one atom with the edges, conditions on
/// them, and conditions on the carried value.
fn edges(rule: &Rule, relation: RelationId, carried: Option<usize>, node: usize) -> Option<Edges> {
    let own: Vec<&Atom> = rule
        .body
        .iter()
        .filter_map(|literal| match literal {
            Literal::Atom(atom) if atom.relation == relation => Some(atom),
            Literal::Atom(_) | Literal::Negated(_) | Literal::Filter { .. } | Literal::Assign { .. } => None,
        })
        .collect();
    if rule.ranking.is_some() {
        return None;
    }
    let start = match own.as_slice() {
        [start] => *start,
        [first, second] => {
            let column = carried?;
            let out = match &rule.head_terms[column] {
                HeadTerm::Expression(out) => variable(out)?,
                HeadTerm::Aggregate { .. } => return None,
            };
            *[first, second].into_iter().find(|atom| atom.arguments[column] == Argument::Variable(out))?
        }
        _ => return None,
    };
    let carried = match carried {
        None => None,
        Some(column) => match (&rule.head_terms[column], &start.arguments[column]) {
            (HeadTerm::Expression(Expression::Variable(out)), Argument::Variable(variable))
                if out == variable =>
            {
                Some(*variable)
            }
            _ => return None,
        },
    };
    let from = match &start.arguments[node] {
        Argument::Variable(variable) => Expression::Variable(*variable),
        Argument::Constant(value) => Expression::Constant(value.clone()),
        Argument::Any => return None,
    };
    let to = match &rule.head_terms[node] {
        HeadTerm::Expression(plain @ (Expression::Variable(_) | Expression::Constant(_))) => plain.clone(),
        HeadTerm::Expression(_) | HeadTerm::Aggregate { .. } => return None,
    };

    let mut conditions = Vec::new();
    let mut guards = Vec::new();
    for literal in &rule.body {
        if matches!(literal, Literal::Atom(atom) if std::ptr::eq(atom, start)) {
            continue;
        }
        let read = variables_of(literal)?;
        if carried.is_some_and(|carried| read.contains(&carried)) {
            if read.len() > 1 || !matches!(literal, Literal::Atom(_)) {
                return None;
            }
            guards.push(literal.clone());
        } else {
            conditions.push(literal.clone());
        }
    }
    let ends: Vec<VariableId> = [&from, &to].into_iter().filter_map(variable).collect();
    if ends.iter().any(|end| Some(*end) == carried) {
        return None;
    }
    let source = edges_of(rule, &conditions, vec![from, to])?;
    let guard = carried
        .filter(|_| !guards.is_empty())
        .map(|carried| derive(rule, vec![Expression::Variable(carried)], guards));
    Some(Edges { source, guard })
}
