//! Expressions over whole columns of bindings.
//!
//! Columns of small integers, the usual case, are computed on as slices of integers without looking anything up; other
//! columns are decoded once.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use crate::analysis::program::Expression;
use crate::budget::Budget;
use crate::data::{Code, Codec, INLINE_END, Number, Value, ValueRef, VariableId, float_of};
use crate::exec::error::ExecError;
use crate::exec::values::batch::Bindings;
use crate::exec::values::numbers::{Numbers, Operand};
use crate::functions::{self, Argument, Arguments, Circumstances, ScalarFunction};

/// Evaluates over one query's values.
pub(crate) struct Evaluator<'a> {
    pub(crate) codec: &'a Codec,
    /// Set when an integer operation was cut off at the end of the range.
    saturated: &'a AtomicBool,
    budget: &'a Budget,
}

/// The value of an expression for each row.
pub(crate) enum Column<'b> {
    Constant(Code),
    Codes(Cow<'b, [Code]>),
    Numbers(Numbers),
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(codec: &'a Codec, saturated: &'a AtomicBool, budget: &'a Budget) -> Self {
        Evaluator { codec, saturated, budget }
    }

    /// The same, which notes elsewhere what was cut off.
    pub(crate) fn apart<'e>(&'e self, saturated: &'e AtomicBool) -> Evaluator<'e> {
        Evaluator { codec: self.codec, saturated, budget: self.budget }
    }

    /// The number of an expression for each row, as a float; `none` where it is no number.
    pub(crate) fn floats_or(
        &self,
        expression: &Expression,
        none: f64,
        bindings: &Bindings,
    ) -> Result<Vec<f64>, ExecError> {
        let column = self.evaluate(expression, bindings)?;
        let number = |row| self.at(&column, row).as_number().map_or(none, float_of);
        Ok((0..bindings.len).map(number).collect())
    }

    /// The codes of an expression, a row each.
    pub(crate) fn codes<'b>(
        &self,
        expression: &Expression,
        bindings: &'b Bindings,
    ) -> Result<Cow<'b, [Code]>, ExecError> {
        self.to_codes(self.evaluate(expression, bindings)?, bindings.len)
    }

    /// The codes of a variable.
    pub(crate) fn variable<'b>(
        &self,
        variable: VariableId,
        bindings: &'b Bindings,
    ) -> Result<Cow<'b, [Code]>, ExecError> {
        match bindings.numbers(variable) {
            Some(numbers) => Ok(Cow::Owned(numbers.codes(self.codec)?)),
            None => Ok(Cow::Borrowed(bindings.column(variable))),
        }
    }

    /// The rows whose floats pass, and their codes. Null never passes, what is no float always.
    pub(crate) fn codes_where(
        &self,
        column: Column<'_>,
        rows: usize,
        passes: impl Fn(f64) -> bool,
    ) -> Result<(Vec<u32>, Vec<Code>), ExecError> {
        let (kept, positions) = match column {
            Column::Numbers(Numbers::Floats(floats)) => {
                let kept = floats.iter().enumerate().filter(|(_, x)| passes(**x));
                let (positions, kept) = kept.map(|(row, x)| (row as u32, *x)).unzip();
                (Numbers::Floats(kept), positions)
            }
            Column::Numbers(Numbers::Mixed(mixed)) => {
                let kept = mixed.iter().enumerate().filter(|(_, number)| match number {
                    None => false,
                    Some(Number::Float(x)) => passes(*x),
                    Some(Number::Int(_)) => true,
                });
                let (positions, kept) = kept.map(|(row, number)| (row as u32, *number)).unzip();
                (Numbers::Mixed(kept), positions)
            }
            column => {
                let codes = self.to_codes(column, rows)?.into_owned();
                return Ok(((0..rows as u32).collect(), codes));
            }
        };
        Ok((positions, kept.codes(self.codec)?))
    }

    /// The value of an expression for each row.
    pub(crate) fn evaluate<'b>(
        &self,
        expression: &Expression,
        bindings: &'b Bindings,
    ) -> Result<Column<'b>, ExecError> {
        Ok(match expression {
            Expression::Variable(variable) => match bindings.numbers(*variable) {
                Some(numbers) => Column::Numbers(numbers.clone()),
                None => Column::Codes(Cow::Borrowed(bindings.column(*variable))),
            },
            Expression::Constant(value) => Column::Constant(self.codec.encode(value.as_ref())?),
            Expression::Arithmetic { operator, left, right } => {
                let rows = bindings.len;
                let left = self.operand(self.evaluate(left, bindings)?, rows);
                let right = self.operand(self.evaluate(right, bindings)?, rows);
                Column::Numbers(left.arithmetic(*operator, right, rows, self.saturated))
            }
            Expression::Call { function, arguments } => self.call(function, arguments, bindings)?,
        })
    }

    /// A function is called once for a whole batch, and with one row where its arguments are constants.
    fn call<'b>(
        &self,
        function: &ScalarFunction,
        arguments: &[Expression],
        bindings: &'b Bindings,
    ) -> Result<Column<'b>, ExecError> {
        let columns: Vec<Column<'_>> =
            arguments.iter().map(|argument| self.evaluate(argument, bindings)).collect::<Result<_, _>>()?;
        let constant = columns.iter().all(|column| matches!(column, Column::Constant(_)));
        let rows = if constant { 1 } else { bindings.len };
        let values: Vec<Argument<'_>> = columns.iter().map(|column| self.argument(column, rows)).collect();
        let circumstances = Circumstances { saturated: self.saturated, budget: self.budget };
        let results = match (function.evaluate)(&Arguments::new(&values, rows), &circumstances)? {
            functions::Column::Ints(ints) => {
                Column::Numbers(Numbers::narrowest(ints.into_iter().map(|n| n.map(Number::Int)).collect()))
            }
            functions::Column::Floats(floats) => Column::Numbers(Numbers::finite(floats)),
            functions::Column::Values(values) => {
                let codes = values.iter().map(|value| self.codec.encode(value.as_ref()));
                Column::Codes(Cow::Owned(codes.collect::<Result<_, _>>()?))
            }
        };
        match constant {
            true => Ok(Column::Constant(self.to_codes(results, 1)?[0])),
            false => Ok(results),
        }
    }

    fn argument<'v>(&'v self, column: &'v Column<'_>, rows: usize) -> Argument<'v> {
        match column {
            Column::Constant(code) => Argument::Constant(self.codec.value(*code)),
            // A value that a whole batch has in common is looked at once.
            Column::Codes(codes)
                if codes.first().is_some_and(|first| codes.iter().all(|code| code == first)) =>
            {
                Argument::Constant(self.codec.value(codes[0]))
            }
            Column::Codes(codes) => Argument::Codes(codes, self.codec),
            Column::Numbers(_) => Argument::Values((0..rows).map(|row| self.at(column, row)).collect()),
        }
    }

    fn operand(&self, column: Column<'_>, rows: usize) -> Operand {
        let codes = match column {
            Column::Numbers(numbers) => return numbers.into(),
            Column::Constant(code) => return Operand::constant(self.codec.number(code), rows),
            Column::Codes(codes) => codes,
        };
        if let Some(ints) = inline_ints(&codes) {
            return Numbers::Ints(ints).into();
        }
        let float = |code: &Code| match self.codec.entry(*code) {
            Some(Value::Float(x)) => Some(*x),
            _ => None,
        };
        let numbers = match codes.iter().map(float).collect() {
            Some(floats) => Numbers::Floats(floats),
            None => Numbers::narrowest(codes.iter().map(|code| self.codec.number(*code)).collect()),
        };
        numbers.into()
    }

    /// The codes of a column of so many rows.
    pub(crate) fn to_codes<'b>(&self, column: Column<'b>, rows: usize) -> Result<Cow<'b, [Code]>, ExecError> {
        Ok(match column {
            Column::Constant(code) => Cow::Owned(vec![code; rows]),
            Column::Codes(codes) => codes,
            Column::Numbers(numbers) => Cow::Owned(numbers.codes(self.codec)?),
        })
    }

    pub(crate) fn at<'v>(&'v self, column: &Column<'_>, row: usize) -> ValueRef<'v> {
        match column {
            Column::Constant(code) => self.codec.value(*code),
            Column::Codes(codes) => self.codec.value(codes[row]),
            Column::Numbers(numbers) => numbers.at(row).map_or(ValueRef::Null, Number::value),
        }
    }
}

/// The integers of codes that are their own numbers.
pub(super) fn inline_ints(codes: &[Code]) -> Option<Vec<i64>> {
    let are_inline = codes.iter().fold(true, |all, code| all & (*code < INLINE_END));
    are_inline.then(|| codes.iter().map(|code| i64::from(*code)).collect())
}

impl Column<'_> {
    /// The floats among computed numbers.
    pub(crate) fn floats(&self) -> Box<dyn Iterator<Item = f64> + '_> {
        match self {
            Column::Numbers(Numbers::Floats(floats)) => Box::new(floats.iter().copied()),
            Column::Numbers(Numbers::Mixed(mixed)) => {
                Box::new(mixed.iter().filter_map(|number| match number {
                    Some(Number::Float(x)) => Some(*x),
                    Some(Number::Int(_)) | None => None,
                }))
            }
            Column::Numbers(Numbers::Ints(_)) | Column::Constant(_) | Column::Codes(_) => {
                Box::new(std::iter::empty())
            }
        }
    }
}
