//! `Starts`: the nodes in which it begins, and with what values.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};

use super::{Evaluate, Key, Keys, Step, Values};
use crate::budget::Budget;
use crate::data::{Code, Difference, RelationId, Rows};
use crate::exec::ExecError;
use crate::maintain::pairs::{End, Pairs};
use crate::plan::PlainBests;
use crate::rewrite::changes::Side;

/// Where values begin.
pub(super) struct Starts<'g> {
    bests: &'g PlainBests<'g>,
    /// Rows that say so as they are, from nodes to values.
    plain: Pairs<'g>,
    /// What rules say, as far as somebody has asked.
    now: OnceCell<Keys>,
    /// Whether they said something else before.
    have_changed: bool,
    changed: &'g BTreeMap<RelationId, Difference>,
    evaluate: &'g Evaluate<'g>,
    values: Values,
}

/// Starts that are there no longer, and others that are there now.
#[derive(Default)]
pub(super) struct Changed {
    pub(super) gone: Vec<(Code, Key)>,
    pub(super) come: Vec<(Code, Key)>,
}

impl<'g> Starts<'g> {
    pub(super) fn new(
        bests: &'g PlainBests<'g>,
        step: &Step<'_>,
        changed: &'g BTreeMap<RelationId, Difference>,
        values: Values,
        evaluate: &'g Evaluate<'g>,
        budget: &'g Budget,
    ) -> Starts<'g> {
        let mut plain = Pairs::new(budget);
        for columns in &bests.starts {
            let rows = step.now.get(&step.program.relations[columns.relation.index()].name);
            rows.iter().for_each(|rows| plain.add(rows, [columns.from, columns.to]));
        }
        let mut read = bests.start_rules.iter().flat_map(|rule| rule.reads());
        let have_changed = read.any(|relation| changed.contains_key(&relation));
        Starts { bests, plain, now: OnceCell::new(), have_changed, changed, evaluate, values }
    }

    /// The best value with which it begins in a node.
    pub(super) fn key_of(&self, node: Code) -> Result<Option<Key>, ExecError> {
        let plain = self.plain.of(End::From, node)?.into_iter().map(|value| self.values.key(value));
        let of_rules = self.of_rules()?.get(&node).copied();
        Ok(plain.chain(of_rules.map(Ok)).collect::<Result<Vec<Key>, _>>()?.into_iter().min())
    }

    /// All nodes in which it begins, some of them perhaps twice.
    pub(super) fn nodes(&self) -> Result<impl Iterator<Item = Code>, ExecError> {
        Ok(self.of_rules()?.keys().copied().chain(self.plain.all(End::From)))
    }

    /// What has changed.
    pub(super) fn changed(&self) -> Result<Changed, ExecError> {
        let mut starts = Changed::default();
        for columns in &self.bests.starts {
            let Some(difference) = self.changed.get(&columns.relation) else { continue };
            let keys = |rows: &Rows| {
                let [nodes, values] = [columns.from, columns.to].map(|column| rows.columns[column].iter());
                nodes.zip(values).map(|(node, value)| Ok((*node, self.values.key(*value)?))).collect()
            };
            let (gone, come): (Result<Vec<_>, ExecError>, Result<Vec<_>, ExecError>) =
                (keys(&difference.removed), keys(&difference.added));
            starts.gone.extend(gone?);
            starts.come.extend(come?);
        }
        if self.have_changed {
            let (before, now) = (self.evaluated(Side::Before)?, self.of_rules()?);
            let only = |one: &Keys, other: &Keys| -> Vec<(Code, Key)> {
                let only = one.iter().filter(|(node, key)| other.get(node) != Some(key));
                only.map(|(node, key)| (*node, *key)).collect()
            };
            starts.gone.extend(only(&before, now));
            starts.come.extend(only(now, &before));
        }
        Ok(starts)
    }

    fn of_rules(&self) -> Result<&Keys, ExecError> {
        if let Some(now) = self.now.get() {
            return Ok(now);
        }
        let now = self.evaluated(Side::Now)?;
        Ok(self.now.get_or_init(|| now))
    }

    fn evaluated(&self, side: Side) -> Result<Keys, ExecError> {
        let mut keys = HashMap::new();
        if self.bests.start_rules.is_empty() {
            return Ok(keys);
        }
        let (outcome, relation) = (self.evaluate)(self.bests, side)?.ok_or(ExecError::NotWorth)?;
        for run in outcome.complete.get(&relation).into_iter().flatten() {
            let rows = run.live_rows();
            let (nodes, values) =
                (&rows.columns[self.bests.node], self.bests.value.unwrap_or(self.bests.node));
            for (node, value) in nodes.iter().zip(&rows.columns[values]) {
                let key = self.values.key(*value)?;
                keys.entry(*node).and_modify(|known: &mut Key| *known = key.min(*known)).or_insert(key);
            }
        }
        Ok(keys)
    }
}
