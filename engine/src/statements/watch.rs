//! `Watch`: what is noted of a query that is profiled; and what `.explain` tells as well: views that are read, and rewrites.

use crate::analysis::program::Program;
use crate::exec::Profile;
use crate::plan::{OlderNote, RelationNote, RewriteNote, Size};
use crate::rewrite;
use crate::views::Reading;

/// What is noted of a query that is profiled.
pub(super) struct Watch {
    pub(super) kept: Vec<RelationNote>,
    pub(super) older: Vec<OlderNote>,
    pub(super) rewrites: Vec<RewriteNote>,
    /// Where it was evaluated, and why, if there is a choice.
    pub(super) place: Option<String>,
    /// What is told of attached relations.
    pub(super) files: Vec<String>,
    pub(super) profile: Profile,
}

/// The views that are read.
pub(super) fn kept_notes(reading: &Reading) -> Vec<RelationNote> {
    let mut notes: Vec<RelationNote> = reading
        .relations()
        .map(|(name, rows)| RelationNote { name: name.to_owned(), size: Size::Found(rows) })
        .collect();
    notes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    notes
}

/// Rewrites a program, and tells what each rewrite did.
pub(super) fn rewrite_noting(mut program: Program, disabled: &[String]) -> (Program, Vec<RewriteNote>) {
    let mut notes = Vec::new();
    for (name, run) in rewrite::passes(disabled) {
        let before = program.clone();
        program = run(program);
        let known = |name: &str| before.relations.iter().any(|relation| relation.name == name);
        let made = program.relations.iter().map(|relation| relation.name.clone());
        let made = made.filter(|name| !known(name)).collect();
        let changed = before.strata != program.strata;
        notes.push(RewriteNote { name, changed, made, given_up: false });
    }
    (rewrite::complete(program), notes)
}
