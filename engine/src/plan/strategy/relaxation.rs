//! Which recursions through `min` and `max` relax edges.

use crate::analysis::program::{Argument, Expression, HeadTerm, Literal, Program, Rule, Stratum};
use crate::data::{RelationId, Value, VariableId};
use crate::plan::strategy::edges::{EdgeSource, edges_of, end, variable, variables_of};
use crate::syntax::ast::Arithmetic;

/// A recursion that keeps the best value of each node, and whose every step hands it on along an edge, as it is or
/// with something added: `d(Y, min<D>) <- d(X, E), e(X, Y, W), D = E + W`.
#[derive(Debug, Clone)]
pub struct Relaxation {
    /// The relation.
    pub relation: RelationId,
    /// Its column of nodes. The other one has the values.
    pub node: usize,
    /// Whether large values are better than small ones.
    pub largest: bool,
    /// One entry a recursive rule.
    pub edges: Vec<Weighted>,
}

/// The edges of one rule, with what they add.
#[derive(Debug, Clone)]
pub struct Weighted {
    /// Where they come from.
    pub source: EdgeSource,
    /// The column, of the relation or the rule that they come from, with what is added; nothing is if `None`.
    pub weight: Option<usize>,
}

/// The edges that a stratum relaxes, if it does nothing else.
pub(super) fn relaxation(stratum: &Stratum, program: &Program) -> Option<Relaxation> {
    let [relation] = *stratum.relations.as_slice() else { return None };
    let described = &program.relations[relation.index()];
    let best = described.best.filter(|best| described.arity == 2 && !best.keeps_replaced)?;
    let reads_own = |rule: &&Rule| rule.atoms().any(|atom| atom.relation == relation);
    let recursive = stratum.rules.iter().filter(reads_own);
    let node = 1 - best.column;
    let edges = recursive.map(|rule| weighted(rule, relation, node)).collect::<Option<Vec<_>>>()?;
    (!edges.is_empty()).then_some(Relaxation { relation, node, largest: best.largest, edges })
}

fn weighted(rule: &Rule, relation: RelationId, node: usize) -> Option<Weighted> {
    let is_own = |literal: &&Literal| literal.atom().is_some_and(|atom| atom.relation == relation);
    let (own, mut conditions): (Vec<&Literal>, Vec<&Literal>) = rule.body.iter().partition(is_own);
    let [Literal::Atom(start)] = own.as_slice() else { return None };
    let (from, value) = (end(start, node)?, variable(&end(start, 1 - node)?)?);
    let (to, better) = match (&rule.head_terms[node], &rule.head_terms[1 - node]) {
        (HeadTerm::Expression(to), HeadTerm::Aggregate { argument, .. }) => (to.clone(), *argument),
        _ => return None,
    };
    let added = if better == value { None } else { Some(added(&mut conditions, better, value)?) };
    let reads_value = |literal: &&Literal| {
        variables_of(literal).is_none_or(|read| read.contains(&value) || read.contains(&better))
    };
    if conditions.iter().any(reads_value) || [&from, &to].into_iter().any(|end| variable(end) == Some(value))
    {
        return None;
    }
    let conditions: Vec<Literal> = conditions.into_iter().cloned().collect();
    let mut head = vec![from, to];
    let Some(added) = added else {
        return Some(Weighted { source: edges_of(rule, &conditions, head)?, weight: None });
    };
    if let (Some(source), [Literal::Atom(atom)]) =
        (EdgeSource::between(&conditions, &head[0], &head[1]), conditions.as_slice())
        && let Some(added) = variable(&added)
    {
        let weight = atom.arguments.iter().position(|argument| *argument == Argument::Variable(added))?;
        return Some(Weighted { source, weight: Some(weight) });
    }
    head.push(added);
    Some(Weighted { source: edges_of(rule, &conditions, head)?, weight: Some(2) })
}

/// What is added to a value to make another one; its computation is taken out of the conditions.
fn added(conditions: &mut Vec<&Literal>, sum: VariableId, value: VariableId) -> Option<Expression> {
    let computes =
        |literal: &&Literal| matches!(literal, Literal::Assign { variable, .. } if *variable == sum);
    let position = conditions.iter().position(computes)?;
    let Literal::Assign {
        expression: Expression::Arithmetic { operator: Arithmetic::Add, left, right }, ..
    } = conditions.remove(position)
    else {
        return None;
    };
    let added = match (variable(left), variable(right)) {
        (Some(left), _) if left == value => right,
        (_, Some(right)) if right == value => left,
        _ => return None,
    };
    match &**added {
        Expression::Variable(added) if *added != value => Some(Expression::Variable(*added)),
        Expression::Constant(Value::Int(n)) => Some(Expression::Constant(Value::Int(*n))),
        _ => None,
    }
}
