//! `KeptRows`: rows that are kept from one state to another.

use std::sync::OnceLock;
use std::time::Duration;

use parking_lot::RwLock;

use crate::data::{Code, Difference, INLINE_END, Relation, Rows, Run, sorted_run};
use crate::exec::Rounds;

/// Rows in the runs in which they were found, until somebody wants them in order.
#[derive(Debug)]
pub(crate) struct KeptRows {
    arity: usize,
    form: RwLock<Form>,
    /// The rows with the height of the smallest proof of each in one more column, once somebody has asked for them, and how high the
    /// lowest may stand.
    heights: OnceLock<(u32, Relation)>,
}

#[derive(Debug)]
enum Form {
    Found(Vec<Run>, Option<Rounds>),
    Ordered(Ordered),
}

/// Rows in order.
#[derive(Debug, Clone)]
pub(crate) struct Ordered {
    pub(crate) rows: Relation,
    /// The same with a rank each in one more column, if they have ranks: a row follows from rows of lower ranks.
    pub(crate) ranked: Option<Relation>,
    /// The lowest rank, if the smallest proof of each row is as much higher than those of the lowest rows as its rank.
    lowest: Option<Code>,
}

impl From<Relation> for Ordered {
    fn from(rows: Relation) -> Ordered {
        Ordered { rows, ranked: None, lowest: None }
    }
}

impl KeptRows {
    /// As they were found: disjoint runs, and when each row was found, if that is known.
    pub(crate) fn found(arity: usize, runs: Vec<Run>, rounds: Option<Rounds>) -> KeptRows {
        KeptRows { arity, form: RwLock::new(Form::Found(runs, rounds)), heights: OnceLock::new() }
    }

    /// As they were brought forward.
    pub(crate) fn ordered(rows: impl Into<Ordered>) -> KeptRows {
        let rows = rows.into();
        let arity = rows.rows.arity();
        KeptRows { arity, form: RwLock::new(Form::Ordered(rows)), heights: OnceLock::new() }
    }

