//! `.rel`: relations.

use super::stored::unknown;
use super::{CommandEntry, CommandFamily, attach, columns};
use crate::answer::Rows;
use crate::context::{Context, Outcome, Question};
use crate::data::Value;
use crate::error::Error;
use crate::graph::Change;
use crate::graph::SessionState;
use crate::need::Need;
use crate::statements::all_of;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Relations",
    entries: &[
        CommandEntry {
            words: &["rel|relation|relations"],
            usage: "",
            doc: "Lists the stored relations: name, tuples, arity, columns, kind (base, or attached).",
            example: ".rel",
            need: Need::Read,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["rel|relation|relations"],
            usage: "NAME",
            doc: "Shows the stored rows of a relation.",
            example: ".rel edge",
            need: Need::Read,
            arguments: 1,
            run: show,
        },
        CommandEntry {
            words: &["rel|relation|relations", "derived"],
            usage: "",
            doc: "Lists the relations that rules derive: name, tuples (null: nobody has counted them), arity, columns, kind (derived).",
            example: ".rel derived",
            need: Need::Read,
            arguments: 0,
            run: list_derived,
        },
        CommandEntry {
            words: &["rel|relation", "describe"],
            usage: "NAME",
            doc: "Lists the columns of a relation: column, type.",
            example: ".rel describe edge",
            need: Need::Read,
            arguments: 1,
            run: describe,
        },
        CommandEntry {
            words: &["rel|relation", "describe"],
            usage: "",
            doc: "Lists the columns of all relations, also of those that are declared and have no rows: relation, column, type.",
            example: ".rel describe",
            need: Need::Read,
            arguments: 0,
            run: describe_all,
        },
        CommandEntry {
            words: &["rel|relation", "attach"],
            usage: "NAME PLACE",
            doc: "Attaches Parquet files as a relation that can be read: rows stay in the files, and are read for each question. \
                  PLACE is a path or a bucket that the server allows, `*` in its last parts.",
            example: ".rel attach sale \"s3://lake/sales/*.parquet\"",
            need: Need::Manage,
            arguments: 2,
            run: attach::attach,
        },
        CommandEntry {
            words: &["rel|relation", "drop"],
            usage: "NAME",
            doc: "Drops a relation: rows, schema and rules.",
            example: ".rel drop edge",
            need: Need::Write,
            arguments: 1,
            run: drop,
        },
        CommandEntry {
            words: &["rel|relation", "add"],
            usage: "NAME COLUMN TYPE [VALUE]",
            doc: "Adds a last column; rows that are there have VALUE in it, or null. No rule may read the relation.",
            example: ".rel add doc title string \"untitled\"",
            need: Need::Write,
            arguments: 3,
            run: columns::add,
        },
        CommandEntry {
            words: &["rel|relation", "rename"],
            usage: "NAME COLUMN NEW",
            doc: "Gives a column another name.",
            example: ".rel rename doc v embedding",
            need: Need::Write,
            arguments: 3,
            run: columns::rename,
        },
    ],
};

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let filled = snapshot.catalog().relations().filter(|known| known.filled);
    let rows = filled.map(|known| {
        let stored = snapshot.relation(&known.name).map_or(0, |relation| relation.len() as u64);
        let (tuples, kind) = match &known.attached {
            Some(attached) => (attached.rows(), "attached"),
            None => (stored, "base"),
        };
        let tuples = i64::try_from(tuples).unwrap_or(i64::MAX);
        listed(&known.name, Value::Int(tuples), known.arity, &known.described_columns(), kind)
    });
    listing(rows.collect())
}

/// Nobody knows how many rows they have before they are asked for, and a client that reads counts expects numbers.
fn list_derived(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let catalog = snapshot.catalog();
    let only = catalog.derived().filter(|(name, _)| catalog.relation(name).is_none_or(|known| !known.filled));
    let rows = only.map(|(name, clauses)| {
        let arity = clauses.first().map_or(0, |clause| clause.head.head_columns());
        listed(name, Value::Null, arity, &crate::catalog::default_column_names(arity), "derived")
    });
    listing(rows.collect())
}

fn listed(name: &str, tuples: Value, arity: usize, columns: &[String], kind: &str) -> Vec<Value> {
    let (arity, columns) = (Value::Int(arity as i64), Value::text(columns.join(", ")));
    vec![Value::text(name), tuples, arity, columns, Value::text(kind)]
}

fn listing(mut rows: Vec<Vec<Value>>) -> Result<Outcome, Error> {
    rows.sort_by(|a, b| a[0].cmp(&b[0]));
    Ok(Outcome::Listing(Rows::listing(&["name", "tuples", "arity", "columns", "kind"], rows)?))
}

fn show(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    let snapshot = context.snapshot();
    let catalog = snapshot.catalog();
    match catalog.relation(&name.text) {
        None => Err(unknown(name, catalog)),
        Some(known) if known.attached.is_some() => {
            Ok(Outcome::Question(Question::Query(all_of(name, catalog))))
        }
        Some(_) => Ok(Outcome::Question(Question::Stored(name.clone()))),
    }
}

fn describe(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let Some(known) = snapshot.catalog().relation(&words[0].text) else {
        return Err(unknown(&words[0], snapshot.catalog()));
    };
    let columns = known.column_names().into_iter().zip(known.shown_types());
    let rows = columns
        .map(|(name, data_type)| vec![Value::text(name), Value::text(data_type.to_string())])
        .collect();
    Ok(Outcome::Listing(Rows::listing(&["column", "type"], rows)?))
}

fn describe_all(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let mut rows = Vec::new();
    for known in snapshot.catalog().relations() {
        for (column, column_type) in known.column_names().into_iter().zip(known.shown_types()) {
            let column_type = Value::text(column_type.to_string());
            rows.push(vec![Value::text(known.name.clone()), Value::text(column), column_type]);
        }
    }
    Ok(Outcome::Listing(Rows::listing(&["relation", "column", "type"], rows)?))
}

fn drop(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let name = words[0].clone();
    let error = unknown(&name, context.snapshot().catalog());
    context.write(|snapshot, _| {
        if !snapshot.catalog().knows(&name.text) {
            return Err(error);
        }
        Ok((vec![Change::DropRelation(name.text.clone()), Change::RemoveRules(name.text.clone())], ()))
    })?;
    Ok(Outcome::Message(format!("dropped relation {}", name.text)))
}
