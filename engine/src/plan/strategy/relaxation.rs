//! Which recursions through `min` and `max` relax edges.

use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Program, Rule, Stratum};
use crate::data::{Code, RelationId, Value, VariableId, inline_int};
use crate::plan::strategy::edges::{Columns, EdgeSource, derive, edges_of, end, variable, variables_of};
use crate::syntax::ast::Arithmetic;

/// A recursion that keeps the best value of each node, and whose every step hands it on along an edge, as it is or with what the edge
/// makes of it: `d(Y, min<D>) <- d(X, E), e(X, Y, W), D = E + W`. All other columns are carried along unchanged: each combination of
/// their values has its own best values.
#[derive(Debug, Clone)]
pub struct Relaxation {
    /// The relation.
    pub relation: RelationId,
    /// Its columns that are carried.
    pub carried: Vec<usize>,
    /// Its column of nodes.
    pub node: usize,
    /// Its column of values.
    pub value: usize,
    /// Whether large values are better than small ones.
    pub largest: bool,
    /// One entry a recursive rule.
    pub edges: Vec<Weighted>,
}

/// The edges of one rule, with what they make of a value.
#[derive(Debug, Clone)]
pub struct Weighted {
    /// Where they come from.
    pub source: EdgeSource,
    /// What becomes of a value and a weight, and where weights are; a value is handed on as it is if `None`.
    pub weight: Option<(Made, Weight)>,
    /// If not every carried value may take them: which may, as a rule with one column, and the column of the relation that has them.
    pub guards: Vec<(usize, Rule)>,
    /// If they may not end everywhere: from carried values to where they may, if one column is carried.
    pub allowed: Option<Columns>,
}

/// The weights of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Always the same.
    Constant(Code),
    /// What is in a column, of the relation or the rule that edges come from.
    Column(usize),
}

/// What becomes of a value and the weight of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// Their sum.
    Sum,
    /// The smaller one of them.
    Smaller,
    /// The larger one.
    Larger,
}

/// So many columns are carried at most.
const MOST_CARRIED: usize = 2;

/// The edges that a stratum relaxes, if it does nothing else.
pub(super) fn relaxation(stratum: &Stratum, program: &Program) -> Option<Relaxation> {
    let [relation] = *stratum.relations.as_slice() else { return None };
    let described = &program.relations[relation.index()];
    let best = described.best.filter(|best| !best.keeps_replaced)?;
    let reads_own = |rule: &&Rule| rule.atoms().any(|atom| atom.relation == relation);
    let recursive: Vec<&Rule> = stratum.rules.iter().filter(reads_own).collect();
    if recursive.is_empty() || described.arity > 2 + MOST_CARRIED {
        return None;
    }
    let columns = || (0..described.arity).filter(|column| *column != best.column);
    columns().find_map(|node| {
        let shape = Shape {
            relation,
            carried: columns().filter(|column| *column != node).collect(),
            node,
            value: best.column,
        };
        let edges = recursive.iter().map(|rule| shape.weighted(rule)).collect::<Option<_>>()?;
        let Shape { carried, value, .. } = shape;
        Some(Relaxation { relation, carried, node, value, largest: best.largest, edges })
    })
}

/// Which column of a relation may be what.
struct Shape {
    relation: RelationId,
    carried: Vec<usize>,
    node: usize,
    value: usize,
}

impl Shape {
    fn weighted(&self, rule: &Rule) -> Option<Weighted> {
        let is_own = |literal: &&Literal| literal.atom().is_some_and(|atom| atom.relation == self.relation);
        let (own, others): (Vec<&Literal>, Vec<&Literal>) = rule.body.iter().partition(is_own);
        let [Literal::Atom(start)] = own.as_slice() else { return None };
        let (from, value) = (end(start, self.node)?, variable(&end(start, self.value)?)?);
        let (to, better) = match (&rule.head_terms[self.node], &rule.head_terms[self.value]) {
            (HeadTerm::Expression(to), HeadTerm::Aggregate { argument, .. }) => (to.clone(), *argument),
            _ => return None,
        };
        let carried = self.carried.iter().map(|column| carried(rule, start, *column));
        let carried = carried.collect::<Option<Vec<VariableId>>>()?;
        let is_carried = |variable: &VariableId| carried.contains(variable);
        let ends = [variable(&from), variable(&to), Some(value)];
        let is_twice = |place: usize| carried[..place].contains(&carried[place]);
        if ends.iter().flatten().any(is_carried) || (0..carried.len()).any(is_twice) {
            return None;
        }
        let Apart { mut conditions, guards, allowed } = self.apart(rule, others, &carried, &to)?;
        let made = if better == value { None } else { Some(made(&mut conditions, better, value)?) };
        let reads_value = |literal: &&Literal| {
            variables_of(literal).is_none_or(|read| read.contains(&value) || read.contains(&better))
        };
        if conditions.iter().any(reads_value)
            || [&from, &to].into_iter().any(|end| variable(end) == Some(value))
        {
            return None;
        }
        let conditions: Vec<Literal> = conditions.into_iter().cloned().collect();
        let ends = vec![from, to];
        let (source, weight) = match made {
            None => (edges_of(rule, &conditions, ends)?, None),
            Some((made, Expression::Constant(Value::Int(n)))) => {
                (edges_of(rule, &conditions, ends)?, Some((made, Weight::Constant(inline_int(n)?))))
            }
            Some((made, weight)) => {
                let weight = variable(&weight).filter(|weight| !is_carried(weight))?;
                let (source, column) = weighted_edges(rule, &conditions, ends, weight)?;
                (source, Some((made, Weight::Column(column))))
            }
        };
        Some(Weighted { source, weight, guards, allowed })
    }

