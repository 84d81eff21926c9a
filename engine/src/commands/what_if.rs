//! `.what_if`: what would come and go, if. `.impact`: everything that would.

use super::{CHANGES, CHANGES_QUERY, CommandEntry, CommandFamily};
use crate::context::{Context, Outcome, Question};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::SessionState;
use crate::need::Need;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Suppositions",
    entries: &[
        CommandEntry {
            words: &["what_if"],
            usage: CHANGES_QUERY,
            doc: "Supposes changes, one after the other, and tells which rows of a query would come (added) and go (removed). \
                  Facts and rules may come and go as in a program; nothing is stored.",
            example: ".what_if -edge(1, 2) +edge(1, 3) ?path(1, X)",
            need: Need::Read,
            arguments: 1,
            run: what_if,
        },
        CommandEntry {
            words: &["impact"],
            usage: CHANGES,
            doc: "Supposes changes, and tells for each relation that rules derive how many of its rows would go and come, with \
                  the first of them.",
            example: ".impact -edge(1, 2)",
            need: Need::Read,
            arguments: 1,
            run: impact,
        },
    ],
};

fn what_if(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let changes = std::mem::take(&mut context.changes);
    match context.query.take() {
        Some(query) => Ok(Outcome::Question(Question::WhatIf(changes, query))),
        None => Err(wrong(
            "there is no query after the changes",
            "end with a query, as in `.what_if -edge(1, 2) ?path(1, X)`",
        )),
    }
}

fn impact(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let changes = std::mem::take(&mut context.changes);
    match context.query.take() {
        None => Ok(Outcome::Question(Question::Impact(changes))),
        Some(_) => Err(wrong(
            "`.impact` looks at all that rules derive",
            "ask for the rows of one query with `.what_if`",
        )),
    }
}

fn wrong(message: &str, help: &str) -> Error {
    Error::refused(Diagnostic::error(Code::ParseError, message).help(help))
}
