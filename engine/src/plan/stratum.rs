//! The plan of a stratum: every choice of how it is evaluated, made here and nowhere else. The executor runs it, `.explain`
//! and `.profile` show it.
//!
//! What a stratum derives has no size before it runs. A relation that grows is taken for as large as the largest one that
//! is known; [`plan_again`] plans rounds with what the rounds before have measured.

use std::borrow::Cow;
use std::sync::Arc;

use super::alias::{Alias, alias};
use super::cost::Thresholds;
use super::rule::composition::generators;
use super::rule::distinct_heads::makes_rows_once;
use super::rule::operators::RulePlan;
use super::rule::partitioned::{Partitioning, partitioning};
use super::rule::rule_plan::{plan_delta_variants, plan_rule};
use super::rule::variation::{Distinct, Own, Variation};
use super::search::{SearchPlan, Way};
use super::statistics::{Layout, Statistics};
use super::strategy::Strategy;
use super::strategy::matrices::Mixed;
use super::union::{Union, union};
use crate::analysis::program::{Program, Rule, Stratum};
use crate::budget::{Budget, BudgetError};
use crate::data::{Code, RelationId, Sample, Value};

/// How a stratum is evaluated.
pub enum StratumPlan<'p> {
    /// Its relation has the rows of another one.
    Alias(Alias<'p>),
    /// Its relation has the rows of several others.
    Union(Union<'p>),
    /// By its rules.
    Rules(RulesPlan<'p>),
}

/// How the rules of a stratum are evaluated.
pub struct RulesPlan<'p> {
    /// How rows that come twice are told, of each relation.
    pub distinct: Own,
    /// What is evaluated once, as it reads only what is complete.
    pub once: Vec<OncePlan<'p>>,
    /// What is evaluated until nothing new comes, if the stratum is recursive.
    pub recursion: Option<Recursion<'p>>,
}

/// A rule that is evaluated once.
pub struct OncePlan<'p> {
    /// The rule.
    pub rule: &'p Rule,
    /// How.
    pub how: Once,
}

/// How a rule is evaluated once.
pub enum Once {
    /// By a search.
    Search(Box<SearchPlan>, Way),
    /// By its plan, in parts that threads do not share if it says how.
    Rule(Box<RulePlan>, Option<Partitioning>),
}

/// The rules of a recursion.
pub struct Recursion<'p> {
    /// What each round evaluates.
    pub variants: Vec<Variant<'p>>,
    /// What takes the place of rounds once there is much to do.
    pub strategy: Strategy,
    /// Products that do the work of some rules beside rounds, if these do too much for what they find.
    pub mixed: Option<Mixed>,
}

/// A rule of which one atom reads what the last round has found.
pub struct Variant<'p> {
    /// The rule, and what its atoms read.
    pub variation: Variation<'p>,
    /// Its plan.
    pub plan: RulePlan,
}

