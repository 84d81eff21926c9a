//! `Bindings`: a batch of variable bindings, one column of codes a variable.

use crate::data::{Code, VariableId};

/// Rows of bindings. A variable that is not bound, or no longer needed, has an empty column.
#[derive(Debug, Clone, Default)]
pub(super) struct Bindings {
    pub(super) len: usize,
    columns: Vec<Vec<Code>>,
}

impl Bindings {
    /// No rows of so many variables.
    pub(super) fn new(variables: usize) -> Bindings {
        Bindings { len: 0, columns: vec![Vec::new(); variables] }
    }

    /// One row that binds nothing.
    pub(super) fn one(variables: usize) -> Bindings {
        Bindings { len: 1, ..Bindings::new(variables) }
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.columns.iter_mut().for_each(Vec::clear);
    }

    pub(super) fn column(&self, variable: VariableId) -> &[Code] {
        &self.columns[variable.index()]
    }

    pub(super) fn column_mut(&mut self, variable: VariableId) -> &mut Vec<Code> {
        &mut self.columns[variable.index()]
    }

    /// Appends the kept columns of another batch.
    pub(super) fn copy(&mut self, from: &Bindings, keep: &[VariableId]) {
        for variable in keep {
            self.columns[variable.index()].extend_from_slice(from.column(*variable));
        }
        self.len += from.len;
    }

    /// Appends the kept columns of these rows of another batch.
    pub(super) fn gather(&mut self, from: &Bindings, keep: &[VariableId], positions: &[u32]) {
        let is_whole = positions.len() == from.len
            && positions.iter().enumerate().all(|(row, position)| *position as usize == row);
        if is_whole {
            self.copy(from, keep);
            return;
        }
        for variable in keep {
            let source = from.column(*variable);
            self.columns[variable.index()]
                .extend(positions.iter().map(|position| source[*position as usize]));
        }
        self.len += positions.len();
    }
}
