//! `.explain`: how a query would be answered.

use super::CommandEntry;
use crate::context::{Context, Outcome, PlanForm, Question};
use crate::diagnostic::{Code, Diagnose, Diagnostic};
use crate::error::Error;
use crate::graph::SessionState;
use crate::need::Need;
use crate::syntax;
use crate::syntax::ast::{Name, Query, StatementKind};

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

fn explain(text: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::Plan(query(&text[0], context)?, PlanForm::Text)))
}

fn explain_json(text: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::Plan(query(&text[0], context)?, PlanForm::Json)))
}

/// The query, with or without its `?`. Blanks stand for what is before it, so that places are those of the program.
fn query(text: &Name, context: &Context<'_>) -> Result<Query, Error> {
    let start = text.span.start as usize;
    let program = if text.text.starts_with('?') {
        " ".repeat(start) + &text.text
    } else {
        " ".repeat(start.saturating_sub(1)) + "?" + &text.text
    };
    let (parsed, errors) = syntax::parse(&program, &context.environment.limits);
    if !errors.is_empty() {
        return Err(Error::Refused(errors.iter().map(Diagnose::diagnose).collect()));
    }
    let kinds = parsed.into_iter().map(|statement| statement.kind).collect::<Vec<_>>();
    match <[StatementKind; 1]>::try_from(kinds) {
        Ok([StatementKind::Query(query)]) => Ok(query),
        _ => Err(Error::refused(
            Diagnostic::error(Code::ParseError, "expected one query")
                .at(text.span)
                .help("write it as you would ask it: .explain ?path(1, X)"),
        )),
    }
}
