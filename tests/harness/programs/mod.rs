//! Random programs and data for proptest.
//!
//! A strategy draws small numbers (a [`Draft`]); `build` reads them as a program that is safe, stratified and ends by
//! construction. Shrinking the numbers shrinks the program: fewer rules, fewer atoms, first choices everywhere.
//!
//! Relations `b0..` hold facts, and `m0` keeps best values of them by a recursion through `min` or `max`. Relations
//! `d0, d1` form the first layer of rules, `d2, d3` the second, and `s0`, which only a session has, the last: a rule
//! reads its own layer and those below, and negates or aggregates only what is below.

mod best;
mod body;
mod draft;
mod expression;
mod goal;
mod rule;
#[cfg(test)]
mod tests;
mod values;
mod write;

use std::collections::BTreeSet;

use proptest::prelude::Strategy;

use self::draft::{Draft, RuleDraft, drafts};
use self::rule::build_rule;
use self::values::{row_of, rows_of};
use crate::model::{Overlay, Program, Rule};
use crate::value::Row;

/// Relations of facts, and relations of rules.
const BASES: usize = 4;
const DERIVED: usize = 4;

/// A program with the order in which its facts may come and go.
#[derive(Debug, Clone)]
pub struct Case {
    /// The program.
    pub program: Program,
    /// For each base relation, rows that are inserted for a while and deleted again.
    pub passing: Vec<(String, BTreeSet<Row>)>,
}

/// Random cases.
pub fn cases() -> impl Strategy<Value = Case> {
    drafts().prop_map(|draft| build(&draft))
}

/// Reads a draft as a program.
fn build(draft: &Draft) -> Case {
    let mut program = Program::default();
    for (i, rows) in draft.bases.iter().enumerate() {
        // Every base relation exists, so that every goal names a known relation.
        let mut rows = rows_of(rows, draft.base_arities[i], draft.domain);
        if rows.is_empty() {
            rows.insert(row_of(&[], draft.base_arities[i], draft.domain));
        }
        program.facts.insert(base(i), rows);
    }
    let used: BTreeSet<usize> = draft.rules.iter().map(|rule| usize::from(rule.head) % DERIVED).collect();
    for &i in &used {
        let rows = rows_of(&draft.seeds[i], draft.derived_arities[i], draft.domain);
        if !rows.is_empty() {
            program.facts.insert(derived(i), rows);
        }
    }
    program.rules = best::rules(draft);
    for rule in &draft.rules {
        let rule = build_rule(rule, usize::from(rule.head) % DERIVED, &program.rules, draft, &used);
        program.rules.push(rule);
    }
    program.writes = draft.writes.iter().map(|write| write::build(write, draft, &used)).collect();
    let (session, used) = build_session(draft, &program.rules, used);
    program.session = session;
    program.goal = goal::build(draft, &used);
    let passing = draft.passing.iter().enumerate().map(|(i, rows)| {
        let name = base(i);
        let mut rows = rows_of(rows, draft.base_arities[i], draft.domain);
        rows.retain(|row| !program.facts[&name].contains(row));
        (name, rows)
    });
    Case { passing: passing.collect(), program }
}

/// The session's facts and rules, and the derived relations that it knows.
fn build_session(draft: &Draft, rules: &[Rule], mut used: BTreeSet<usize>) -> (Overlay, BTreeSet<usize>) {
    let mut session = Overlay::default();
    for (i, rows) in draft.session_facts.iter().enumerate() {
        let rows = rows_of(rows, draft.base_arities[i], draft.domain);
        if !rows.is_empty() {
            session.facts.insert(base(i), rows);
        }
    }
    let heads = |rule: &RuleDraft| usize::from(rule.head) % (DERIVED + 1);
    used.extend(draft.session_rules.iter().map(heads));
    for rule in &draft.session_rules {
        let known: Vec<Rule> = rules.iter().chain(&session.rules).cloned().collect();
        session.rules.push(build_rule(rule, heads(rule), &known, draft, &used));
    }
    (session, used)
}

fn base(i: usize) -> String {
    format!("b{i}")
}

/// A derived relation; the last one is the session's own.
fn derived(i: usize) -> String {
    if i < DERIVED { format!("d{i}") } else { "s0".to_owned() }
}
