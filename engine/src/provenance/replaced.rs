//! Facts with best values that better ones have replaced, where proofs may go through them.

use super::prover::{BestValues, Known, Prover, rows_of, value_of};
use super::solutions::Solution;
use crate::analysis::program::{Best, Literal};
use crate::data::preference::Preference;
use crate::data::{Code, RelationId};
use crate::rewrite::proofs::Ask;

impl Prover<'_> {
    /// The value that took the place of that of a fact.
    pub(super) fn replaced_by(&self, fact: usize) -> Option<Code> {
        let known = &self.facts[fact];
        self.replacement(known.relation, &known.row)
    }

    /// Leaves of the solutions of a group those that were there when a fact was the best, without others than its own that read what was
    /// replaced.
    pub(super) fn leave_what_counted(
        &self,
        fact: usize,
        of_group: (&Ask, Option<usize>),
        own: (&Ask, &Solution),
        solutions: &mut Vec<Solution>,
    ) {
        let Known { relation, row, .. } = &self.facts[fact];
        let (group, by) = of_group;
        if let (Some(by), Some(best)) = (by, self.keeps_replaced(*relation)) {
            let order = self.order_of(best);
            solutions.retain(|other| !order.is_better(other.codes[by], row[best.column]));
        }
        let is_own = |other: &Solution| {
            let mut values = group.variables.iter().zip(&other.codes);
            values
                .all(|(variable, code)| value_of(own.0, own.1, *variable).is_none_or(|known| known == *code))
        };
        solutions.retain(|other| !self.reads_replaced(group, other) || is_own(other));
    }

    /// Whether a solution reads a row with a value that was replaced.
    fn reads_replaced(&self, ask: &Ask, solution: &Solution) -> bool {
        ask.rule.body.iter().filter_map(Literal::atom).any(|atom| {
            self.keeps_replaced(atom.relation).is_some()
                && self
                    .row_of(atom, ask, solution)
                    .is_some_and(|row| self.replacement(atom.relation, &row).is_some())
        })
    }

    /// How a relation keeps its best rows, if those that were replaced are among them.
    fn keeps_replaced(&self, relation: RelationId) -> Option<Best> {
        self.explained.program.relations[relation.index()].best.filter(|best| best.keeps_replaced)
    }

    fn replacement(&self, relation: RelationId, row: &[Code]) -> Option<Code> {
        let best = self.keeps_replaced(relation)?;
        let mut all = self.best_values.borrow_mut();
        let values = all.entry(relation).or_insert_with(|| self.best_values_of(relation, best));
        let (group, value) = apart(row, best);
        values.get(&group).copied().filter(|better| *better != value)
    }

    fn best_values_of(&self, relation: RelationId, best: Best) -> BestValues {
        let order = self.order_of(best);
        let mut values = BestValues::new();
        for run in self.evaluated.rows(relation) {
            for (group, value) in rows_of(&run).map(|row| apart(&row, best)) {
                let known = values.entry(group).or_insert(value);
                if order.is_better(value, *known) {
                    *known = value;
                }
            }
        }
        values
    }

    fn order_of(&self, best: Best) -> Preference<'_> {
        Preference { largest: best.largest, codec: self.evaluated.codec }
    }
}

/// The group that a row is of, and its value.
fn apart(row: &[Code], best: Best) -> (Vec<Code>, Code) {
    let mut group = row.to_vec();
    let value = group.remove(best.column);
    (group, value)
}