    /// The runs.
    pub(crate) fn runs(&self) -> Vec<Run> {
        match &*self.form.read() {
            Form::Found(runs, _) => runs.clone(),
            Form::Ordered(ordered) => ordered.rows.runs().to_vec(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match &*self.form.read() {
            Form::Found(runs, _) => runs.iter().map(Run::len).sum(),
            Form::Ordered(ordered) => ordered.rows.len(),
        }
    }

    /// The rows as a relation, of which others are made that share what stays.
    pub(crate) fn relation(&self) -> Relation {
        self.in_order().rows
    }

    /// The same, with ranks if there are any.
    pub(crate) fn in_order(&self) -> Ordered {
        let (found, rounds) = match &*self.form.read() {
            Form::Ordered(ordered) => return ordered.clone(),
            Form::Found(runs, rounds) => (runs.clone(), rounds.clone()),
        };
        // Nobody who reads waits for that.
        let ordered = in_order(found, rounds, self.arity);
        let mut form = self.form.write();
        if let Form::Ordered(first) = &*form {
            // Somebody else has put them in order: all that follows shares one set of runs.
            return first.clone();
        }
        *form = Form::Ordered(ordered.clone());
        ordered
    }

    /// Whether it is known how high the smallest proof of each row is.
    pub(crate) fn know_heights(&self) -> bool {
        let by_ranks = || match &*self.form.read() {
            Form::Found(_, rounds) => rounds.as_ref().is_some_and(|rounds| rounds.begin_in_time().is_some()),
            Form::Ordered(ordered) => ordered.lowest.is_some(),
        };
        self.heights.get().is_some() || by_ranks()
    }

    /// The rows with the height of the smallest proof of each in one more column, where that is known and the lowest may stand so high.
    pub(crate) fn with_heights(&self, lowest: u32) -> Option<Relation> {
        if self.heights.get().is_none() {
            let Ordered { ranked, lowest: rank, .. } = self.in_order();
            let (ranked, rank) = ranked.zip(rank)?;
            if rank == lowest {
                return Some(ranked);
            }
            let of_run = |run: &Run| {
                let ranks = run.column(self.arity).iter();
                run.with_last_column(ranks.map(|of_row| of_row - rank + lowest).collect())
            };
            let runs = ranked.runs().iter().map(of_run).collect();
            self.heights.get_or_init(|| (lowest, Relation::of_runs(self.arity + 1, runs)));
        }
        self.heights.get().filter(|(known, _)| *known == lowest).map(|(_, rows)| rows.clone())
    }

    /// Learns how high the smallest proof of each row is, in one more column, and how high the lowest may stand.
    pub(crate) fn learn_heights(&self, lowest: u32, rows: Relation) {
        if rows.len() == self.len() {
            self.heights.get_or_init(|| (lowest, rows));
        }
    }

    /// What tells them from the rows of an earlier state, and the same rows as those and what has come and gone, if that is little: then
    /// what was built for those serves again. Nothing where one of the two would have to be put in order for that, unless `in_any_case`.
    pub(crate) fn since(
        &self,
        before: &KeptRows,
        in_any_case: bool,
    ) -> Option<(Difference, Option<KeptRows>)> {
        /// To mask a row takes as long as to look at so many.
        const LITTLE: usize = 64;
        let is_ordered = |rows: &KeptRows| match &*rows.form.read() {
            Form::Found(runs, rounds) => rounds.is_none() && are_ordered(runs),
            Form::Ordered(_) => true,
        };
        if !(in_any_case || is_ordered(before) && is_ordered(self)) {
            return None;
        }
        let (old, new) = (before.relation(), self.in_order());
        let difference = Difference::between(&old, &new.rows);
        let is_little = difference.len() * LITTLE <= old.len() && new.ranked.is_none();
        let rows = is_little.then(|| {
            let kept = old.delete(&difference.removed).0.insert_absent(&difference.added);
            KeptRows::ordered(kept)
        });
        Some((difference, rows))
    }

    /// About how long it takes to put the rows of some runs in order, and to compare them with others.
    pub(crate) fn time_of_comparing(runs: &[Run]) -> Duration {
        /// Of one, where they are in order.
        const TIME: Duration = Duration::from_nanos(3);
        time_of_ordering(runs) + TIME * row_count(runs)
    }

    /// About how long it takes to put them in order, where they are not.
    pub(crate) fn ordering(&self) -> Duration {
        match &*self.form.read() {
            Form::Found(runs, _) => time_of_ordering(runs),
            Form::Ordered(_) => Duration::ZERO,
        }
    }

    /// Bytes that nobody else holds.
    pub(crate) fn own_memory_bytes(&self) -> usize {
        match &*self.form.read() {
            Form::Found(runs, _) => runs.iter().map(Run::own_memory_bytes).sum(),
            Form::Ordered(ordered) => {
                ordered.rows.runs().iter().map(Run::own_memory_bytes).sum::<usize>() + ordered.rank_bytes()
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let rows = match &*self.form.read() {
            Form::Found(runs, _) => runs.iter().map(Run::memory_bytes).sum::<usize>(),
            Form::Ordered(ordered) => ordered.rows.memory_bytes() + ordered.rank_bytes(),
        };
        rows + self.heights.get().map_or(0, |(_, rows)| rows.memory_bytes())
    }
}

impl Ordered {
    /// Rows with their ranks in the last column. `before` are those of before, of which runs are the same where they have stayed.
    pub(crate) fn of_ranked(ranked: Relation, before: &[Run]) -> Ordered {
        let arity = ranked.arity() - 1;
        let runs = ranked.runs().iter().map(|run| {
            let Some(known) = before.iter().find(|known| known.shares_columns_with(run)) else {
                return run.of_first_columns(arity);
            };
            match run.live() {
                Some(live) if known.len() != run.len() => known.with_live(live.clone()),
                Some(_) | None => known.clone(),
            }
        });
        Ordered { rows: Relation::of_runs(arity, runs.collect()), ranked: Some(ranked), lowest: None }
    }

    /// Bytes that ranks take: all else is shared.
    fn rank_bytes(&self) -> usize {
        let runs = self.ranked.iter().flat_map(Relation::runs);
        runs.map(|run| run.stored_len() * size_of::<Code>()).sum()
    }
}

/// Whether runs are a relation as they are.
fn are_ordered(runs: &[Run]) -> bool {
    runs.len() <= 1 && runs.iter().all(Run::is_sorted)
}

/// About how long it takes to make them that.
fn time_of_ordering(runs: &[Run]) -> Duration {
    /// For one row: measured.
    const TIME: Duration = Duration::from_nanos(15);
    if are_ordered(runs) { Duration::ZERO } else { TIME * row_count(runs) }
}

fn row_count(runs: &[Run]) -> u32 {
    u32::try_from(runs.iter().map(Run::len).sum::<usize>()).unwrap_or(u32::MAX)
}

fn in_order(runs: Vec<Run>, rounds: Option<Rounds>, arity: usize) -> Ordered {
    if let Some(rounds) = rounds.filter(|rounds| rounds.end() < INLINE_END) {
        let mut rows = Rows::of_runs(arity, &runs);
        drop(runs);
        // Of what follows from stored rows alone the ranks are heights.
        let rank = |round: u32| round + 1;
        rows.columns.push(rounds.of_rows().map(rank).collect());
        let ranked = Relation::of_runs(arity + 1, vec![sorted_run(rows).0]);
        return Ordered { lowest: rounds.begin_in_time().map(rank), ..Ordered::of_ranked(ranked, &[]) };
    }
    let ordered = if are_ordered(&runs) { runs } else { vec![sorted_run(Rows::of_runs(arity, &runs)).0] };
    Relation::of_runs(arity, ordered).into()
}
