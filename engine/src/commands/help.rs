//! `.help`: the list of commands, and what is known of one of them or of a function.

use super::{CommandEntry, CommandFamily, Families};
use crate::analysis::near_names;
use crate::answer::Rows;
use crate::context::{Context, Outcome};
use crate::data::Value;
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::error::Error;
use crate::functions::{ScalarFunction, functions};
use crate::graph::SessionState;
use crate::need::Need;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Help",
    entries: &[
        CommandEntry {
            words: &["help|?"],
            usage: "",
            doc: "Lists the commands: command, what it does, right, family.",
            example: ".help",
            need: Need::Nothing,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["help|?"],
            usage: "NAME",
            doc: "Shows what is known of the commands that begin so, or of a function: entry, about, text.",
            example: ".help kg acl",
            need: Need::Nothing,
            arguments: 1,
            run: describe,
        },
    ],
};

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let row = |family: &CommandFamily, entry: &CommandEntry| {
        let need = entry.need.to_string();
        vec![
            Value::text(entry.written()),
            Value::text(entry.doc),
            Value::text(need),
            Value::text(family.title),
        ]
    };
    let families = super::families(context.environment.commands);
    let rows = families.flat_map(|family| family.entries.iter().map(move |entry| row(family, entry)));
    Ok(Outcome::Listing(Rows::listing(&["command", "what it does", "right", "family"], rows.collect())?))
}

fn describe(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let more = context.environment.commands;
    let mut rows: Vec<Vec<Value>> =
        super::entries(more).filter(|entry| begins(entry, words)).flat_map(about_command).collect();
    if let [name] = words {
        rows.extend(ScalarFunction::named(&name.text).into_iter().flat_map(about_function));
    }
    if rows.is_empty() {
        return Err(unknown(words, more));
    }
    Ok(Outcome::Listing(Rows::listing(&["entry", "about", "text"], rows)?))
}

/// Whether the command begins with these words, the first perhaps with the dot.
fn begins(entry: &CommandEntry, words: &[Name]) -> bool {
    words.len() <= entry.words.len()
        && entry.words.iter().zip(words).all(|(aliases, word)| {
            aliases.split('|').any(|alias| alias.eq_ignore_ascii_case(without_dot(&word.text)))
        })
}

fn without_dot(word: &str) -> &str {
    word.strip_prefix('.').unwrap_or(word)
}

fn about_command(entry: &CommandEntry) -> Vec<Vec<Value>> {
    let aliases = entry.aliases().join(", ");
    let facts = [
        ("what it does", entry.doc.to_owned()),
        ("right", entry.need.to_string()),
        ("aliases", aliases),
        ("example", entry.example.to_owned()),
    ];
    about(&entry.written(), facts)
}

fn about_function(function: &ScalarFunction) -> Vec<Vec<Value>> {
    let parameter =
        |parameter: &crate::functions::Parameter| format!("{}: {}", parameter.name, parameter.takes);
    let takes: Vec<String> = function.parameters.iter().map(parameter).collect();
    let (expression, value) = function.example;
    let facts = [
        ("what it does", function.doc.to_owned()),
        ("takes", takes.join(", ")),
        ("gives", function.gives.to_string()),
        ("example", format!("{expression} is {value}")),
    ];
    about(&function.signature(), facts)
}

/// A row for each fact that there is.
fn about<const N: usize>(entry: &str, facts: [(&str, String); N]) -> Vec<Vec<Value>> {
    let facts = facts.into_iter().filter(|(_, text)| !text.is_empty());
    facts.map(|(about, text)| vec![Value::text(entry), Value::text(about), Value::text(text)]).collect()
}

fn unknown(words: &[Name], more: Families) -> Error {
    let written: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let written = written.join(" ");
    let commands = super::entries(more).flat_map(|entry| entry.words[0].split('|'));
    let names = commands.chain(functions().map(|function| function.name));
    let help = match near_names(without_dot(&written), names).as_slice() {
        [] => "`.help` lists the commands".to_owned(),
        near => format!("did you mean `.help {}`?", near.join("` or `.help ")),
    };
    let message = format!("no command and no function is called `{}`", written.escape_debug());
    let mut diagnostic = Diagnostic::error(Code::NotFound, message).help(help);
    diagnostic.span = words.iter().map(|word| word.span).reduce(Span::to);
    Error::refused(diagnostic)
}
