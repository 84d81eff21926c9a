//! Change sets as bytes and back: what the journal keeps of a commit, and the definitions of a manifest.
//!
//! A record is the length of a header, the header as JSON, and for each insert and delete an Arrow IPC stream of its
//! rows; the journal adds its moment. Rules stand in it as text. It names no code: a dictionary is made anew at each start.
//! A long value stands in it once, however many rows have it.

use std::io::{self, Read, Write};
use std::sync::Arc;

use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use serde::{Deserialize, Serialize};

use super::change::{Change, ChangeSet};
use crate::attached::Attachment;
use crate::budget::{BudgetError, Held};
use crate::catalog::{Catalog, ClusterUse, RelationDefinition, default_column_names};
use crate::data::{Codec, DataType, Dictionary, Language, Rows, Schema, SchemaColumn, parallel};
use crate::error::Error;
use crate::index::{HnswOptions, IndexDefinition, IndexKind, metric_name, metric_named};
use crate::limits::Limits;
use crate::storage::{Form, Moment, Pieces, StoredColumns, rows_of, type_from_name, type_name};
use crate::syntax;
use crate::syntax::ast::{Rule, StatementKind};

/// What is wrong with a record whose hash fits.
pub(super) type Unreadable = String;

/// One change as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChangeRecord {
    Define(DefinitionRecord),
    /// `bytes` of Arrow IPC follow in the order of the changes.
    Insert {
        relation: String,
        bytes: usize,
    },
    Delete {
        relation: String,
        bytes: usize,
    },
    DropRelation(String),
    AddRule(String),
    RemoveRules(String),
    ClearRules(String),
    DefineType {
        name: String,
        meaning: String,
    },
    AddIndex(IndexRecord),
    RemoveIndex(String),
    KeepView(String),
    DropView(String),
    UseCluster(String),
}

/// An [`IndexDefinition`] as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct IndexRecord {
    name: String,
    relation: String,
    column: usize,
    kind: KindRecord,
}

/// An [`IndexKind`] as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindRecord {
    Hnsw {
        metric: String,
        m: usize,
        ef_construction: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ef_search: Option<usize>,
    },
    Hash,
    Sorted,
    Text {
        language: String,
    },
}

/// A [`RelationDefinition`] as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct DefinitionRecord {
    name: String,
    arity: usize,
    /// Names and types as declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<Vec<(String, String)>>,
    column_types: Vec<String>,
    filled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attached: Option<Attachment>,
}

