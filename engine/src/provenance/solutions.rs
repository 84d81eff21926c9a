//! The solutions by which rows stand, asked of the evaluated rows.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::budget::{Budget, BudgetError};
use crate::data::{Code, Codec, RelationId, Rows, Run};
use crate::exec::{self, ExecError, Relations, Thresholds};
use crate::rewrite::proofs::{Ask, Explained, Kind, Read, ask, lacking};

/// How often an index is used that is made for one of the questions about solutions: each is asked for one layer of facts after
/// the other.
const USES: usize = 16;

/// Rows that were evaluated to explain others.
pub(super) struct Evaluated<'e> {
    pub(super) explained: &'e Explained,
    /// By the names that asks have for them.
    rows: Beside<'e>,
    pub(super) codec: &'e Codec,
    pub(super) budget: &'e Budget,
    thresholds: Thresholds,
    asks: RefCell<HashMap<(RelationId, usize, bool), Rc<Ask>>>,
}

/// A solution of a rule.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    /// The values of the variables of [`Ask::variables`].
    pub(super) codes: Vec<Code>,
    /// The heights of its rows, condition by condition.
    pub(super) heights: Vec<u32>,
    /// The height of what rests on it.
    pub(super) height: u32,
}

/// Relations by name, beside others.
pub(super) struct Beside<'r> {
    pub(super) rows: HashMap<String, Vec<Run>>,
    pub(super) others: &'r dyn Relations,
}

impl Relations for Beside<'_> {
    fn runs(&self, relation: &str) -> Vec<Run> {
        match self.rows.get(relation) {
            Some(runs) => runs.clone(),
            None => self.others.runs(relation),
        }
    }
}

