//! `Place`: what the engine asks for the rows of a question.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::HashMap;
use parking_lot::Mutex;
use stratalog_engine::analysis::program::Program;
use stratalog_engine::data::Codec;
use stratalog_engine::exec::{Computation, ExecError, Outcome, Relations};
use stratalog_engine::{Budget, Elsewhere};

use crate::evaluation::{Done, Evaluation};
use crate::findings::Findings;
use crate::lower::Refusal;
use crate::runner::InProcess;
use crate::scratch::Scratch;
use crate::settings::Settings;

/// Evaluates programs by plans, in this process.
pub struct Place {
    settings: Settings,
    runner: InProcess,
    tally: Counted,
}

/// How many strata were evaluated how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Programs.
    pub programs: u64,
    /// Programs of which some stratum was evaluated by plans.
    pub programs_by_plans: u64,
    /// Strata that were evaluated by plans.
    pub by_plans: u64,
    /// Those of them whose joins sorted both sides, since what held one got no more memory.
    pub sorted: u64,
    /// Strata that were evaluated in memory, and why.
    pub in_memory: BTreeMap<Refusal, u64>,
}

#[derive(Default)]
struct Counted {
    programs: AtomicU64,
    tally: Mutex<Tally>,
}

impl Place {
    /// With these settings.
    pub fn new(settings: Settings) -> Result<Place, ExecError> {
        Ok(Place { runner: InProcess::new(&settings)?, settings, tally: Counted::default() })
    }

    /// What has been evaluated so far.
    pub fn tally(&self) -> Tally {
        Tally { programs: self.tally.programs.load(Ordering::Relaxed), ..self.tally.tally.lock().clone() }
    }
}

impl Elsewhere for Place {
    fn execute(
        &self,
        program: &Program,
        relations: &dyn Relations,
        codec: &Codec,
        budget: &Budget,
    ) -> Result<Option<Outcome>, ExecError> {
        self.tally.programs.fetch_add(1, Ordering::Relaxed);
        let findings = Arc::new(Findings::default());
        let mut evaluation = Evaluation {
            program,
            relations,
            computation: Computation::new(codec.clone(), budget.clone()),
            settings: &self.settings,
            runner: &self.runner,
            scratch: Scratch::new(self.runner.store().clone()),
            findings: Arc::clone(&findings),
            tables: HashMap::default(),
        };
        let mut done = Vec::new();
        for stratum in &program.strata {
            done.push(evaluation.evaluate(stratum)?);
        }
        let runs = evaluation.runs(program.goal)?;
        let saturated = findings.is_saturated() || evaluation.computation.is_saturated();
        self.note(&done);
        Ok(Some(Outcome { runs, saturated, remarks: findings.remarks(), ..Outcome::default() }))
    }
}

impl Place {
    fn note(&self, done: &[Done]) {
        let mut tally = self.tally.tally.lock();
        let is_by_plans = |done: &Done| matches!(done, Done::ByPlans(_));
        tally.programs_by_plans += u64::from(done.iter().any(is_by_plans));
        for done in done {
            match done {
                Done::ByPlans(way) => {
                    tally.by_plans += 1;
                    tally.sorted += u64::from(way.sorts);
                }
                Done::InMemory(refusal) => *tally.in_memory.entry(*refusal).or_default() += 1,
            }
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("settings", &self.settings).finish_non_exhaustive()
    }
}