/// Why there is no record.
#[derive(Debug)]
pub(super) enum Failure {
    /// It would take more memory than there is for it.
    Budget(BudgetError),
    /// Arrow refused.
    Arrow(ArrowError),
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Failure {
        Failure::Arrow(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Arrow(error.into())
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure {
            Failure::Budget(error) => Error::Stopped(error),
            Failure::Arrow(error) => Error::internal("journal", error),
        }
    }
}

/// The bytes of a change set whose rows are in codes of this dictionary. What they take is held before it is made.
pub(super) fn encode(
    changes: &ChangeSet,
    dictionary: &Arc<Dictionary>,
    held: &mut Held<'_>,
) -> Result<Pieces, Failure> {
    let codec = Codec::over(Arc::clone(dictionary));
    let mut payload = Pieces::default();
    let mut records = Vec::with_capacity(changes.len());
    for change in changes {
        records.push(match change {
            Change::Define(definition) => ChangeRecord::Define(definition_record(definition)),
            Change::Insert { relation, rows } => {
                let bytes = append_rows(&mut payload, rows, &codec, held)?;
                ChangeRecord::Insert { relation: relation.clone(), bytes }
            }
            Change::Delete { relation, rows } => {
                let bytes = append_rows(&mut payload, rows, &codec, held)?;
                ChangeRecord::Delete { relation: relation.clone(), bytes }
            }
            Change::DropRelation(name) => ChangeRecord::DropRelation(name.clone()),
            Change::AddRule(rule) => ChangeRecord::AddRule(rule.to_string()),
            Change::RemoveRules(head) => ChangeRecord::RemoveRules(head.clone()),
            Change::ClearRules(head) => ChangeRecord::ClearRules(head.clone()),
            Change::DefineType(name, meaning) => {
                ChangeRecord::DefineType { name: name.clone(), meaning: type_name(*meaning) }
            }
            Change::AddIndex(definition) => ChangeRecord::AddIndex(index_record(definition)),
            Change::RemoveIndex(name) => ChangeRecord::RemoveIndex(name.clone()),
            Change::KeepView(name) => ChangeRecord::KeepView(name.clone()),
            Change::DropView(name) => ChangeRecord::DropView(name.clone()),
            Change::UseCluster(cluster) => ChangeRecord::UseCluster(cluster.as_str().to_owned()),
        });
    }
    let external = |error: Box<dyn std::error::Error + Send + Sync>| ArrowError::ExternalError(error);
    let header = serde_json::to_vec(&records).map_err(|error| external(error.into()))?;
    let length = u32::try_from(header.len()).map_err(|error| external(error.into()))?;
    let mut record = Pieces::default();
    record.write_all(&length.to_le_bytes())?;
    record.write_all(&header)?;
    record.append(payload);
    Ok(record)
}

fn append_rows(
    payload: &mut Pieces,
    rows: &Rows,
    codec: &Codec,
    held: &mut Held<'_>,
) -> Result<usize, Failure> {
    let start = payload.byte_count();
    let columns = rows.slices();
    let names = default_column_names(columns.len());
    let stored = StoredColumns::of(&columns, rows.len, &names, codec, Form::Record);
    // The record, and beside it the batches that are on their way into it.
    let on_the_way = stored.batch_bytes() * stored.count().min(parallel::thread_count());
    let needed = stored.bytes() + on_the_way;
    held.add(needed).map_err(|error| Failure::Budget(error.of_write(needed)))?;
    let mut writer = StreamWriter::try_new(&mut *payload, stored.schema())?;
    if stored.count() == 1 {
        writer.write(&stored.batch(0))?;
    } else {
        // All threads encode batches, each with a writer of its own; the schema that it begins with is there already.
        let encode = |number| {
            let mut writer = StreamWriter::try_new(Pieces::default(), stored.schema())?;
            drop(std::mem::take(writer.get_mut()));
            writer.write(&stored.batch(number))?;
            Ok::<_, ArrowError>(std::mem::take(writer.get_mut()))
        };
        for pieces in parallel::map((0..stored.count()).collect(), encode) {
            writer.get_mut().append(pieces?);
        }
    }
    writer.finish()?;
    held.give_back(on_the_way);
    Ok(payload.byte_count() - start)
}

/// The change set of a record, in codes of a dictionary that learns what it does not know.
pub(super) fn decode(record: &Pieces, dictionary: &Dictionary) -> Result<ChangeSet, Unreadable> {
    let mut reader = record.reader();
    let records = header(&mut reader)?;
    records.into_iter().map(|record| change(record, &mut reader, dictionary)).collect()
}

/// When a record was stored: what stands after its rows. Releases before moments wrote nothing there.
pub(super) fn moment(record: &Pieces) -> Option<Moment> {
    let mut reader = record.reader();
    let rows = header(&mut reader).ok()?.into_iter().map(|change| match change {
        ChangeRecord::Insert { bytes, .. } | ChangeRecord::Delete { bytes, .. } => bytes as u64,
        _ => 0,
    });
    io::copy(&mut reader.by_ref().take(rows.sum()), &mut io::sink()).ok()?;
    let mut moment = [0; 8];
    reader.read_exact(&mut moment).ok()?;
    Some(Moment(u64::from_le_bytes(moment)))
}

fn header(reader: &mut impl Read) -> Result<Vec<ChangeRecord>, Unreadable> {
    let mut length = [0; 4];
    reader.read_exact(&mut length).map_err(|_| "a record without a header")?;
    let length = u64::from(u32::from_le_bytes(length));
    let mut header = Vec::new();
    reader.by_ref().take(length).read_to_end(&mut header).map_err(|error| error.to_string())?;
    if header.len() as u64 != length {
        return Err("a record shorter than its header".to_owned());
    }
    serde_json::from_slice(&header).map_err(|error| error.to_string())
}

fn change(
    record: ChangeRecord,
    payload: &mut impl Read,
    dictionary: &Dictionary,
) -> Result<Change, Unreadable> {
    Ok(match record {
        ChangeRecord::Define(definition) => Change::Define(definition_of(definition)?),
        ChangeRecord::Insert { relation, bytes } => {
            Change::Insert { relation, rows: take_rows(payload, bytes, dictionary)? }
        }
        ChangeRecord::Delete { relation, bytes } => {
            Change::Delete { relation, rows: take_rows(payload, bytes, dictionary)? }
        }
        ChangeRecord::DropRelation(name) => Change::DropRelation(name),
        ChangeRecord::AddRule(text) => Change::AddRule(Arc::new(rule_of(&text)?)),
        ChangeRecord::RemoveRules(head) => Change::RemoveRules(head),
        ChangeRecord::ClearRules(head) => Change::ClearRules(head),
        ChangeRecord::DefineType { name, meaning } => Change::DefineType(name, type_of(&meaning)?),
        ChangeRecord::AddIndex(index) => Change::AddIndex(index_of(index)?),
        ChangeRecord::RemoveIndex(name) => Change::RemoveIndex(name),
        ChangeRecord::KeepView(name) => Change::KeepView(name),
        ChangeRecord::DropView(name) => Change::DropView(name),
        ChangeRecord::UseCluster(word) => {
            let cluster = ClusterUse::of(&word);
            Change::UseCluster(cluster.ok_or_else(|| format!("an unknown use of the cluster, `{word}`"))?)
        }
    })
}

fn take_rows(payload: &mut impl Read, bytes: usize, dictionary: &Dictionary) -> Result<Rows, Unreadable> {
    let mut stream = payload.take(bytes as u64);
    let reader = StreamReader::try_new(&mut stream, None).map_err(|error| error.to_string())?;
    let mut all: Option<Rows> = None;
    for batch in reader {
        let rows = rows_of(&batch.map_err(|error| error.to_string())?, dictionary)?;
        match &mut all {
            None => all = Some(rows),
            Some(all) => {
                all.len += rows.len;
                for (column, codes) in all.columns.iter_mut().zip(rows.columns) {
                    column.extend(codes);
                }
            }
        }
    }
    io::copy(&mut stream, &mut io::sink()).map_err(|error| error.to_string())?;
    if stream.limit() > 0 {
        return Err("a record shorter than its rows".to_owned());
    }
    all.ok_or_else(|| "a change without rows".to_owned())
}

/// The definitions of a catalog, as changes of an empty one.
pub(super) fn definitions(catalog: &Catalog) -> Vec<ChangeRecord> {
    let types = catalog.named_types().map(|(name, meaning)| ChangeRecord::DefineType {
        name: name.to_owned(),
        meaning: type_name(meaning),
    });
    let relations = catalog.relations().map(|definition| ChangeRecord::Define(definition_record(definition)));
    let rules = catalog.derived().flat_map(|(head, clauses)| {
        // A head without clauses is known all the same.
        let emptied = clauses.is_empty().then(|| ChangeRecord::ClearRules(head.to_owned()));
        emptied.into_iter().chain(clauses.iter().map(|rule| ChangeRecord::AddRule(rule.to_string())))
    });
    let indexes = catalog.indexes().map(|index| ChangeRecord::AddIndex(index_record(&index.definition)));
    let kept = catalog.kept().map(|name| ChangeRecord::KeepView(name.to_string()));
    let cluster = catalog.cluster_use().map(|cluster| ChangeRecord::UseCluster(cluster.as_str().to_owned()));
    types.chain(relations).chain(rules).chain(indexes).chain(kept).chain(cluster).collect()
}

/// The changes that [`definitions`] made records of.
pub(super) fn defining_changes(records: Vec<ChangeRecord>) -> Result<ChangeSet, Unreadable> {
    // Definitions have no rows, so there is nothing for a dictionary to learn.
    let nothing = Dictionary::shared();
    records.into_iter().map(|record| change(record, &mut io::empty(), &nothing)).collect()
}

fn definition_record(definition: &RelationDefinition) -> DefinitionRecord {
    let columns = |schema: &Schema| {
        schema.columns.iter().map(|column| (column.name.clone(), type_name(column.data_type))).collect()
    };
    DefinitionRecord {
        name: definition.name.clone(),
        arity: definition.arity,
        schema: definition.schema.as_ref().map(columns),
        column_types: definition.column_types.iter().map(|found| type_name(*found)).collect(),
        filled: definition.filled,
        attached: definition.attached.as_deref().cloned(),
    }
}

fn definition_of(record: DefinitionRecord) -> Result<RelationDefinition, Unreadable> {
    let column =
        |(name, declared): (String, String)| Ok(SchemaColumn { name, data_type: type_of(&declared)? });
    let schema = match record.schema {
        Some(columns) => {
            Some(Schema { columns: columns.into_iter().map(column).collect::<Result<_, Unreadable>>()? })
        }
        None => None,
    };
    let column_types = record.column_types.iter().map(|name| type_of(name)).collect::<Result<_, _>>()?;
    Ok(RelationDefinition {
        name: record.name,
        schema,
        arity: record.arity,
        column_types,
        filled: record.filled,
        attached: record.attached.map(Arc::new),
    })
}

fn index_record(definition: &IndexDefinition) -> IndexRecord {
    let kind = match definition.kind {
        IndexKind::Hnsw(HnswOptions { metric, m, ef_construction, ef_search }) => {
            KindRecord::Hnsw { metric: metric_name(metric).to_owned(), m, ef_construction, ef_search }
        }
        IndexKind::Hash => KindRecord::Hash,
        IndexKind::Sorted => KindRecord::Sorted,
        IndexKind::Text(language) => KindRecord::Text { language: language.name().to_owned() },
    };
    let IndexDefinition { name, relation, column, .. } = definition.clone();
    IndexRecord { name, relation, column, kind }
}

fn index_of(record: IndexRecord) -> Result<IndexDefinition, Unreadable> {
    let kind = match record.kind {
        KindRecord::Hnsw { metric, m, ef_construction, ef_search } => {
            let metric = metric_named(&metric).ok_or_else(|| format!("a metric called {metric}"))?;
            IndexKind::Hnsw(HnswOptions { metric, m, ef_construction, ef_search })
        }
        KindRecord::Hash => IndexKind::Hash,
        KindRecord::Sorted => IndexKind::Sorted,
        KindRecord::Text { language } => {
            let known = Language::named(&language);
            IndexKind::Text(known.ok_or_else(|| format!("a language called {language}"))?)
        }
    };
    Ok(IndexDefinition { name: record.name, relation: record.relation, column: record.column, kind })
}

fn type_of(name: &str) -> Result<DataType, Unreadable> {
    type_from_name(name).ok_or_else(|| format!("a type called {name}"))
}

/// A rule as it was registered; limits that were lowered since do not make it unreadable.
fn rule_of(text: &str) -> Result<Rule, Unreadable> {
    let (statements, errors) = syntax::parse(&format!("+{text}"), &Limits::none());
    match statements.into_iter().next().map(|statement| statement.kind) {
        Some(StatementKind::Rule(statement)) if errors.is_empty() => Ok(statement.rule),
        _ => Err(format!("a rule that does not parse: {text}")),
    }
}
