//! `?query`: the stages in a row.

use crate::analysis::{self, Analysed};
use crate::answer::Rows;
use crate::context::Context;
use crate::data::Codec;
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::exec::{self, Order, sort_limit};
use crate::graph::SessionView;
use crate::rewrite;
use crate::syntax::ast::{Direction, Query};

pub(super) fn run(query: &Query, context: &mut Context<'_>) -> Result<Rows, Error> {
    let view = context.view();
    let analysed = analysis::analyse_query(query, view.catalog()).map_err(|errors| refused(&errors))?;
    let limit = analysed.limit.map(|limit| (limit.count, limit.offset));
    let order: Vec<Order> = analysed
        .order
        .iter()
        .map(|(column, direction)| Order { column: *column, descending: *direction == Direction::Descending })
        .collect();
    let names = analysed.columns.clone();
    let (evaluated, codec) = evaluate(analysed, &view, context)?;
    let arity = names.len();
    let total = evaluated.runs.iter().map(crate::data::Run::len).sum();
    let rows = context.environment.threads.run(|| sort_limit(&evaluated.runs, arity, &order, limit, &codec));
    Ok(Rows::new(names, &evaluated.types, rows, total, codec))
}

/// The rows of a program's goal.
pub(super) struct Evaluated {
    pub(super) runs: Vec<crate::data::Run>,
    pub(super) types: Vec<crate::data::DataType>,
}

/// Rewrites, plans and executes.
pub(super) fn evaluate(
    analysed: Analysed,
    view: &SessionView,
    context: &mut Context<'_>,
) -> Result<(Evaluated, Codec), Error> {
    let codec = Codec::over(context.graph.dictionary().clone());
    context.warnings.extend(analysed.program.warnings.iter().cloned());
    let program = rewrite::rewrite(analysed.program, &context.environment.disabled_rewrites);
    let types = program.relations[program.goal.index()].column_types.clone();
    let outcome =
        context.environment.threads.run(|| exec::execute(&program, view, &codec, context.budget))?;
    if outcome.saturated {
        context.warnings.push(
            Diagnostic::warning(
                Code::LimitExceeded,
                "an integer result was cut off at the end of the 64-bit range",
            )
            .help("compute with floats where numbers may grow this large"),
        );
    }
    Ok((Evaluated { runs: outcome.runs, types }, codec))
}

/// So many errors of one statement are reported.
const MAX_ERRORS: usize = 100;

/// What analysis found, as one error.
pub(super) fn refused(errors: &[analysis::AnalysisError]) -> Error {
    use crate::diagnostic::Diagnose;
    Error::Refused(errors.iter().take(MAX_ERRORS).map(Diagnose::diagnose).collect())
}
