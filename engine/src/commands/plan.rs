//! `.explain`: how a query would be answered. `.profile`: how it was.

use super::{CommandEntry, CommandFamily};
use crate::context::{Context, Outcome, PlanForm, Question};
use crate::error::Error;
use crate::graph::SessionState;
use crate::need::Need;
use crate::syntax::ast::{Name, Query};

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Plans",
    entries: &[
        CommandEntry {
            words: &["explain|debug"],
            usage: super::QUERY,
            doc: "Shows the plan of a query, a line a row, without running it.",
            example: ".explain ?path(1, X)",
            need: Need::Read,
            arguments: 1,
            run: explain,
        },
        CommandEntry {
            words: &["explain|debug", "json"],
            usage: super::QUERY,
            doc: "Shows the plan of a query as one JSON object.",
            example: ".explain json ?path(1, X)",
            need: Need::Read,
            arguments: 1,
            run: explain_json,
        },
        CommandEntry {
            words: &["profile"],
            usage: super::QUERY,
            doc: "Answers a query, and shows its plan with the rows and time of each operator, in place of the answer.",
            example: ".profile ?path(1, X)",
            need: Need::Read,
            arguments: 1,
            run: profile,
        },
        CommandEntry {
            words: &["profile", "json"],
            usage: super::QUERY,
            doc: "Answers a query, and shows its measured plan as one JSON object.",
            example: ".profile json ?path(1, X)",
            need: Need::Read,
            arguments: 1,
            run: profile_json,
        },
    ],
};

fn explain(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::Plan(query(context)?, PlanForm::Text)))
}

fn explain_json(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::Plan(query(context)?, PlanForm::Json)))
}

fn profile(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::Profile(query(context)?, PlanForm::Text)))
}

fn profile_json(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::Profile(query(context)?, PlanForm::Json)))
}

/// The query of the command, which was read when the program was.
pub(super) fn query(context: &mut Context<'_>) -> Result<Query, Error> {
    context
        .query
        .take()
        .ok_or_else(|| Error::internal("commands", "a command was not resolved before it ran"))
}
