//! What the planner knows of the rows that it will read.

use std::sync::Arc;

use super::cost::{self, Thresholds};
use crate::data::{Code, Matches, RelationId, Run, Sample, Value};
use crate::plan::access::{Access, Version};

/// What the planner knows of the rows that it will read.
pub trait Statistics {
    /// Number of rows.
    fn rows(&self, relation: RelationId) -> usize;
    /// Number of distinct values in a column.
    fn distinct(&self, relation: RelationId, column: usize) -> usize;
    /// How the rows lie, where that is known: not of what grows, nor of what is only expected.
    fn layout(&self, relation: RelationId) -> Option<Layout<'_>>;

    /// A sample of some columns, where their values are known.
    fn sample(&self, relation: RelationId, columns: &[usize]) -> Option<Arc<Sample>>;

    /// The code of a value, where that is known.
    fn code(&self, _value: &Value) -> Option<Code> {
        None
    }

    /// Number of rows that the last round has found, if there was one.
    fn delta(&self, _relation: RelationId) -> Option<usize> {
        None
    }

    /// Number of rows that are not composed of others, if some are.
    fn generators(&self, _relation: RelationId) -> Option<usize> {
        None
    }

    /// Rows that a binding was found to have in these columns, in rounds before, in as many rows as there are now.
    fn fan_out(&self, _access: Access, _columns: &[usize]) -> Option<f64> {
        None
    }

    /// Where a key has so many rows, only those of a range are looked up.
    fn range_rows(&self) -> usize {
        Thresholds::default().range_rows
    }

    /// How often an index that is made is used.
    fn index_uses(&self) -> usize {
        Thresholds::default().index_uses
    }

    /// Whether atoms are evaluated in the order in which they are written.
    fn as_written(&self) -> bool {
        false
    }

    /// Number of rounds before this one: what is made now is used about as often again.
    fn rounds(&self) -> usize {
        0
    }
}

/// Number of rows in one version of a relation.
pub fn rows_in(access: Access, statistics: &dyn Statistics) -> usize {
    let of_generators = || statistics.generators(access.relation).filter(|_| access.generators);
    match access.version {
        Version::All | Version::Old => of_generators().unwrap_or_else(|| statistics.rows(access.relation)),
        Version::Delta => {
            statistics.delta(access.relation).unwrap_or_else(|| statistics.rows(access.relation))
        }
    }
}

/// Rows expected for one value in each of these columns: what was found so far, the average that an index knows, or all
/// rows over the distinct values of each column.
pub(super) fn expected_matches(access: Access, columns: &[usize], statistics: &dyn Statistics) -> f64 {
    let rows = rows_in(access, statistics) as f64;
    if rows < 1.0 || columns.is_empty() {
        return rows;
    }
    let is_delta = access.version == Version::Delta;
    let found = if is_delta { None } else { statistics.fan_out(access, columns) };
    found.unwrap_or_else(|| average_matches(access, columns, statistics))
}

/// The same without what was found so far.
pub(super) fn average_matches(access: Access, columns: &[usize], statistics: &dyn Statistics) -> f64 {
    let rows = rows_in(access, statistics) as f64;
    let groups = statistics.layout(access.relation).and_then(|layout| layout.groups(columns));
    groups.map(|groups| rows / groups.max(1) as f64).unwrap_or_else(|| {
        let distinct = |column: &usize| statistics.distinct(access.relation, *column).max(1) as f64;
        let matches = columns.iter().fold(rows, |rows, column| rows / distinct(column));
        // Columns that depend on each other do not multiply their selectivity.
        matches.max(1.0 / rows)
    })
}

/// The rows that a look-up finds, counted: where it is known what is looked up, as a constant or a value of a few rows is, and
/// the rows of that can be counted without building anything. No average speaks for a value that most rows have.
pub(super) fn counted_matches(access: Access, sought: &[Sought], statistics: &dyn Statistics) -> Option<f64> {
    let layout = statistics.layout(access.relation)?;
    let columns: Vec<usize> = sought.iter().map(|sought| sought.column).collect();
    let (mut most, mut share) = (None, 1.0);
    for one in sought {
        let Some(codes) = one.codes(statistics) else { continue };
        let held = codes.iter().map(|code| layout.holding(one.column, *code)).sum::<Option<usize>>();
        let Some(held) = held.map(|held| held as f64 / codes.len() as f64) else { continue };
        share *= held / average_matches(access, &[one.column], statistics);
        most = Some(most.map_or(held, |most: f64| most.min(held)));
    }
    most.map(|most| most.min(share * average_matches(access, &columns, statistics)))
}

