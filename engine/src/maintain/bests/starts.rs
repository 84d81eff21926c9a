//! `Starts`: the nodes in which it begins, and with what values.

use std::collections::BTreeMap;

use super::{Key, Step, Values};
use crate::budget::Budget;
use crate::data::{Code, Difference, RelationId, Rows};
use crate::exec::ExecError;
use crate::maintain::pairs::{End, Kind, Pairs};
use crate::maintain::start_rules::StartRules;
use crate::plan::{PairsOf, PlainBests, Weight};

/// Where values begin.
pub(super) struct Starts<'g> {
    kinds: Vec<(RelationId, Kind)>,
    /// From nodes to values, as they are.
    pairs: Pairs<'g>,
    of_rules: StartRules,
    /// The columns of their rows.
    of_rule: [usize; 2],
    changed: &'g BTreeMap<RelationId, Difference>,
    values: Values<'g>,
}

/// Starts that are there no longer, and others that are there now.
#[derive(Default)]
pub(super) struct Changed {
    pub(super) gone: Vec<(Code, Key)>,
    pub(super) come: Vec<(Code, Key)>,
}

impl<'g> Starts<'g> {
    pub(super) fn new(
        bests: &PlainBests<'_>,
        step: &Step<'_>,
        changed: &'g BTreeMap<RelationId, Difference>,
        values: Values<'g>,
        of_rules: StartRules,
        budget: &'g Budget,
    ) -> Starts<'g> {
        let kind = |source: &PairsOf| Kind::of(source, Weight::Constant(0), values.codec);
        let kinds = bests.starts.iter().map(|source| (source.columns.relation, kind(source)));
        let kinds: Vec<(RelationId, Kind)> = kinds.collect();
        let mut pairs = Pairs::new(budget);
        for (relation, kind) in &kinds {
            let rows = step.now.get(&step.program.relations[relation.index()].name);
            rows.iter().for_each(|rows| pairs.add_kind(rows, kind));
        }
        let of_rule = [bests.node, bests.value.unwrap_or(bests.node)];
        pairs.add(&of_rules.now, of_rule);
        Starts { kinds, pairs, of_rules, of_rule, changed, values }
    }

    /// The best value with which it begins in a node.
    pub(super) fn key_of(&self, node: Code) -> Result<Option<Key>, ExecError> {
        let keys = self.pairs.of(End::From, node)?.into_iter().map(|value| self.values.key(value));
        Ok(keys.collect::<Result<Vec<Key>, _>>()?.into_iter().min())
    }

    /// All nodes in which it begins, some of them perhaps twice.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Code> {
        self.pairs.all(End::From)
    }

    /// What has changed.
    pub(super) fn changed(&self) -> Result<Changed, ExecError> {
        let of_rules = Kind { columns: self.of_rule, weight: Weight::Constant(0), conditions: None };
        let of_relations =
            self.kinds.iter().filter_map(|(relation, kind)| Some((self.changed.get(relation)?, kind)));
        let mut starts = Changed::default();
        for (difference, kind) in of_relations.chain([(&self.of_rules.difference, &of_rules)]) {
            let keys = |rows: &Rows| -> Result<Vec<(Code, Key)>, ExecError> {
                kind.among(rows).map(|(node, value, _)| Ok((node, self.values.key(value)?))).collect()
            };
            starts.gone.extend(keys(&difference.removed)?);
            starts.come.extend(keys(&difference.added)?);
        }
        Ok(starts)
    }
}
