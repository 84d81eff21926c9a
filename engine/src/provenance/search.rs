//! `Search`: how high the smallest proofs are of rows that rest on nothing but relations of which all rows are known. What each
//! may stand by is looked up from the top down, no deeper than that. No heights are evaluated.
//!
//! Proofs of one height after the other are tried, as by a search that deepens (Korf, *Depth-First Iterative-Deepening*, Artificial
//! Intelligence 27, 1985), but all rows of a level at once. Where the rows in question may stand so high, those that their solutions
//! read may stand one lower, and so on; what a row stands by is looked up where it may stand as high as it stands at least. How
//! high that is follows from its rules, from whether it stands by conditions that need no search, and from proofs that were tried before.

use std::collections::{BTreeMap, HashMap};

use super::met_rows::{MetRows, StandsBy, UNKNOWN};
use super::solutions::{Evaluated, Solution};
use crate::analysis::program::{Argument, Atom};
use crate::data::{Code, RelationId};
use crate::exec::ExecError;
use crate::rewrite::proofs::{Ask, Derived, Explained, Height, Kind, least_below};

/// Rows on the way from some of the goal to what they rest on.
pub(super) struct Search {
    met: MetRows,
    ways: HashMap<RelationId, Ways>,
}

/// The ways in which rows of a relation stand.
struct Ways {
    /// Those that read no rows whose heights are searched for,
    ending: Vec<usize>,
    /// and the others.
    going_on: Vec<usize>,
    /// Rows that do not stand by one of the first ways stand so high at least.
    least_going_on: u32,
}

impl Search {
    /// What rows of the goal stand by, and what they rest on, as far as their smallest proofs go.
    pub(super) fn of(evaluated: &Evaluated<'_>, rows: &[Vec<Code>]) -> Result<Search, ExecError> {
        let Explained { goal, derived, .. } = evaluated.explained;
        let mut search = Search { met: MetRows::default(), ways: ways(derived) };
        let asked: Vec<u32> =
            rows.iter().map(|row| search.met.meet(*goal, row, derived[goal].step)).collect();
        search.begin(evaluated, 0)?;
        let mut height = 0;
        loop {
            let is_open = |row: &u32| search.met.row(*row).height > height;
            let open: Vec<u32> = asked.iter().copied().filter(is_open).collect();
            match open.iter().map(|row| search.met.row(*row).least).min() {
                None | Some(UNKNOWN) => return Ok(search),
                Some(least) => height = least.max(height + 1),
            }
            search.try_proofs(evaluated, open, height)?;
        }
    }

    /// The height of a row's smallest proof, if it is known.
    pub(super) fn height(&self, relation: RelationId, codes: &[Code]) -> Option<u32> {
        let row = self.met.find(relation, codes)?;
        Some(self.met.row(row).height).filter(|height| *height != UNKNOWN)
    }

