//! What becomes of solutions: a row each, or a row for what they have in common.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use datafusion_common::Result;
use stratalog_engine::aggregates::Aggregate;
use stratalog_engine::analysis::program::{
    Argument, Atom, Expression, HeadTerm, Literal, Program, Relation, Rule, Stratum, Variable,
};
use stratalog_engine::data::{DataType, RelationId, VariableId};
use stratalog_engine::diagnostic::Span;

use super::Lowering;
use super::body::Read;
use super::flow::{Expr, Flow, Plan, column, columns, in_one, parted, projected, sorted};
use crate::inputs::Inputs;
use crate::nodes::{GROUPS, GroupsExec, OfGroups};

impl Lowering<'_> {
    /// The rows that a rule derives, some perhaps more than once. If `first` is an atom's position, the others are joined to
    /// that one.
    pub(crate) fn derived(
        &self,
        rule: &Rule,
        program: &Program,
        first: Option<usize>,
        read: &Read<'_>,
    ) -> Result<Plan> {
        let solutions = self.solutions(rule, first, read)?;
        if rule.aggregates() {
            return self.aggregated(rule, &program.relations[rule.head.index()], &solutions);
        }
        let columns = rule.head_terms.iter().filter_map(|term| match term {
            HeadTerm::Expression(expression) => Some(self.computed(&solutions, expression)),
            HeadTerm::Aggregate { .. } => None,
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        projected(&solutions.plan, columns)
    }

    /// The rows of an aggregating rule: solutions are brought together by groups, and aggregated by the engine. Where aggregates
    /// of pieces of a group can be put together, those are what is brought together.
    fn aggregated(&self, rule: &Rule, head: &Relation, solutions: &Flow) -> Result<Plan> {
        let whole = of_solutions(rule, head, &solutions.variables);
        if let Some(put_together) = self.of_pieces(rule, head) {
            let (input, pieces) = (Arc::clone(&solutions.plan), Some(AtomicU32::new(0)));
            let plan = self.of_groups(input, Vec::new(), whole, Inputs::default(), pieces);
            let groups: Vec<usize> = (0..head.arity).filter(|column| rule.is_group(*column)).collect();
            let plan = self.brought_together(plan, &groups)?;
            return Ok(self.of_groups(plan, groups, put_together, Inputs::default(), None));
        }
        let mut columns: Vec<Expr> =
            (0..solutions.variables.len()).map(|position| column(&solutions.plan, position)).collect();
        let mut groups = Vec::new();
        for (position, term) in rule.head_terms.iter().enumerate() {
            if let HeadTerm::Expression(expression) = term
                && rule.is_group(position)
            {
                groups.push(columns.len());
                columns.push(self.computed(solutions, expression)?);
            }
        }
        let plan = self.brought_together(projected(&solutions.plan, columns)?, &groups)?;
        Ok(self.of_groups(plan, groups, whole, Inputs::default(), None))
    }

    /// Rows that agree in these columns, one after the other and in one part.
    fn brought_together(&self, plan: Plan, groups: &[usize]) -> Result<Plan> {
        if groups.is_empty() {
            return Ok(in_one(plan));
        }
        let key = columns(&plan, groups);
        Ok(sorted(parted(plan, key.clone(), self.settings.partitions)?, &key))
    }

    /// What puts together the rows of pieces of groups, if that can be done: numbers of solutions, and sums of integers, are
    /// added up, and the smallest of the smallest is the smallest.
    fn of_pieces(&self, rule: &Rule, head: &Relation) -> Option<Program> {
        if self.way.whole_groups || rule.ranking.is_some() {
            return None;
        }
        let mut head_terms = Vec::new();
        for (column, term) in rule.head_terms.iter().enumerate() {
            let argument = VariableId::new(column);
            head_terms.push(match term {
                HeadTerm::Expression(_) => HeadTerm::Expression(Expression::Variable(argument)),
                HeadTerm::Aggregate { function, argument: of, .. } => {
                    let is_int = rule.variables[of.index()].data_type == DataType::Int;
                    let function = match function {
                        Aggregate::Count => Aggregate::Sum,
                        Aggregate::Sum if is_int => Aggregate::Sum,
                        Aggregate::Min | Aggregate::Max | Aggregate::First | Aggregate::Last => *function,
                        _ => return None,
                    };
                    HeadTerm::Aggregate { function, argument, option: None }
                }
            });
        }
        // The last variable is the number of the piece: two that come to the same are two all the same.
        let types = head.column_types.iter().copied().chain([DataType::Int]).enumerate();
        let variables: Vec<Variable> =
            types.map(|(column, data_type)| Variable { name: format!("?{column}"), data_type }).collect();
        let bound: Vec<VariableId> = (0..variables.len()).map(VariableId::new).collect();
        Some(of_solutions(&Rule { head_terms, variables, ..rule.clone() }, head, &bound))
    }

    /// What a program of the engine makes of whole groups. The input has the columns of [`GROUPS`] first, and is sorted by
    /// those that tell groups apart, none of which has rows in two parts.
    pub(super) fn of_groups(
        &self,
        input: Plan,
        by: Vec<usize>,
        program: Program,
        others: Inputs,
        pieces: Option<AtomicU32>,
    ) -> Plan {
        let groups = program.relations.iter().find(|relation| relation.name == GROUPS);
        let of_groups = OfGroups {
            arity: groups.map_or(0, |groups| groups.arity),
            program,
            others,
            by,
            computation: self.computation.clone(),
            findings: Arc::clone(self.findings),
            rows: self.settings.group_rows,
            made: self.settings.group_rows_made,
            pieces,
        };
        Arc::new(GroupsExec::new(input, Arc::new(of_groups)))
    }
}

/// The rule alone, with a relation of its body's solutions in the place of the body.
fn of_solutions(rule: &Rule, head: &Relation, bound: &[VariableId]) -> Program {
    let (read, derived) = (RelationId::new(0), RelationId::new(1));
    let types = bound.iter().map(|variable| rule.variables[variable.index()].data_type);
    let source = Relation {
        name: GROUPS.to_owned(),
        arity: bound.len(),
        column_types: types.collect(),
        stored: true,
        best: None,
    };
    let head = Relation { stored: false, ..head.clone() };
    let arguments = bound.iter().copied().map(Argument::Variable).collect();
    let body = vec![Literal::Atom(Atom { relation: read, arguments, span: Span::default() })];
    let rule = Rule { head: derived, body, ..rule.clone() };
    Program {
        relations: vec![source, head],
        strata: vec![Stratum::of(vec![derived], vec![rule], false)],
        goal: derived,
        warnings: Vec::new(),
    }
}
