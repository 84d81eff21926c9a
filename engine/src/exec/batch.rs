//! `Bindings`: a batch of variable bindings, one column a variable: of codes, or of numbers that were computed and that
//! nothing looks up.

use super::numbers::Numbers;
use crate::data::{Code, VariableId};

/// Rows of bindings. A variable that is not bound, or no longer needed, has an empty column, and so has one with numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Bindings {
    pub(super) len: usize,
    columns: Vec<Vec<Code>>,
    numbers: Vec<(VariableId, Numbers)>,
}

impl Bindings {
    /// No rows of so many variables.
    pub(super) fn new(variables: usize) -> Bindings {
        Bindings { len: 0, columns: vec![Vec::new(); variables], numbers: Vec::new() }
    }

    /// One row that binds nothing.
    pub(super) fn one(variables: usize) -> Bindings {
        Bindings { len: 1, ..Bindings::new(variables) }
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.columns.iter_mut().for_each(Vec::clear);
        self.numbers.clear();
    }

    pub(super) fn column(&self, variable: VariableId) -> &[Code] {
        &self.columns[variable.index()]
    }

    pub(super) fn column_mut(&mut self, variable: VariableId) -> &mut Vec<Code> {
        &mut self.columns[variable.index()]
    }

    /// The numbers of a variable that has no codes.
    pub(super) fn numbers(&self, variable: VariableId) -> Option<&Numbers> {
        self.numbers.iter().find(|(other, _)| *other == variable).map(|(_, numbers)| numbers)
    }

    /// Binds a variable to numbers.
    pub(super) fn bind_numbers(&mut self, variable: VariableId, numbers: Numbers) {
        self.numbers.push((variable, numbers));
    }

    /// Takes the kept columns of another batch. There must be no rows yet.
    pub(super) fn copy(&mut self, from: &Bindings, keep: &[VariableId]) {
        for variable in keep {
            self.columns[variable.index()].extend_from_slice(from.column(*variable));
        }
        self.numbers.extend(from.numbers.iter().filter(|(variable, _)| keep.contains(variable)).cloned());
        self.len += from.len;
    }

    /// Takes the kept columns of these rows of another batch. There must be no rows yet.
    pub(super) fn gather(&mut self, from: &Bindings, keep: &[VariableId], positions: &[u32]) {
        let is_whole = positions.len() == from.len
            && positions.iter().enumerate().all(|(row, position)| *position as usize == row);
        if is_whole {
            self.copy(from, keep);
            return;
        }
        for variable in keep {
            if let Some(numbers) = from.numbers(*variable) {
                self.bind_numbers(*variable, numbers.gather(positions));
                continue;
            }
            let source = from.column(*variable);
            self.columns[variable.index()]
                .extend(positions.iter().map(|position| source[*position as usize]));
        }
        self.len += positions.len();
    }
}
