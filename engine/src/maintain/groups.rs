//! Groups by difference: the aggregates of what has come and gone, and the row of before, make the row of now.
//!
//! Counts and sums of integers are added to and taken from; the best value stays, or a better one comes. What cannot be told
//! so (the best one is gone, a sum of floats, a group whose last solution may be gone) is aggregated anew, group by group.

use std::cmp::Ordering;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::{Follow, Named, Sides, run_of};
use crate::aggregates::Aggregate;
use crate::analysis::program::{HeadTerm, Rule};
use crate::data::{Code, Codec, DictionaryFull, Kind, Learning, Rows, ValueRef};
use crate::exec::ExecError;
use crate::rewrite::changes::{self, ASKED_GROUPS};

impl Follow<'_> {
    /// The rows of a stratum of this rule alone.
    pub(super) fn groups(&self, rule: &Rule, mut sides: Sides) -> Result<Option<Named>, ExecError> {
        let (program, stratum) = (self.step.program, self.step.stratum);
        let Some(found) = changes::groups(program, stratum, &self.below, rule) else { return Ok(None) };
        let Some(outcome) = self.execute(&found.program, &sides)? else { return Ok(None) };
        let (name, arity) = self.described(rule.head);
        let heads = Heads::of(rule);
        let mut learning = Learning::from(&outcome.codec);
        let mut rows = |relation, arity| learning.rows(outcome.rows(relation, arity));
        let [gained, lost, before] =
            [rows(found.gained, arity)?, rows(found.lost, arity)?, rows(found.old, arity)?];
        let alive = found.alive.map(|alive| rows(alive, heads.groups.len())).transpose()?;
        let groups = Groups { heads: &heads, codec: &outcome.codec, gained, lost, before };
        let Changed { now, asked } = groups.changed(alive.as_ref(), &mut learning)?;
        let mut now = self.old(name, arity).delete(&groups.before).0.insert(&now).0;
        if asked.len > 0 {
            if heads.groups.is_empty() && program.strata.len() == 1 {
                // To aggregate the one group anew is to derive everything from scratch.
                return Ok(None);
            }
            sides.add(ASKED_GROUPS.to_owned(), vec![run_of(&asked)]);
            let anew = changes::groups_anew(program, stratum, &self.below, rule);
            let found = anew.map(|(program, found)| (program, [(rule.head, found)].into()));
            let Some(found) = self.find(&found, &sides)? else { return Ok(None) };
            for rows in found.rows.into_values() {
                now = now.insert(&rows).0;
            }
        }
        Ok(Some(Named::from([(name.to_owned(), now)])))
    }
}

/// The columns of a head.
struct Heads {
    groups: Vec<usize>,
    aggregates: Vec<(usize, Aggregate)>,
}

impl Heads {
    fn of(rule: &Rule) -> Heads {
        let mut heads = Heads { groups: Vec::new(), aggregates: Vec::new() };
        for (column, term) in rule.head_terms.iter().enumerate() {
            match term {
                HeadTerm::Expression(_) => heads.groups.push(column),
                HeadTerm::Aggregate { function, .. } => heads.aggregates.push((column, *function)),
            }
        }
        heads
    }

    fn group(&self, rows: &Rows, row: usize) -> Vec<Code> {
        self.groups.iter().map(|column| rows.columns[*column][row]).collect()
    }
}

/// What is known of groups that have won or lost solutions: at most one row each.
struct Groups<'g> {
    heads: &'g Heads,
    codec: &'g Codec,
    gained: Rows,
    lost: Rows,
    before: Rows,
}

/// The rows of one group.
#[derive(Clone, Copy, Default)]
struct Group {
    gained: Option<usize>,
    lost: Option<usize>,
    before: Option<usize>,
}

/// Where a group has its row of one of these.
type Place = fn(&mut Group) -> &mut Option<usize>;

/// What has become of groups.
struct Changed {
    now: Rows,
    /// The groups that are to be aggregated anew.
    asked: Rows,
}

/// What has become of one.
enum Fate {
    Row(Vec<Code>),
    Gone,
    Asked,
}

