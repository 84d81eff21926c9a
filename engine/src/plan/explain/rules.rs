//! Plans of rules in words, with what is expected of them. Sizes of derived relations are marked as estimated.

use super::notes::{RuleNote, StepNote};
use super::operators::steps;
use crate::analysis::program::{Expression, Program, Rule};
use crate::data::{DataType, RelationId, Value, VariableId};
use crate::index::Measure;
use crate::plan::access::Version;
use crate::plan::alias::HandedOn;
use crate::plan::rule::estimate::Estimate;
use crate::plan::rule::operators::RulePlan;
use crate::plan::rule::rule_plan::plan_rule;
use crate::plan::search::{SearchPlan, Way};
use crate::plan::statistics::Statistics;

/// A plan in words, with what is expected of it. Sizes of derived relations are marked as estimated.
pub fn note_rule(
    plan: &RulePlan,
    rule: &Rule,
    program: &Program,
    statistics: &dyn Statistics,
    is_derived: impl Fn(RelationId) -> bool,
) -> RuleNote {
    let estimate = Estimate { plan, statistics };
    let mut after = estimate.bindings();
    after.push(estimate.head(rule, program, after.last().copied().unwrap_or_default()));
    let steps = steps(plan, rule, program).into_iter().zip(after);
    let steps = steps.map(|((operator, detail, access), rows)| StepNote {
        operator,
        detail,
        rows,
        estimated: access.is_some_and(|access| is_derived(access.relation)),
        measured: None,
    });
    let delta = plan
        .accesses()
        .find(|access| access.version == Version::Delta)
        .map(|access| program.relations[access.relation.index()].name.clone());
    RuleNote { text: plan.text.clone(), delta, steps: steps.collect() }
}

/// All rows of a relation, and what is done with them.
pub fn note_handed_on(
    operator: &'static str,
    whole: &HandedOn<'_>,
    program: &Program,
    statistics: &dyn Statistics,
    is_derived: impl Fn(RelationId) -> bool,
) -> RuleNote {
    let plan = plan_rule(whole.rule, statistics);
    let mut note = note_rule(&plan, whole.rule, program, statistics, is_derived);
    note.steps.truncate(1);
    for step in &mut note.steps {
        step.operator = operator;
    }
    note
}

/// The search in words: how it is done, and without an index the steps of that.
pub fn note_search(
    search: &SearchPlan,
    rule: &Rule,
    way: Way,
    program: &Program,
    statistics: &dyn Statistics,
    is_derived: impl Fn(RelationId) -> bool,
) -> RuleNote {
    // Relations that only the search knows.
    let mut known = program.clone();
    for (name, arity) in [("?inputs", search.inputs.len()), ("?candidates", 2)] {
        let mut made = program.relations[rule.head.index()].clone();
        (made.name, made.arity, made.stored) = (name.to_owned(), arity, false);
        made.column_types.resize(arity, DataType::Unknown);
        known.relations.push(made);
    }
    let statistics = &search.beside(statistics);
    let exact =
        note_rule(&plan_rule(&search.exact, statistics), &search.exact, &known, statistics, is_derived);
    let searches =
        if search.inputs.is_empty() { 1.0 } else { statistics.rows(search.relation).isqrt() as f64 };
    let found = search.count as f64 * searches;
    let step = |operator, detail| StepNote { operator, detail, rows: found, estimated: true, measured: None };
    let mut steps = vec![step("search", search_text(search, way, rule))];
    let mut head = exact.steps.last().cloned();
    match way {
        Way::Index(_) | Way::Words => {
            if let Some(conditions) = &search.conditions {
                let plan = plan_rule(conditions, statistics);
                let note = note_rule(&plan, conditions, &known, statistics, |_| true);
                let inner = note.steps.len().saturating_sub(1);
                steps.extend(note.steps.into_iter().take(inner).skip(1));
            }
        }
        Way::Few | Way::Selective | Way::NotBuilt | Way::Hard(_) => {
            steps.extend(exact.steps.iter().take(exact.steps.len().saturating_sub(1)).cloned());
        }
    }
    if let Some(head) = &mut head {
        (head.rows, head.estimated) = (found, true);
    }
    steps.extend(head);
    RuleNote { text: rule.text.clone(), delta: None, steps }
}

/// `docs: 10 nearest to V, approximate, by hnsw with 50 candidates`
fn search_text(search: &SearchPlan, way: Way, rule: &Rule) -> String {
    let name = |variable: VariableId| rule.variables[variable.index()].name.as_str();
    let query = match &search.query {
        // A long vector says little.
        Expression::Constant(Value::Vector(elements)) if elements.len() > 8 => "a vector".to_owned(),
        Expression::Constant(Value::VectorInt8(elements)) if elements.len() > 8 => "a vector".to_owned(),
        query => query.text(&name),
    };
    let how = match way {
        Way::Words => "exact, by words".to_owned(),
        Way::Index(ef) => format!("approximate, by hnsw with {ef} candidates"),
        Way::Few => "exact, as there are few rows".to_owned(),
        Way::Selective => "exact, as the conditions leave few rows".to_owned(),
        Way::NotBuilt => "exact, as the index is not built yet".to_owned(),
        Way::Hard(ef) => format!("exact, as {ef} candidates would take longer"),
    };
    let name = &search.search.index.definition.name;
    let what = match search.by {
        Measure::Distance(_) => "nearest to",
        Measure::Score(_) => "best for",
    };
    format!("{name}: {} {what} {query}, {how}", search.count)
}
