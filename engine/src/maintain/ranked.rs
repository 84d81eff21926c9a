//! Recursion whose rows have ranks: only what has no proof by rows of lower ranks falls.

use std::collections::BTreeMap;

use super::{Advanced, Changed, Follow, Named, Ordered, Sides, Step, run_of};
use crate::data::{Code, INLINE_END, Learning, Relation, RelationId, Rows, Run};
use crate::exec::{ExecError, Rounds};
use crate::plan::Forward;
use crate::rewrite::changes::{self, Cause, Falling, Ranks, Side};

/// What a program says of rows that have lost a proof.
struct Fallen {
    /// Those that fall, with their ranks.
    rows: BTreeMap<RelationId, Rows>,
    /// How many stay.
    stay: usize,
}

impl Follow<'_> {
    /// The rows of the stratum's relations as they are now, where those of all of them had these ranks.
    pub(super) fn ranked(&self, mut kept: Named, mut sides: Sides) -> Result<Option<Advanced>, ExecError> {
        let Step { program, stratum, .. } = *self.step;
        for (name, rows) in &kept {
            sides.add_relation(Side::Old.of(name), Some(rows));
        }
        let mut end = end_of(&kept);
        let Some(gone) = self.let_fall(&mut kept, &mut sides)? else { return Ok(None) };
        if !gone.is_empty() {
            for (head, gone) in &gone {
                sides.add(Side::Gone.of(self.described(*head).0), vec![run_of(gone)]);
            }
            self.keep(&mut sides, &kept);
            let restored = changes::restored(program, stratum, &self.below, Ranks::InLastColumn);
            let Some(restored) = self.find(&restored, &sides)? else { return Ok(None) };
            end = self.take_in_ranked(&mut kept, restored, end);
        }
        self.keep(&mut sides, &kept);
        let come = changes::come(program, stratum, &self.below, Ranks::InLastColumn);
        let Some(come) = self.find(&come, &sides)? else { return Ok(None) };
        let end = self.take_in_ranked(&mut kept, come, end);
        if self.step.means.thresholds.audits_ranks && end.is_some() {
            self.audit(&kept, &mut sides)?;
        }
        Ok(end.map(|_| self.without_ranks(kept)))
    }

    /// Takes those rows out that have no proof by rows of lower ranks any more. Answers them, without their ranks.
    fn let_fall(
        &self,
        kept: &mut Named,
        sides: &mut Sides,
    ) -> Result<Option<BTreeMap<RelationId, Rows>>, ExecError> {
        let Step { program, stratum, .. } = *self.step;
        let mut gone: BTreeMap<RelationId, Rows> = BTreeMap::new();
        let program_of = |cause| changes::falling(program, stratum, &self.below, cause);
        let (Some(first), Some(next)) = (program_of(Cause::Below), program_of(Cause::Fallen)) else {
            return Ok(None);
        };
        let (mut falling, mut in_vain) = (&first, 0);
        loop {
            self.keep(sides, kept);
            let Some(Fallen { rows, stay }) = self.fall(falling, sides)? else { return Ok(None) };
            if rows.values().all(|rows| rows.len == 0) {
                return Ok(Some(gone));
            }
            for (head, rows) in &rows {
                sides.add(Side::Fallen.of(self.described(*head).0), vec![run_of(rows)]);
            }
            self.take_out(kept, rows, &mut gone);
            falling = &next;
            in_vain = if stay == 0 { in_vain + 1 } else { 0 };
            if in_vain == self.step.means.thresholds.falls_in_vain {
                self.keep(sides, kept);
                let sinking = changes::sinking(program, stratum, &self.below);
                let Some(sunk) = self.find(&sinking, sides)? else { return Ok(None) };
                self.take_out(kept, sunk.rows, &mut gone);
                return Ok(Some(gone));
            }
        }
    }

    /// Panics if a row has no proof by rows of lower ranks.
    fn audit(&self, kept: &Named, sides: &mut Sides) -> Result<(), ExecError> {
        let Step { program, stratum, .. } = *self.step;
        self.keep(sides, kept);
        let Some(all) = changes::falling(program, stratum, &self.below, Cause::Audit) else { return Ok(()) };
        let Some(Fallen { rows, .. }) = self.fall(&all, sides)? else { return Ok(()) };
        for (head, rows) in rows {
            assert_eq!(
                rows.len,
                0,
                "rows of {} without a proof by rows of lower ranks",
                self.described(head).0
            );
        }
        Ok(())
    }

    /// Which rows fall.
    fn fall(&self, falling: &Falling, sides: &Sides) -> Result<Option<Fallen>, ExecError> {
        let Some(outcome) = self.execute(&falling.program, sides)? else { return Ok(None) };
        let mut learning = Learning::from(&outcome.codec);
        let rows = falling.falls.iter().map(|(head, falls)| {
            let arity = falling.program.relations[falls.index()].arity;
            Ok((*head, learning.rows(outcome.rows(*falls, arity))?))
        });
        let rows = rows.collect::<Result<_, ExecError>>()?;
        let stay = falling.stays.iter().filter_map(|stays| outcome.outcome.complete.get(stays));
        Ok(Some(Fallen { rows, stay: stay.flatten().map(Run::len).sum() }))
    }

    /// Takes rows out that are given with their ranks.
    fn take_out(
        &self,
        kept: &mut Named,
        rows: BTreeMap<RelationId, Rows>,
        gone: &mut BTreeMap<RelationId, Rows>,
    ) {
        for (head, mut rows) in rows {
            let (name, arity) = self.described(head);
            if let Some(kept) = kept.get_mut(name) {
                *kept = kept.delete(&rows).0;
            }
            rows.columns.truncate(arity);
            gone.entry(head).or_insert_with(|| Rows::empty(arity)).append(rows);
        }
    }

    /// Takes rows in that follow from those that are there: in the order in which they were found, from this rank on. Answers the
    /// first rank above theirs; none if there are no such ranks.
    fn take_in_ranked(&self, kept: &mut Named, found: Changed, start: Option<Code>) -> Option<Code> {
        let start = start?;
        let rounds = found.rounds.values().map(Rounds::end).max().unwrap_or_default();
        let end = start.checked_add(rounds).filter(|end| *end < INLINE_END)?;
        for (head, mut rows) in found.rows.into_iter().filter(|(_, rows)| rows.len > 0) {
            let kept = kept.get_mut(self.described(head).0)?;
            let rounds = found.rounds.get(&head)?;
            rows.columns.push(rounds.of_rows().map(|round| start + round).collect());
            *kept = kept.insert(&rows).0;
        }
        Some(end)
    }

    /// These rows, seen without their ranks as well.
    fn without_ranks(&self, ranked: Named) -> Advanced {
        let ordered = ranked.into_iter().map(|(name, ranked)| {
            let before = self.step.old.get(&name).map_or(&[][..], |old| old.rows.runs());
            let ordered = Ordered::of_ranked(ranked, before);
            (name, ordered)
        });
        Advanced::of(ordered.collect(), Forward::Ranks)
    }
}

/// The rows of all relations with their ranks, if all have some.
pub(super) fn of_all(old: &BTreeMap<String, Ordered>) -> Option<Named> {
    old.iter().map(|(name, old)| Some((name.clone(), old.ranked.clone()?))).collect()
}

/// The first rank above all.
fn end_of(ranked: &Named) -> Option<Code> {
    let last = |relation: &Relation| {
        let ranks = relation.runs().iter().filter_map(|run| run.bounds(relation.arity() - 1));
        ranks.map(|(_, last)| last).max()
    };
    ranked.values().filter_map(last).max().map_or(Some(0), |last| last.checked_add(1))
}
