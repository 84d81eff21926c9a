//! `.index`: indexes.

use std::sync::Arc;

use super::{CommandEntry, CommandFamily};
use crate::analysis::{near_names, unknown_index, unknown_relation};
use crate::catalog::Catalog;
use crate::context::{Context, Outcome};
use crate::data::{DataType, Language, Run, Value};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::error::Error;
use crate::graph::{Change, SessionState, Snapshot};
use crate::index::{HnswOptions, Index, IndexDefinition, IndexKind, METRICS, metric_name, metric_named};
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
        let runs = runs_of(&snapshot, index);
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
    let runs = runs_of(&snapshot, index);
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

fn runs_of<'s>(snapshot: &'s Snapshot, index: &Index) -> &'s [Run] {
    snapshot.relation(&index.definition.relation).map_or(&[], |relation| relation.runs())
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

/// The command that creates an index.
pub(crate) fn create_text(definition: &IndexDefinition, catalog: &Catalog) -> String {
    let IndexDefinition { name, relation, kind, .. } = definition;
    let column = column_name(definition, catalog);
    let mut text = format!(".index create {name} on {relation}({column}) type {}", kind.name());
    match kind {
        IndexKind::Hnsw(HnswOptions { metric, m, ef_construction, ef_search }) => {
            text += &format!(" metric {} m {m} ef_construction {ef_construction}", metric_name(*metric));
            if let Some(ef_search) = ef_search {
                text += &format!(" ef_search {ef_search}");
            }
        }
        IndexKind::Text(language) => text += &format!(" language {language}"),
        IndexKind::Hash | IndexKind::Sorted => {}
    }
    text
}

/// The index that the arguments of the command define: `NAME on RELATION(COLUMN)`, then options.
fn defined(words: &[Name], catalog: &Catalog) -> Result<IndexDefinition, Error> {
    let [name, on, rest @ ..] = words else {
        return Err(misplaced(words[0].span, "NAME on RELATION(COLUMN)"));
    };
    if !is_index_name(&name.text) {
        let message = format!("`{}` is not the name of an index", name.text.escape_debug());
        let help = "use letters, digits, `_` and `-`, at most 128 of them";
        return Err(Error::refused(Diagnostic::error(Code::ParseError, message).at(name.span).help(help)));
    }
    if !on.text.eq_ignore_ascii_case("on") {
        return Err(misplaced(on.span, "`on` after the name of the index"));
    }
    // Blanks may stand around the brackets.
    let end = rest.iter().position(|word| word.text.ends_with(')')).ok_or_else(|| {
        misplaced(rest.last().map_or(on.span, |last| last.span), "`RELATION(COLUMN)` after `on`")
    })?;
    let (target, options) = rest.split_at(end + 1);
    let span = target.iter().map(|word| word.span).reduce(Span::to).unwrap_or(on.span);
    let text: String = target.iter().map(|word| word.text.as_str()).collect();
    let Some((relation, column)) = text.trim_end_matches(')').split_once('(') else {
        return Err(misplaced(span, "`RELATION(COLUMN)` after `on`"));
    };
    let (column, data_type) = declared(relation, column, span, catalog)?;
    let kind = kind(options)?;
    if !kind.takes(data_type) {
        let (holds, help) = match kind {
            IndexKind::Text(_) => {
                ("strings", "write `type sorted` or `type hash`, or name a column of strings")
            }
            IndexKind::Hnsw(_) | IndexKind::Hash | IndexKind::Sorted => {
                ("vectors", "write `type text`, `type sorted` or `type hash`, or name a column of vectors")
            }
        };
        let message =
            format!("a {} index is over {holds}, but this column is declared {data_type}", kind.name());
        return Err(Error::refused(Diagnostic::error(Code::TypeMismatch, message).at(span).help(help)));
    }
    if catalog.index(&name.text).is_some() {
        let message = format!("an index {} exists already", name.text);
        let help = format!("drop it first: .index drop {}", name.text);
        return Err(Error::refused(Diagnostic::error(Code::AlreadyExists, message).at(name.span).help(help)));
    }
    Ok(IndexDefinition { name: name.text.clone(), relation: relation.to_owned(), column, kind })
}

