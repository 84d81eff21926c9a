//! Safety: every variable gets its value from somewhere.
//!
//! Positive atoms bind their variables. `X = ..` binds `X` if no atom does and the other side is bound; which equality
//! binds and which ones filter does not depend on the order in which conditions are written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use foldhash::{HashSet, HashSetExt};

use super::error::{AnalysisError, Role};
use super::program::{Argument, Expression, Literal, Rule, Test};
use crate::data::{Value, VariableId};
use crate::diagnostic::Span;
use crate::functions::lists::{is_each, membership};
use crate::syntax::ast::Comparison;

/// Where a variable needs a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    pub(super) variable: VariableId,
    pub(super) role: Role,
    pub(super) span: Span,
}

/// Where a variable has its value from, which decides how it is compared. Of several equalities that could bind a variable
/// the one with the first origin of these does, and among those the first by its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// An atom has it in one of its columns.
    Stored,
    /// It is computed.
    Computed,
    /// A constant was written.
    Written,
}

/// What binds the variables of a rule.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    /// The positions of the assignments, in an order in which they can run.
    pub(super) assignments: Vec<usize>,
    /// For each variable that has a value: from where.
    pub(super) origins: Vec<Option<Origin>>,
}

/// Turns the equalities that bind into assignments, and those between stored values into comparisons by identity.
/// `excused` variables are taken for bound, because they occur in something refused already.
pub(super) fn bind(rule: &mut Rule, excused: &[VariableId]) -> Bindings {
    let mut binding = Binding::new(rule, excused);
    let mut assignments = Vec::new();
    while let Some(Reverse(((_, origin, _), position))) = binding.ready.pop() {
        let Some((variable, expression)) = binding.assigns(rule, position) else { continue };
        let expression = expression.clone();
        rule.body[position] = Literal::Assign { variable, expression };
        assignments.push(position);
        binding.bind(variable, origin, rule);
    }
    let origins = binding.origins;
    rule.body.iter_mut().for_each(test_membership);
    let is_stored = |side: &Expression| match side {
        Expression::Variable(variable) => origins[variable.index()] == Some(Origin::Stored),
        Expression::Constant(_) | Expression::Arithmetic { .. } | Expression::Call { .. } => false,
    };
    for literal in &mut rule.body {
        let Literal::Filter { operator, left, right } = literal else { continue };
        match operator {
            Test::ByValue(Comparison::Equal) if is_stored(left) && is_stored(right) => *operator = Test::Same,
            Test::ByValue(Comparison::NotEqual) if is_stored(left) && is_stored(right) => {
                *operator = Test::Different;
            }
            Test::Not(Comparison::NotEqual) if is_stored(left) && is_stored(right) => *operator = Test::Same,
            Test::ByValue(_) | Test::Not(_) | Test::Same | Test::Different => {}
        }
    }
    Bindings { assignments, origins }
}

/// `X = each(L)` where something else binds `X`: whether the list has such an element. Under a negation, whether not.
fn test_membership(literal: &mut Literal) {
    let Literal::Filter { operator, left, right } = literal else { return };
    let Test::ByValue(Comparison::Equal | Comparison::NotEqual) = *operator else { return };
    let (list, element) = match (&*left, &*right) {
        (element, Expression::Call { function, arguments }) if is_each(function) => (arguments, element),
        (Expression::Call { function, arguments }, element) if is_each(function) => (arguments, element),
        _ => return,
    };
    if let (Some(function), [list]) = (membership(), list.as_slice()) {
        let arguments = vec![list.clone(), element.clone()];
        *left = Expression::Call { function, arguments };
        *right = Expression::Constant(Value::Bool(true));
    }
}

/// One error for each variable that has no value where it needs one.
pub(super) fn unbound(rule: &Rule, bindings: &Bindings, uses: &[Use], span: Span) -> Vec<AnalysisError> {
    let mut reported = HashSet::new();
    let is_unbound = |usage: &&Use| bindings.origins[usage.variable.index()].is_none();
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

/// Which equality binds first: one with the literal `null`, then by the origin that the variable would have, then by text.
type Rank = (bool, Origin, String);

/// Equalities that wait until enough of their variables are bound.
struct Binding {
    origins: Vec<Option<Origin>>,
    /// For each variable, the equalities it occurs in.
    waiting: Vec<Vec<usize>>,
    /// For each literal, how many distinct variables it still misses.
    missing: Vec<usize>,
    /// Equalities that may bind a variable: which goes first, and the literal.
    ready: BinaryHeap<Reverse<(Rank, usize)>>,
}

impl Binding {
    fn new(rule: &Rule, excused: &[VariableId]) -> Binding {
        let mut binding = Binding {
            origins: vec![None; rule.variables.len()],
            waiting: vec![Vec::new(); rule.variables.len()],
            missing: vec![0; rule.body.len()],
            ready: BinaryHeap::new(),
        };
        for atom in rule.atoms() {
            for argument in &atom.arguments {
                if let Argument::Variable(variable) = argument {
                    binding.origins[variable.index()] = Some(Origin::Stored);
                }
            }
        }
        for variable in excused {
            binding.origins[variable.index()] = Some(Origin::Stored);
        }
        for (position, literal) in rule.body.iter().enumerate() {
            if let Literal::Filter { operator: Test::ByValue(Comparison::Equal), left, right } = literal {
                let mut variables = HashSet::new();
                let mut visit = |variable: VariableId| {
                    if binding.origins[variable.index()].is_none() && variables.insert(variable) {
                        binding.waiting[variable.index()].push(position);
                    }
                };
                left.for_each_variable(&mut visit);
                right.for_each_variable(&mut visit);
                binding.missing[position] = variables.len();
                binding.offer(rule, position);
            }
        }
        binding
    }

    /// The variable that this equality can bind now, and to what.
    fn assigns<'r>(&self, rule: &'r Rule, position: usize) -> Option<(VariableId, &'r Expression)> {
        let Literal::Filter { left, right, .. } = &rule.body[position] else { return None };
        let is_bound = |variable: VariableId| self.origins[variable.index()].is_some();
        let all_bound = |expression: &Expression| {
            let mut all = true;
            expression.for_each_variable(&mut |variable| all &= is_bound(variable));
            all
        };
        match (left, right) {
            (Expression::Variable(variable), other) | (other, Expression::Variable(variable))
                if !is_bound(*variable) && all_bound(other) =>
            {
                Some((*variable, other))
            }
            _ => None,
        }
    }

    fn bind(&mut self, variable: VariableId, origin: Origin, rule: &Rule) {
        self.origins[variable.index()] = Some(origin);
        for position in std::mem::take(&mut self.waiting[variable.index()]) {
            self.missing[position] -= 1;
            self.offer(rule, position);
        }
    }

    /// Puts an equality among those that may bind, if it can.
    fn offer(&mut self, rule: &Rule, position: usize) {
        if self.missing[position] != 1 {
            return;
        }
        let Some((_, expression)) = self.assigns(rule, position) else { return };
        let origin = match expression {
            Expression::Constant(_) => Origin::Written,
            Expression::Variable(variable) => self.origins[variable.index()].unwrap_or(Origin::Computed),
            Expression::Arithmetic { .. } | Expression::Call { .. } => Origin::Computed,
        };
        let text = expression.text(&|variable| rule.variables[variable.index()].name.as_str());
        // As a condition it never holds, so it can only be meant to bind.
        let is_null = *expression == Expression::Constant(Value::Null);
        self.ready.push(Reverse(((!is_null, origin, text), position)));
    }
}
