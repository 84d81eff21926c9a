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

/// The order of an answer.
mod sort;

use std::time::{Duration, Instant};

use foldhash::HashMap;

use self::tables::Tables;
use crate::analysis::program::{Program, Stratum};
use crate::budget::Budget;
use crate::data::{Codec, RelationId, Run};
use crate::plan::{RelationNote, Size, Statistics, StratumNote};

pub use crate::plan::Thresholds;
pub use error::ExecError;
pub use profile::Profile;
pub use relations::Relations;
pub use remarks::{Remark, Unlike};
pub use sort::{Order, sort_limit};

/// What an evaluation gives.
#[derive(Debug)]
pub struct Outcome {
    /// The goal's rows: disjoint runs.
    pub runs: Vec<Run>,
    /// The rows of all other relations that were read or derived.
    pub complete: HashMap<RelationId, Vec<Run>>,
    /// Whether some integer operation was cut off at the end of the 64-bit range.
    pub saturated: bool,
    /// What aggregates met that they are not made for.
    pub remarks: Vec<Remark>,
    /// How long the stratum of each derived relation took.
    pub took: HashMap<RelationId, Duration>,
    /// When the rows of a derived relation were found, where they stand in that order.
    pub rounds: HashMap<RelationId, Rounds>,
}

/// When rows were found that stand in this order.
#[derive(Debug, Clone)]
pub struct Rounds {
    /// The first round in which they may have been found. Rounds are counted from the first stratum to the last.
    first: usize,
    /// Of each of the parts that follow each other: how many of its rows there were after each round from that one on.
    ends: Vec<Vec<usize>>,
}

impl Rounds {
    /// The round of each row.
    pub fn of_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.ends.iter().flat_map(|ends| {
            let starts = [0].into_iter().chain(ends.iter().copied());
            let rounds = starts.zip(ends).enumerate();
            rounds.flat_map(|(round, (start, end))| std::iter::repeat_n(self.first + round, end - start))
        })
    }

    /// The first round after the last of them.
    pub fn end(&self) -> usize {
        self.first + self.ends.iter().map(Vec::len).max().unwrap_or_default()
    }
}

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
    for stratum in &program.strata {
        let started = Instant::now();
        match &mut profile {
            None => stratum::evaluate(&mut tables, stratum, None)?,
            Some(profile) => profile.add(measure(&mut tables, stratum)?),
        }
        let elapsed = started.elapsed();
        took.extend(stratum.relations.iter().map(|relation| (*relation, elapsed)));
        rounds.extend(stratum.relations.iter().filter_map(|relation| {
            let found_in = tables.found_in.remove(relation);
            let ends =
                found_in.or_else(|| (!stratum.recursive).then(|| vec![vec![tables.rows(*relation)]]))?;
            Some((*relation, Rounds { first: round, ends }))
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
    let mut notes = profile::Notes::start();
    stratum::evaluate(tables, stratum, Some(&mut notes))?;
    let relations = stratum.relations.iter().map(|relation| RelationNote {
        name: tables.program.relations[relation.index()].name.clone(),
        size: Size::Found(tables.rows(*relation)),
    });
    let relations = relations.collect();
    Ok(StratumNote {
        relations,
        recursive: stratum.recursive,
        strategy: notes.strategy,
        course: Some(notes.course()),
        rules: notes.rules,
    })
}
