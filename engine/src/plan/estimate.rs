//! What a program would do, without running it: each stratum is planned with the sizes that are expected of those
//! below it.

use std::collections::{HashMap, HashSet};

use super::display::{Explanation, RewriteNote, RuleNote, StepNote, StratumNote, steps};
use super::join_order::Statistics;
use super::physical::{Access, KeyPart, RulePlan, Source, Step, Version};
use super::pivot::pivot_column;
use super::rule_plan::{plan_delta_variants, plan_rule};
use crate::analysis::program::{Literal, Program, Rule, Stratum};
use crate::data::RelationId;

/// The share of bindings that a comparison is expected to let through.
const FILTER: f64 = 1.0 / 3.0;

/// The least share of bindings that an antijoin is expected to let through: that every one has a match is never known.
const ANTIJOIN: f64 = 1.0 / 3.0;

/// Plans a program over what is known of its stored relations.
pub fn explain(program: &Program, rewrites: Vec<RewriteNote>, stored: &dyn Statistics) -> Explanation {
    let mut expected = Expected { stored, derived: HashMap::new() };
    let strata = program.strata.iter().map(|stratum| expected.stratum(stratum, program)).collect();
    Explanation { rewrites, strata }
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
}

impl Expected<'_> {
    fn stratum(&mut self, stratum: &Stratum, program: &Program) -> StratumNote {
        let own: HashSet<RelationId> = stratum.relations.iter().copied().collect();
        let reads_own = |rule: &Rule| {
            rule.body
                .iter()
                .any(|literal| matches!(literal, Literal::Atom(atom) if own.contains(&atom.relation)))
        };
        let mut rules = Vec::new();
        let mut sizes: HashMap<RelationId, f64> =
            own.iter().map(|relation| (*relation, self.stored.rows(*relation) as f64)).collect();
        for rule in stratum.rules.iter().filter(|rule| !reads_own(rule)) {
            let note = self.rule(&plan_rule(rule, self), rule, program);
            *sizes.entry(rule.head).or_default() += note.steps.last().map_or(0.0, |step| step.rows);
            rules.push(note);
        }
        if stratum.recursive {
            // As the executor takes it: a growing relation is no smaller than the largest that is known.
            let known = (0..program.relations.len()).map(RelationId::new).filter(|id| !own.contains(id));
            let largest = known.map(|relation| self.rows(relation)).max().unwrap_or(0) as f64;
            sizes.values_mut().for_each(|rows| *rows = rows.max(largest));
        }
        self.derived.extend(sizes.iter().map(|(relation, rows)| (*relation, *rows)));
        for rule in stratum.rules.iter().filter(|rule| reads_own(rule)) {
            for plan in plan_delta_variants(rule, &own, self) {
                rules.push(self.rule(&plan, rule, program));
            }
        }
        let relations = stratum.relations.iter().map(|relation| {
            let rows = sizes.get(relation).copied().unwrap_or(0.0);
            (program.relations[relation.index()].name.clone(), rows)
        });
        let keeps_best = own.iter().any(|relation| program.relations[relation.index()].best.is_some());
        let pivot = pivot_column(stratum).filter(|_| !keeps_best).map(|(_, column)| column + 1);
        StratumNote { relations: relations.collect(), recursive: stratum.recursive, pivot, rules }
    }

    fn rule(&self, plan: &RulePlan, rule: &Rule, program: &Program) -> RuleNote {
        let after = self.bindings(plan);
        let steps = steps(plan, rule, program).into_iter().zip(after);
        let steps = steps.map(|((operator, detail, access), rows)| StepNote {
            operator,
            detail,
            rows,
            estimated: access.is_some_and(|access| self.derived.contains_key(&access.relation)),
        });
        let delta = accesses(plan)
            .find(|access| access.version == Version::Delta)
            .map(|access| program.relations[access.relation.index()].name.clone());
        RuleNote { text: plan.text.clone(), delta, steps: steps.collect() }
    }

    /// Bindings expected after the source, after each step, and in the head.
    fn bindings(&self, plan: &RulePlan) -> Vec<f64> {
        let mut rows = match &plan.source {
            Source::One => 1.0,
            Source::Scan(scan) => {
                let columns = scan.constants.iter().map(|(column, _)| *column);
                self.matches(scan.access, columns.chain(scan.equal.iter().map(|(_, column)| *column)))
            }
        };
        let mut after = vec![rows];
        for step in &plan.steps {
            let keys = |key: &[(usize, KeyPart)], equal: &[(usize, usize)]| {
                let columns: Vec<usize> = key.iter().map(|(column, _)| *column).collect();
                columns.into_iter().chain(equal.iter().map(|(_, column)| *column).collect::<Vec<_>>())
            };
            rows *= match step {
                Step::Probe { access, key, equal, .. } => self.matches(*access, keys(key, equal)),
                Step::Exists { access, key, equal, negated: false, .. } => {
                    self.matches(*access, keys(key, equal)).min(1.0)
                }
                Step::Exists { access, key, equal, negated: true, .. } => {
                    (1.0 - self.matches(*access, keys(key, equal))).max(ANTIJOIN)
                }
                Step::Compute { .. } => 1.0,
                Step::Filter { .. } => FILTER,
            };
            after.push(rows);
        }
        after.push(rows);
        after
    }

    /// Rows expected for one value in each of these columns.
    fn matches(&self, access: Access, columns: impl Iterator<Item = usize>) -> f64 {
        let rows = self.rows(access.relation) as f64;
        columns.fold(rows, |rows, column| rows / self.distinct(access.relation, column).max(1) as f64)
    }
}

fn accesses(plan: &RulePlan) -> impl Iterator<Item = Access> + '_ {
    let source = match &plan.source {
        Source::One => None,
        Source::Scan(scan) => Some(scan.access),
    };
    source.into_iter().chain(plan.steps.iter().filter_map(|step| match step {
        Step::Probe { access, .. } | Step::Exists { access, .. } => Some(*access),
        Step::Filter { .. } | Step::Compute { .. } => None,
    }))
}
