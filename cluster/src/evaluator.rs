//! `Evaluator`: what the engine asks for the rows of a question.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use foldhash::HashMap;
use parking_lot::Mutex;
use stratalog_engine::analysis::program::Program;
use stratalog_engine::data::Codec;
use stratalog_engine::exec::{Computation, ExecError, Outcome, Profile, Relations};
use stratalog_engine::{Budget, Elsewhere};

use crate::ballista::Ballista;
use crate::evaluation::{Done, Evaluation};
use crate::findings::Findings;
use crate::lower::Refusal;
use crate::runner::{InProcess, Runner};
use crate::settings::Settings;

/// Evaluates programs by plans, in this process or by executors.
pub struct Evaluator {
    settings: Settings,
    runner: Box<dyn Runner>,
    tally: Counted,
}

/// How many strata were evaluated how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Programs.
    pub programs: u64,
    /// Those of them in which there was something to evaluate.
    pub programs_at_work: u64,
    /// Programs of which some stratum was evaluated by plans.
    pub programs_by_plans: u64,
    /// Strata that were evaluated by plans.
    pub by_plans: u64,
    /// Plans that executors have run.
    pub plans_by_executors: u64,
    /// Those of them whose joins sorted both sides, since what held one got no more memory.
    pub sorted: u64,
    /// Strata whose rows are those of another relation.
    pub same: u64,
    /// Strata that were evaluated in memory, as they read few rows.
    pub small: u64,
    /// Strata that were evaluated in memory, and why.
    pub in_memory: BTreeMap<Refusal, u64>,
}

#[derive(Default)]
struct Counted {
    programs: AtomicU64,
    tally: Mutex<Tally>,
}

impl Evaluator {
    /// With these settings.
    pub fn new(settings: Settings) -> Result<Evaluator, ExecError> {
        let here = InProcess::new(&settings)?;
        let runner: Box<dyn Runner> = match &settings.coordination {
            Some(coordination) => Box::new(Ballista::new(here, coordination, &settings)?),
            None => Box::new(here),
        };
        Ok(Evaluator { runner, settings, tally: Counted::default() })
    }

    /// What has been evaluated so far.
    pub fn tally(&self) -> Tally {
        Tally {
            programs: self.tally.programs.load(Ordering::Relaxed),
            plans_by_executors: self.runner.run_by_executors(),
            ..self.tally.tally.lock().clone()
        }
    }

    /// Whether there are executors to run plans.
    pub fn has_executors(&self) -> bool {
        self.runner.has_executors()
    }
}

impl Elsewhere for Evaluator {
    fn execute(
        &self,
        program: &Program,
        relations: &dyn Relations,
        codec: &Codec,
        budget: &Budget,
        mut profile: Option<&mut Profile>,
    ) -> Result<Outcome, ExecError> {
        self.tally.programs.fetch_add(1, Ordering::Relaxed);
        let findings = Arc::new(Findings::default());
        let mut evaluation = Evaluation {
            program,
            relations,
            computation: Computation::new(codec.clone(), budget.clone()),
            settings: &self.settings,
            runner: &*self.runner,
            scratch: Arc::new(self.runner.scratch()),
            findings: Arc::clone(&findings),
            tables: HashMap::default(),
        };
        evaluation.read_attached()?;
        let mut done = Vec::new();
        for stratum in &program.strata {
            let begun = Instant::now();
            let how = evaluation.evaluate(stratum)?;
            if let Some(profile) = &mut profile {
                profile.add(evaluation.note(stratum, how, begun.elapsed()));
            }
            done.push(how);
        }
        let runs = evaluation.runs(program.goal)?;
        let saturated = findings.is_saturated() || evaluation.computation.is_saturated();
        self.count(&done);
        Ok(Outcome { runs, saturated, remarks: findings.remarks(), ..Outcome::default() })
    }
}

impl Evaluator {
    fn count(&self, done: &[Done]) {
        let mut tally = self.tally.tally.lock();
        let is_by_plans = |done: &Done| matches!(done, Done::InRounds { .. } | Done::InParts { .. });
        tally.programs_at_work += u64::from(done.iter().any(|done| *done != Done::Same));
        tally.programs_by_plans += u64::from(done.iter().any(is_by_plans));
        for done in done {
            match done {
                Done::InRounds { way, .. } | Done::InParts { way } => {
                    tally.by_plans += 1;
                    tally.sorted += u64::from(way.sorts);
                }
                Done::Same => tally.same += 1,
                Done::Small => tally.small += 1,
                Done::InMemory(refusal) => *tally.in_memory.entry(*refusal).or_default() += 1,
            }
        }
    }
}

impl fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluator").field("settings", &self.settings).finish_non_exhaustive()
    }
}
