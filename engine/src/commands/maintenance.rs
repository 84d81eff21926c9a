//! `.clear` and `.compact`: many relations at once.

use super::{CommandEntry, CommandFamily};
use crate::answer::Rows;
use crate::context::{Context, Outcome};
use crate::data::{self, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::{Change, SessionState, StoredBackup};
use crate::need::Need;
use crate::statements::counted;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Maintenance",
    entries: &[
        CommandEntry {
            words: &["clear", "prefix"],
            usage: "PREFIX",
            doc: "Deletes all facts of the relations whose names begin so: relation, count, prefix.",
            example: ".clear prefix ed",
            need: Need::Write,
            arguments: 1,
            run: clear,
        },
        CommandEntry {
            words: &["compact"],
            usage: "",
            doc: "Rewrites what the graph stores without the rows that were deleted, and shortens its journal.",
            example: ".compact",
            need: Need::Administer,
            arguments: 0,
            run: compact,
        },
        CommandEntry {
            words: &["backup"],
            usage: "",
            doc: "Adds a backup of all graphs and accounts to the folder of backups, without waiting for its time.",
            example: ".backup",
            need: Need::Administer,
            arguments: 0,
            run: back_up_now,
        },
        CommandEntry {
            words: &["backup", "list"],
            usage: "",
            doc: "Lists what is in the folder of backups: number, moment, knowledge_graphs, bytes.",
            example: ".backup list",
            need: Need::Administer,
            arguments: 0,
            run: list_backups,
        },
        CommandEntry {
            words: &["backup"],
            usage: "NAME",
            doc: "Copies all graphs and accounts to a new folder of this name in the server's backup folder.",
            example: ".backup monday",
            need: Need::Administer,
            arguments: 1,
            run: backup,
        },
    ],
};

fn clear(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let prefix = &words[0].text;
    let (counts, names) = context.write(|snapshot, _| {
        let filled =
            snapshot.relations().filter(|(name, relation)| name.starts_with(prefix) && !relation.is_empty());
        let (changes, names): (Vec<Change>, Vec<String>) = filled
            .map(|(name, relation)| {
                let mut rows = data::Rows::empty(relation.arity());
                for run in relation.runs().iter().map(data::Run::live_rows) {
                    rows.len += run.len;
                    for (all, column) in rows.columns.iter_mut().zip(run.columns) {
                        all.extend(column);
                    }
                }
                (Change::Delete { relation: name.to_owned(), rows }, name.to_owned())
            })
            .unzip();
        Ok((changes, names))
    })?;
    let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let row = |(name, n): (String, usize)| vec![Value::text(name), count(n), Value::text(prefix.as_str())];
    let rows = names.into_iter().zip(counts).map(row).collect();
    Ok(Outcome::Listing(Rows::listing(&["relation", "count", "prefix"], rows)?))
}

fn compact(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    context.check_graph()?;
    let mut transaction = context.graph.begin(context.budget)?;
    transaction.compact(&context.environment.threads);
    let relations = transaction.snapshot().relations().count();
    context.version = Some(transaction.commit(None, &context.environment.threads)?);
    context.graph.collect_values();
    context.graph.checkpoint_now()?;
    Ok(Outcome::Message(format!("compacted {}", counted(relations, "relation"))))
}

fn back_up_now(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let Some(StoredBackup { number, summary }) = context.environment.graphs.back_up_now()? else {
        return Err(no_archive());
    };
    let graphs = counted(summary.graphs.len(), "knowledge graph");
    Ok(Outcome::Message(format!("backed up {graphs} as number {number}: {} bytes", summary.bytes())))
}

fn list_backups(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let Some(backups) = context.environment.graphs.backups()? else { return Err(no_archive()) };
    let integer = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let rows = backups.into_iter().map(|StoredBackup { number, summary }| {
        let moment = summary.moment.map_or(Value::Null, |moment| Value::text(moment.to_string()));
        vec![integer(number), moment, integer(summary.graphs.len() as u64), integer(summary.bytes())]
    });
    Outcome::listing(&["number", "moment", "knowledge_graphs", "bytes"], rows.collect())
}

fn no_archive() -> Error {
    let diagnostic = Diagnostic::error(Code::ParseError, "no folder of backups is set");
    Error::refused(
        diagnostic.help("set backup.folder and start the server again, or name a backup: .backup NAME"),
    )
}

fn backup(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    let refuse = |message: String, help: &str| {
        Err(Error::refused(Diagnostic::error(Code::ParseError, message).at(name.span).help(help)))
    };
    let Some(folder) = &context.environment.backups else {
        return refuse(
            "no folder for backups is set".to_owned(),
            "set storage.backup_dir and start the server again",
        );
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.text.starts_with('.') || name.text.len() > 128 || !name.text.chars().all(is_plain) {
        let message = format!("`{}` is not the name of a backup", name.text.escape_debug());
        return refuse(message, "use at most 128 letters, digits, `-`, `_` and `.`");
    }
    let outcome = context.environment.graphs.back_up(&folder.join(&name.text));
    context.caller.backed_up(&name.text, &outcome);
    let summary = outcome?;
    let graphs = counted(summary.graphs.len(), "knowledge graph");
    Ok(Outcome::Message(format!("backed up {graphs} to {}: {} bytes", name.text, summary.bytes())))
}
