//! The literals of a body, one after the other: an atom that shares variables with what is there, and conditions as soon as
//! they can be told.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use datafusion_common::{Result, internal_err};
use datafusion_datasource::memory::MemorySourceConfig;
use stratalog_engine::analysis::program::{Expression, Literal, Rule};
use stratalog_engine::data::{RelationId, VariableId};

use super::Lowering;
use super::flow::{Expr, Flow, column, constant, filtered, projected};
use crate::batches::schema;
use crate::failure::carried;
use crate::nodes::{Computed, Wanted};
use crate::table::Table;

/// Which rows an atom reads, by the position of its literal.
pub(crate) type Read<'r> = dyn Fn(usize, RelationId) -> Table + 'r;

impl Lowering<'_> {
    /// The solutions of a rule's body. If `first` is an atom's position, the others are joined to that one.
    pub(super) fn solutions(&self, rule: &Rule, first: Option<usize>, read: &Read<'_>) -> Result<Flow> {
        let mut rest: Vec<usize> = (0..rule.body.len()).collect();
        let first = first.or_else(|| nearest_atom(rule, &rest, &[], read));
        let begin = first.and_then(|position| Some((position, rule.body[position].atom()?)));
        let mut flow = match begin {
            Some((position, atom)) => {
                rest.retain(|other| *other != position);
                needed(self.matches(atom, &read(position, atom.relation))?, rule, &rest)?
            }
            None => one_row()?,
        };
        while !rest.is_empty() {
            let Some(position) = next_literal(rule, &rest, &flow.variables, read) else {
                return internal_err!("a condition of `{}` is never told", rule.text);
            };
            rest.retain(|other| *other != position);
            let table = |relation| read(position, relation);
            flow = needed(self.after(flow, &rule.body[position], table)?, rule, &rest)?;
        }
        Ok(flow)
    }

    /// The values of an expression for each row.
    pub(super) fn computed(&self, flow: &Flow, expression: &Expression) -> Result<Expr> {
        Ok(match expression {
            Expression::Variable(variable) => flow.column(*variable),
            Expression::Constant(value) => {
                let code = self.computation.codec().encode(value.as_ref());
                constant(code.map_err(|full| carried(full.into()))?)
            }
            Expression::Arithmetic { .. } | Expression::Call { .. } => {
                self.wanted(flow, &[expression], Wanted::Code(expression.clone()))
            }
        })
    }

    /// What the engine computes of some expressions over a flow.
    fn wanted(&self, flow: &Flow, expressions: &[&Expression], wanted: Wanted) -> Expr {
        let mut variables = Vec::new();
        for expression in expressions {
            expression.for_each_variable(&mut |variable| {
                if !variables.contains(&variable) {
                    variables.push(variable);
                }
            });
        }
        let columns = variables.iter().map(|variable| flow.column(*variable)).collect();
        Arc::new(Computed { computation: self.computation.clone(), wanted, variables, columns })
    }

    /// What becomes of a flow by one more literal.
    fn after(&self, flow: Flow, literal: &Literal, table: impl FnOnce(RelationId) -> Table) -> Result<Flow> {
        match literal {
            Literal::Atom(atom) => {
                let matches = self.matches(atom, &table(atom.relation))?;
                self.joined(flow, matches)
            }
            Literal::Negated(atom) => {
                let matches = self.matches(atom, &table(atom.relation))?;
                self.absent(flow, matches)
            }
            Literal::Filter { operator, left, right } => {
                let holds = Wanted::Holds(*operator, [left.clone(), right.clone()]);
                let condition = self.wanted(&flow, &[left, right], holds);
                Ok(Flow { plan: filtered(flow.plan, condition)?, rows: flow.rows.div_ceil(2), ..flow })
            }
            Literal::Assign { variable, expression } => {
                let mut columns: Vec<Expr> =
                    (0..flow.variables.len()).map(|position| column(&flow.plan, position)).collect();
                columns.push(self.computed(&flow, expression)?);
                let variables = flow.variables.iter().copied().chain([*variable]).collect();
                Ok(Flow { plan: projected(&flow.plan, columns)?, variables, rows: flow.rows })
            }
        }
    }
}

/// The literal that comes next: a condition that can be told, or the nearest atom.
fn next_literal(rule: &Rule, rest: &[usize], bound: &[VariableId], read: &Read<'_>) -> Option<usize> {
    let is_bound = |expression: &Expression| {
        let mut all = true;
        expression.for_each_variable(&mut |variable| all &= bound.contains(&variable));
        all
    };
    let can_be_told = |position: &usize| match &rule.body[*position] {
        Literal::Atom(_) => false,
        Literal::Negated(atom) => atom.variables().all(|variable| bound.contains(&variable)),
        Literal::Filter { left, right, .. } => is_bound(left) && is_bound(right),
        Literal::Assign { expression, .. } => is_bound(expression),
    };
    rest.iter().copied().find(can_be_told).or_else(|| nearest_atom(rule, rest, bound, read))
}

/// An atom that shares a variable with what is bound, if there is any, and of these one that reads few rows.
fn nearest_atom(rule: &Rule, rest: &[usize], bound: &[VariableId], read: &Read<'_>) -> Option<usize> {
    let atoms = rest.iter().filter_map(|position| Some((*position, rule.body[*position].atom()?)));
    atoms
        .map(|(position, atom)| {
            let is_apart = !atom.variables().any(|variable| bound.contains(&variable));
            (is_apart, read(position, atom.relation).rows(), position)
        })
        .min()
        .map(|(_, _, position)| position)
}

/// What is needed of a flow further on. Where solutions are counted, that is all of it.
fn needed(flow: Flow, rule: &Rule, rest: &[usize]) -> Result<Flow> {
    if rule.aggregates() {
        return Ok(flow);
    }
    let mut needed: Vec<VariableId> =
        rest.iter().flat_map(|position| rule.body[*position].variables()).collect();
    rule.for_each_head_variable(|variable| needed.push(variable));
    flow.keeping(|variable| needed.contains(&variable))
}

/// One row that binds nothing.
fn one_row() -> Result<Flow> {
    let column: ArrayRef = Arc::new(UInt32Array::from(vec![0]));
    let batch = RecordBatch::try_new(schema(1), vec![column])?;
    let plan = MemorySourceConfig::try_new_exec(&[vec![batch]], schema(1), None)?;
    Ok(Flow { plan, variables: Vec::new(), rows: 1 })
}
