//! Rows that stand by groups of solutions: by all of them, or as the best.

use std::cmp::Ordering;

use super::proof::{Aggregated, Bound, Detail, Reason};
use super::prover::{Candidate, Child, Prover, Way};
use super::solutions::Solution;
use crate::analysis::program::{Expression, HeadTerm, Rule};
use crate::data::{Code, RelationId, Value, VariableId};
use crate::error::Error;
use crate::index::{IndexKind, metric_name};
use crate::rewrite::proofs::Ask;
use crate::syntax::ast::Direction;

/// So many inputs of an aggregate are told, unless all of them are.
const FEW_INPUTS: usize = 10;

impl Prover<'_> {
    /// A row that is the best of its group, or one of the best.
    pub(super) fn chosen(
        &mut self,
        fact: usize,
        relation: RelationId,
        candidate: &Candidate,
        ask: &Ask,
    ) -> Result<Way, Error> {
        let explained = self.explained;
        let rule = &explained.derived[&relation].ways[candidate.way].rule;
        let children = self.children(ask, &candidate.solution);
        let bindings = self.bindings(ask, &candidate.solution);
        let text = rule.text.clone();
        if let Some((ranking, search)) =
            rule.ranking.as_ref().and_then(|ranking| Some((ranking, ranking.search.as_ref()?)))
        {
            let measured = self.facts[fact].row.get(ranking.by).map(|code| self.value(*code));
            let reason = Reason::Search {
                text,
                bindings,
                index: search.index.definition.name.clone(),
                metric: match &search.index.definition.kind {
                    IndexKind::Hnsw(options) => Some(metric_name(options.metric)),
                    IndexKind::Text(_) | IndexKind::Hash | IndexKind::Sorted => None,
                },
                measured: measured.unwrap_or(Value::Null),
                count: ranking.count,
            };
            return Ok(Way { reason, children, is_same: false, height: 0 });
        }
        let group = self.evaluated.ask_group(relation, candidate.way);
        let mut all = self.solutions(&group, 0, &[fact])?.pop().unwrap_or_default();
        let (function, argument, largest) = chosen_by(rule);
        let by = group.variables.iter().position(|variable| Some(*variable) == argument);
        let codec = self.evaluated.codec;
        all.sort_by(|a, b| {
            let order = by.map_or(Ordering::Equal, |by| {
                let order = codec.value(a.codes[by]).cmp(&codec.value(b.codes[by]));
                if largest { order.reverse() } else { order }
            });
            order.then_with(|| self.by_values(&a.codes, &b.codes))
        });
        self.leave_what_counted(fact, (&group, by), (ask, &candidate.solution), &mut all);
        let all: Vec<&Solution> = all.iter().collect();
        let result = self.result_of(fact, rule, argument);
        let aggregates = vec![self.aggregated(&group, &all, function, argument, result)];
        Ok(Way {
            reason: Reason::Aggregate { text, bindings, aggregates },
            children,
            is_same: false,
            height: 0,
        })
    }

    /// What stands for a variable in the head of a rule, in a row that it makes.
    fn result_of(&self, fact: usize, rule: &Rule, argument: Option<VariableId>) -> Value {
        let column = rule.head_terms.iter().position(|term| match term {
            HeadTerm::Aggregate { argument: of, .. } => Some(*of) == argument,
            HeadTerm::Expression(Expression::Variable(of)) => Some(*of) == argument,
            HeadTerm::Expression(_) => false,
        });
        column.map_or(Value::Null, |column| self.value(self.facts[fact].row[column]))
    }

    /// A row that stands by all solutions of its group.
    pub(super) fn by_group(&mut self, fact: usize, rule: &Rule, ask: &Ask, solutions: &[&Solution]) -> Way {
        let told = if self.detail == Detail::Full { solutions.len() } else { FEW_INPUTS };
        let mut children: Vec<Child> = Vec::new();
        for solution in solutions.iter().take(told) {
            for child in self.children(ask, solution) {
                let is_known = children.iter().any(|known| match (known, &child) {
                    (Child::Fact(known), Child::Fact(new)) => known == new,
                    (Child::Absent { fact: known, .. }, Child::Absent { fact: new, .. }) => known == new,
                    _ => false,
                });
                if !is_known {
                    children.push(child);
                }
            }
        }
        let aggregates = rule.head_terms.iter().enumerate().filter_map(|(column, term)| match term {
            HeadTerm::Aggregate { function, argument, .. } => {
                let result = self.value(self.facts[fact].row[column]);
                Some(self.aggregated(ask, solutions, function.name(), Some(*argument), result))
            }
            HeadTerm::Expression(_) => None,
        });
        let aggregates = aggregates.collect();
        let mut bindings = solutions.first().map(|first| self.bindings(ask, first)).unwrap_or_default();
        let is_same = |bound: &Bound| {
            let place = ask.variables[..ask.written]
                .iter()
                .position(|variable| ask.rule.variables[variable.index()].name == bound.variable);
            place.is_some_and(|place| {
                solutions.iter().all(|other| other.codes[place] == solutions[0].codes[place])
            })
        };
        bindings.retain(is_same);
        let reason = Reason::Aggregate { text: rule.text.clone(), bindings, aggregates };
        Way { reason, children, is_same: false, height: 0 }
    }

    fn aggregated(
        &self,
        ask: &Ask,
        solutions: &[&Solution],
        function: &'static str,
        argument: Option<VariableId>,
        result: Value,
    ) -> Aggregated {
        // Rows that differ in what may be anything count each.
        let inputs: Vec<&[Code]> = solutions.iter().map(|solution| &solution.codes[..ask.written]).collect();
        let name = |variable: &VariableId| ask.rule.variables[variable.index()].name.clone();
        let told = if self.detail == Detail::Full { inputs.len() } else { FEW_INPUTS };
        let values = |row: &&[Code]| row.iter().map(|code| self.value(*code)).collect();
        Aggregated {
            function,
            variable: argument.map(|argument| name(&argument)).unwrap_or_default(),
            result,
            contributing: inputs.len() as u64,
            inputs: inputs.iter().take(told).map(values).collect(),
            columns: ask.variables[..ask.written].iter().map(name).collect(),
        }
    }
}

/// By what a rule chooses among the solutions of a group, and whether the largest are the best.
fn chosen_by(rule: &Rule) -> (&'static str, Option<VariableId>, bool) {
    if let Some(ranking) = &rule.ranking {
        let by = match &rule.head_terms[ranking.by] {
            HeadTerm::Expression(Expression::Variable(variable)) => Some(*variable),
            HeadTerm::Expression(_) | HeadTerm::Aggregate { .. } => None,
        };
        let name = match (ranking.count, &ranking.bound) {
            (Some(_), None) => "top_k",
            (Some(_), Some(_)) => "top_k_threshold",
            (None, _) => "within_radius",
        };
        return (name, by, ranking.direction == Direction::Descending);
    }
    let of_head = rule.head_terms.iter().find_map(|term| match term {
        HeadTerm::Aggregate { function, argument, .. } => Some((function.name(), *argument)),
        HeadTerm::Expression(_) => None,
    });
    of_head.map_or(("min", None, false), |(name, argument)| (name, Some(argument), name == "max"))
}
