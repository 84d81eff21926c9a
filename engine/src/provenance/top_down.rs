//! Rows that rest on nothing but rows that are at hand: what each may stand by is looked up from the top down, no deeper than
//! the smallest proofs are high. Nothing is evaluated.
//!
//! Rows are looked at in the order of how far they are below the rows in question. Whatever rests on a row that was not looked at
//! yet is at least so much higher, which is more than the height of a smaller proof among those that were: then there is no
//! smaller one, and none of the same height that is still unknown.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::proof::Proof;
use super::prover::{Candidate, Prover, rows_of};
use super::solutions::{Beside, Evaluated, Solution};
use super::why::Question;
use crate::analysis::program::{Argument, Atom};
use crate::budget::Budget;
use crate::data::{Code, RelationId};
use crate::error::Error;
use crate::exec::{ExecError, Relations};
use crate::rewrite::proofs::{Ask, Derived, Height, Kind, top_down};

/// The height of a row of which no proof is known yet.
const UNKNOWN: u32 = u32::MAX;
/// A search from the top down may take so long for each row that is at hand: a part of what it takes to evaluate their heights.
const A_ROW: Duration = Duration::from_nanos(300);
/// It may take so long in any case.
const BRIEF: Duration = Duration::from_millis(2);

impl Question<'_> {
    /// Explains rows by what they rest on, where all that they may rest on is at hand, if that is not more than it takes to evaluate
    /// all heights.
    pub(super) fn search_top_down(&self, budget: &Budget) -> Result<Option<Vec<Proof>>, Error> {
        let Some(explained) = top_down(self.program, self.at_hand) else { return Ok(None) };
        let goal = HashMap::from([(Ask::name(explained.goal), vec![self.rows.clone()])]);
        let relations = Beside { rows: goal, others: self.relations };
        let known =
            |relation: &RelationId| relations.runs(&explained.program.relations[relation.index()].name);
        let rows: usize = self.at_hand.iter().flat_map(known).map(|run| run.len()).sum();
        let time = BRIEF.max(A_ROW.saturating_mul(u32::try_from(rows).unwrap_or(u32::MAX)));
        let asked = rows_of(self.rows).take(self.count).collect();
        let search = |budget: &Budget| {
            Found::of(&Evaluated::at_hand(&explained, &relations, self.codec, budget, self.thresholds), asked)
        };
        let Some(found) = budget.within(time, search) else { return Ok(None) };
        let evaluated = Evaluated::at_hand(&explained, &relations, self.codec, budget, self.thresholds);
        let prover = Prover::new(&evaluated, self.detail, self.view).with(found?);
        prover.proofs_of(self.rows, self.count)
    }
}

/// Rows, and what they stand by.
pub(super) struct Found {
    rows: Vec<Row>,
    numbers: HashMap<(RelationId, Vec<Code>), usize>,
}

struct Row {
    relation: RelationId,
    codes: Vec<Code>,
    /// A row in question that rests on this one is so much higher at least.
    below: u32,
    /// The height of its smallest proof among what is known.
    height: u32,
    /// By which solutions it stands, as soon as they were looked up.
    stands_by: Option<Vec<StandsBy>>,
}

struct StandsBy {
    way: usize,
    /// With the height that it has by conditions alone that need no search.
    solution: Solution,
    /// The rows that it reads whose heights are searched for, condition by condition.
    rows: Vec<usize>,
    /// How much higher the row is than the highest of them.
    step: u32,
}

impl Found {
    /// What rows of the goal stand by, and what they rest on, as far as their smallest proofs go.
    pub(super) fn of(evaluated: &Evaluated<'_>, goal_rows: Vec<Vec<Code>>) -> Result<Found, ExecError> {
        let goal = evaluated.explained.goal;
        let mut found = Found { rows: Vec::new(), numbers: HashMap::new() };
        let mut asked: Vec<usize> = goal_rows.into_iter().map(|row| found.number(goal, row, 0)).collect();
        asked.dedup();
        let mut open: Vec<usize> = asked.clone();
        while let Some(first) = open.iter().map(|row| found.rows[*row].below).min() {
            let least = |row: &usize| {
                let row = &found.rows[*row];
                row.below + evaluated.explained.derived[&row.relation].least
            };
            let still_possible = open.iter().map(least).min().unwrap_or(UNKNOWN);
            if asked.iter().all(|row| found.rows[*row].height < still_possible) {
                break;
            }
            let (now, later) = open.into_iter().partition(|row| found.rows[*row].below == first);
            let known = found.rows.len();
            found.look_up(evaluated, now)?;
            open = later;
            open.extend(known..found.rows.len());
            found.settle(evaluated)?;
        }
        Ok(found)
    }

    /// The height of a row's smallest proof.
    pub(super) fn height(&self, relation: RelationId, codes: &[Code]) -> Option<u32> {
        self.row(relation, codes).map(|row| row.height).filter(|height| *height != UNKNOWN)
    }

    /// The solutions by which a row stands; nothing if they were not looked up.
    pub(super) fn candidates(&self, relation: RelationId, codes: &[Code]) -> Option<Vec<Candidate>> {
        let stands_by = self.row(relation, codes)?.stands_by.as_ref()?;
        let candidate = |by: &StandsBy| {
            let heights = by.rows.iter().map(|row| self.rows[*row].height).collect();
            let solution = Solution { heights, height: self.height_by(by), ..by.solution.clone() };
            Candidate { way: by.way, solution }
        };
        Some(stands_by.iter().map(candidate).collect())
    }

