//! `.index`: indexes.

mod definition;

use std::sync::Arc;

pub(crate) use self::definition::create_text;

use self::definition::defined;
use super::{CommandEntry, CommandFamily};
use crate::analysis::unknown_index;
use crate::catalog::Catalog;
use crate::context::{Context, Outcome};
use crate::data::{Run, Value};
use crate::error::Error;
use crate::graph::{Change, SessionState};
use crate::index::{Index, IndexDefinition, IndexKind, metric_name};
use crate::need::Need;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Indexes",
    entries: &[
        CommandEntry {
            words: &["index|idx"],
            usage: "",
            doc: "Lists the indexes: name, relation, column, metric, row_count, type, valid (whether nothing waits to be taken in).",
            example: ".index",
            need: Need::Read,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["index|idx", "list"],
            usage: "",
            doc: "The same as `.index`.",
            example: ".index list",
            need: Need::Read,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["index|idx", "create"],
            usage: "NAME on RELATION(COLUMN)",
            doc: "Creates an index, which is then built in the background. Options may follow: `type hnsw` (or `text`, `hash`, `sorted`); for vectors `metric cosine` (or `l2`, `dot`, `l1`), `m 16`, `ef_construction 200`, `ef_search 100`; for texts `language none` (or `english`, `german` and others).",
            example: ".index create docs_l2 on doc(v) metric l2",
            need: Need::Write,
            arguments: 3,
            run: create,
        },
        CommandEntry {
            words: &["index|idx", "drop"],
            usage: "NAME",
            doc: "Drops an index.",
            example: ".index drop near_docs",
            need: Need::Write,
            arguments: 1,
            run: drop,
        },
        CommandEntry {
            words: &["index|idx", "stats"],
            usage: "NAME",
            doc: "Tells how an index is set up, and how far it is built.",
            example: ".index stats near_docs",
            need: Need::Read,
            arguments: 1,
            run: stats,
        },
        CommandEntry {
            words: &["index|idx", "rebuild"],
            usage: "NAME",
            doc: "Builds an index anew, in the background; the old one serves until then.",
            example: ".index rebuild near_docs",
            need: Need::Write,
            arguments: 1,
            run: rebuild,
        },
    ],
};

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let rows = snapshot.catalog().indexes().map(|index| {
        let runs = snapshot.runs_of(index);
        vec![
            Value::text(index.definition.name.as_str()),
            Value::text(index.definition.relation.as_str()),
            Value::text(column_name(&index.definition, snapshot.catalog())),
            metric_of(index),
            Value::Int(rows_of(runs)),
            Value::text(index.definition.kind.name()),
            Value::Bool(index.is_current(runs)),
        ]
    });
    let columns = ["name", "relation", "column", "metric", "row_count", "type", "valid"];
    Outcome::listing(&columns, rows.collect())
}

fn stats(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let index = known(&words[0], snapshot.catalog())?;
    let runs = snapshot.runs_of(index);
    let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let known_count = |known: Option<usize>| known.map_or(Value::Null, count);
    let state = index.hnsw().map(|hnsw| (hnsw.state(), hnsw.tombstones(runs, index.definition.column)));
    let of_runs: usize = runs.iter().map(|run| run.index_bytes(index.definition.column)).sum();
    let options = match index.definition.kind {
        IndexKind::Hnsw(options) => Some(options),
        IndexKind::Hash | IndexKind::Sorted | IndexKind::Text(_) => None,
    };
    let language = match index.definition.kind {
        IndexKind::Text(language) => Some(language),
        IndexKind::Hnsw(_) | IndexKind::Hash | IndexKind::Sorted => None,
    };
    let of_texts =
        |language| runs.iter().filter_map(move |run| run.texts_bytes(index.definition.column, language));
    let of_texts: usize = language.into_iter().flat_map(of_texts).sum();
    let row = [
        ("name", Value::text(index.definition.name.as_str())),
        ("row_count", Value::Int(rows_of(runs))),
        ("layers", known_count(state.map(|(state, _)| state.layers))),
        ("memory_bytes", count(state.map_or(0, |(state, _)| state.memory_bytes) + of_runs + of_texts)),
        ("relation", Value::text(index.definition.relation.as_str())),
        ("column", Value::text(column_name(&index.definition, snapshot.catalog()))),
        ("type", Value::text(index.definition.kind.name())),
        ("metric", metric_of(index)),
        ("vectors", known_count(state.map(|(state, _)| state.vectors))),
        ("tombstones", known_count(state.map(|(_, tombstones)| tombstones))),
        ("waiting", known_count(state.map(|(state, _)| state.waiting))),
        ("valid", Value::Bool(index.is_current(runs))),
        ("dimension", known_count(state.and_then(|(state, _)| state.dimension))),
        ("m", known_count(options.map(|options| options.m))),
        ("ef_construction", known_count(options.map(|options| options.ef_construction))),
        ("ef_search", known_count(state.and_then(|(state, _)| state.ef_search))),
        ("recall", state.and_then(|(state, _)| state.recall).map_or(Value::Null, Value::Float)),
        ("language", language.map_or(Value::Null, |language| Value::text(language.name()))),
    ];
    let (columns, values): (Vec<&str>, Vec<Value>) = row.into_iter().unzip();
    Outcome::listing(&columns, vec![values])
}

fn create(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let definition = context.write(|snapshot, _| {
        let definition = defined(words, snapshot.catalog())?;
        Ok((vec![Change::AddIndex(definition.clone())], definition))
    })?;
    let IndexDefinition { name, relation, .. } = &definition.1;
    let column = column_name(&definition.1, context.snapshot().catalog());
    Ok(Outcome::Message(format!("created index {name} on {relation}({column})")))
}

fn drop(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    context.write(|snapshot, _| {
        let index = known(&words[0], snapshot.catalog())?;
        Ok((vec![Change::RemoveIndex(index.definition.name.clone())], ()))
    })?;
    Ok(Outcome::Message(format!("dropped index {}", words[0].text)))
}

fn rebuild(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let index = known(&words[0], snapshot.catalog())?;
    if let Some(hnsw) = index.hnsw() {
        hnsw.ask_anew();
    }
    context.environment.graphs.wake_indexer();
    Ok(Outcome::Message(format!("index {} is being built anew", words[0].text)))
}

fn known<'c>(name: &Name, catalog: &'c Catalog) -> Result<&'c Arc<Index>, Error> {
    catalog.index(&name.text).ok_or_else(|| Error::refused(unknown_index(&name.text, name.span, catalog)))
}

fn rows_of(runs: &[Run]) -> i64 {
    runs.iter().map(Run::len).sum::<usize>() as i64
}

fn metric_of(index: &Index) -> Value {
    match index.definition.kind {
        IndexKind::Hnsw(options) => Value::text(metric_name(options.metric)),
        IndexKind::Hash | IndexKind::Sorted | IndexKind::Text(_) => Value::Null,
    }
}

fn column_name(definition: &IndexDefinition, catalog: &Catalog) -> String {
    let names = catalog.relation(&definition.relation).map(|relation| relation.column_names());
    names.and_then(|names| names.into_iter().nth(definition.column)).unwrap_or_default()
}