    /// Gives solutions the heights of the rows that they read. One is higher than all others if no proof of one of its rows is
    /// known: then no smallest proof goes through it.
    pub(super) fn give_heights<'s>(
        &self,
        evaluated: &Evaluated<'_>,
        ask: &Ask,
        step: u32,
        solutions: impl Iterator<Item = &'s mut Solution>,
    ) {
        let reads = reads(ask, evaluated);
        for solution in solutions {
            let height = |(relation, columns): &(RelationId, Vec<Column>)| {
                let codes = columns.iter().map(|column| column.of(|place| solution.codes[place]));
                self.height(*relation, &codes.collect::<Vec<Code>>()).unwrap_or(UNKNOWN)
            };
            solution.heights = reads.iter().map(height).collect();
            let heights = solution.heights.iter().map(|height| height.saturating_add(step));
            solution.height = heights.fold(solution.height, u32::max);
        }
    }

    /// Looks up whatever proofs of rows that are no higher than this go through.
    fn try_proofs(
        &mut self,
        evaluated: &Evaluated<'_>,
        rows: Vec<u32>,
        height: u32,
    ) -> Result<(), ExecError> {
        // How high each row may stand, and the rows that may stand so high.
        let mut may_be: hashbrown::HashMap<u32, u32> = hashbrown::HashMap::new();
        let mut open: BTreeMap<u32, Vec<u32>> = BTreeMap::from([(height, rows)]);
        while let Some((height, mut rows)) = open.pop_last() {
            rows.retain(|number| {
                let is_higher = may_be.get(number).is_none_or(|known| *known < height);
                if is_higher {
                    may_be.insert(*number, height);
                }
                let row = self.met.row(*number);
                is_higher && row.least <= height && self.ways[&row.relation].least_going_on <= height
            });
            self.complete(evaluated, &rows)?;
            for number in rows {
                let Some(below) = height.checked_sub(self.met.row(number).step) else { continue };
                let is_low = |by: &&StandsBy| {
                    let mut read = self.met.read(by).iter();
                    by.level <= height && read.all(|row| self.met.row(*row).least <= below)
                };
                let read = self.met.stands_by(number).filter(is_low).flat_map(|by| self.met.read(by));
                open.entry(below).or_default().extend(read.copied());
            }
        }
        // Whatever could be a proof that low was looked up.
        for (number, height) in may_be {
            let row = self.met.row_mut(number);
            row.least = if row.height <= height { row.height } else { row.least.max(height + 1) };
        }
        Ok(())
    }

    /// Looks up by what new rows stand that reads no others, from this number on.
    fn begin(&mut self, evaluated: &Evaluated<'_>, from: usize) -> Result<(), ExecError> {
        let rows: Vec<u32> = (from as u32..self.met.len() as u32).collect();
        self.look_up(evaluated, &rows, |ways| &ways.ending)?;
        self.met.settle(rows.iter().copied(), evaluated.budget)?;
        for number in rows {
            let row = self.met.row_mut(number);
            row.least = row.height.min(self.ways[&row.relation].least_going_on);
        }
        Ok(())
    }

    /// Looks up by what else rows stand.
    fn complete(&mut self, evaluated: &Evaluated<'_>, rows: &[u32]) -> Result<(), ExecError> {
        let known = self.met.len();
        let rows: Vec<u32> = rows.iter().copied().filter(|row| !self.met.row(*row).is_complete).collect();
        self.look_up(evaluated, &rows, |ways| &ways.going_on)?;
        rows.iter().for_each(|row| self.met.row_mut(*row).is_complete = true);
        self.begin(evaluated, known)?;
        Ok(self.met.settle(rows, evaluated.budget)?)
    }

    /// Looks up by which solutions of some ways rows stand.
    fn look_up(
        &mut self,
        evaluated: &Evaluated<'_>,
        rows: &[u32],
        of: fn(&Ways) -> &Vec<usize>,
    ) -> Result<(), ExecError> {
        let derived = &evaluated.explained.derived;
        let mut by_relation: BTreeMap<RelationId, Vec<u32>> = BTreeMap::new();
        for row in rows {
            by_relation.entry(self.met.row(*row).relation).or_default().push(*row);
        }
        let (mut codes, mut read) = (Vec::new(), Vec::new());
        for (relation, rows) in by_relation {
            for &way in of(&self.ways[&relation]) {
                let is_group = matches!(derived[&relation].ways[way].kind, Kind::Group(_));
                let ask = evaluated.ask(relation, way);
                let (reads, level) = (reads(&ask, evaluated), ask.level + derived[&relation].step);
                let asked: Vec<&[Code]> =
                    rows.iter().map(|row| self.met.row(*row).codes.as_slice()).collect();
                for run in evaluated.found(&ask, &asked)? {
                    let known = self.met.len();
                    evaluated
                        .budget
                        .charge(run.len().saturating_mul(MetRows::bytes_of_solution(reads.len())))?;
                    let columns = run.columns();
                    for place in (0..run.stored_len()).filter(|place| run.is_live(*place)) {
                        read.clear();
                        for (relation, of) in &reads {
                            codes.clear();
                            codes.extend(
                                of.iter().map(|column| column.of(|variable| columns[1 + variable][place])),
                            );
                            read.push(self.met.meet(*relation, &codes, derived[relation].step));
                        }
                        self.met.stand(rows[columns[0][place] as usize], way, is_group, level, &read);
                    }
                    evaluated.budget.charge((self.met.len() - known) * MetRows::BYTES_OF_ROW)?;
                    evaluated.budget.check()?;
                }
            }
        }
        Ok(())
    }
}

/// The ways in which rows stand whose heights are searched for.
fn ways(derived: &BTreeMap<RelationId, Derived>) -> HashMap<RelationId, Ways> {
    let ways = |of: &Derived| {
        let goes_on = |way: &usize| of.ways[*way].rule.atoms().any(|atom| is_searched(atom, derived));
        let (going_on, ending): (Vec<usize>, Vec<usize>) = (0..of.ways.len()).partition(goes_on);
        let least_of = |way: &usize| of.step + least_below(&of.ways[*way].rule, derived);
        let least_going_on = going_on.iter().map(least_of).min().unwrap_or(UNKNOWN);
        Ways { ending, going_on, least_going_on }
    };
    derived.iter().map(|(relation, derived)| (*relation, ways(derived))).collect()
}

/// Whether the heights of the rows that an atom reads are searched for.
fn is_searched(atom: &Atom, derived: &BTreeMap<RelationId, Derived>) -> bool {
    derived.get(&atom.relation).is_some_and(|derived| matches!(derived.height, Height::In(_)))
}

/// The value of a row that a solution reads.
enum Column {
    /// It is that of a variable of a solution,
    Of(usize),
    /// or this one.
    Is(Code),
}

impl Column {
    fn of(&self, value: impl Fn(usize) -> Code) -> Code {
        match self {
            Column::Of(place) => value(*place),
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
    let read = ask.rule.atoms().filter(|atom| is_searched(atom, &evaluated.explained.derived));
    read.filter_map(|atom| Some((atom.relation, atom.arguments.iter().map(column).collect::<Option<_>>()?)))
        .collect()
}
