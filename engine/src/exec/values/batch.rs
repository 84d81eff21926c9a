//! `Bindings`: a batch of variable bindings, one column a variable: of codes, or of numbers that were computed and that
//! nothing looks up.

use crate::data::{Code, VariableId};
use crate::exec::error::ExecError;
use crate::exec::values::numbers::Numbers;

/// Rows a batch grows to before it is handed on.
pub(crate) const BATCH: usize = 4_096;

/// Takes a batch from the operator that has filled it.
pub(crate) type Emit<'e> = dyn FnMut(&Bindings) -> Result<(), ExecError> + 'e;

/// Rows of bindings. A variable that is not bound, or no longer needed, has an empty column, and so has one with numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bindings {
    pub(crate) len: usize,
    columns: Vec<Vec<Code>>,
    numbers: Vec<(VariableId, Numbers)>,
}

impl Bindings {
    /// No rows of so many variables.
    pub(crate) fn new(variables: usize) -> Bindings {
        Bindings { len: 0, columns: vec![Vec::new(); variables], numbers: Vec::new() }
    }

    /// One row that binds nothing.
    pub(crate) fn one(variables: usize) -> Bindings {
        Bindings { len: 1, ..Bindings::new(variables) }
    }

    /// Rows that bind these variables to codes.
    pub(crate) fn of(columns: &[(VariableId, &[Code])], rows: usize) -> Bindings {
        let variables = columns.iter().map(|(variable, _)| variable.index() + 1).max().unwrap_or(0);
        let mut bindings = Bindings { len: rows, ..Bindings::new(variables) };
        for (variable, codes) in columns {
            bindings.columns[variable.index()] = codes.to_vec();
        }
        bindings
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.columns.iter_mut().for_each(Vec::clear);
        self.numbers.clear();
    }

    pub(crate) fn column(&self, variable: VariableId) -> &[Code] {
        &self.columns[variable.index()]
    }

    pub(crate) fn column_mut(&mut self, variable: VariableId) -> &mut Vec<Code> {
        &mut self.columns[variable.index()]
    }

    /// The numbers of a variable that has no codes.
    pub(crate) fn numbers(&self, variable: VariableId) -> Option<&Numbers> {
        self.numbers.iter().find(|(other, _)| *other == variable).map(|(_, numbers)| numbers)
    }

    /// Binds a variable to numbers.
    pub(crate) fn bind_numbers(&mut self, variable: VariableId, numbers: Numbers) {
        self.numbers.push((variable, numbers));
    }

    /// Takes the kept columns of another batch. There must be no rows yet.
    pub(crate) fn copy(&mut self, from: &Bindings, keep: &[VariableId]) {
        for variable in keep {
            self.columns[variable.index()].extend_from_slice(from.column(*variable));
        }
        self.numbers.extend(from.numbers.iter().filter(|(variable, _)| keep.contains(variable)).cloned());
        self.len += from.len;
    }

    /// Becomes the kept columns of those rows of another batch that pass.
    pub(crate) fn keep_where(
        &mut self,
        from: &Bindings,
        keep: &[VariableId],
        passes: impl Fn(usize) -> bool,
    ) {
        // Each row is written, and the next one over it if it does not pass: nothing has to be foretold.
        let mut positions = vec![0; from.len];
        let mut kept = 0;
        for row in 0..from.len {
            positions[kept] = row as u32;
            kept += usize::from(passes(row));
        }
        positions.truncate(kept);
        self.clear();
        self.gather(from, keep, &positions);
    }

    /// Takes the kept columns of these rows of another batch. There must be no rows yet.
    pub(crate) fn gather(&mut self, from: &Bindings, keep: &[VariableId], positions: &[u32]) {
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