    fn row(&self, relation: RelationId, codes: &[Code]) -> Option<&Row> {
        self.numbers.get(&(relation, codes.to_vec())).map(|row| &self.rows[*row])
    }

    /// The number of a row that is so far below those in question, or nearer.
    fn number(&mut self, relation: RelationId, codes: Vec<Code>, below: u32) -> usize {
        let next = self.rows.len();
        let number = *self.numbers.entry((relation, codes.clone())).or_insert(next);
        if number == next {
            self.rows.push(Row { relation, codes, below, height: UNKNOWN, stands_by: None });
        }
        let row = &mut self.rows[number];
        row.below = row.below.min(below);
        number
    }

    /// Looks up by what rows stand.
    fn look_up(&mut self, evaluated: &Evaluated<'_>, rows: Vec<usize>) -> Result<(), ExecError> {
        let mut by_relation: BTreeMap<RelationId, Vec<usize>> = BTreeMap::new();
        for row in rows {
            by_relation.entry(self.rows[row].relation).or_default().push(row);
        }
        for (relation, rows) in by_relation {
            let derived = &evaluated.explained.derived[&relation];
            let mut stands_by: Vec<Vec<StandsBy>> = rows.iter().map(|_| Vec::new()).collect();
            for way in 0..derived.ways.len() {
                let ask = evaluated.ask(relation, way);
                let read = reads(&ask, evaluated);
                let codes: Vec<&[Code]> = rows.iter().map(|row| self.rows[*row].codes.as_slice()).collect();
                let solutions = evaluated.solutions(&ask, derived.step, &codes)?;
                for ((row, stands_by), solutions) in rows.iter().zip(&mut stands_by).zip(solutions) {
                    let below = self.rows[*row].below + derived.step;
                    for solution in solutions {
                        let read = read.iter().map(|(relation, columns)| {
                            let codes = columns.iter().map(|column| column.of(&solution)).collect();
                            self.number(*relation, codes, below)
                        });
                        let rows = read.collect();
                        stands_by.push(StandsBy { way, solution, rows, step: derived.step });
                    }
                }
            }
            for (row, stands_by) in rows.into_iter().zip(stands_by) {
                self.rows[row].stands_by = Some(stands_by);
            }
        }
        Ok(())
    }

    /// Finds the smallest proofs among what is known. Rows that were found later are lower, more often than not.
    fn settle(&mut self, evaluated: &Evaluated<'_>) -> Result<(), ExecError> {
        let mut is_settled = false;
        while !is_settled {
            evaluated.budget.check()?;
            is_settled = true;
            for number in (0..self.rows.len()).rev() {
                let row = &self.rows[number];
                let derived = &evaluated.explained.derived[&row.relation];
                let height = self.height_of(row, derived);
                if height < row.height {
                    self.rows[number].height = height;
                    is_settled = false;
                }
            }
        }
        Ok(())
    }

    /// How high a row stands by the lowest of what it stands by.
    fn height_of(&self, row: &Row, derived: &Derived) -> u32 {
        let of_way = |same_way: &[StandsBy]| {
            let heights = same_way.iter().map(|by| self.height_by(by));
            match derived.ways[same_way[0].way].kind {
                Kind::Group(_) => heights.max(),
                Kind::Stored | Kind::Solution | Kind::Chosen(_) | Kind::Path => heights.min(),
            }
        };
        let ways = row.stands_by.iter().flat_map(|all| all.chunk_by(|a, b| a.way == b.way));
        ways.filter_map(of_way).min().unwrap_or(UNKNOWN)
    }

    /// How high a row stands by a solution.
    fn height_by(&self, by: &StandsBy) -> u32 {
        let rows = by.rows.iter().map(|row| self.rows[*row].height.saturating_add(by.step));
        rows.fold(by.solution.height, u32::max)
    }
}

/// Where a value of a row is.
enum Column {
    /// Among those of a solution,
    Of(usize),
    /// or in the rule.
    Is(Code),
}

impl Column {
    fn of(&self, solution: &Solution) -> Code {
        match self {
            Column::Of(place) => solution.codes[*place],
            Column::Is(code) => *code,
        }
    }
}

/// The rows that solutions read whose heights are searched for, condition by condition. A constant that nobody stored is in no
/// solution.
fn reads(ask: &Ask, evaluated: &Evaluated<'_>) -> Vec<(RelationId, Vec<Column>)> {
    let column = |argument: &Argument| match argument {
        Argument::Variable(variable) => ask.variables.iter().position(|of| of == variable).map(Column::Of),
        Argument::Constant(value) => evaluated.codec.encode(value.as_ref()).ok().map(Column::Is),
        Argument::Any => None,
    };
    let is_searched = |atom: &&Atom| {
        let derived = evaluated.explained.derived.get(&atom.relation);
        derived.is_some_and(|derived| matches!(derived.height, Height::In(_)))
    };
    let read = ask.rule.atoms().filter(is_searched);
    read.filter_map(|atom| Some((atom.relation, atom.arguments.iter().map(column).collect::<Option<_>>()?)))
        .collect()
}
