//! `.explain`: how a query would be answered.

use super::CommandEntry;
use crate::context::{Context, Outcome, PlanForm, Question};
use crate::error::Error;
use crate::graph::SessionState;
use crate::need::Need;
use crate::syntax::ast::{Name, Query};

pub(super) const COMMANDS: &[CommandEntry] = &[
    CommandEntry {
        words: &["explain|debug"],
        usage: super::QUERY,
        doc: "Shows the plan of a query, a line a row, without running it.",
        need: Need::Read,
        arguments: 1,
        run: explain,
    },
    CommandEntry {
        words: &["explain|debug", "json"],
        usage: super::QUERY,
        doc: "Shows the plan of a query as one JSON object.",
        need: Need::Read,
        arguments: 1,
        run: explain_json,
    },
];

fn explain(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::Plan(query(context)?, PlanForm::Text)))
}

fn explain_json(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::Plan(query(context)?, PlanForm::Json)))
}

/// The query of the command, which was read when the program was.
fn query(context: &mut Context<'_>) -> Result<Query, Error> {
    context
        .query
        .take()
        .ok_or_else(|| Error::internal("commands", "a command was not resolved before it ran"))
}
