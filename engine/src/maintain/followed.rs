//! `Followed`: the rows of all relations of a program at one state of what it reads, brought to the next one at the cost of
//! what has changed.
//!
//! Views (`views`) are whole relations that many questions share. What is followed is one question, with what only it derives:
//! the rows for its constants, and its answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::from_scratch::FromScratch;
use super::{Cost, KeptRows, Means, Named, Step, advance, rehearse};
use crate::analysis::program::{Program, Rule, Stratum};
use crate::budget::{Budget, BudgetError};
use crate::data::parallel::FEW_ROWS;
use crate::data::{Codec, Computed, Dictionary, Difference, Learning, Relation};
use crate::exec::{ExecError, Outcome};

/// A program with the rows of all its relations.
#[derive(Debug)]
pub(crate) struct Followed {
    program: Program,
    state: State,
    /// The values that are learnt as long as it is followed, by the dictionary of all codes.
    computed: Arc<Computed>,
    cost: Cost,
    /// Whether steps have made what the next ones need that lasts.
    is_rehearsed: bool,
}

/// The rows of the relations of a program.
#[derive(Debug)]
struct State {
    /// What is stored, and read.
    stored: Named,
    derived: BTreeMap<String, Arc<KeptRows>>,
}

/// What is derived in another state.
struct Derived {
    rows: BTreeMap<String, Arc<KeptRows>>,
    /// What has changed of the answer, if that was found on the way.
    difference: Option<Difference>,
}

/// The state to which the rows are to be brought.
pub(crate) struct NextState<'n> {
    pub(crate) program: &'n Program,
    /// What is stored now of the relations that it reads.
    pub(crate) stored: Named,
    pub(crate) means: Means<'n>,
    /// Whether a step is made however long it takes.
    pub(crate) always: bool,
}

impl Followed {
    /// From here on a program is followed, if it can be, and if that may be worth it: whoever has the outcome needs so much time
    /// for a whole answer. `before` is what was followed before; what has changed of its answer, if that was found on the way.
    pub(crate) fn begin(
        program: &Program,
        stored: Named,
        (outcome, beside): (&Outcome, Duration),
        codec: &Codec,
        before: Option<&Followed>,
        always: bool,
    ) -> Option<(Followed, Option<Difference>)> {
        let firsts = program.strata.iter().filter_map(|stratum| stratum.relations.first());
        let evaluated: Duration = firsts.filter_map(|relation| outcome.took.get(relation)).sum();
        // All rows of an answer that is not followed are put in order, and compared with those before.
        let took = evaluated + KeptRows::time_of_comparing(&outcome.runs) + beside;
        let is_worth_it = always || took > Cost::LEAST;
        let mut rules = program.strata.iter().flat_map(|stratum| &stratum.rules);
        // What has to be said of rows would not be said again.
        let is_plain = !outcome.saturated && outcome.remarks.is_empty();
        let goal = &program.relations[program.goal.index()];
        if !is_worth_it || !is_plain || goal.arity == 0 || rules.any(Rule::reads_circumstances) {
            return None;
        }
        let most_values = if always { usize::MAX } else { Cost::values_worth(took) };
        let mut learning = Learning::from(codec);
        let mut derived = BTreeMap::<String, Arc<KeptRows>>::new();
        let before = before.filter(|before| before.program.is_same(program));
        let standing = before.filter(|before| before.computed.are_of(codec.shared()));
        let mut from_scratch = FromScratch::on(&stored, standing.map(|before| &before.state.derived));
        let mut changed = None;
        let strata = program.strata.iter();
        let relations = strata.flat_map(|stratum| stratum.relations.iter().map(move |own| (stratum, own)));
        for (stratum, relation) in relations {
            let rounds = outcome.rounds.get(relation).filter(|_| stratum.recursive).cloned();
            let described = &program.relations[relation.index()];
            let is_goal = *relation == program.goal;
            let runs = match is_goal {
                true => &outcome.runs,
                false => outcome.complete.get(relation)?,
            };
            let runs = learning.runs(runs, most_values).ok()??;
            let (rows, difference) =
                from_scratch.keep((&described.name, described.arity), (runs, rounds), is_goal);
            derived.insert(described.name.clone(), rows);
            if is_goal {
                changed = difference;
            }
        }
        let fresh = from_scratch.fresh();
        let cost = Cost::of(took, before.map(|before| before.cost));
        let learnt = Arc::new(learning.finish());
        let computed = Computed::in_place_of(before.map(|before| &before.computed), learnt);
        let is_rehearsed = standing.is_some_and(|before| before.is_rehearsed) && fresh <= FEW_ROWS;
        let state = State { stored, derived };
        Some((Followed { program: program.clone(), state, computed, cost, is_rehearsed }, changed))
    }

