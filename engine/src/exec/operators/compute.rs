//! A computation: binds a variable to the value of an expression.

use super::bar::Bar;
use crate::aggregates::Aggregate;
use crate::analysis::program::{Expression, HeadTerm};
use crate::data::VariableId;
use crate::exec::error::ExecError;
use crate::exec::values::batch::{Bindings, Emit};
use crate::exec::values::expression::{Column, Evaluator};
use crate::plan::{KeyPart, RulePlan, Step};

/// An expression, and who needs its value.
pub(super) struct Compute<'a> {
    variable: VariableId,
    expression: &'a Expression,
    keep: &'a [VariableId],
    /// Whether the value needs a code, even where solutions may have numbers.
    needs_codes: bool,
    /// Whether all that is computed reaches the head.
    is_last: bool,
}

impl<'a> Compute<'a> {
    /// The computation at a step of a plan.
    pub(super) fn open(
        variable: VariableId,
        expression: &'a Expression,
        keep: &'a [VariableId],
        depth: usize,
        plan: &RulePlan,
    ) -> Compute<'a> {
        let later = &plan.steps[depth + 1..];
        let needs_codes = needs_codes(variable, later, &plan.head_terms);
        Compute { variable, expression, keep, needs_codes, is_last: later.is_empty() }
    }

    /// `bar` is what values have to reach, and `keeps_numbers` whether who takes the solutions expects numbers.
    pub(super) fn run(
        &self,
        evaluator: &Evaluator<'_>,
        bar: Option<&Bar>,
        keeps_numbers: bool,
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let computed = evaluator.evaluate(self.expression, input)?;
        output.clear();
        if let Some(bar) = bar.filter(|bar| bar.variable == self.variable) {
            if self.is_last {
                bar.raise_by(computed.floats());
            }
            let worst = bar.worst();
            let admits = |value| bar.admits(worst, value);
            let (positions, computed) = evaluator.codes_where(computed, input.len, admits)?;
            output.gather(input, self.keep, &positions);
            output.column_mut(self.variable).extend_from_slice(&computed);
            return emit(output);
        }
        output.copy(input, self.keep);
        match computed {
            Column::Numbers(numbers) if keeps_numbers && !self.needs_codes => {
                output.bind_numbers(self.variable, numbers);
            }
            column => {
                let codes = evaluator.to_codes(column, input.len)?;
                output.column_mut(self.variable).extend_from_slice(&codes);
            }
        }
        emit(output)
    }
}

/// Whether a computed variable has to have codes: a later step looks rows up by it, or makes more rows with it than
/// there are now and the head gives each of them a code.
fn needs_codes(variable: VariableId, later: &[Step], head: &[HeadTerm]) -> bool {
    let is_looked_up = later.iter().any(|step| match step {
        Step::Probe { lookup, .. } | Step::Exists { lookup, .. } => {
            lookup.key.iter().any(|(_, part)| matches!(part, KeyPart::Variable(other) if *other == variable))
        }
        Step::Intersect { sides, .. } => sides.iter().any(|side| side.bound == variable),
        Step::Filter { .. } | Step::Compute { .. } | Step::Unnest { .. } => false,
    });
    let multiplies =
        |step: &Step| matches!(step, Step::Probe { .. } | Step::Intersect { .. } | Step::Unnest { .. });
    let is_coded = |term: &HeadTerm| match term {
        HeadTerm::Expression(expression) => {
            let mut is_read = false;
            expression.for_each_variable(&mut |other| is_read |= other == variable);
            is_read
        }
        HeadTerm::Aggregate { function, argument, .. } => {
            *function == Aggregate::CountDistinct && *argument == variable
        }
    };
    is_looked_up || later.iter().any(multiplies) && head.iter().any(is_coded)
}
