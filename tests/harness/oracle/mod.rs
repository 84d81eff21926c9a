//! The oracle: answers a [`Program`] in the plainest way there is.
//!
//! Every rule is applied to everything, again and again, until nothing new comes; a body is solved by trying every row
//! for every atom. It is slow, and that is its worth: there is nothing in it to get wrong.

mod aggregate;
mod expression;
mod fixpoint;
mod goal;
mod proofs;
mod solve;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeSet;

pub use proofs::Holding;

use crate::model::{Goal, Program, Relations, Rule};
use crate::value::Row;

/// What a goal answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows: in the order asked for, otherwise ascending.
    pub rows: Vec<Row>,
    /// How many rows there are without the limit.
    pub total: usize,
}

/// What a program does.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// For each write, how many rows it deletes and, if it is an update, how many it inserts.
    pub writes: Vec<Vec<usize>>,
    /// What the session is answered.
    pub answer: Answer,
    /// What a session without facts and rules of its own is answered: nothing if it knows no such relation.
    pub clean: Option<Answer>,
    /// The rows, without the limit, that a session without facts and rules of its own would see too.
    pub persistent: BTreeSet<Row>,
}

/// Why the oracle does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A relation depends on its own negation or aggregation.
    Unstratifiable,
    /// Some variable gets no value.
    Unsafe,
    /// More than [`MOST_STEPS`] steps.
    TooMuchWork,
}

/// How many rows the oracle looks at before it gives up.
pub const MOST_STEPS: usize = 400_000;

/// Counts the rows that are looked at.
#[derive(Debug, Default)]
struct Steps(usize);

impl Steps {
    fn add(&mut self, rows: usize) -> Result<(), Refusal> {
        self.0 += rows;
        if self.0 > MOST_STEPS { Err(Refusal::TooMuchWork) } else { Ok(()) }
    }
}

/// What a program does and answers.
pub fn answer(program: &Program) -> Result<Expected, Refusal> {
    let mut steps = Steps::default();
    let mut facts = program.facts.clone();
    let mut writes = Vec::new();
    for change in &program.writes {
        let relations = fixpoint::derive(&facts, &program.rules, &mut steps)?;
        writes.push(write::apply(change, &relations, &mut facts, &mut steps)?);
    }
    let mut known = facts.clone();
    for (relation, rows) in &program.session.facts {
        known.entry(relation.clone()).or_default().extend(rows.iter().cloned());
    }
    let rules = [&program.rules[..], &program.session.rules].concat();
    let answer = ask(&program.goal, &known, &rules, &mut steps)?;
    let without_limit = Goal { limit: None, ..program.goal.clone() };
    let is_known = program.goal.relations().iter().all(|relation| {
        program.facts.contains_key(*relation) || program.rules.iter().any(|rule| rule.head == **relation)
    });
    let (mut clean, mut persistent) = (None, BTreeSet::new());
    if is_known {
        clean = Some(ask(&program.goal, &facts, &program.rules, &mut steps)?);
        persistent.extend(ask(&without_limit, &facts, &program.rules, &mut steps)?.rows);
    }
    Ok(Expected { writes, answer, clean, persistent })
}

fn ask(goal: &Goal, facts: &Relations, rules: &[Rule], steps: &mut Steps) -> Result<Answer, Refusal> {
    goal::ask(goal, &fixpoint::derive(facts, rules, steps)?, steps)
}
