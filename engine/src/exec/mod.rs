//! Plans at work on columns of codes: a program's strata, one after the other, and the rows of its goal.
//!
//! Nothing is decided here that `plan` can decide. Read the modules in this order; each uses only those above it.

/// Why an evaluation stopped.
mod error;

/// What an evaluation did.
mod profile;

/// What aggregates met that they are not made for.
mod remarks;

/// What the executor may ask of a graph.
mod relations;

/// Batches of bindings, and what is computed over their columns.
mod values;

/// An index that grows with its rows.
mod growing_index;

/// When rows were found.
mod rounds;

/// What an evaluation gives.
mod outcome;

/// Where programs are evaluated that are not evaluated here.
mod elsewhere;

/// Expressions and comparisons over columns of codes, for those who join rows elsewhere.
mod computation;

/// A relation inside a fixpoint.
mod growing;

/// What rounds have measured.
mod measured;

/// What is read while a stratum is evaluated.
mod tables;

/// What is known of the relations that a stratum derives.
mod known;

/// The operators of a rule's pipeline.
mod operators;

/// What becomes of a rule's solutions.
mod heads;

/// Searches by indexes that people define.
mod search;

/// What the strategies for graphs have in common.
mod graphs;

/// What takes the place of rounds.
mod strategy;

/// What does not depend on a recursion, derived once.
mod auxiliaries;

/// One stratum to its fixpoint.
mod stratum;

/// A few rows, searched for from both of their ends.
mod both_ends;

/// One of two strata.
mod either;

/// The order of an answer.
mod sort;

use std::time::Instant;

use foldhash::HashMap;

use self::either::evaluate_either;
use self::profile::Notes;
use self::tables::Tables;
use crate::analysis::program::{Program, Stratum};
use crate::budget::Budget;
use crate::data::Codec;
use crate::plan::{RelationNote, Size, Statistics, StratumNote};

pub use crate::plan::Thresholds;
pub use computation::Computation;
pub use elsewhere::Elsewhere;
pub use error::ExecError;
pub use outcome::Outcome;
pub use profile::Profile;
pub use relations::Relations;
pub use remarks::{Remark, Unlike};
pub use rounds::Rounds;
pub use sort::{Order, sort_limit};
pub(crate) use strategy::walk::{EdgeRuns, ShortestWays, Way};

/// Evaluates a program bottom-up, stratum by stratum (semi-naive where a stratum is recursive), and measures it if a
/// profile is given.
pub fn execute(
    program: &Program,
    relations: &dyn Relations,
    codec: &Codec,
    budget: &Budget,
    thresholds: Thresholds,
    mut profile: Option<&mut Profile>,
) -> Result<Outcome, ExecError> {
    let mut tables = Tables::new(program, relations, codec, budget, thresholds);
    let (mut took, mut rounds, mut round) = (HashMap::default(), HashMap::default(), 0);
    let mut strata = program.strata.iter().peekable();
    while let Some(stratum) = strata.next() {
        let started = Instant::now();
        match (strata.next_if(|next| next.alternative.is_some()), &mut profile) {
            (None, None) => stratum::evaluate(&mut tables, stratum, None)?,
            (None, Some(profile)) => profile.add(measure(&mut tables, stratum)?),
            (Some(other), None) => _ = evaluate_either(&mut tables, [stratum, other], false)?,
            (Some(other), Some(profile)) => profile.add(measure_either(&mut tables, [stratum, other])?),
        }
        let elapsed = started.elapsed();
        took.extend(stratum.relations.iter().map(|relation| (*relation, elapsed)));
        rounds.extend(stratum.relations.iter().filter_map(|relation| {
            let found_in = match tables.found_in.remove(relation) {
                Some(found_in) => found_in,
                None if stratum.recursive => return None,
                None => Rounds::at_once(tables.rows(*relation)),
            };
            Some((*relation, found_in.after(round)))
        }));
        let ends = stratum.relations.iter().filter_map(|relation| Some(rounds.get(relation)?.end()));
        round = ends.max().unwrap_or(round);
    }
    let runs = tables.complete.remove(&program.goal).unwrap_or_default();
    let (saturated, remarks) = (tables.remarks.is_saturated(), tables.remarks.of_aggregates());
    Ok(Outcome { runs, complete: tables.complete, saturated, remarks, took, rounds })
}

/// Evaluates a stratum, and tells how that went.
fn measure(tables: &mut Tables<'_>, stratum: &Stratum) -> Result<StratumNote, ExecError> {
    let mut notes = Notes::start();
    stratum::evaluate(tables, stratum, Some(&mut notes))?;
    Ok(noted(tables, stratum, notes))
}

/// Evaluates one of two strata, and tells which, and how that went.
fn measure_either(tables: &mut Tables<'_>, strata: [&Stratum; 2]) -> Result<StratumNote, ExecError> {
    let (done, notes) = evaluate_either(tables, strata, true)?;
    Ok(noted(tables, done, notes.unwrap_or_else(Notes::start)))
}

/// How it went with a stratum.
fn noted(tables: &Tables<'_>, done: &Stratum, notes: Notes) -> StratumNote {
    let relations = done.relations.iter().map(|relation| RelationNote {
        name: tables.program.relations[relation.index()].name.clone(),
        size: Size::Found(tables.rows(*relation)),
    });
    StratumNote {
        relations: relations.collect(),
        recursive: done.recursive,
        is_alternative: done.alternative.is_some(),
        strategy: notes.strategy,
        course: Some(notes.course()),
        rules: notes.rules,
    }
}
