//! Safety: every variable gets its value from somewhere.
//!
//! Positive atoms bind their variables. `X = ..` binds `X` if no atom does and the other side is bound; which equality
//! binds and which one filters does not depend on the order in which they are written, except among equals.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::error::{AnalysisError, Role};
use super::program::{Argument, Expression, Literal, Rule};
use crate::data::VariableId;
use crate::diagnostic::Span;
use crate::syntax::ast::Comparison;

/// Where a variable needs a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    pub(super) variable: VariableId,
    pub(super) role: Role,
    pub(super) span: Span,
}

/// Turns the equalities that bind into assignments. Answers their positions in an order in which they can run, and
/// which variables are bound at all. `excused` are taken for bound, because they occur in something refused already.
pub(super) fn bind(rule: &mut Rule, excused: &[VariableId]) -> (Vec<usize>, Vec<bool>) {
    let mut binding = Binding::new(rule, excused);
    let mut assignments = Vec::new();
    while let Some(Reverse(position)) = binding.ready.pop() {
        let Some(variable) = binding.assigns(rule, position) else { continue };
        let literal = &mut rule.body[position];
        if let Literal::Filter { left, right, .. } = literal {
            let expression =
                if *left == Expression::Variable(variable) { right.clone() } else { left.clone() };
            *literal = Literal::Assign { variable, expression };
            assignments.push(position);
            binding.bind(variable);
        }
    }
    (assignments, binding.bound)
}

/// One error for each variable that has no value where it needs one.
pub(super) fn unbound(rule: &Rule, bound: &[bool], uses: &[Use], span: Span) -> Vec<AnalysisError> {
    let mut reported = HashSet::new();
    let is_unbound = |usage: &&Use| !bound[usage.variable.index()];
    uses.iter()
        .filter(is_unbound)
        .filter(|usage| reported.insert(usage.variable))
        .map(|usage| AnalysisError::Unbound {
            variable: rule.variables[usage.variable.index()].name.clone(),
            role: usage.role,
            span: usage.span,
            rule: span,
        })
        .collect()
}

/// Equalities that wait until enough of their variables are bound.
struct Binding {
    bound: Vec<bool>,
    /// For each variable, the equalities it occurs in.
    waiting: Vec<Vec<usize>>,
    /// For each literal, how many distinct variables it still misses.
    missing: Vec<usize>,
    /// Equalities that miss at most one variable: the first one written goes first.
    ready: BinaryHeap<Reverse<usize>>,
}

impl Binding {
    fn new(rule: &Rule, excused: &[VariableId]) -> Binding {
        let mut binding = Binding {
            bound: vec![false; rule.variables.len()],
            waiting: vec![Vec::new(); rule.variables.len()],
            missing: vec![0; rule.body.len()],
            ready: BinaryHeap::new(),
        };
        for literal in &rule.body {
            if let Literal::Atom(atom) = literal {
                for argument in &atom.arguments {
                    if let Argument::Variable(variable) = argument {
                        binding.bound[variable.index()] = true;
                    }
                }
            }
        }
        for variable in excused {
            binding.bound[variable.index()] = true;
        }
        for (position, literal) in rule.body.iter().enumerate() {
            if let Literal::Filter { operator: Comparison::Equal, left, right } = literal {
                let mut variables = HashSet::new();
                let mut visit = |variable: VariableId| {
                    if !binding.bound[variable.index()] && variables.insert(variable) {
                        binding.waiting[variable.index()].push(position);
                    }
                };
                left.for_each_variable(&mut visit);
                right.for_each_variable(&mut visit);
                binding.missing[position] = variables.len();
                if variables.len() == 1 {
                    binding.ready.push(Reverse(position));
                }
            }
        }
        binding
    }

    /// The variable that this equality can bind now.
    fn assigns(&self, rule: &Rule, position: usize) -> Option<VariableId> {
        let Literal::Filter { left, right, .. } = &rule.body[position] else { return None };
        let unbound = |variable: VariableId| !self.bound[variable.index()];
        let all_bound = |expression: &Expression| {
            let mut all = true;
            expression.for_each_variable(&mut |variable| all &= !unbound(variable));
            all
        };
        match (left, right) {
            (Expression::Variable(variable), other) if unbound(*variable) && all_bound(other) => {
                Some(*variable)
            }
            (other, Expression::Variable(variable)) if unbound(*variable) && all_bound(other) => {
                Some(*variable)
            }
            _ => None,
        }
    }

    fn bind(&mut self, variable: VariableId) {
        self.bound[variable.index()] = true;
        for position in std::mem::take(&mut self.waiting[variable.index()]) {
            self.missing[position] -= 1;
            if self.missing[position] == 1 {
                self.ready.push(Reverse(position));
            }
        }
    }
}