impl<'e> Evaluated<'e> {
    /// Evaluates what proofs of rows of the goal may need.
    pub(super) fn of(
        explained: &'e Explained,
        asked: Rows,
        stored: &'e dyn Relations,
        codec: &'e Codec,
        budget: &'e Budget,
        thresholds: Thresholds,
    ) -> Result<Evaluated<'e>, ExecError> {
        let rows = HashMap::from([(crate::rewrite::ASKED.to_owned(), runs(asked))]);
        let beside = Beside { rows, others: stored };
        let thresholds = Thresholds { index_uses: USES, ..thresholds };
        let outcome = exec::execute(&explained.program, &beside, codec, budget, thresholds, None)?;
        let name = |relation: RelationId| {
            let known = &explained.program.relations[relation.index()];
            if known.stored { known.name.clone() } else { Ask::name(explained.whole(relation)) }
        };
        let mut copies: HashMap<String, Vec<Vec<Run>>> = HashMap::new();
        for (relation, found) in outcome.complete {
            copies.entry(name(relation)).or_default().push(found);
        }
        let mut rows: HashMap<String, Vec<Run>> = HashMap::with_capacity(copies.len() + 1);
        for (name, copies) in copies {
            rows.insert(name, together(copies, budget)?);
        }
        rows.insert(name(explained.program.goal), outcome.runs);
        // What no proof had to be looked for in was not read yet.
        let rows = Beside { rows, others: stored };
        Ok(Evaluated { explained, rows, codec, budget, thresholds, asks: RefCell::default() })
    }

    /// Nothing is evaluated: what proofs need is at hand.
    pub(super) fn at_hand(
        explained: &'e Explained,
        relations: &'e dyn Relations,
        codec: &'e Codec,
        budget: &'e Budget,
        thresholds: Thresholds,
    ) -> Evaluated<'e> {
        let rows = Beside { rows: HashMap::new(), others: relations };
        let thresholds = Thresholds { index_uses: USES, ..thresholds };
        Evaluated { explained, rows, codec, budget, thresholds, asks: RefCell::default() }
    }

    /// Whether rows have no heights that should have some.
    pub(super) fn lacks_heights(&self) -> Result<bool, ExecError> {
        for program in lacking(self.explained) {
            let found = exec::execute(&program, &self.rows, self.codec, self.budget, self.thresholds, None)?;
            if found.runs.iter().any(|run| !run.is_empty()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The rows of a relation that rules derive.
    pub(super) fn rows(&self, relation: RelationId) -> Vec<Run> {
        self.rows.runs(&Ask::name(relation))
    }

    /// The rows of a relation with the height of each in the last column.
    pub(super) fn heights(&self, relation: RelationId) -> Vec<Run> {
        let with_heights = self.explained.derived.get(&relation).map(|derived| derived.height.relation());
        with_heights.flatten().map(|relation| self.rows(relation)).unwrap_or_default()
    }

    /// How the solutions of a rule by which rows stand are asked for.
    pub(super) fn ask(&self, relation: RelationId, way: usize) -> Rc<Ask> {
        self.ask_as(relation, way, false)
    }

    /// How all solutions of the groups of rows are asked for, where rows are chosen.
    pub(super) fn ask_group(&self, relation: RelationId, way: usize) -> Rc<Ask> {
        self.ask_as(relation, way, true)
    }

    fn ask_as(&self, relation: RelationId, way: usize, of_group: bool) -> Rc<Ask> {
        let mut asks = self.asks.borrow_mut();
        let ask = asks.entry((relation, way, of_group)).or_insert_with(|| {
            let of = &self.explained.derived[&relation].ways[way];
            // Of what a row was chosen from, only that row was asked for its height.
            let (kind, read) = match of.kind {
                Kind::Chosen(rows) if of_group => (Kind::Group(rows), Read::Rows),
                kind => (kind, self.explained.read),
            };
            Rc::new(ask(self.explained, relation, &of.rule, kind, read))
        });
        Rc::clone(ask)
    }

    /// The solutions of a rule by which each of some rows of a relation stands.
    pub(super) fn solutions(
        &self,
        ask: &Ask,
        step: u32,
        rows: &[&[Code]],
    ) -> Result<Vec<Vec<Solution>>, ExecError> {
        let mut found = vec![Vec::new(); rows.len()];
        let variables = ask.variables.len();
        for run in self.found(ask, rows)? {
            let columns = run.columns();
            // A row may stand by as many solutions as there are rows.
            let bytes = size_of::<Solution>() + columns.len() * size_of::<Code>();
            self.budget.charge(run.len().saturating_mul(bytes))?;
            for row in (0..run.stored_len()).filter(|row| run.is_live(*row)) {
                let codes = columns[1..=variables].iter().map(|column| column[row]).collect();
                let heights: Vec<u32> = columns[variables + 1..].iter().map(|column| column[row]).collect();
                let height = heights.iter().copied().fold(ask.level, u32::max) + step;
                let solution = Solution { codes, heights, height };
                found[columns[0][row] as usize].push(solution);
            }
            self.budget.check()?;
        }
        Ok(found)
    }

    /// The same as they are answered: the number of the row in question, the values of variables, and heights.
    pub(super) fn found(&self, ask: &Ask, rows: &[&[Code]]) -> Result<Vec<Run>, ExecError> {
        let arity = rows.first().map_or(0, |row| row.len());
        let mut asked = Rows::empty(arity + 1);
        for (number, row) in rows.iter().enumerate() {
            asked.columns[0].push(number as Code);
            for (column, code) in asked.columns[1..].iter_mut().zip(*row) {
                column.push(*code);
            }
        }
        asked.len = rows.len();
        let beside =
            Beside { rows: HashMap::from([(Ask::ROWS.to_owned(), runs(asked))]), others: &self.rows };
        let outcome = exec::execute(&ask.program, &beside, self.codec, self.budget, self.thresholds, None)?;
        Ok(outcome.runs)
    }
}

/// The rows of what may be asked for in several ways: a row that was is in several of the copies.
fn together(mut copies: Vec<Vec<Run>>, budget: &Budget) -> Result<Vec<Run>, BudgetError> {
    if copies.len() == 1 {
        return Ok(copies.remove(0));
    }
    let all = copies.concat();
    let Some(arity) = all.first().map(|run| run.columns().len()) else { return Ok(all) };
    let all = Rows::of_runs(arity, &all);
    budget.charge(all.len.saturating_mul(arity * size_of::<Code>()))?;
    Ok(runs(all))
}

fn runs(rows: Rows) -> Vec<Run> {
    let rows = rows.distinct();
    if rows.len == 0 { Vec::new() } else { vec![Run::new(rows.columns, rows.len)] }
}
