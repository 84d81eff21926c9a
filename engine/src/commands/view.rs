//! `.view`: what rules derive and is kept, so that the next question reads it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::rule::known;
use super::{CommandEntry, CommandFamily};
use crate::context::{Context, Outcome};
use crate::data::Value;
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::{Change, SessionState};
use crate::need::Need;
use crate::statements::{counted, keep_up};
use crate::syntax::ast::{Command, Name, StatementKind};
use crate::views::KeptView;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Views",
    entries: &[
        CommandEntry {
            words: &["view", "list"],
            usage: "",
            doc: "Lists the derived relations whose rows are kept for the next question: relation, kept (whether `.view keep` \
                  asks for it), rows, memory_bytes, behind (versions not looked at yet), derive_ms (to derive it anew, with what it follows from), \
                  step_ms (to bring it forward, the last time), steps, given_up (steps that were no faster), trouble (why it \
                  is not there).",
            example: ".view list",
            need: Need::Read,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["view", "keep"],
            usage: "NAME",
            doc: "Keeps the rows of a derived relation at hand: they are brought to each version in the background, are there \
                  again after a restart, and make place for nothing else.",
            example: ".view keep path",
            need: Need::Write,
            arguments: 1,
            run: keep,
        },
        CommandEntry {
            words: &["view", "drop"],
            usage: "NAME",
            doc: "Keeps a derived relation only as long as questions ask for it, as others.",
            example: ".view drop path",
            need: Need::Write,
            arguments: 1,
            run: drop,
        },
    ],
};

/// The command that keeps a relation.
pub(crate) fn keep_text(relation: &str) -> String {
    format!(".view keep {relation}")
}

/// Whether a statement keeps a relation.
pub(crate) fn is_keep(statement: &StatementKind) -> bool {
    let begins = |command: &Command| {
        let mut words = command.words.iter().map(|word| word.text.as_str());
        words.next() == Some("view") && words.next() == Some("keep")
    };
    matches!(statement, StatementKind::Command(command) if begins(command))
}

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let (snapshot, views) = (context.snapshot(), &context.environment.views);
    let graph = context.graph.id();
    let mut listed: BTreeMap<Arc<str>, Option<KeptView>> =
        snapshot.catalog().kept().map(|name| (Arc::clone(name), None)).collect();
    let kept = views.list(graph, &snapshot).into_iter();
    listed.extend(kept.map(|view| (Arc::clone(&view.relation), Some(view))));
    let count = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let rows = listed.into_iter().map(|(relation, view)| {
        let of = |what: &dyn Fn(&KeptView) -> Value| view.as_ref().map_or(Value::Null, what);
        let trouble = views.trouble(graph, &relation).filter(|_| view.is_none());
        vec![
            Value::text(&*relation),
            Value::Bool(snapshot.catalog().keeps(&relation)),
            of(&|view| count(view.rows as u64)),
            of(&|view| count(view.memory_bytes as u64)),
            of(&|view| count(snapshot.version().saturating_sub(view.version))),
            of(&|view| milliseconds(view.anew)),
            of(&|view| view.last_step.map_or(Value::Null, milliseconds)),
            of(&|view| count(view.steps)),
            of(&|view| count(view.given_up)),
            trouble.map_or(Value::Null, Value::text),
        ]
    });
    let columns = [
        "relation",
        "kept",
        "rows",
        "memory_bytes",
        "behind",
        "derive_ms",
        "step_ms",
        "steps",
        "given_up",
        "trouble",
    ];
    Outcome::listing(&columns, rows.collect())
}

fn milliseconds(time: Duration) -> Value {
    Value::Float(time.as_micros() as f64 / 1e3)
}

fn keep(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    known(name, context.snapshot().catalog())?;
    // What cannot be kept is told here, and what it takes comes out of this request. What a transaction sees may never be there.
    if !context.is_atomic() {
        keep_up(name, &mut context.aside())?;
    }
    context.write(|snapshot, _| {
        known(name, snapshot.catalog())?;
        Ok((vec![Change::KeepView(name.text.clone())], ()))
    })?;
    let views = &context.environment.views;
    views.pin(context.graph);
    let kept = views.list(context.graph.id(), &context.snapshot());
    let name = &name.text;
    Ok(Outcome::Message(match kept.iter().find(|view| *view.relation == **name) {
        Some(KeptView { rows, memory_bytes, anew, .. }) => {
            let (rows, ms) = (counted(*rows, "row"), anew.as_micros() as f64 / 1e3);
            format!("keeps {name}: {rows}, {memory_bytes} bytes, {ms} ms to derive anew")
        }
        None => format!("keeps {name} from now on"),
    }))
}

fn drop(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    context.write(|snapshot, _| {
        if !snapshot.catalog().keeps(&name.text) {
            let message = format!("{} is not kept by `.view keep`", name.text);
            let refusal = Diagnostic::error(Code::NotFound, message).at(name.span);
            return Err(Error::refused(refusal.help("`.view list` shows what is")));
        }
        Ok((vec![Change::DropView(name.text.clone())], ()))
    })?;
    context.environment.views.pin(context.graph);
    Ok(Outcome::Message(format!("{} is kept no longer than questions ask for it", name.text)))
}