/// Plans a stratum with what is known of the relations that it reads, as long as the budget allows.
pub fn plan_stratum<'p>(
    stratum: &'p Stratum,
    program: &Program,
    statistics: &dyn Statistics,
    thresholds: &Thresholds,
    budget: &Budget,
) -> Result<StratumPlan<'p>, BudgetError> {
    if let Some(alias) = alias(stratum, program, statistics) {
        return Ok(StratumPlan::Alias(alias));
    }
    if let Some(union) = union(stratum, program, statistics, thresholds) {
        return Ok(StratumPlan::Union(union));
    }
    let reads_own = |rule: &&Rule| rule.atoms().any(|atom| stratum.relations.contains(&atom.relation));
    let lone = lone_rule(stratum, statistics);
    let distinct = |relation: &RelationId| match (lone, program.relations[relation.index()].best) {
        (Some(rule), _) if makes_rows_once(rule) => Distinct::Unneeded,
        (_, Some(best)) => Distinct::Best(best),
        (_, None) => Distinct::Rows,
    };
    let distinct: Own = stratum.relations.iter().map(|relation| (*relation, distinct(relation))).collect();
    let is_parted = lone.is_some() && distinct.values().all(|distinct| *distinct == Distinct::Rows);
    let once = stratum.rules.iter().filter(|rule| !reads_own(rule)).map(|rule| {
        budget.check()?;
        let how = match SearchPlan::of(rule, program) {
            Some(search) => {
                let way = search.way(statistics, thresholds.candidate_rows);
                Once::Search(Box::new(search), way)
            }
            None => {
                let plan = plan_rule(rule, statistics);
                let parts = if is_parted { partitioning(&plan, statistics, thresholds) } else { None };
                Once::Rule(Box::new(plan), parts)
            }
        };
        Ok::<_, BudgetError>(OncePlan { rule, how })
    });
    let once = once.collect::<Result<_, _>>()?;
    let mut recursion = None;
    if stratum.recursive {
        let prospect = Prospect::of(stratum, program, statistics);
        let mut variants = Vec::new();
        let in_time = thresholds.finds_in_time;
        let generators = match in_time {
            true => vec![None; stratum.rules.len()],
            false => generators(&stratum.rules, program),
        };
        let readers = || stratum.auxiliaries.iter().flat_map(|auxiliary| &auxiliary.readers);
        for (number, (rule, generators)) in stratum.rules.iter().zip(generators).enumerate() {
            let reader = readers().find(|reader| reader.rule == number);
            // A rule that reads its own relation a thousand times has a thousand plans.
            for (variation, plan) in plan_delta_variants(rule, generators, reader, &distinct, &prospect) {
                budget.check()?;
                variants.push(Variant { variation, plan });
            }
        }
        let at_work = at_work(stratum, statistics);
        let strategy =
            if in_time { Strategy::in_time(&at_work, program) } else { Strategy::of(&at_work, program) };
        let mixed = if in_time { None } else { strategy.mixed(&at_work, program) };
        recursion = Some(Recursion { variants, strategy, mixed });
    }
    Ok(StratumPlan::Rules(RulesPlan { distinct, once, recursion }))
}

/// A stratum without the rules that find nothing, as there is nothing in a relation that is complete.
fn at_work<'p>(stratum: &'p Stratum, statistics: &dyn Statistics) -> Cow<'p, Stratum> {
    let is_empty = |relation: RelationId| {
        !stratum.relations.contains(&relation)
            && statistics.layout(relation).is_some()
            && statistics.rows(relation) == 0
    };
    let finds_nothing = |rule: &Rule| rule.atoms().any(|atom| is_empty(atom.relation));
    if !stratum.rules.iter().any(finds_nothing) {
        return Cow::Borrowed(stratum);
    }
    let mut stratum = stratum.clone();
    stratum.rules.retain(|rule| !finds_nothing(rule));
    Cow::Owned(stratum)
}

/// The rule whose rows are all that there is.
fn lone_rule<'p>(stratum: &'p Stratum, statistics: &dyn Statistics) -> Option<&'p Rule> {
    let [rule] = stratum.rules.as_slice() else { return None };
    (!stratum.recursive && statistics.rows(rule.head) == 0).then_some(rule)
}

/// What is known before the first round: relations of the stratum will grow, to as many rows as the largest relation that
/// is known has.
pub struct Prospect<'s> {
    own: &'s [RelationId],
    rows: usize,
    known: &'s dyn Statistics,
}

impl<'s> Prospect<'s> {
    /// What is known before the first round of a stratum.
    pub fn of(stratum: &'s Stratum, program: &Program, known: &'s dyn Statistics) -> Prospect<'s> {
        let all = (0..program.relations.len()).map(RelationId::new);
        let others = all.filter(|relation| !stratum.relations.contains(relation));
        let rows = others.map(|relation| known.rows(relation)).max().unwrap_or(0);
        Prospect { own: &stratum.relations, rows, known }
    }

    /// The rows that a relation of the stratum is expected to have.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }
}

impl Statistics for Prospect<'_> {
    fn rows(&self, relation: RelationId) -> usize {
        if self.own.contains(&relation) { self.rows } else { self.known.rows(relation) }
    }

    fn distinct(&self, relation: RelationId, column: usize) -> usize {
        if self.own.contains(&relation) { self.rows.isqrt() } else { self.known.distinct(relation, column) }
    }

    fn layout(&self, relation: RelationId) -> Option<Layout<'_>> {
        if self.own.contains(&relation) { None } else { self.known.layout(relation) }
    }

    fn sample(&self, relation: RelationId, columns: &[usize]) -> Option<Arc<Sample>> {
        if self.own.contains(&relation) { None } else { self.known.sample(relation, columns) }
    }

    fn code(&self, value: &Value) -> Option<Code> {
        self.known.code(value)
    }

    fn index_uses(&self) -> usize {
        self.known.index_uses()
    }

    fn as_written(&self) -> bool {
        self.known.as_written()
    }
}
