//! A filter: keeps the bindings for which a comparison holds.

use crate::analysis::program::{Expression, Test};
use crate::data::VariableId;
use crate::exec::error::ExecError;
use crate::exec::values::batch::{Bindings, Emit};
use crate::exec::values::expression::Evaluator;

/// A comparison.
pub(super) struct Filter<'a> {
    pub(super) operator: Test,
    pub(super) left: &'a Expression,
    pub(super) right: &'a Expression,
    pub(super) keep: &'a [VariableId],
}

impl Filter<'_> {
    pub(super) fn run(
        &self,
        evaluator: &Evaluator<'_>,
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let holds = evaluator.compare(self.operator, self.left, self.right, input)?;
        output.keep_where(input, self.keep, |row| holds[row]);
        emit(output)
    }
}
