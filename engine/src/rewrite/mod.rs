//! Program to program, one pass a file. A pass changes how an answer is found, never the answer.

/// Literals with other variables.
mod renamed;

/// Rules with one more condition.
mod guarded;

mod fold_constants;
mod magic_sets;

/// What recursive rules may read in the place of conditions that do not depend on the recursion.
mod auxiliaries;

/// What a stratum derives otherwise when something below it has changed.
pub(crate) mod changes;

/// What explains the rows of a goal.
pub(crate) mod proofs;

pub(crate) use magic_sets::ASKED;

use crate::analysis::program::Program;

/// A rewrite.
struct Pass {
    name: &'static str,
    run: fn(Program) -> Program,
}

/// The name of the pass by which only a part of what rules derive is evaluated.
pub(crate) const MAGIC_SETS: &str = "magic_sets";

/// The passes in their order.
const PASSES: &[Pass] = &[
    Pass { name: "fold_constants", run: fold_constants::run },
    Pass { name: MAGIC_SETS, run: magic_sets::run },
];

const NAMES: [&str; PASSES.len()] = {
    let mut names = [""; PASSES.len()];
    let mut i = 0;
    while i < PASSES.len() {
        names[i] = PASSES[i].name;
        i += 1;
    }
    names
};

/// The names by which passes are switched off.
pub fn names() -> &'static [&'static str] {
    &NAMES
}

/// Runs every pass that is not switched off.
pub(crate) fn rewrite(program: Program, disabled: &[String]) -> Program {
    complete(passes(disabled).fold(program, |program, (_, run)| run(program)))
}

/// Runs every pass that is not switched off and leaves a question that is evaluated in full.
pub(crate) fn rewrite_in_full(program: Program, disabled: &[String]) -> Program {
    let passes = passes(disabled).filter(|(name, _)| *name != MAGIC_SETS);
    complete(passes.fold(program, |program, (_, run)| run(program)))
}

/// What is done to every program after the passes: nothing that changes what it says or how it is evaluated as it stands.
pub(crate) fn complete(program: Program) -> Program {
    auxiliaries::offer(program)
}

/// The passes that are not switched off, in their order.
pub(crate) fn passes(disabled: &[String]) -> impl Iterator<Item = (&'static str, fn(Program) -> Program)> {
    PASSES
        .iter()
        .filter(|pass| disabled.iter().all(|name| name != pass.name))
        .map(|pass| (pass.name, pass.run))
}