/// Where the values of a variable come from: a column of a relation.
pub(super) type Origin = (RelationId, usize);

/// The values that a variable is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Values {
    /// Where they come from, if that is known.
    pub(super) from: Option<Origin>,
    /// Where they were looked up alone: values that have many rows there come more often since.
    pub(super) joined: Option<Origin>,
}

/// A column that is looked up, and the values that are looked up in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sought<'v> {
    pub(super) column: usize,
    pub(super) values: Values,
    /// The value, if the rule says it.
    pub(super) constant: Option<&'v Value>,
}

impl Sought<'_> {
    /// The codes that are looked up, where they are known.
    fn codes(self, statistics: &dyn Statistics) -> Option<Vec<Code>> {
        match (self.constant, self.values.from) {
            (Some(constant), _) => statistics.code(constant).map(|code| vec![code]),
            (None, Some((relation, column))) => statistics.layout(relation)?.few_codes(column),
            (None, None) => None,
        }
    }
}

/// What a look-up is expected to find for a binding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// Rows.
    pub(super) rows: f64,
    /// The share of bindings for which there are some.
    pub(super) share: f64,
}

impl Found {
    /// So many rows for each binding, as far as is known.
    pub(super) fn of(rows: f64) -> Found {
        Found { rows, share: rows.min(1.0) }
    }
}

/// The same as [`expected_matches`], from samples of what is looked up and of where it comes from: some values are in one relation
/// and not in the other, others have most of the rows of both, and columns may depend on each other. That takes longer.
pub(super) fn sampled_matches(access: Access, sought: &[Sought], statistics: &dyn Statistics) -> Found {
    let rows = rows_in(access, statistics) as f64;
    let columns: Vec<usize> = sought.iter().map(|sought| sought.column).collect();
    let plain = || Found::of(expected_matches(access, &columns, statistics));
    let sample =
        if rows < 1.0 || columns.is_empty() { None } else { statistics.sample(access.relation, &columns) };
    let Some(sample) = sample else { return plain() };
    let found = match origin(sought) {
        Some((relation, from)) => {
            let Some(values) = statistics.sample(relation, &from) else { return plain() };
            let joined = match sought {
                [one] => joined(access.relation, *one, statistics),
                _ => None,
            };
            let Matches { rows: share, found } = values.look_up(&sample, joined.as_deref());
            // A row finds itself.
            let least = if relation == access.relation && from == columns { 1.0 } else { 0.0 };
            Found { rows: (rows * share).max(least), share: found }
        }
        None => {
            let found = sought.iter().fold(Matches { rows: 1.0, found: 1.0 }, |all, sought| {
                let Matches { rows, found } = matches_in(access.relation, *sought, statistics);
                Matches { rows: all.rows * rows, found: all.found * found }
            });
            // Columns that depend on each other do not multiply their selectivity.
            let least = found.found / sample.distinct().max(1) as f64;
            Found { rows: rows * found.rows.max(least), share: found.found }
        }
    };
    let measured = match access.version {
        Version::Delta => None,
        Version::All | Version::Old => statistics.fan_out(access, &columns),
    };
    let rows = measured.unwrap_or(found.rows);
    Found { rows, share: found.share.min(rows) }
}

/// The columns of one relation from which everything comes that is looked up.
fn origin(sought: &[Sought]) -> Option<(RelationId, Vec<usize>)> {
    let (relation, _) = sought.first()?.values.from?;
    let column =
        |sought: &Sought| sought.values.from.filter(|from| from.0 == relation).map(|(_, column)| column);
    Some((relation, sought.iter().map(column).collect::<Option<_>>()?))
}

/// A sample of the column in which values were looked up before they are in this one. The same column twice would be one sample
/// twice, in which each row finds itself.
fn joined(relation: RelationId, sought: Sought, statistics: &dyn Statistics) -> Option<Arc<Sample>> {
    let (before, column) = sought.values.joined.filter(|joined| *joined != (relation, sought.column))?;
    statistics.sample(before, &[column])
}

