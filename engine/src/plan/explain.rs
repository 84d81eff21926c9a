//! What a program would do, without running it: each stratum is planned with the sizes that are expected of those
//! below it.

use std::collections::{HashMap, HashSet};

use super::estimate::note;
use super::explanation::{RelationNote, RuleNote, Size, StratumNote};
use super::join_order::Statistics;
use super::large::Large;
use super::physical::RulePlan;
use super::rule_plan::{plan_delta_variants, plan_rule};
use super::search::SearchPlan;
use super::share::share;
use crate::analysis::program::{Program, Rule, Stratum};
use crate::data::RelationId;

/// Plans a program over what is known of its stored relations. An index takes as long for a candidate as it takes to look at
/// so many rows.
pub fn explain(program: &Program, stored: &dyn Statistics, candidate_rows: usize) -> Vec<StratumNote> {
    let mut expected = Expected { stored, derived: HashMap::new(), candidate_rows };
    program.strata.iter().map(|stratum| expected.stratum(stratum, program)).collect()
}

/// Sizes: of stored relations as they are, of derived ones as they are expected.
struct Expected<'s> {
    stored: &'s dyn Statistics,
    derived: HashMap<RelationId, f64>,
    candidate_rows: usize,
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

    fn is_sorted(&self, relation: RelationId, column: usize) -> bool {
        !self.derived.contains_key(&relation) && self.stored.is_sorted(relation, column)
    }
}

impl Expected<'_> {
    fn stratum(&mut self, stratum: &Stratum, program: &Program) -> StratumNote {
        let (sizes, rules) = match share(stratum, program, self) {
            Some(share) => {
                let rows = self.rows(share.source) as f64;
                let note = share.note(program, self, |relation| self.derived.contains_key(&relation));
                (HashMap::from([(share.head, rows)]), vec![note])
            }
            None => self.rules(stratum, program),
        };
        self.derived.extend(&sizes);
        let relations = stratum.relations.iter().map(|relation| RelationNote {
            name: program.relations[relation.index()].name.clone(),
            size: Size::Expected(sizes.get(relation).copied().unwrap_or(0.0)),
        });
        StratumNote {
            relations: relations.collect(),
            recursive: stratum.recursive,
            large: Large::of(stratum, program).map(|large| large.note()),
            rules,
            course: None,
        }
    }

    /// The sizes expected of a stratum's relations, and its plans.
    fn rules(&mut self, stratum: &Stratum, program: &Program) -> (HashMap<RelationId, f64>, Vec<RuleNote>) {
        let own: HashSet<RelationId> = stratum.relations.iter().copied().collect();
        let reads_own = |rule: &Rule| rule.atoms().any(|atom| own.contains(&atom.relation));
        let mut rules = Vec::new();
        let mut sizes: HashMap<RelationId, f64> =
            own.iter().map(|relation| (*relation, self.stored.rows(*relation) as f64)).collect();
        for rule in stratum.rules.iter().filter(|rule| !reads_own(rule)) {
            let note = match SearchPlan::of(rule, program) {
                Some(search) => {
                    let way = search.way(self, self.candidate_rows);
                    search.note(rule, way, program, self, |relation| self.derived.contains_key(&relation))
                }
                None => self.note(&plan_rule(rule, self), rule, program),
            };
            *sizes.entry(rule.head).or_default() += note.steps.last().map_or(0.0, |step| step.rows);
            rules.push(note);
        }
        if stratum.recursive {
            // As the executor takes it: what will grow is as large as the largest relation that is known.
            let known = (0..program.relations.len()).map(RelationId::new).filter(|id| !own.contains(id));
            let largest = known.map(|relation| self.rows(relation)).max().unwrap_or(0) as f64;
            self.derived.extend(own.iter().map(|relation| (*relation, largest)));
            sizes.values_mut().for_each(|rows| *rows = rows.max(largest));
        }
        for rule in stratum.rules.iter().filter(|rule| reads_own(rule)) {
            for plan in plan_delta_variants(rule, &own, self) {
                rules.push(self.note(&plan, rule, program));
            }
        }
        (sizes, rules)
    }

    fn note(&self, plan: &RulePlan, rule: &Rule, program: &Program) -> RuleNote {
        note(plan, rule, program, self, |relation| self.derived.contains_key(&relation))
    }
}
