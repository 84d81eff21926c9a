//! `Due`: a live query that has to be brought to a version, what it stood on before, and what comes of that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::MutexGuard;

use super::delta::Delta;
use super::memory::Held;
use super::pace::Work;
use super::present::Present;
use super::query::LiveQuery;
use super::subscribers::Hearers;
use crate::analysis;
use crate::answer::Rows;
use crate::budget::Budget;
use crate::context::Environment;
use crate::data::{DataType, Difference, Relation};
use crate::error::Error;
use crate::graph::Snapshot;
use crate::statements::Following;
use crate::syntax::ast::Query;

/// What the last evaluation has read.
#[derive(Debug)]
pub(super) struct Seen {
    version: u64,
    /// The relations that the answer depends on.
    pub(super) relations: Arc<[String]>,
    footing: Footing,
}

/// What the next evaluation may begin with.
#[derive(Debug, Default)]
pub(super) struct Footing {
    pub(super) following: Following,
    /// What that takes.
    pub(super) held: Option<Held>,
}

/// A live query that has to be evaluated at a version. Nobody else evaluates it meanwhile.
pub(super) struct Due<'q> {
    pub(super) query: &'q LiveQuery,
    seen: MutexGuard<'q, Option<Seen>>,
    /// The answer before.
    pub(super) before: Present,
    /// Whether rules, types or relations are other than before: what is read then may be something else.
    pub(super) is_redefined: bool,
    /// That of this evaluation; of one with others there is none.
    footing: Footing,
}

impl<'q> Due<'q> {
    pub(super) fn of(
        query: &'q LiveQuery,
        seen: MutexGuard<'q, Option<Seen>>,
        before: Present,
        snapshot: &Snapshot,
    ) -> Due<'q> {
        let is_redefined = seen.as_ref().is_some_and(|seen| seen.defined_since(snapshot) > seen.version);
        Due { query, seen, before, is_redefined, footing: Footing::default() }
    }

    /// The answer at a version.
    pub(super) fn evaluate(
        &mut self,
        environment: &Environment,
        snapshot: &Arc<Snapshot>,
        budget: &Budget,
    ) -> Result<Answered, Error> {
        if self.is_redefined {
            self.query.check(snapshot)?;
        }
        let mut footing = Footing::default();
        if let Some(seen) = self.seen.as_mut().filter(|_| !self.is_redefined) {
            footing = std::mem::take(&mut seen.footing);
        }
        let before = Some(&self.before);
        let (answered, _) = self.query.evaluate(environment, snapshot, budget, &mut footing, before)?;
        self.footing = footing;
        Ok(answered)
    }

    /// The answer at that version is the one before. Its number.
    pub(super) fn stay(mut self, snapshot: &Snapshot) -> Option<u64> {
        let (version, footing) = (snapshot.version(), self.footing);
        *self.seen = self.seen.take().map(|last| Seen { version, footing, ..last });
        self.query.stay(version);
        self.query.present()
    }

    /// Shows the answer at that version. What of it is told to whom, and the number of what is shown.
    pub(super) fn show(
        mut self,
        snapshot: &Snapshot,
        answer: Result<Answered, Error>,
        hearers: Hearers,
    ) -> (Work, Option<u64>) {
        let query = self.query;
        let compared = catch_unwind(AssertUnwindSafe(|| answer?.since(&self.before)));
        let compared = compared.unwrap_or_else(|_| Err(Error::internal("live query", "it panicked")));
        let (version, footing) = (snapshot.version(), self.footing);
        *self.seen = match self.seen.take() {
            _ if compared.is_err() => None,
            Some(last) if !self.is_redefined => Some(Seen { version, footing, ..last }),
            _ => Some(Seen::of(&query.query, snapshot, footing)),
        };
        let rows = query.show(version, compared);
        let told = if rows.is_some() { query.subscribers().wake(hearers) } else { 0 };
        (Work { told, rows: told * rows.unwrap_or_default(), ..Work::default() }, query.present())
    }
}

/// What an evaluation has come to.
pub(super) enum Answered {
    /// All rows, in order of their codes.
    Whole(Rows),
    /// What tells them from those before, and all of them.
    Changed(Difference, Relation),
}

impl Answered {
    /// The answer, and what tells it from the one before it; nothing where it has other columns, or values look otherwise there.
    fn since(self, before: &Present) -> Result<(Present, Option<Delta>), Error> {
        match self {
            Answered::Whole(rows) => {
                let rows = rows.with_types_if_empty(before.like()).sharing_codec_of(before.like());
                let delta = compare(before, &rows)?;
                Ok((Present::whole(rows), delta))
            }
            Answered::Changed(difference, rows) => {
                let (present, delta) = before.next(difference, rows);
                Ok((present, Some(delta)))
            }
        }
    }
}

/// What tells an answer from the one before it; nothing where it has other columns, or values look otherwise there.
fn compare(before: &Present, after: &Rows) -> Result<Option<Delta>, Error> {
    let columns = before.like().columns();
    let has_same_columns = after.columns().len() == columns.len()
        && after
            .columns()
            .iter()
            .zip(columns)
            .all(|(a, b)| a.unique_name == b.unique_name && looks_alike(a.data_type, b.data_type));
    if !has_same_columns {
        return Ok(None);
    }
    let old = before.relation_in(after.coded().1)?;
    Ok(Some(Delta::between(before.like(), &old, after)?))
}

/// Whether a value is written in the same way in columns of both types. A time among values of other types is a number,
/// and whoever keeps rows would not find it again.
fn looks_alike(a: DataType, b: DataType) -> bool {
    let is_plain =
        |data_type| matches!(data_type, DataType::Int | DataType::Bool | DataType::Text | DataType::Any);
    a == b || a == DataType::Unknown || b == DataType::Unknown || is_plain(a) && is_plain(b)
}

impl Seen {
    pub(super) fn of(query: &Query, snapshot: &Snapshot, footing: Footing) -> Seen {
        let analysed = analysis::analyse_query(query, snapshot.catalog());
        let relations = analysed.map(|analysed| analysed.program.relations).unwrap_or_default();
        let relations = relations.into_iter().map(|relation| relation.name).collect();
        Seen { version: snapshot.version(), relations, footing }
    }

    /// Whether nothing that was read is other than it was.
    pub(super) fn is_of(&self, snapshot: &Snapshot) -> bool {
        self.unchanged_since(snapshot) <= self.version
    }

    /// Since when everything that was read is as it is now.
    pub(super) fn unchanged_since(&self, snapshot: &Snapshot) -> u64 {
        let rows = self.relations.iter().map(|relation| snapshot.rows_since(relation));
        rows.fold(self.defined_since(snapshot), u64::max)
    }

    /// Since when it has the rules and columns that it has.
    fn defined_since(&self, snapshot: &Snapshot) -> u64 {
        let definitions = self.relations.iter().map(|relation| snapshot.defined_since(relation));
        definitions.max().unwrap_or_else(|| snapshot.version())
    }
}
