//! How many bindings a plan is expected to have after each step, and how many rows its head.

use crate::analysis::program::{Expression, HeadTerm, Program, Rule};
use crate::data::{Value, VariableId};
use crate::plan::access::Access;
use crate::plan::cost::PASSING;
use crate::plan::rule::operators::{KeyPart, Lookup, LookupBy, RulePlan, Source, Step};
use crate::plan::statistics::{Sought, Statistics, Values, counted_matches, expected_best, expected_matches};

/// Elements of a list, of which nothing is known.
const ELEMENTS: f64 = 4.0;

/// The most bindings that a plan is expected to have at any step.
pub fn expected_rows(plan: &RulePlan, statistics: &dyn Statistics) -> usize {
    Estimate { plan, statistics }.bindings().into_iter().fold(0.0, f64::max) as usize
}

/// The rows, or groups, that a plan is expected to find: as many as it has bindings, or fewer where its head has no more
/// combinations of values.
pub fn expected_found(plan: &RulePlan, statistics: &dyn Statistics) -> usize {
    let estimate = Estimate { plan, statistics };
    let combinations: f64 = plan.head_terms.iter().map(|term| estimate.combinations(term)).product();
    estimate.bindings().last().copied().unwrap_or_default().min(combinations) as usize
}

/// The bindings of a plan that there are not expected to be if it reads its auxiliary relation.
pub fn expected_spared(plan: &RulePlan, statistics: &dyn Statistics) -> f64 {
    let Some((_, steps)) = &plan.spares else { return 0.0 };
    let bindings = Estimate { plan, statistics }.bindings();
    bindings.get(steps.clone()).map_or(0.0, |bindings| bindings.iter().sum())
}

/// A column that is looked up, for a constant or for what nothing is known of.
fn sought(column: usize, constant: Option<&Value>) -> Sought<'_> {
    Sought { column, values: Values::default(), constant }
}

pub(crate) struct Estimate<'a> {
    pub(crate) plan: &'a RulePlan,
    pub(crate) statistics: &'a dyn Statistics,
}

impl Estimate<'_> {
    /// Bindings expected after the source and after each step.
    pub(crate) fn bindings(&self) -> Vec<f64> {
        let mut rows = match &self.plan.source {
            Source::One => 1.0,
            Source::Scan(scan) => {
                let constants = scan.constants.iter();
                let constants = constants.map(|(column, constant)| sought(*column, Some(constant)));
                let equal = scan.equal.iter().map(|(_, column)| sought(*column, None));
                self.matches(scan.access, constants.chain(equal).collect())
            }
        };
        let mut after = vec![rows];
        for step in &self.plan.steps {
            rows *= match step {
                Step::Probe { lookup, .. } => self.found(lookup),
                Step::Exists { lookup, negated: false, .. } => self.found(lookup).min(1.0),
                Step::Exists { lookup, negated: true, .. } => (1.0 - self.found(lookup)).max(PASSING),
                Step::Intersect { sides: [first, second], .. } => {
                    let ends = [second.from, second.to].map(|column| sought(column, None));
                    let both = self.matches(second.access, ends.to_vec());
                    self.matches(first.access, vec![sought(first.from, None)]) * both.min(1.0)
                }
                Step::Compute { .. } => 1.0,
                Step::Unnest { .. } => ELEMENTS,
                Step::Filter { .. } => PASSING,
            };
            after.push(rows);
        }
        after
    }

    /// Rows expected of a look-up.
    fn found(&self, lookup: &Lookup) -> f64 {
        let key = lookup.key.iter().map(|(column, part)| match part {
            KeyPart::Constant(constant) => sought(*column, Some(constant)),
            KeyPart::Variable(_) => sought(*column, None),
        });
        let equal = lookup.equal.iter().map(|(_, column)| sought(*column, None));
        let matches = self.matches(lookup.access, key.chain(equal).collect());
        if lookup.by == LookupBy::Best { expected_best(matches) } else { matches }
    }

    /// Rows expected for one value in each of these columns.
    fn matches(&self, access: Access, mut sought: Vec<Sought>) -> f64 {
        sought.sort_unstable_by_key(|sought| sought.column);
        counted_matches(access, &sought, self.statistics).unwrap_or_else(|| {
            let columns: Vec<usize> = sought.iter().map(|sought| sought.column).collect();
            expected_matches(access, &columns, self.statistics)
        })
    }

    /// Rows expected of the head: where solutions are grouped, so many a group.
    pub(crate) fn head(&self, rule: &Rule, program: &Program, solutions: f64) -> f64 {
        let best = program.relations[rule.head.index()].best;
        let a_group = match &rule.ranking {
            Some(ranking) => {
                let good = if ranking.bound.is_some() { solutions * PASSING } else { solutions };
                return match ranking.count {
                    Some(count) => good.min(count as f64 * self.groups(rule, |column| rule.is_group(column))),
                    None => good,
                };
            }
            None => rule.aggregates() || best.is_some(),
        };
        if !a_group {
            return solutions;
        }
        let value = best.map(|best| best.column);
        solutions.min(self.groups(rule, |column| rule.is_group(column) && value != Some(column)))
    }

    /// Combinations of values of the columns that make a group.
    fn groups(&self, rule: &Rule, is_group: impl Fn(usize) -> bool) -> f64 {
        let columns = rule.head_terms.iter().enumerate().filter(|(column, _)| is_group(*column));
        columns.map(|(_, term)| self.combinations(term)).product()
    }

    /// Values that a column of the head takes.
    fn combinations(&self, term: &HeadTerm) -> f64 {
        match term {
            HeadTerm::Expression(expression) => self.distinct(expression),
            HeadTerm::Aggregate { .. } => 1.0,
        }
    }

    /// Values that an expression takes: one for each combination of those of its variables.
    fn distinct(&self, expression: &Expression) -> f64 {
        let mut distinct = 1.0;
        expression.for_each_variable(&mut |variable| distinct *= self.distinct_values(variable));
        distinct
    }

    /// Values that a variable takes: those of the column that binds it.
    fn distinct_values(&self, variable: VariableId) -> f64 {
        let column = |access: Access, outputs: &[(usize, VariableId)]| {
            let (column, _) = outputs.iter().find(|(_, bound)| *bound == variable)?;
            Some(self.statistics.distinct(access.relation, *column).max(1) as f64)
        };
        let source = match &self.plan.source {
            Source::One => None,
            Source::Scan(scan) => column(scan.access, &scan.outputs),
        };
        let step = |step: &Step| match step {
            Step::Probe { lookup, outputs, .. } => column(lookup.access, outputs),
            Step::Intersect { variable: found, sides: [first, _], .. } => {
                column(first.access, &[(first.to, *found)])
            }
            Step::Compute { variable: computed, expression, .. } => {
                (*computed == variable).then(|| self.distinct(expression))
            }
            Step::Exists { .. } | Step::Filter { .. } | Step::Unnest { .. } => None,
        };
        source.or_else(|| self.plan.steps.iter().find_map(step)).unwrap_or(1.0)
    }
}
