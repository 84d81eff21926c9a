//! Program to program, one pass a file. A pass changes how an answer is found, never the answer.

mod magic_sets;

use crate::analysis::program::Program;

/// A rewrite.
struct Pass {
    name: &'static str,
    run: fn(Program) -> Program,
}

/// The passes in their order.
const PASSES: &[Pass] = &[Pass { name: "magic_sets", run: magic_sets::run }];

/// The names by which passes are switched off.
pub fn names() -> Vec<&'static str> {
    PASSES.iter().map(|pass| pass.name).collect()
}

/// Runs every pass that is not switched off.
pub(crate) fn rewrite(program: Program, disabled: &[String]) -> Program {
    PASSES
        .iter()
        .filter(|pass| disabled.iter().all(|name| name != pass.name))
        .fold(program, |program, pass| (pass.run)(program))
}
