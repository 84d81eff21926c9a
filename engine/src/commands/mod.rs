//! Dot commands: one list, from which parser, rights and help read. Whoever opens the engine may add commands of
//! their own.

mod attach;
mod client;
mod cluster;
mod columns;
mod help;
mod index;
mod kg;
mod maintenance;
mod plan;
mod relation;
mod rule;
mod session;
mod status;
mod stored;
mod view;
mod what_if;
mod why;

pub(crate) use self::attach::attach_text;
pub(crate) use self::index::create_text;
pub(crate) use self::view::{is_keep, keep_text};
use crate::analysis::near_names;
pub use crate::context::{CommandEntry, CommandFamily};
use crate::context::{Context, Outcome};
use crate::diagnostic::{Code, Diagnose, Diagnostic, Span};
use crate::error::Error;
use crate::graph::SessionState;
use crate::limits::Limits;
use crate::need::Need;
use crate::syntax;
use crate::syntax::ast::{Command, Name};

/// A list of families of commands.
pub(crate) type Families = &'static [CommandFamily];

/// The engine's commands. Of those whose words match, the one with the most words runs.
pub const COMMANDS: Families = &[
    kg::COMMANDS,
    relation::COMMANDS,
    rule::COMMANDS,
    view::COMMANDS,
    index::COMMANDS,
    session::COMMANDS,
    maintenance::COMMANDS,
    plan::COMMANDS,
    cluster::COMMANDS,
    why::COMMANDS,
    what_if::COMMANDS,
    status::COMMANDS,
    help::COMMANDS,
    client::COMMANDS,
];

/// The families of the engine, and those that it was given.
fn families(more: Families) -> impl Iterator<Item = &'static CommandFamily> + Clone {
    COMMANDS.iter().chain(more)
}

/// The engine's commands, and those that it was given.
pub(crate) fn entries(more: Families) -> impl Iterator<Item = &'static CommandEntry> + Clone {
    families(more).flat_map(|family| family.entries)
}

/// The entry that a command means, with its arguments: the most words of those that match, then the most arguments
/// that are there. Surplus words are ignored, but not where a word was meant to be part of the command.
fn find(command: &Command, more: Families) -> Option<(&'static CommandEntry, &[Name])> {
    let matching = entries(more).filter(|entry| entry.matches(&command.words));
    let words = matching.clone().map(|entry| entry.words.len()).max()?;
    let given = command.words.len() - words;
    let entry = matching
        .filter(|entry| entry.words.len() == words && entry.arguments <= given)
        .max_by_key(|entry| entry.arguments)?;
    let family = entries(more).filter(|other| other.begins_as(entry));
    let understood = words > 1 || entry.arguments > 0 || given == 0 || family.count() == 1;
    understood.then(|| (entry, &command.words[words..]))
}

/// The right that a command asks for, and the argument that names the graph, where it is about another one than the
/// session's. A command that does not exist asks for no right: it fails when it is run.
pub(crate) fn need(command: &Command, more: Families) -> (Need, Option<&Name>) {
    let Some((entry, arguments)) = find(command, more) else { return (Need::Nothing, None) };
    let graph = entry.usage.split(' ').zip(arguments).find(|(usage, _)| *usage == GRAPH);
    (entry.need, graph.map(|(_, name)| name))
}

/// Whether a command may be part of an atomic program: it changes the session's graph, and nothing else.
pub(crate) fn joins_transactions(command: &Command, more: Families) -> bool {
    find(command, more).is_some_and(|(entry, _)| {
        let is_rebuild = entry.words.contains(&"rebuild");
        entry.need == Need::Write && !is_rebuild || entry.words == ["rule", "replace"]
    })
}

pub(crate) fn run(
    command: &Command,
    context: &mut Context<'_>,
    session: &mut SessionState,
) -> Result<Outcome, Error> {
    let more = context.environment.commands;
    context.query.clone_from(&command.query);
    context.changes.clone_from(&command.changes);
    match find(command, more) {
        Some((entry, arguments)) => (entry.run)(arguments, context, session),
        None => Err(unknown(command, more)),
    }
}

/// Refuses a command that does not exist, and reads the query of one that takes a query.
pub(crate) fn resolve(
    command: &mut Command,
    program: &str,
    limits: &Limits,
    more: Families,
) -> Result<(), Error> {
    let Some((entry, arguments)) = find(command, more) else { return Err(unknown(command, more)) };
    let Some(first) = arguments.first() else { return Ok(()) };
    let part = Span { start: first.span.start, end: command.rest.span.end };
    let refused = |error: syntax::SyntaxError| Error::refused(error.diagnose());
    match entry.usage {
        QUERY | FACT => command.query = Some(syntax::parse_query(program, part, limits).map_err(refused)?),
        CHANGES | CHANGES_QUERY => {
            (command.changes, command.query) =
                syntax::parse_supposed(program, part, limits).map_err(refused)?;
        }
        _ => {}
    }
    Ok(())
}