impl Groups<'_> {
    fn changed(&self, alive: Option<&Rows>, learning: &mut Learning<'_>) -> Result<Changed, DictionaryFull> {
        let mut groups = HashMap::<Vec<Code>, Group>::new();
        let places: [(&Rows, Place); 3] = [
            (&self.gained, |group| &mut group.gained),
            (&self.lost, |group| &mut group.lost),
            (&self.before, |group| &mut group.before),
        ];
        for (rows, place) in places {
            for row in 0..rows.len {
                *place(groups.entry(self.heads.group(rows, row)).or_default()) = Some(row);
            }
        }
        let alive = alive.map(|rows| {
            let mut alive = HashSet::with_capacity(rows.len);
            alive.extend((0..rows.len).map(|row| rows.columns.iter().map(|column| column[row]).collect()));
            alive
        });
        let mut changed = Changed {
            now: Rows::empty(self.heads.groups.len() + self.heads.aggregates.len()),
            asked: Rows::empty(self.heads.groups.len()),
        };
        for (codes, group) in groups {
            let is_alive = alive.as_ref().map(|alive: &HashSet<Vec<Code>>| alive.contains(&codes));
            match self.fate(&codes, group, is_alive, learning)? {
                Fate::Row(row) => push(&mut changed.now, &row),
                Fate::Asked => push(&mut changed.asked, &codes),
                Fate::Gone => {}
            }
        }
        Ok(changed)
    }

    /// `is_alive` says, where that was looked up, whether the group has solutions.
    fn fate(
        &self,
        codes: &[Code],
        group: Group,
        is_alive: Option<bool>,
        learning: &mut Learning<'_>,
    ) -> Result<Fate, DictionaryFull> {
        let mut row = vec![0; self.gained.columns.len()];
        self.heads.groups.iter().zip(codes).for_each(|(column, code)| row[*column] = *code);
        let Some(before) = group.before else {
            // All its solutions have come.
            return Ok(match (group.gained, group.lost) {
                (Some(gained), None) => {
                    let columns = self.gained.columns.iter();
                    Fate::Row(columns.map(|column| column[gained]).collect())
                }
                _ => Fate::Asked,
            });
        };
        let mut has_some = (group.lost.is_none() || group.gained.is_some()).then_some(true).or(is_alive);
        for (column, aggregate) in &self.heads.aggregates {
            let code = |rows: &Rows, row: Option<usize>| row.map(|row| rows.columns[*column][row]);
            let (gained, lost) = (code(&self.gained, group.gained), code(&self.lost, group.lost));
            let before = self.before.columns[*column][before];
            let found = match aggregate {
                Aggregate::Count | Aggregate::Sum => self.added_up(before, gained, lost),
                Aggregate::Min => self.best(before, gained, lost, Ordering::Less),
                _ => self.best(before, gained, lost, Ordering::Greater),
            };
            let Some(found) = found else { return Ok(Fate::Asked) };
            match (aggregate, found) {
                (Aggregate::Count, Found::Int(0)) => return Ok(Fate::Gone),
                (Aggregate::Count, Found::Int(..0)) => return Ok(Fate::Asked),
                (Aggregate::Sum, _) => {}
                // What is counted is there, and the best value is that of a solution.
                _ => has_some = Some(true),
            }
            row[*column] = match found {
                Found::Int(number) => learning.value(ValueRef::Int(number))?,
                Found::Code(code) => code,
            };
        }
        Ok(match has_some {
            Some(true) => Fate::Row(row),
            Some(false) => Fate::Gone,
            None => Fate::Asked,
        })
    }

    /// Counts, or sums of integers.
    fn added_up(&self, before: Code, gained: Option<Code>, lost: Option<Code>) -> Option<Found> {
        let int = |code: Code| match self.codec.value(code) {
            ValueRef::Int(number) => Some(number),
            _ => None,
        };
        let or_none = |code: Option<Code>| code.map_or(Some(0), int);
        let sum = int(before)?.checked_add(or_none(gained)?)?.checked_sub(or_none(lost)?)?;
        Some(Found::Int(sum))
    }

    /// The best value, if it is still there or a better one has come; `better` is how a better one compares with another.
    fn best(
        &self,
        before: Code,
        gained: Option<Code>,
        lost: Option<Code>,
        better: Ordering,
    ) -> Option<Found> {
        let value = |code: Code| self.codec.value(code);
        let compared = |code: Code| {
            // Those of several kinds are remarked on.
            let is_plain =
                self.codec.kind(code) == self.codec.kind(before) && self.codec.kind(code) != Kind::Null;
            is_plain.then(|| value(code).cmp(&value(before)))
        };
        if let Some(gained) = gained {
            let order = compared(gained)?;
            if order == better || gained == before {
                return Some(Found::Code(gained));
            }
            if order == Ordering::Equal {
                return None;
            }
        }
        if let Some(lost) = lost
            && compared(lost)? == Ordering::Equal
        {
            return None;
        }
        Some(Found::Code(before))
    }
}

/// An aggregate as it is now.
#[derive(Clone, Copy)]
enum Found {
    Int(i64),
    Code(Code),
}

fn push(rows: &mut Rows, codes: &[Code]) {
    rows.columns.iter_mut().zip(codes).for_each(|(column, code)| column.push(*code));
    rows.len += 1;
}
