//! The literals of a body, one after the other: an atom that shares variables with what is there, and conditions as soon as
//! they can be told.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use datafusion_common::Result;
use datafusion_datasource::memory::MemorySourceConfig;
use stratalog_engine::analysis::program::{Atom, Expression, Literal, Rule};
use stratalog_engine::data::{RelationId, VariableId};

use super::Lowering;
use super::flow::{Expr, Flow, column, constant, filtered, projected};
use crate::batches::schema;
use crate::failure::carried;
use crate::nodes::{Computed, Holds, Inputs};
use crate::table::Table;

/// Which rows an atom reads, by the position of its literal.
pub(crate) type Read<'r> = dyn Fn(usize, RelationId) -> Table + 'r;

impl Lowering<'_> {
    /// The solutions of a rule's body. If `first` is an atom's position, the others are joined to that one.
    pub(super) fn solutions(&self, rule: &Rule, first: Option<usize>, read: &Read<'_>) -> Result<Flow> {
        let mut body = Body::new(self, rule, first, read)?;
        while let Some(flow) = body.next()? {
            body.flow = Some(flow);
        }
        match body.flow {
            Some(flow) => Ok(flow),
            None => one_row(),
        }
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
                let inputs = self.inputs(flow, &[expression]);
                Arc::new(Computed { inputs, expression: expression.clone() })
            }
        })
    }

    fn inputs(&self, flow: &Flow, expressions: &[&Expression]) -> Inputs {
        let mut variables = Vec::new();
        for expression in expressions {
            expression.for_each_variable(&mut |variable| {
                if !variables.contains(&variable) {
                    variables.push(variable);
                }
            });
        }
        let columns = variables.iter().map(|variable| flow.column(*variable)).collect();
        Inputs { computation: self.computation.clone(), variables, columns }
    }

    /// What is left of a flow, or becomes of it, by a literal that is no atom.
    fn conditioned(
        &self,
        flow: Flow,
        literal: &Literal,
        table: impl FnOnce(RelationId) -> Table,
    ) -> Result<Flow> {
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
                let inputs = self.inputs(&flow, &[left, right]);
                let sides = [left.clone(), right.clone()];
                let condition = Arc::new(Holds { inputs, test: *operator, sides });
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

/// A body on its way to be a flow.
struct Body<'b> {
    lowering: &'b Lowering<'b>,
    rule: &'b Rule,
    read: &'b Read<'b>,
    /// The literals that are still to come.
    rest: Vec<usize>,
    first: Option<usize>,
    flow: Option<Flow>,
}

impl<'b> Body<'b> {
    fn new(
        lowering: &'b Lowering<'b>,
        rule: &'b Rule,
        first: Option<usize>,
        read: &'b Read<'b>,
    ) -> Result<Body<'b>> {
        let mut body = Body { lowering, rule, read, rest: (0..rule.body.len()).collect(), first, flow: None };
        if body.rule.atoms().next().is_none() {
            body.flow = Some(one_row()?);
        }
        Ok(body)
    }

    /// The flow after one more literal; none if there are no more.
    fn next(&mut self) -> Result<Option<Flow>> {
        let Some(position) = self.choose() else { return Ok(None) };
        self.rest.retain(|other| *other != position);
        let literal = &self.rule.body[position];
        let table = |relation| (self.read)(position, relation);
        let flow = match (self.flow.take(), literal) {
            (None, Literal::Atom(atom)) => self.lowering.matches(atom, &table(atom.relation))?,
            (None, _) => return Ok(None),
            (Some(flow), literal) => self.lowering.conditioned(flow, literal, table)?,
        };
        self.needed(flow).map(Some)
    }

    /// The literal that comes next: a condition that can be told, or an atom that few rows match.
    fn choose(&self) -> Option<usize> {
        let bound =
            |variable: VariableId| self.flow.as_ref().is_some_and(|flow| flow.position(variable).is_some());
        let can_be_told = |literal: &Literal| match literal {
            Literal::Atom(_) => false,
            Literal::Negated(atom) => atom.variables().all(bound),
            Literal::Filter { left, right, .. } => [left, right].iter().all(|side| is_bound(side, bound)),
            Literal::Assign { expression, .. } => is_bound(expression, bound),
        };
        let literal = |position: &usize| &self.rule.body[*position];
        if self.flow.is_some()
            && let Some(position) = self.rest.iter().find(|position| can_be_told(literal(position)))
        {
            return Some(*position);
        }
        if self.flow.is_none() && self.first.is_some() {
            return self.first;
        }
        let atoms = self.rest.iter().filter_map(|position| Some((*position, literal(position).atom()?)));
        let weighed = atoms.map(|(position, atom)| {
            let is_apart = self.flow.is_some() && !atom.variables().any(bound);
            (is_apart, self.rows(position, atom), position)
        });
        weighed.min().map(|(_, _, position)| position)
    }

    /// About so many rows match an atom.
    fn rows(&self, position: usize, atom: &Atom) -> usize {
        (self.read)(position, atom.relation).rows()
    }

    /// What is needed of a flow further on. Where solutions are counted, that is all of it.
    fn needed(&self, flow: Flow) -> Result<Flow> {
        if self.rule.aggregates() {
            return Ok(flow);
        }
        let mut needed: Vec<VariableId> =
            self.rest.iter().flat_map(|position| self.rule.body[*position].variables()).collect();
        self.rule.for_each_head_variable(|variable| needed.push(variable));
        flow.keeping(|variable| needed.contains(&variable))
    }
}

fn is_bound(expression: &Expression, bound: impl Fn(VariableId) -> bool) -> bool {
    let mut all = true;
    expression.for_each_variable(&mut |variable| all &= bound(variable));
    all
}

/// One row that binds nothing.
fn one_row() -> Result<Flow> {
    let column: ArrayRef = Arc::new(UInt32Array::from(vec![0]));
    let batch = RecordBatch::try_new(schema(1), vec![column])?;
    let plan = MemorySourceConfig::try_new_exec(&[vec![batch]], schema(1), None)?;
    Ok(Flow { plan, variables: Vec::new(), rows: 1 })
}
