//! What `.index create` says: an index as text, and back.

use super::column_name;
use crate::analysis::{near_names, unknown_relation};
use crate::catalog::Catalog;
use crate::data::{DataType, Language};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::error::Error;
use crate::index::{HnswOptions, IndexDefinition, IndexKind, METRICS, metric_name, metric_named};
use crate::syntax::ast::Name;

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
pub(super) fn defined(words: &[Name], catalog: &Catalog) -> Result<IndexDefinition, Error> {
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
        let mut columns = known.column_names();
        for (column, kind) in columns.iter_mut().zip(&known.column_types) {
            *column = format!("{}: {kind}", column.to_lowercase());
        }
        let columns = columns.join(", ");
        let help = format!("declare them: +{relation}({columns})");
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
    let help = "as in `.index create near_docs on doc(v) metric cosine m 16 ef_construction 200`, `.. on doc(body) type text \
                language english`, or `.. on doc(id) type sorted`";
    let diagnostic = Diagnostic::error(Code::ParseError, format!("expected {expected}"));
    Error::refused(diagnostic.at(span).help(help))
}
