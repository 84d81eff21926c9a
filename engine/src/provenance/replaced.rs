//! Facts with best values that better ones have replaced, where proofs may go through them.

use std::collections::HashMap;

use super::prover::{Prover, rows_of};
use super::solutions::Solution;
use crate::analysis::program::{Argument, Best, Literal};
use crate::data::preference::Preference;
use crate::data::{Code, RelationId, VariableId};
use crate::rewrite::proofs::Ask;

/// The best value of each group of a relation, by the other columns.
pub(super) type BestValues = HashMap<Vec<Code>, Code>;

impl Prover<'_> {
    /// The value that took the place of that of a fact.
    pub(super) fn replaced_by(&self, fact: usize) -> Option<Code> {
        let known = &self.facts[fact];
        self.replacement(known.relation, &known.row)
    }

    /// Whether a solution reads a row with a value that was replaced.
    pub(super) fn reads_replaced(&self, ask: &Ask, solution: &Solution) -> bool {
        let code = |variable: &VariableId| {
            let place = ask.variables.iter().position(|known| known == variable)?;
            solution.codes.get(place).copied()
        };
        ask.rule.body.iter().filter_map(Literal::atom).any(|atom| {
            self.keeps_replaced(atom.relation).is_some() && {
                let row = atom.arguments.iter().map(|argument| match argument {
                    Argument::Variable(variable) => code(variable),
                    Argument::Constant(value) => self.evaluated.codec.encode(value.as_ref()).ok(),
                    Argument::Any => None,
                });
                let row: Option<Vec<Code>> = row.collect();
                row.is_some_and(|row| self.replacement(atom.relation, &row).is_some())
            }
        })
    }

    /// How a relation keeps its best rows, if those that were replaced are among them.
    pub(super) fn keeps_replaced(&self, relation: RelationId) -> Option<Best> {
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
        let order = Preference { largest: best.largest, codec: self.evaluated.codec };
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
}

/// The group that a row is of, and its value.
fn apart(row: &[Code], best: Best) -> (Vec<Code>, Code) {
    let mut group = row.to_vec();
    let value = group.remove(best.column);
    (group, value)
}
