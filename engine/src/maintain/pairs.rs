//! `Pairs`: two columns of relations, looked up by either; as edges, with what a third one adds.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::conditions::Conditions;
use super::sets;
use crate::budget::{Budget, BudgetError};
use crate::data::{Code, Codec, Relation, RowIndex, Rows, Run};
use crate::plan::{PairsOf, Weight};

/// An end of a pair.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    From = 0,
    To = 1,
}

/// Pairs of codes in the rows of relations.
pub(super) struct Pairs<'g> {
    runs: Vec<PairRun>,
    budget: &'g Budget,
}

/// How rows of a relation are pairs: by which columns, with what weight, and which of the rows.
#[derive(Clone)]
pub(super) struct Kind {
    pub(super) columns: [usize; 2],
    pub(super) weight: Weight,
    pub(super) conditions: Option<Arc<Conditions>>,
}

struct PairRun {
    run: Run,
    kind: Kind,
    indexes: [OnceLock<Arc<RowIndex>>; 2],
}

impl<'g> Pairs<'g> {
    pub(super) fn new(budget: &'g Budget) -> Pairs<'g> {
        Pairs { runs: Vec::new(), budget }
    }

    /// Adds two columns of all rows of a relation.
    pub(super) fn add(&mut self, relation: &Relation, columns: [usize; 2]) {
        self.add_kind(relation, &Kind { columns, weight: Weight::Constant(0), conditions: None });
    }

    /// Adds the pairs of a relation that are of a kind.
    pub(super) fn add_kind(&mut self, relation: &Relation, kind: &Kind) {
        for run in relation.runs().iter().filter(|run| !run.is_empty()) {
            self.runs.push(PairRun { run: run.clone(), kind: kind.clone(), indexes: Default::default() });
        }
    }

    /// Calls `visit` with the other ends of the pairs that have this code at this end, some of them perhaps twice.
    pub(super) fn visit(&self, end: End, code: Code, mut visit: impl FnMut(Code)) -> Result<(), BudgetError> {
        self.visit_weighted(end, code, |other, _| visit(other))
    }

    /// The same, and with what each of them weighs.
    pub(super) fn visit_weighted(
        &self,
        end: End,
        code: Code,
        mut visit: impl FnMut(Code, Code),
    ) -> Result<(), BudgetError> {
        for run in &self.runs {
            run.visit(end, code, &mut visit, self.budget)?;
        }
        Ok(())
    }

    /// The other ends of the pairs that have this code at this end.
    pub(super) fn of(&self, end: End, code: Code) -> Result<Vec<Code>, BudgetError> {
        let mut others = Vec::new();
        self.visit(end, code, |other| others.push(other))?;
        sets::in_order(&mut others);
        Ok(others)
    }

    /// At least as many as there are of these, and about as many.
    pub(super) fn count(&self, end: End, code: Code) -> Result<usize, BudgetError> {
        let counts = self.runs.iter().map(|run| Ok(run.found(end, code, self.budget)?.len()));
        counts.sum()
    }

    /// Whether there is this pair.
    pub(super) fn has(&self, from: Code, to: Code) -> Result<bool, BudgetError> {
        for run in &self.runs {
            if run.has(from, to, self.budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The codes at this end of all pairs, some of them perhaps twice.
    pub(super) fn all(&self, end: End) -> impl Iterator<Item = Code> {
        self.runs.iter().flat_map(move |run| {
            let codes = run.run.column(run.kind.columns[end as usize]);
            (0..codes.len()).filter(|row| run.counts(*row)).map(|row| codes[row])
        })
    }

    /// The least and the largest code of any end.
    pub(super) fn bounds(&self) -> Option<(Code, Code)> {
        let of_runs = self.runs.iter().flat_map(|run| run.kind.columns.map(|column| run.run.bounds(column)));
        of_runs.flatten().reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }
}

/// Rows of a run: side by side, or in the order of an index.
enum Found<'r> {
    Rows(Range<usize>),
    Listed(&'r [u32]),
}

impl Found<'_> {
    fn len(&self) -> usize {
        match self {
            Found::Rows(rows) => rows.len(),
            Found::Listed(rows) => rows.len(),
        }
    }
}

impl PairRun {
    /// Whether a row is there, and is a pair.
    #[inline]
    fn counts(&self, row: usize) -> bool {
        let holds = |conditions: &Arc<Conditions>| conditions.hold(|column| self.run.column(column)[row]);
        self.run.is_live(row) && self.kind.conditions.as_ref().is_none_or(holds)
    }

    /// The rows with this code at this end, and others that do not count.
    #[inline]
    fn found(&self, end: End, code: Code, budget: &Budget) -> Result<Found<'_>, BudgetError> {
        let column = self.kind.columns[end as usize];
        let cell = &self.indexes[end as usize];
        if cell.get().is_none()
            && self.run.bisects(&[column], 1)
            && let Some(rows) = self.run.beginning_with(&[code])
        {
            return Ok(Found::Rows(rows.start as usize..rows.end as usize));
        }
        let index = match cell.get() {
            Some(index) => index,
            None => {
                let index = budget.index(&self.run, &[column])?;
                cell.get_or_init(|| index)
            }
        };
        Ok(Found::Listed(&index.rows()[index.range(code)]))
    }

    #[inline]
    fn visit(
        &self,
        end: End,
        code: Code,
        visit: &mut impl FnMut(Code, Code),
        budget: &Budget,
    ) -> Result<(), BudgetError> {
        let others = self.run.column(self.kind.columns[1 - end as usize]);
        let weight_of = |row: usize| match self.kind.weight {
            Weight::Constant(weight) => weight,
            Weight::Column(column) => self.run.column(column)[row],
        };
        let mut visit_row = |row: usize| {
            if self.counts(row) {
                visit(others[row], weight_of(row));
            }
        };
        match self.found(end, code, budget)? {
            Found::Rows(rows) => rows.for_each(&mut visit_row),
            Found::Listed(rows) => rows.iter().for_each(|row| visit_row(*row as usize)),
        }
        Ok(())
    }

    fn has(&self, from: Code, to: Code, budget: &Budget) -> Result<bool, BudgetError> {
        let key = match self.kind.columns {
            [0, 1] => Some([from, to]),
            [1, 0] => Some([to, from]),
            _ => None,
        };
        if let Some(rows) = key.and_then(|key| self.run.beginning_with(&key)) {
            return Ok(rows.into_iter().any(|row| self.counts(row as usize)));
        }
        let mut has = false;
        self.visit(End::From, from, &mut |other, _| has |= other == to, budget)?;
        Ok(has)
    }
}

impl Kind {
    /// The kind that rows of a source are, with weights.
    pub(super) fn of(source: &PairsOf, weight: Weight, codec: &Codec) -> Kind {
        let PairsOf { columns, conditions } = source;
        let conditions = (!conditions.is_empty()).then(|| Arc::new(Conditions::of(conditions, codec)));
        Kind { columns: [columns.from, columns.to], weight, conditions }
    }

    /// Those among rows, with what they weigh.
    pub(super) fn among(&self, rows: &Rows) -> impl Iterator<Item = (Code, Code, Code)> {
        let holds = |row: &usize| {
            self.conditions
                .as_ref()
                .is_none_or(|conditions| conditions.hold(|column| rows.columns[column][*row]))
        };
        (0..rows.len).filter(holds).map(|row| {
            let [from, to] = self.columns.map(|column| rows.columns[column][row]);
            let weight = match self.weight {
                Weight::Constant(weight) => weight,
                Weight::Column(column) => rows.columns[column][row],
            };
            (from, to, weight)
        })
    }
}