    /// Conditions on carried values, apart from those on edges.
    fn apart<'r>(
        &self,
        rule: &Rule,
        literals: Vec<&'r Literal>,
        carried: &[VariableId],
        to: &Expression,
    ) -> Option<Apart<'r>> {
        let mut conditions = Vec::with_capacity(literals.len());
        let mut guards: Vec<Vec<Literal>> = vec![Vec::new(); carried.len()];
        let mut allowed = None;
        for literal in literals {
            let read = variables_of(literal);
            let Some(read) = read.filter(|read| read.iter().any(|variable| carried.contains(variable)))
            else {
                conditions.push(literal);
                continue;
            };
            if let ([carried], None) = (carried, allowed)
                && read.len() == 2
                && let Some(EdgeSource::Relation(columns)) =
                    EdgeSource::between(std::slice::from_ref(literal), &Expression::Variable(*carried), to)
            {
                allowed = Some(columns);
                continue;
            }
            // Who may go on has to be known before.
            let place = carried.iter().position(|variable| read.len() == 1 && read.contains(variable))?;
            guards[place].push(literal.clone());
        }
        let mut rules = Vec::new();
        for (place, guard) in guards.into_iter().enumerate().filter(|(_, guard)| !guard.is_empty()) {
            // It has to say of itself which values it means.
            guard.iter().find_map(Literal::atom)?;
            rules
                .push((self.carried[place], derive(rule, vec![Expression::Variable(carried[place])], guard)));
        }
        Some(Apart { conditions, guards: rules, allowed })
    }
}

/// The conditions of a rule, and [`Weighted::guards`] and [`Weighted::allowed`].
struct Apart<'r> {
    conditions: Vec<&'r Literal>,
    guards: Vec<(usize, Rule)>,
    allowed: Option<Columns>,
}

/// Where edges with a weight come from, and the column of weights.
fn weighted_edges(
    rule: &Rule,
    conditions: &[Literal],
    ends: Vec<Expression>,
    weight: VariableId,
) -> Option<(EdgeSource, usize)> {
    if let (Some(source), [Literal::Atom(atom)]) =
        (EdgeSource::between(conditions, &ends[0], &ends[1]), conditions)
    {
        let is_weight = |argument: &Argument| *argument == Argument::Variable(weight);
        return Some((source, atom.arguments.iter().position(is_weight)?));
    }
    let head = ends.into_iter().chain([Expression::Variable(weight)]).collect();
    Some((edges_of(rule, conditions, head)?, 2))
}

/// The variable that a rule carries from one row of its relation to another one, in a column.
fn carried(rule: &Rule, start: &Atom, column: usize) -> Option<VariableId> {
    match (&rule.head_terms[column], &start.arguments[column]) {
        (HeadTerm::Expression(Expression::Variable(out)), Argument::Variable(variable)) => {
            (out == variable).then_some(*variable)
        }
        _ => None,
    }
}

/// How another value is made of a value, and of which weight; its computation is taken out of the conditions.
fn made(conditions: &mut Vec<&Literal>, better: VariableId, value: VariableId) -> Option<(Made, Expression)> {
    let computes =
        |literal: &&Literal| matches!(literal, Literal::Assign { variable, .. } if *variable == better);
    let position = conditions.iter().position(computes)?;
    let Literal::Assign { expression, .. } = conditions.remove(position) else { return None };
    let (made, left, right) = match expression {
        Expression::Arithmetic { operator: Arithmetic::Add, left, right } => (Made::Sum, &**left, &**right),
        Expression::Call { function, arguments } => match (function.name, arguments.as_slice()) {
            ("min_val", [left, right]) => (Made::Smaller, left, right),
            ("max_val", [left, right]) => (Made::Larger, left, right),
            _ => return None,
        },
        _ => return None,
    };
    let weight = match (variable(left), variable(right)) {
        (Some(left), _) if left == value => right,
        (_, Some(right)) if right == value => left,
        _ => return None,
    };
    match weight {
        Expression::Variable(weight) if *weight != value => Some((made, Expression::Variable(*weight))),
        Expression::Constant(Value::Int(n)) => Some((made, Expression::Constant(Value::Int(*n)))),
        _ => None,
    }
}
