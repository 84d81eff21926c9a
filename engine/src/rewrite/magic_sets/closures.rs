//! Closures: a relation of the paths along steps can be derived from its front or from its back.
//!
//! `t(X, Z) <- t(X, Y), step(Y, Z)`, `t(X, Z) <- step(X, Y), t(Y, Z)` and `t(X, Z) <- t(X, Y), t(Y, Z)` mean the same
//! beside `t(X, Y) <- step(X, Y)`. Asked with one end, a closure is best derived by the form that carries that end along.

use foldhash::HashMap;

use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Program, Rule};
use crate::data::{DataType, RelationId, VariableId};
use crate::rewrite::guarded::{add_variable, guard, head_argument};
use crate::rewrite::renamed::renamed;

/// The rules of a closure in the form that carries this column along. None if the relation is no closure, or has that
/// form already.
pub(super) fn carrying(
    column: usize,
    relation: RelationId,
    rules: &[&Rule],
    program: &Program,
) -> Option<Vec<Rule>> {
    let described = &program.relations[relation.index()];
    if described.arity != 2 || described.stored || rules.iter().any(|rule| rule.aggregates()) {
        return None;
    }
    let (recursive, steps): (Vec<&Rule>, Vec<&Rule>) =
        rules.iter().partition(|rule| rule.atoms().any(|atom| atom.relation == relation));
    let known: Vec<Vec<Literal>> =
        steps.iter().map(|rule| Some(canonical(&rule.body, ends(rule)?))).collect::<Option<_>>()?;
    // Whether each step is taken, all at the same end.
    let carries = |column: usize| {
        let taken: Option<Vec<_>> = recursive.iter().map(|rule| step_taken(rule, relation, column)).collect();
        taken.is_some_and(|taken| {
            taken.iter().all(|step| known.contains(step)) && known.iter().all(|step| taken.contains(step))
        })
    };
    let is_double = matches!(recursive.as_slice(), [rule] if is_double(rule, relation));
    let is_closure = is_double || !recursive.is_empty() && !carries(column) && carries(1 - column);
    is_closure.then(|| {
        let data_type = described.column_types[column];
        let longer = steps.iter().filter_map(|step| {
            let text = if let [rule] = recursive.as_slice() { &rule.text } else { &step.text };
            Some(Rule { text: text.clone(), ..longer(column, step, data_type)? })
        });
        steps.iter().map(|step| (*step).clone()).chain(longer).collect()
    })
}

/// Takes a step after a path, or before one, whose other end is carried.
fn longer(column: usize, step: &Rule, data_type: DataType) -> Option<Rule> {
    let (from, to) = ends(step)?;
    let mut rule = step.clone();
    let carried = add_variable(&mut rule, "?carried", data_type);
    let (own, head) =
        if column == 0 { ([carried, from], [carried, to]) } else { ([to, carried], [from, carried]) };
    rule.body.insert(0, Literal::Atom(guard(rule.head, own.into_iter().map(Argument::Variable))));
    rule.head_terms = head.map(|end| HeadTerm::Expression(Expression::Variable(end))).to_vec();
    Some(rule)
}

/// The two variables of a head, if rows are found by them: what is computed is only found.
pub(in crate::rewrite) fn ends(rule: &Rule) -> Option<(VariableId, VariableId)> {
    let is_computed = |end: VariableId| {
        rule.body
            .iter()
            .any(|literal| matches!(literal, Literal::Assign { variable, .. } if *variable == end))
    };
    match rule.head_terms.iter().map(head_argument).collect::<Option<Vec<_>>>()?.as_slice() {
        [Argument::Variable(from), Argument::Variable(to)]
            if from != to && !is_computed(*from) && !is_computed(*to) =>
        {
            Some((*from, *to))
        }
        _ => None,
    }
}

/// `t(X, Z) <- t(X, Y), t(Y, Z)`.
pub(in crate::rewrite) fn is_double(rule: &Rule, relation: RelationId) -> bool {
    let [Literal::Atom(a), Literal::Atom(b)] = rule.body.as_slice() else { return false };
    let Some((from, to)) = ends(rule) else { return false };
    let leads = |a: &Atom, b: &Atom| match (a.arguments.as_slice(), b.arguments.as_slice()) {
        (
            [Argument::Variable(x), Argument::Variable(y)],
            [Argument::Variable(again), Argument::Variable(z)],
        ) => (*x, *z) == (from, to) && y == again && ![from, to].contains(y),
        _ => false,
    };
    a.relation == relation && b.relation == relation && (leads(a, b) || leads(b, a))
}

/// The step that a rule takes at one end of a path, while it carries the column of the other one.
fn step_taken(rule: &Rule, relation: RelationId, carried: usize) -> Option<Vec<Literal>> {
    let (from, to) = ends(rule)?;
    let own = rule.atoms().find(|atom| atom.relation == relation)?;
    let [Argument::Variable(first), Argument::Variable(last)] = *own.arguments.as_slice() else {
        return None;
    };
    let is_own = |literal: &Literal| literal.atom().is_some_and(|atom| std::ptr::eq(atom, own));
    let body: Vec<Literal> = rule.body.iter().filter(|literal| !is_own(literal)).cloned().collect();
    let ((carried, kept), step) =
        if carried == 0 { ((first, from), (last, to)) } else { ((last, to), (from, first)) };
    let is_used = body.iter().any(|literal| literal.variables().contains(&carried));
    if carried != kept || is_used || step.0 == step.1 || [step.0, step.1].contains(&carried) {
        return None;
    }
    Some(canonical(&body, step))
}

/// The conditions of a step with their variables numbered: its ends first, and the others as they come.
fn canonical(body: &[Literal], (from, to): (VariableId, VariableId)) -> Vec<Literal> {
    let mut numbers = HashMap::from_iter([(from, VariableId::new(0)), (to, VariableId::new(1))]);
    let mut number = |variable: VariableId| {
        let next = VariableId::new(numbers.len());
        *numbers.entry(variable).or_insert(next)
    };
    body.iter().map(|literal| renamed(literal, &mut number)).collect()
}