/// The position and type of a declared column.
fn declared(relation: &str, column: &str, span: Span, catalog: &Catalog) -> Result<(usize, DataType), Error> {
    let Some(known) = catalog.relation(relation) else {
        return Err(Error::refused(unknown_relation(relation, Some(span), catalog)));
    };
    let Some(schema) = &known.schema else {
        let message = format!("the columns of `{relation}` are not declared");
        let help = format!("declare them first: +{relation}(id: int, v: vector(3))");
        return Err(Error::refused(Diagnostic::error(Code::NotFound, message).at(span).help(help)));
    };
    match schema.columns.iter().position(|known| known.name == column) {
        Some(position) => Ok((position, schema.columns[position].data_type)),
        None => {
            let names = schema.columns.iter().map(|column| column.name.as_str());
            let help = match near_names(column, names.clone()).as_slice() {
                [] => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
                near => format!("did you mean `{}`?", near.join("` or `")),
            };
            let message = format!("`{relation}` has no column `{column}`");
            Err(Error::refused(Diagnostic::error(Code::NotFound, message).at(span).help(help)))
        }
    }
}

/// The types of indexes, and the options of each.
const TYPES: [(&str, &[&str]); 4] = [
    ("hnsw", &["metric", "m", "ef_construction", "ef_search"]),
    ("text", &["language"]),
    ("hash", &[]),
    ("sorted", &[]),
];

/// What the options say: pairs of a name and a value.
fn kind(options: &[Name]) -> Result<IndexKind, Error> {
    let mut pairs = Vec::new();
    let (mut kind, mut known) = TYPES[0];
    for pair in options.chunks(2) {
        let [option, value] = pair else { return Err(misplaced(pair[0].span, "a value after this option")) };
        let name = match option.text.to_ascii_lowercase().as_str() {
            "type" => {
                let found = TYPES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&value.text));
                let expected = || misplaced(value.span, &one_of(TYPES.iter().map(|(name, _)| *name)));
                (kind, known) = *found.ok_or_else(expected)?;
                continue;
            }
            "efc" => "ef_construction",
            "efs" => "ef_search",
            name => {
                TYPES.iter().flat_map(|(_, known)| *known).find(|known| **known == name).ok_or_else(|| {
                    let all = TYPES.iter().flat_map(|(_, known)| known.iter().copied());
                    misplaced(option.span, &one_of(["type"].into_iter().chain(all)))
                })?
            }
        };
        pairs.push((name, option, value));
    }
    if let Some((_, option, _)) = pairs.iter().find(|(name, ..)| !known.contains(name)) {
        let expected = match known {
            [] => format!("no further options for an index of type {kind}"),
            known => format!("{} for an index of type {kind}", one_of(known.iter().copied())),
        };
        return Err(misplaced(option.span, &expected));
    }
    let mut hnsw = HnswOptions { metric: METRICS[0].0, m: 16, ef_construction: 200, ef_search: None };
    let mut language = Language::NONE;
    for (name, _, value) in pairs {
        let number = |least: usize, most: usize| {
            let number = value.text.parse().ok().filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| misplaced(value.span, &format!("a number from {least} to {most}")))
        };
        match name {
            "metric" => {
                let known = metric_named(&value.text);
                let expected = || misplaced(value.span, &one_of(METRICS.iter().map(|(_, name, _)| *name)));
                hnsw.metric = known.ok_or_else(expected)?;
            }
            "language" => {
                let known = Language::named(&value.text);
                language = known
                    .ok_or_else(|| misplaced(value.span, &one_of(Language::all().map(Language::name))))?;
            }
            "m" => hnsw.m = number(2, 256)?,
            "ef_construction" => hnsw.ef_construction = number(1, 10_000)?,
            _ => hnsw.ef_search = Some(number(1, 10_000)?),
        }
    }
    Ok(match kind {
        "hnsw" => IndexKind::Hnsw(hnsw),
        "text" => IndexKind::Text(language),
        "hash" => IndexKind::Hash,
        _ => IndexKind::Sorted,
    })
}

fn one_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    format!("{}`{}`", if names.len() > 1 { "one of " } else { "" }, names.join("`, `"))
}

fn is_index_name(name: &str) -> bool {
    (1..=128).contains(&name.len()) && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

fn misplaced(span: Span, expected: &str) -> Error {
    let help = "as in `.index create near_docs on doc(v) metric cosine m 16 ef_construction 200`";
    let diagnostic = Diagnostic::error(Code::ParseError, format!("expected {expected}"));
    Error::refused(diagnostic.at(span).help(help))
}
