//! What is lost between a file and a relation, and told: values that were no numbers, and digits.

use super::cells::Cell;
use std::collections::BTreeMap;
use stratalog_engine::data::lossy::{Loss, LossKind};

/// Counts what was lost.
#[derive(Default)]
pub(super) struct Losses {
    /// Values that were NaN, and are null.
    pub(super) not_numbers: u64,
    /// For each column, how many values lost digits, and the first of them.
    digits: BTreeMap<String, (LossKind, u64, String)>,
}

impl Losses {
    pub(super) fn note(&mut self, column: &str, loss: Loss) {
        let Loss { kind, count, value, .. } = loss;
        match self.digits.get_mut(column) {
            Some((_, known, _)) => *known += count as u64,
            None => _ = self.digits.insert(column.to_owned(), (kind, count as u64, value)),
        }
    }

    /// What a cell lost when it was read.
    pub(super) fn note_cell(&mut self, column: &str, cell: &Cell<'_>) {
        match cell {
            Cell::Float(number) if number.is_nan() => self.not_numbers += 1,
            Cell::CutTime(_, text) => {
                self.note(column, Loss { kind: LossKind::Times, count: 1, row: 0, value: text.clone() });
            }
            _ => {}
        }
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let not_numbers = match self.not_numbers {
            0 => None,
            1 => Some("1 value was NaN, and is null".to_owned()),
            count => Some(format!("{count} values were NaN, and are null")),
        };
        let digits = |(column, (kind, count, first)): (&String, &(LossKind, u64, String))| {
            kind.told(column, *count, first)
        };
        not_numbers.into_iter().chain(self.digits.iter().map(digits)).collect()
    }
}
