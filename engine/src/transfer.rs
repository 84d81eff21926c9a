//! A graph as a folder that others read: a Parquet file for each stored relation, and one program with all schemas and
//! rules.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchReader};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::budget::Budget;
use crate::caller::Anyone;
use crate::commands::{attach_text, create_text, is_keep, keep_text};
use crate::context::{Context, Environment};
use crate::data::{Codec, Relation, Rows};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::{Graph, SessionState, Snapshot};
use crate::limits::Limits;
use crate::program::{self, RunOptions};
use crate::statements;
use crate::storage::{Disk, Files, Form, StorageError, StoredColumns, write_run};
use crate::syntax;
use crate::syntax::ast::Statement;

/// What a folder holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Transferred {
    /// Relations with a file.
    pub relations: usize,
    /// Their rows.
    pub rows: usize,
    /// Statements of the program.
    pub statements: usize,
}

/// The program with schemas and rules.
const PROGRAM: &str = "program.dl";
const EXTENSION: &str = "parquet";

/// Writes a graph, at one version, to a folder that is empty or not there.
pub(crate) fn export(graph: &Graph, folder: &Path) -> Result<Transferred, Error> {
    let failed = |error| StorageError::io(folder, error);
    if !Disk.list(folder).map_err(failed)?.is_empty() {
        return Err(failed(std::io::Error::new(
            std::io::ErrorKind::AlreadyExists,
            "the folder is not empty",
        ))
        .into());
    }
    Disk.create_folder(folder).map_err(failed)?;
    Disk.close_to_others(folder);
    let snapshot = graph.snapshot();
    let mut done = Transferred::default();
    let catalog = snapshot.catalog();
    let is_stored = |name: &str| {
        catalog.relation(name).is_some_and(|definition| definition.filled && definition.attached.is_none())
    };
    for (name, relation) in snapshot.relations().filter(|(name, _)| is_stored(name)) {
        export_relation(name, relation, &snapshot, folder)?;
        done.relations += 1;
        done.rows += relation.len();
    }
    let statements = definitions(&snapshot);
    done.statements = statements.len();
    let path = folder.join(PROGRAM);
    let text = statements.into_iter().map(|statement| statement + "\n").collect::<String>();
    let write = || {
        let mut file = Disk.create(&path)?;
        file.write_all(text.as_bytes())?;
        file.finish()
    };
    write().map_err(|error| StorageError::io(&path, error))?;
    Ok(done)
}

fn export_relation(name: &str, relation: &Relation, snapshot: &Snapshot, folder: &Path) -> Result<(), Error> {
    let names = snapshot.catalog().relation(name).map(|definition| definition.column_names());
    let names = names.unwrap_or_default();
    let codec = Codec::over(Arc::clone(snapshot.dictionary()));
    let path = folder.join(format!("{name}.{EXTENSION}"));
    let compacted = relation.compacted();
    let empty = Rows::empty(relation.arity());
    let (columns, rows) = match compacted.runs() {
        [] => (empty.slices(), 0),
        [run, ..] => (run.columns(), run.stored_len()),
    };
    let stored = StoredColumns::of(&columns, rows, &names, &codec, Form::Export);
    write_run(&Disk, &path, &stored, &mut |_| {})?;
    Ok(())
}

/// The schemas, indexes and rules of a graph, and what it keeps, as statements.
fn definitions(snapshot: &Snapshot) -> Vec<String> {
    let catalog = snapshot.catalog();
    let declared = catalog.relations().filter_map(|definition| {
        if let Some(attached) = &definition.attached {
            return Some(attach_text(&definition.name, attached));
        }
        let schema = definition.schema.as_ref()?;
        let columns: Vec<String> =
            schema.columns.iter().map(|column| format!("{}: {}", column.name, column.data_type)).collect();
        Some(format!("+{}({})", definition.name, columns.join(", ")))
    });
    let rules = catalog.derived().flat_map(|(_, clauses)| clauses.iter().map(|rule| format!("+{rule}")));
    let indexes = catalog.indexes().map(|index| create_text(&index.definition, catalog));
    let kept = catalog.kept().map(|name| keep_text(name));
    // Rules may search indexes.
    declared.chain(indexes).chain(rules).chain(kept).collect()
}

/// Fills a graph from such a folder: the schemas and rules of the program first, then the files, then what is kept
/// of it.
pub(crate) fn import(
    environment: &Environment,
    graph: &Arc<Graph>,
    folder: &Path,
) -> Result<Transferred, Error> {
    let budget = Budget::unlimited();
    let mut done = Transferred::default();
    let path = folder.join(PROGRAM);
    let text = Disk.read(&path).map_err(|error| StorageError::io(&path, error))?;
    let text = std::str::from_utf8(&text).map_err(|error| StorageError::unreadable(&path, error))?;
    // An empty program is no program; a graph without schemas and rules has one.
    let (statements, errors) = match text.trim().is_empty() {
        true => Default::default(),
        false => syntax::parse(text, &Limits::none()),
    };
    if !errors.is_empty() {
        let diagnostics = errors.iter().map(crate::diagnostic::Diagnose::diagnose);
        return Err(Error::Refused(diagnostics.collect()));
    }
    done.statements = statements.len();
    // What rules derive is kept when there are rows.
    let (kept, defined): (Vec<_>, Vec<_>) =
        statements.into_iter().partition(|statement| is_keep(&statement.kind));
    let mut session = SessionState::new(Arc::clone(graph));
    let mut run = |statements: &[Statement]| match statements {
        [] => Ok(()),
        _ => program::run(environment, &Anyone, &mut session, statements, &RunOptions::default(), &budget)
            .map(drop),
    };
    run(&defined)?;
    for file in Disk.list(folder).map_err(|error| StorageError::io(folder, error))? {
        let Some(name) = file.strip_suffix(&format!(".{EXTENSION}")) else { continue };
        let batches = read_batches(&folder.join(&file))?;
        let mut context =
            Context::new(environment, &Anyone, graph, &budget, crate::graph::Overlay::default());
        done.relations += 1;
        done.rows += batches.iter().map(RecordBatch::num_rows).sum::<usize>();
        statements::insert_exported(name, batches, &mut context)?;
    }
    run(&kept)?;
    Ok(done)
}

fn read_batches(path: &Path) -> Result<Vec<RecordBatch>, Error> {
    let file = File::open(path).map_err(|error| StorageError::io(path, error))?;
    let unreadable = |error: &dyn std::fmt::Display| Error::from(StorageError::unreadable(path, error));
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(|builder| builder.with_batch_size(1 << 16).build())
        .map_err(|error| unreadable(&error))?;
    let schema = reader.schema();
    let mut batches: Vec<RecordBatch> =
        reader.collect::<Result<_, _>>().map_err(|error| unreadable(&error))?;
    // A file without rows still tells the number of columns.
    if batches.is_empty() {
        batches.push(RecordBatch::new_empty(schema));
    }
    Ok(batches)
}

/// Somebody asked to import into a graph that is there.
pub(crate) fn not_empty(name: &str) -> Error {
    Error::refused(
        Diagnostic::error(Code::AlreadyExists, format!("the knowledge graph {name} is not empty"))
            .help("import into a new one, or drop it first"),
    )
}
