//! The statements of a made-up C program, as an analysis of what its pointers point to reads them.

use std::collections::HashSet;

use arrow::array::RecordBatch;

use crate::facts::columns_batch;
use crate::graphs::SplitMix;

/// Variables of a function, on average.
const FUNCTION: u64 = 80;
/// Variables of a module.
const MODULE: usize = 512;

/// Andersen's constraints, by relation: about so many statements in all. Objects are variables too.
///
/// Statements stay within their function, copies run forward in it; one copy of two thousand passes an argument to, or a
/// result from, a function that was defined a little earlier. A quarter of the statements takes an address, half copy,
/// the rest loads and stores. `peers/generate.py` makes the same, from other random numbers.
pub fn pointer_statements(count: usize) -> [(&'static str, RecordBatch); 4] {
    let mut program = Program::new(count as u64 / 2);
    let local = Program::local;
    [
        ("new", program.statements(count / 4, local)),
        ("assign", program.statements(count * 9 / 16, Program::copy)),
        ("load", program.statements(count * 3 / 32, local)),
        ("store", program.statements(count * 3 / 32, local)),
    ]
}

struct Program {
    random: SplitMix,
    variables: u64,
    /// For each variable the first one of its function, and the first one after it.
    functions: Vec<(u64, u64)>,
    /// What variables are called: close to each other within a module, but not in order.
    names: Vec<i64>,
}

impl Program {
    fn new(variables: u64) -> Program {
        let mut random = SplitMix(variables);
        let mut functions = Vec::new();
        let mut start = 0;
        for variable in 1..=variables {
            if variable == variables || random.below(FUNCTION) == 0 {
                functions.extend((start..variable).map(|_| (start, variable)));
                start = variable;
            }
        }
        let mut names: Vec<i64> = (0..variables as i64).collect();
        for module in names.chunks_mut(MODULE) {
            for place in (1..module.len()).rev() {
                module.swap(place, random.below(place as u64 + 1) as usize);
            }
        }
        Program { random, variables, functions, names }
    }

    fn statements(&mut self, count: usize, draw: fn(&mut Program) -> [u64; 2]) -> RecordBatch {
        let (mut known, mut columns) = (HashSet::new(), vec![Vec::new(), Vec::new()]);
        while known.len() < count {
            let statement = draw(self);
            if known.insert(statement) {
                for (column, variable) in columns.iter_mut().zip(statement) {
                    column.push(self.names[variable as usize]);
                }
            }
        }
        columns_batch(columns)
    }

    fn function(&self, variable: u64) -> (u64, u64) {
        self.functions[variable as usize]
    }

    /// Two variables of one function.
    fn local(&mut self) -> [u64; 2] {
        let one = self.random.below(self.variables) as u64;
        let (first, after) = self.function(one);
        [one, first + self.random.below(after - first) as u64]
    }

    /// Where to, and from where.
    fn copy(&mut self) -> [u64; 2] {
        loop {
            let [one, other] = self.local();
            let (mut to, mut from) = (one.max(other), one.min(other));
            if self.random.unit() < 0.0005 {
                let callee = to.saturating_sub(self.random.below(40 * FUNCTION) as u64);
                let (first, after) = self.function(callee);
                if self.random.unit() < 0.3 { from = after - 1 } else { to = first }
            }
            if to != from {
                return [to, from];
            }
        }
    }
}