/// The usage of commands that take a query.
const QUERY: &str = "QUERY";
/// That of commands that take a fact, which is read as a query.
const FACT: &str = "FACT";
/// That of commands that take changes.
const CHANGES: &str = "CHANGES";
/// That of commands that take changes and a query.
const CHANGES_QUERY: &str = "CHANGES QUERY";

/// The argument that names the graph that a command concerns.
const GRAPH: &str = "KG";

/// Commands of other prompts, and what to write here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("tables", "`.rel`: it lists the relations"),
    ("schema", "`.rel describe NAME` for the columns of a relation, `.rule show NAME` for its rules"),
    ("describe", "`.rel describe NAME`"),
    ("databases", "`.kg list`"),
    ("use", "`.kg use NAME`"),
    ("open", "`.kg use NAME`"),
    ("indexes", "`.index list`"),
    ("users", "`.user list`"),
    ("decl", "`+name(column: type, column: type)`, with the types int, float, string, bool, timestamp"),
    ("output", "`?name(X, Y)`: each query answers with its rows"),
    ("printsize", "`?count<X> <- name(X, _)`"),
    (
        "input",
        "`stratalog import RELATION FILE` in a shell, or `.rel attach NAME \"PLACE\"` for files that the server reads",
    ),
    (
        "import",
        "`stratalog import RELATION FILE` in a shell, or `.rel attach NAME \"PLACE\"` for files that the server reads",
    ),
    ("read", "`stratalog run FILE` in a shell: the server reads no files"),
    ("mode", "`stratalog --format FORMAT` in a shell; a prompt has `.mode FORMAT`"),
];

fn unknown(command: &Command, more: Families) -> Error {
    let first = command.words.first().map_or("", |word| word.text.as_str());
    let family: Vec<String> = entries(more)
        .filter(|entry| entry.words[0].split('|').any(|alias| alias.eq_ignore_ascii_case(first)))
        .map(CommandEntry::written)
        .collect();
    let elsewhere = ELSEWHERE.iter().find(|(word, _)| word.eq_ignore_ascii_case(first));
    let mut fixes = Vec::new();
    let help = if let Some((_, here)) = elsewhere.filter(|_| family.is_empty()) {
        let here = match command.words.get(1) {
            Some(name) => here.replace("NAME", &name.text),
            None => (*here).to_owned(),
        };
        format!("write {here}")
    } else if family.is_empty() {
        let all = entries(more).flat_map(|entry| entry.words[0].split('|'));
        match near_names(first, all).as_slice() {
            [] => "`.help` lists the commands".to_owned(),
            near => {
                fixes = near.to_vec();
                format!("did you mean `.{}`?", near.join("` or `."))
            }
        }
    } else {
        format!("write one of: {}", family.join("; "))
    };
    let mut diagnostic =
        Diagnostic::error(Code::ParseError, format!("no command reads `.{}`", command.beginning()))
            .help(help);
    diagnostic.span = command.words.iter().map(|word| word.span).reduce(Span::to);
    let first = command.words.first().map(|word| word.span);
    let diagnostic =
        fixes.into_iter().fold(diagnostic, |found, name| found.fix(first.unwrap_or_default(), name));
    Error::refused(diagnostic)
}

impl CommandEntry {
    /// Other ways to write a word of it.
    pub fn aliases(&self) -> Vec<String> {
        let others = |word: &&'static str| word.split('|').skip(1).map(str::to_owned).collect::<Vec<_>>();
        self.words.iter().flat_map(others).collect()
    }

    fn matches(&self, words: &[Name]) -> bool {
        self.words.len() <= words.len()
            && self
                .words
                .iter()
                .zip(words)
                .all(|(aliases, word)| aliases.split('|').any(|alias| alias.eq_ignore_ascii_case(&word.text)))
    }

    /// Whether the first words of both are the same.
    fn begins_as(&self, other: &CommandEntry) -> bool {
        self.words.first() == other.words.first()
            || self.words[0].split('|').any(|word| other.words[0].split('|').any(|alias| alias == word))
    }

    /// The command as it is typed.
    pub fn written(&self) -> String {
        let words: Vec<&str> = self.words.iter().filter_map(|word| word.split('|').next()).collect();
        format!(".{} {}", words.join(" "), self.usage).trim_end().to_owned()
    }
}