/// What is expected in one column.
fn matches_in(relation: RelationId, sought: Sought, statistics: &dyn Statistics) -> Matches {
    let column = [sought.column];
    let values = sought.values.from.and_then(|(relation, column)| statistics.sample(relation, &[column]));
    match (values, statistics.sample(relation, &column)) {
        (Some(values), Some(sample)) => {
            values.look_up(&sample, joined(relation, sought, statistics).as_deref())
        }
        _ => Matches { rows: 1.0 / statistics.distinct(relation, sought.column).max(1) as f64, found: 1.0 },
    }
}

/// The best rows expected of so many that match, where they differ in more than what is compared: nothing is known of these.
pub(super) fn expected_best(matches: f64) -> f64 {
    if matches > 1.0 { matches.sqrt() } else { matches }
}

/// How the rows of a complete relation lie.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'r> {
    runs: &'r [Run],
}

impl<'r> Layout<'r> {
    /// The layout of these runs.
    pub fn of(runs: &'r [Run]) -> Layout<'r> {
        Layout { runs }
    }

    /// Whether rows stand in the order of their columns.
    pub(super) fn is_in_order(self) -> bool {
        self.runs.iter().all(Run::is_sorted)
    }

    /// Whether there is an index that knows the rows in the order of this column's values.
    pub(super) fn has_sorted_index(self, column: usize) -> bool {
        !self.runs.is_empty() && self.runs.iter().all(|run| run.is_sorted_by(column))
    }

    /// Whether an index over this column is there.
    pub(super) fn is_indexed_by(self, column: usize) -> bool {
        self.runs.iter().any(|run| run.is_indexed_by(column))
    }

    /// Number of combinations of values in these columns, if an index knows it.
    pub(super) fn groups(self, columns: &[usize]) -> Option<usize> {
        let groups = self.runs.iter().map(|run| run.index_groups(columns));
        groups.collect::<Option<Vec<_>>>().map(|groups| groups.into_iter().max().unwrap_or(0))
    }

    /// The codes of a column, if rows are few.
    fn few_codes(self, column: usize) -> Option<Vec<Code>> {
        const FEW: usize = 4;
        let stored: usize = self.runs.iter().map(Run::stored_len).sum();
        let few = (1..=FEW).contains(&stored);
        few.then(|| self.runs.iter().flat_map(|run| run.column(column).iter().copied()).collect())
    }

    /// How many rows hold a code in a column, where that can be told without building anything.
    fn holding(self, column: usize, code: Code) -> Option<usize> {
        self.runs.iter().map(|run| run.holding(column, code)).sum()
    }

    /// The work of making what these columns are looked up by, where it is not there.
    pub(super) fn indexing(self, columns: &[usize]) -> f64 {
        let is_ready = |run: &Run| match columns {
            [] => true,
            [column] => run.is_ready_for(*column),
            columns => run.index_groups(columns).is_some(),
        };
        let a_row = |run: &Run| match columns {
            [0] if run.is_sorted() => cost::INDEXING_IN_ORDER,
            _ => cost::INDEXING,
        };
        let open = self.runs.iter().filter(|run| !is_ready(run));
        open.map(|run| run.stored_len() as f64 * a_row(run)).sum()
    }

    /// Whether some rows do not count.
    pub(super) fn is_masked(self) -> bool {
        self.runs.iter().any(|run| run.live().is_some())
    }

    /// Whether other columns may be functions of this one: nothing has been seen to repeat.
    pub(super) fn may_be_key(self, column: usize) -> bool {
        matches!(self.runs, [run] if run.distinct(column) == run.stored_len())
    }
}

/// Number of rows in runs.
pub fn rows_of(runs: &[Run]) -> usize {
    runs.iter().map(Run::len).sum()
}

/// A sample of some columns of runs: the largest one speaks for all.
pub fn sample_of(runs: &[Run], columns: &[usize]) -> Option<Arc<Sample>> {
    let largest = runs.iter().max_by_key(|run| run.len()).filter(|run| !run.is_empty())?;
    Some(largest.sample(columns))
}

/// Number of distinct values in a column of runs, estimated.
pub fn distinct_of(runs: &[Run], column: usize) -> usize {
    let filled = runs.iter().filter(|run| !run.is_empty());
    filled.map(|run| run.distinct(column)).max().unwrap_or(1)
}
