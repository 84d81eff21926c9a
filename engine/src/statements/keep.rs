//! `.view keep`: what rules derive is there before anybody asks for it.

use std::collections::HashSet;

use super::evaluate::{Beside, advance, evaluate};
use super::refusal::refused;
use super::whole::all_of;
use crate::analysis;
use crate::context::Context;
use crate::data::{Codec, RelationId};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::syntax::ast::Name;

/// Sees to it that the rows of a derived relation are kept as they are in the state that the context sees: what is kept of
/// it is brought there, or else they are derived anew.
pub(crate) fn keep_up(name: &Name, context: &mut Context<'_>) -> Result<(), Error> {
    let (view, views) = (context.view(), &context.environment.views);
    let query = all_of(name, view.catalog());
    let analysed = analysis::analyse_query(&query, view.catalog()).map_err(|errors| refused(&errors))?;
    let program = analysed.program;
    let place = program.relations.iter().position(|relation| relation.name == name.text);
    let relation = place.map(RelationId::new).ok_or_else(|| Error::internal("views", "nothing is read"))?;
    let reading = views.look(&program, context.graph, &view);
    if !reading.may_keep(relation) {
        return Err(not_kept(name, "it follows from more than the facts and rules of its graph"));
    }
    if views.holds(&reading, relation) {
        return Ok(());
    }
    if views.are_older(&reading, &view) {
        advance(&program, &HashSet::from([relation]), &reading, &view, context, false)?;
    }
    if views.holds(&reading, relation) {
        return Ok(());
    }
    let warnings = context.warnings.len();
    let codec = Codec::over(view.snapshot().dictionary().clone());
    let beside = Beside { keeps_all: true, ..Beside::default() };
    evaluate(program, None, &view, &codec, context, beside)?;
    if views.holds(&reading, relation) {
        return Ok(());
    }
    if context.graph.snapshot().version() > view.snapshot().version() {
        // Somebody has asked of a later state meanwhile.
        return Ok(());
    }
    if let Some(warning) = context.warnings.get(warnings) {
        return Err(not_kept(name, &format!("something is to be said of its rows: {}", warning.message)));
    }
    let limit = views.memory();
    let message = format!("the rows of {} do not fit into {limit} bytes beside what else is kept", name.text);
    let refusal = Diagnostic::error(Code::LimitExceeded, message).at(name.span);
    let refusal = refusal.limit("limits.view_memory_bytes", limit as u64);
    Err(Error::refused(refusal.help("keep fewer relations, see `.view list`, or raise the limit")))
}

fn not_kept(name: &Name, why: &str) -> Error {
    let message = format!("{} cannot be kept: {why}", name.text);
    let help = "each question derives it for itself; keep a relation below it";
    Error::refused(Diagnostic::error(Code::NotLive, message).at(name.span).help(help))
}
