//! What a program would do, without running it: each stratum is planned with the sizes that are expected of those
//! below it.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use super::notes::{RelationNote, RuleNote, Size, StratumNote};
use super::rules::{note_handed_on, note_rule, note_search};
use super::strategies::StrategyNote;
use crate::analysis::program::{Program, Stratum};
use crate::budget::{Budget, BudgetError};
use crate::data::{Code, RelationId, Sample, Value};
use crate::plan::cost::Thresholds;
use crate::plan::statistics::{Layout, Statistics};
use crate::plan::stratum::{Once, Prospect, RulesPlan, StratumPlan, plan_stratum};

/// Plans a program over what is known of its stored relations.
pub fn explain(
    program: &Program,
    stored: &dyn Statistics,
    thresholds: &Thresholds,
    budget: &Budget,
) -> Result<Vec<StratumNote>, BudgetError> {
    let mut expected = Expected { stored, derived: HashMap::new() };
    program.strata.iter().map(|stratum| expected.stratum(stratum, program, thresholds, budget)).collect()
}

/// Sizes: of stored relations as they are, of derived ones as they are expected.
struct Expected<'s> {
    stored: &'s dyn Statistics,
    derived: HashMap<RelationId, f64>,
}

impl Statistics for Expected<'_> {
    fn rows(&self, relation: RelationId) -> usize {
        match self.derived.get(&relation) {
            Some(rows) => rows.ceil() as usize,
            None => self.stored.rows(relation),
        }
    }

    fn distinct(&self, relation: RelationId, column: usize) -> usize {
        match self.derived.get(&relation) {
            Some(rows) => (rows.ceil() as usize).isqrt().max(1),
            None => self.stored.distinct(relation, column),
        }
    }

    fn layout(&self, relation: RelationId) -> Option<Layout<'_>> {
        if self.derived.contains_key(&relation) { None } else { self.stored.layout(relation) }
    }

    fn sample(&self, relation: RelationId, columns: &[usize]) -> Option<Arc<Sample>> {
        if self.derived.contains_key(&relation) { None } else { self.stored.sample(relation, columns) }
    }

    fn code(&self, value: &Value) -> Option<Code> {
        self.stored.code(value)
    }
}

impl Expected<'_> {
    fn stratum(
        &mut self,
        stratum: &Stratum,
        program: &Program,
        thresholds: &Thresholds,
        budget: &Budget,
    ) -> Result<StratumNote, BudgetError> {
        let plan = plan_stratum(stratum, program, self, thresholds, budget)?;
        let (strategy, (sizes, rules)) = match &plan {
            StratumPlan::Alias(alias) => {
                let rows = self.rows(alias.whole.source) as f64;
                let is_derived = |relation| self.is_derived(relation);
                let note = note_handed_on("share", &alias.whole, program, self, is_derived);
                (None, (HashMap::from_iter([(alias.head, rows)]), vec![note]))
            }
            StratumPlan::Union(union) => {
                let parts = union.parts.iter().map(|part| self.rows(part.source) as f64);
                let rows = self.rows(union.head) as f64 + parts.sum::<f64>();
                let is_derived = |relation| self.is_derived(relation);
                let notes =
                    union.parts.iter().map(|part| note_handed_on("unite", part, program, self, is_derived));
                (None, (HashMap::from_iter([(union.head, rows)]), notes.collect()))
            }
            StratumPlan::Rules(plan) => {
                let strategy = plan.recursion.as_ref().map(StrategyNote::of_recursion);
                (strategy, self.rules(stratum, plan, program))
            }
        };
        self.derived.extend(&sizes);
        let relations = stratum.relations.iter().map(|relation| RelationNote {
            name: program.relations[relation.index()].name.clone(),
            size: Size::Expected(sizes.get(relation).copied().unwrap_or(0.0)),
        });
        Ok(StratumNote {
            relations: relations.collect(),
            recursive: stratum.recursive,
            is_alternative: stratum.alternative.is_some(),
            strategy,
            rules,
            course: None,
        })
    }

    /// The sizes expected of a stratum's relations, and its plans.
    fn rules(
        &self,
        stratum: &Stratum,
        plan: &RulesPlan<'_>,
        program: &Program,
    ) -> (HashMap<RelationId, f64>, Vec<RuleNote>) {
        let stored = stratum.relations.iter().map(|relation| (*relation, self.rows(*relation) as f64));
        let mut sizes: HashMap<RelationId, f64> = stored.collect();
        let mut rules = Vec::new();
        for once in &plan.once {
            let is_derived = |relation| self.is_derived(relation);
            let note = match &once.how {
                Once::Search(search, way) => note_search(search, once.rule, *way, program, self, is_derived),
                Once::Rule(plan, _) => note_rule(plan, once.rule, program, self, is_derived),
            };
            *sizes.entry(once.rule.head).or_default() += note.steps.last().map_or(0.0, |step| step.rows);
            rules.push(note);
        }
        if let Some(recursion) = &plan.recursion {
            let prospect = Prospect::of(stratum, program, self);
            sizes.values_mut().for_each(|rows| *rows = rows.max(prospect.rows() as f64));
            let is_derived = |relation| stratum.relations.contains(&relation) || self.is_derived(relation);
            for variant in &recursion.variants {
                rules.push(note_rule(&variant.plan, variant.variation.rule, program, &prospect, is_derived));
            }
        }
        (sizes, rules)
    }

    fn is_derived(&self, relation: RelationId) -> bool {
        self.derived.contains_key(&relation)
    }
}
