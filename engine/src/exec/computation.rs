//! Expressions and comparisons over columns of codes, for those who join rows elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::ExecError;
use super::values::batch::Bindings;
use super::values::expression::Evaluator;
use crate::analysis::program::{Expression, Test};
use crate::budget::Budget;
use crate::data::{Code, Codec, VariableId};

/// Computes what rules say of the values of one question. Clones share what it finds out.
#[derive(Debug, Clone)]
pub struct Computation {
    codec: Codec,
    budget: Budget,
    saturated: Arc<AtomicBool>,
}

impl Computation {
    /// Over these values, by these means.
    pub fn new(codec: Codec, budget: Budget) -> Computation {
        Computation { codec, budget, saturated: Arc::default() }
    }

    /// The values.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The means.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Whether some integer operation was cut off at the end of the 64-bit range.
    pub fn is_saturated(&self) -> bool {
        self.saturated.load(Ordering::Relaxed)
    }

    /// The codes of an expression's values, a row each. `columns` are the variables that it reads, each of so many rows.
    pub fn codes(
        &self,
        expression: &Expression,
        columns: &[(VariableId, &[Code])],
        rows: usize,
    ) -> Result<Vec<Code>, ExecError> {
        let bindings = Bindings::of(columns, rows);
        Ok(self.evaluator().codes(expression, &bindings)?.into_owned())
    }

    /// For which rows a comparison holds. `columns` are the variables that it reads, each of so many rows.
    pub fn holds(
        &self,
        test: Test,
        [left, right]: [&Expression; 2],
        columns: &[(VariableId, &[Code])],
        rows: usize,
    ) -> Result<Vec<bool>, ExecError> {
        self.evaluator().compare(test, left, right, &Bindings::of(columns, rows))
    }

    fn evaluator(&self) -> Evaluator<'_> {
        Evaluator::new(&self.codec, &self.saturated, &self.budget)
    }
}
