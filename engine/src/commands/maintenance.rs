//! `.clear` and `.compact`: many relations at once.

use super::CommandEntry;
use crate::answer::Rows;
use crate::context::{Context, Outcome};
use crate::data::{self, Value};
use crate::error::Error;
use crate::graph::{Change, SessionState};
use crate::need::Need;
use crate::statements::counted;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: &[CommandEntry] = &[
    CommandEntry {
        words: &["clear", "prefix"],
        usage: "PREFIX",
        doc: "Deletes all facts of the relations whose names begin so: relation, count.",
        need: Need::Write,
        arguments: 1,
        run: clear,
    },
    CommandEntry {
        words: &["compact"],
        usage: "",
        doc: "Rewrites what the graph stores without the rows that were deleted.",
        need: Need::Administer,
        arguments: 0,
        run: compact,
    },
];

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
    let rows = names.into_iter().zip(counts).map(|(name, n)| vec![Value::text(name), count(n)]).collect();
    Ok(Outcome::Listing(Rows::listing(&["relation", "count"], rows)?))
}

fn compact(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    context.check_graph()?;
    let mut transaction = context.graph.begin(context.budget).map_err(Error::Stopped)?;
    transaction.compact(&context.environment.threads);
    let relations = transaction.snapshot().relations().count();
    transaction.commit();
    Ok(Outcome::Message(format!("compacted {}", counted(relations, "relation"))))
}
