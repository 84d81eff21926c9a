//! `.rule`: rules.

use super::CommandEntry;
use crate::analysis::unknown_rule;
use crate::answer::Rows;
use crate::context::{Context, Outcome};
use crate::data::Value;
use crate::error::Error;
use crate::graph::Change;
use crate::graph::SessionState;
use crate::need::Need;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: &[CommandEntry] = &[
    CommandEntry {
        words: &["rule|rules"],
        usage: "",
        doc: "Lists the derived relations with the number of their clauses.",
        need: Need::Read,
        arguments: 0,
        run: list,
    },
    CommandEntry {
        words: &["rule", "list"],
        usage: "",
        doc: "Lists the derived relations with the number of their clauses.",
        need: Need::Read,
        arguments: 0,
        run: list,
    },
    CommandEntry {
        words: &["rule", "def|show"],
        usage: "NAME",
        doc: "Shows the clauses of a derived relation.",
        need: Need::Read,
        arguments: 1,
        run: show,
    },
    CommandEntry {
        words: &["rule", "drop"],
        usage: "NAME",
        doc: "Drops all clauses of a derived relation.",
        need: Need::Write,
        arguments: 1,
        run: drop,
    },
];

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let derived = snapshot.catalog().derived();
    let rows =
        derived.map(|(name, clauses)| vec![Value::text(name), Value::Int(clauses.len() as i64)]).collect();
    Ok(Outcome::Listing(Rows::listing(&["name", "clauses"], rows)?))
}

fn show(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let clauses = snapshot.catalog().rules(&words[0].text);
    if clauses.is_empty() {
        return Err(Error::refused(unknown_rule(&words[0].text, Some(words[0].span), snapshot.catalog())));
    }
    let rows = clauses.iter().map(|clause| vec![Value::text(clause.to_string())]).collect();
    Ok(Outcome::Listing(Rows::listing(&["clause"], rows)?))
}

fn drop(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    context.write(|snapshot, _| {
        if snapshot.catalog().rules(&name.text).is_empty() {
            return Err(Error::refused(unknown_rule(&name.text, Some(name.span), snapshot.catalog())));
        }
        Ok((vec![Change::RemoveRules(name.text.clone())], ()))
    })?;
    Ok(Outcome::Message(format!("dropped the rules of {}", name.text)))
}
