//! What is brief is done on the thread that asks, and everything else by all threads.

use std::time::Duration;

use crate::analysis::program::Program;
use crate::budget::Budget;
use crate::context::Context;

/// What takes less time is sooner done than handed over.
pub(super) const BRIEF: Duration = Duration::from_millis(2);
/// A recursion shows soon whether it goes on.
const BRIEF_RECURSION: Duration = Duration::from_micros(500);

/// Work on the thread that asks, if it is brief there, and else by all threads. To hand it to others and to wait for them
/// takes longer than what most questions ask for.
pub(super) fn at_once_or_by_all<T: Send, E: Send>(
    brief: Option<Duration>,
    context: &Context<'_>,
    work: impl Fn(&Budget) -> Result<T, E> + Send + Sync,
) -> Result<T, E> {
    let at_once = brief.and_then(|brief| context.budget.briefly(brief, &work));
    at_once.unwrap_or_else(|| context.environment.threads.run(|| work(context.budget)))
}

/// How long the thread that asks may try to evaluate a program: a pipeline of many steps needs a deep stack.
pub(super) fn brief_time(program: &Program) -> Option<Duration> {
    const FEW_LITERALS: usize = 16;
    let mut rules = program.strata.iter().flat_map(|stratum| &stratum.rules);
    let recursive = program.strata.iter().any(|stratum| stratum.recursive);
    let time = if recursive { BRIEF_RECURSION } else { BRIEF };
    rules.all(|rule| rule.body.len() <= FEW_LITERALS).then_some(time)
}
