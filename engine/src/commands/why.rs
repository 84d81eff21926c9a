//! `.why`: the rows of a query, and why each is one.

use super::plan::query;
use super::{CommandEntry, CommandFamily};
use crate::context::{Context, Outcome, Question};
use crate::error::Error;
use crate::graph::SessionState;
use crate::need::Need;
use crate::provenance::Detail;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Explanations",
    entries: &[
        CommandEntry {
            words: &["why"],
            usage: super::QUERY,
            doc: "Answers a query, and explains each row: the rules and stored facts that it follows from, the smallest proof \
                  that there is. Of aggregates it shows the first ten inputs.",
            example: ".why ?path(1, X)",
            need: Need::Read,
            arguments: 1,
            run: short,
        },
        CommandEntry {
            words: &["why", "full"],
            usage: super::QUERY,
            doc: "The same, with all inputs of aggregates.",
            example: ".why full ?path(1, X)",
            need: Need::Read,
            arguments: 1,
            run: full,
        },
        CommandEntry {
            words: &["why", "all"],
            usage: super::QUERY,
            doc: "The same, with up to five proofs of each row, the smallest first.",
            example: ".why all ?path(1, X)",
            need: Need::Read,
            arguments: 1,
            run: alternatives,
        },
        CommandEntry {
            words: &["why_not"],
            usage: super::FACT,
            doc: "Explains why a fact does not hold: how far each rule comes, which condition fails and with which values, the \
                  nearest facts, and the fewest stored facts with which it would hold.",
            example: ".why_not path(2, 1)",
            need: Need::Read,
            arguments: 1,
            run: why_not,
        },
    ],
};

fn short(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::Why(query(context)?, Detail::Short)))
}

fn full(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::Why(query(context)?, Detail::Full)))
}

fn why_not(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::WhyNot(query(context)?)))
}

fn alternatives(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Question(Question::Why(query(context)?, Detail::Alternatives)))
}