    /// Brings the rows to the next state, if it is one of the same program and that pays. Answers what has changed of the answer.
    pub(crate) fn advance(
        &mut self,
        next: NextState<'_>,
        budget: &Budget,
    ) -> Result<Option<Difference>, ExecError> {
        if !self.are_values_of(next.means.dictionary) || !self.program.is_same(next.program) {
            return Ok(None);
        }
        let changed = self.changed(&next);
        let time = if next.always { Some(Duration::MAX) } else { self.cost.allowed(changed) };
        let ordering: Duration = self.state.derived.values().map(|rows| rows.ordering()).sum();
        let Some(time) = time.filter(|time| ordering < Budget::for_lasting(*time)) else { return Ok(None) };
        let started = Instant::now();
        let derive = |budget: &Budget| self.derive(&self.state, &next.stored, next.means, budget);
        let advanced = match self.is_rehearsed {
            true => budget.strictly_within(time, derive),
            false => budget.within(time, derive),
        };
        let Derived { rows, difference } = match advanced {
            Some(Ok(Some(derived))) => derived,
            Some(Err(ExecError::Budget(BudgetError::Cancelled))) => {
                return Err(ExecError::Budget(BudgetError::Cancelled));
            }
            // What does not succeed this way is derived from scratch, and fails there if it has to.
            None | Some(Ok(None) | Err(_)) => {
                self.cost.give_up(started.elapsed(), changed);
                return Ok(None);
            }
        };
        self.cost.made(started.elapsed(), changed);
        let before = self.answer();
        self.state = State { stored: next.stored, derived: rows };
        Ok(Some(difference.unwrap_or_else(|| Difference::between(&before, &self.answer()))))
    }

    /// Whether the first steps would have to make what the others find.
    pub(crate) fn wants_rehearsal(&self) -> bool {
        !self.is_rehearsed
    }

    /// Makes that, and changes nothing else.
    pub(crate) fn rehearse(&mut self, means: Means<'_>, budget: &Budget) -> Result<(), ExecError> {
        if self.are_values_of(means.dictionary) {
            let step = |before: Option<&State>, stored: &Named, budget: &Budget| {
                let derived = self.derive(before.unwrap_or(&self.state), stored, means, budget)?;
                Ok(derived.map(|derived| State { stored: stored.clone(), derived: derived.rows }))
            };
            rehearse(&self.state.stored, self.cost.worth(), budget, step)?;
        }
        self.is_rehearsed = true;
        self.cost.be_prepared();
        Ok(())
    }

    /// Whether its values are those of a dictionary.
    fn are_values_of(&self, dictionary: &Arc<Dictionary>) -> bool {
        self.computed.are_of(dictionary)
    }

    /// Whether it is this program that is followed.
    pub(crate) fn is_of(&self, program: &Program) -> bool {
        self.program.is_same(program)
    }

    /// The rows of the answer.
    pub(crate) fn answer(&self) -> Relation {
        let goal = &self.program.relations[self.program.goal.index()];
        self.state.derived.get(&goal.name).map_or_else(|| Relation::empty(goal.arity), |rows| rows.relation())
    }

    /// The rows of all relations that it derives, by their names.
    pub(crate) fn derived(&self) -> &BTreeMap<String, Arc<KeptRows>> {
        &self.state.derived
    }

    /// How long the step to this state may take; none if it will not be tried.
    pub(crate) fn allows(&self, next: &NextState<'_>) -> Option<Duration> {
        self.cost.allows(self.changed(next))
    }

    /// About how many stored rows have changed.
    fn changed(&self, next: &NextState<'_>) -> usize {
        let pairs =
            self.state.stored.iter().filter_map(|(name, before)| Some((before, next.stored.get(name)?)));
        pairs.map(|(before, now)| Difference::at_most(before.runs(), now.runs())).sum()
    }

    /// Bytes of what is derived beside the answer, and of values that were learnt for all of it.
    pub(crate) fn memory_bytes(&self) -> usize {
        let goal = &self.program.relations[self.program.goal.index()].name;
        let beside = self.state.derived.iter().filter(|(name, _)| *name != goal);
        beside.map(|(_, rows)| rows.memory_bytes()).sum::<usize>() + self.computed.bytes()
    }

    /// What is derived where this is stored, brought there from another state.
    fn derive(
        &self,
        before: &State,
        stored: &Named,
        means: Means<'_>,
        budget: &Budget,
    ) -> Result<Option<Derived>, ExecError> {
        let (mut now, mut difference) = (BTreeMap::new(), None);
        for stratum in &self.program.strata {
            let old = stratum.relations.iter().filter_map(|relation| {
                let name = &self.program.relations[relation.index()].name;
                let rows = before.derived.get(name)?;
                Some((name.clone(), budget.lasting(|| rows.in_order())))
            });
            let step = Step {
                program: &self.program,
                stratum,
                before: &self.read(stratum, &before.stored, &before.derived),
                now: &self.read(stratum, stored, &now),
                old: &old.collect(),
                means,
            };
            let Some(mut advanced) = advance(&step, budget)? else { return Ok(None) };
            if stratum.relations.contains(&self.program.goal) {
                difference = advanced.difference.take();
            }
            now.extend(advanced.into_kept());
        }
        Ok(Some(Derived { rows: now, difference }))
    }

    /// What a stratum reads, with the stored rows of its own relations.
    fn read(&self, stratum: &Stratum, stored: &Named, derived: &BTreeMap<String, Arc<KeptRows>>) -> Named {
        let below = stratum.rules.iter().flat_map(Rule::reads);
        let read = below.chain(stratum.relations.iter().copied()).filter_map(|relation| {
            let name = &self.program.relations[relation.index()].name;
            let rows = match derived.get(name).filter(|_| !stratum.relations.contains(&relation)) {
                Some(derived) => derived.relation(),
                None => stored.get(name)?.clone(),
            };
            Some((name.clone(), rows))
        });
        read.collect()
    }
}
