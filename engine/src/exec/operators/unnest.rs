//! Lists taken apart: binds a variable to each of the elements that differ.

use crate::analysis::program::Expression;
use crate::data::VariableId;
use crate::exec::error::ExecError;
use crate::exec::values::batch::{BATCH, Bindings, Emit};
use crate::exec::values::expression::Evaluator;
use crate::functions::lists::distinct_elements;

/// A list.
pub(super) struct Unnest<'a> {
    pub(super) variable: VariableId,
    pub(super) list: &'a Expression,
    pub(super) keep: &'a [VariableId],
}

impl Unnest<'_> {
    pub(super) fn run(
        &self,
        evaluator: &Evaluator<'_>,
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let lists = evaluator.codes(self.list, input)?;
        let (mut positions, mut codes) = (Vec::new(), Vec::new());
        for (row, list) in lists.iter().enumerate() {
            for element in distinct_elements(evaluator.codec.value(*list)) {
                positions.push(row as u32);
                codes.push(evaluator.codec.encode(element.as_ref())?);
            }
            if positions.len() >= BATCH || row + 1 == input.len {
                output.clear();
                output.gather(input, self.keep, &positions);
                output.column_mut(self.variable).extend_from_slice(&codes);
                positions.clear();
                codes.clear();
                emit(output)?;
            }
        }
        Ok(())
    }
}
