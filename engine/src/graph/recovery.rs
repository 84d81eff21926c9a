//! Recovery: manifest, sealed runs, journal. What is damaged is named, and never served.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::buffer::{BooleanBuffer, Buffer};
use imbl::OrdMap;

use super::data_folder::{JOURNAL, RUNS};
use super::home::Home;
use super::lineage::Lineage;
use super::manifest::{FileRecord, Manifest};
use super::snapshot::{Snapshot, State};
use super::store::GraphStore;
use super::{Graph, record};
use crate::catalog::Catalog;
use crate::data::{Dictionary, Relation, Run, RunFile, sorted_run};
use crate::storage::{Journal, JournalContents, StorageError, read_run};

impl Home {
    /// An empty graph in a new folder.
    pub(super) fn create(&self, name: &str, folder: PathBuf) -> Result<Graph, StorageError> {
        self.medium
            .create_folder(&folder.join(RUNS))
            .map_err(|error| StorageError::io(&folder.join(RUNS), error))?;
        let lineage = Lineage::default().going_on(0);
        let contents = JournalContents {
            graph: name.to_owned(),
            lineage: Some(lineage.text()),
            ..JournalContents::default()
        };
        let journal = Journal::create(Arc::clone(&self.medium), &folder.join(JOURNAL), &contents)?;
        let store = self.store(folder, journal, 1, 0);
        Ok(self.graph(name, Snapshot::empty(), lineage, store))
    }

    /// The graph that a folder holds.
    pub(super) fn open(&self, name: &str, folder: PathBuf) -> Result<Graph, StorageError> {
        let path = folder.join(JOURNAL);
        // Nobody else opens it meanwhile.
        let found = Journal::look(self.medium.as_ref(), &path)?;
        let mut contents = found.beginning()?;
        if contents.graph != name {
            let found = format!("it holds the knowledge graph {} instead of {name}", contents.graph);
            return Err(StorageError::unreadable(&path, found));
        }
        let dictionary = Arc::new(Dictionary::shared());
        let unreadable = |what: String| StorageError::unreadable(&path, what);
        let manifest = match &contents.manifest {
            None => Manifest::default(),
            Some(text) => Manifest::parse(text).map_err(unreadable)?,
        };
        let lineage =
            contents.lineage.as_deref().map_or(Ok(Lineage::default()), Lineage::parse).map_err(unreadable)?;
        let latest = found.last_version()?.unwrap_or_default().max(manifest.version);
        let lineage = lineage.going_on(latest);
        contents.lineage = Some(lineage.text());
        let journal = Journal::go_on(Arc::clone(&self.medium), &found, &contents);
        let files: BTreeSet<String> = manifest.runs.values().flatten().map(|run| run.file.clone()).collect();
        // No journal forgets what an archive lacks.
        let first = found.records_after(0).next().transpose()?;
        let archived = first.map_or(manifest.version, |first| first.version.saturating_sub(1));
        let store = self.store(folder, journal, manifest.next_file, archived);
        let mut snapshot = restore(&store, manifest, &contents, &dictionary)?;
        let checkpointed = snapshot.version();
        // One after the other: what was read is let go before the next one.
        for stored in found.records_after(0) {
            let stored = stored?;
            if let Some(moment) = record::moment(&stored.content) {
                self.clock.pass(moment);
            }
            // Of these an archive has had no copy yet.
            if stored.version <= checkpointed {
                continue;
            }
            if stored.version != snapshot.version() + 1 {
                return Err(unreadable(format!("commit {} is missing", snapshot.version() + 1)));
            }
            let changes = record::decode(&stored.content, &dictionary).map_err(unreadable)?;
            let stored_version = stored.version;
            drop(stored);
            (snapshot, _) = snapshot.apply(&changes, stored_version);
        }
        // What a crash left behind. The manifest that names the others is on disk, unless the journal is abandoned.
        match store.journal().trouble() {
            Some(error) => store.failed(&error),
            None => store.remove_all_but(&files),
        }
        Ok(self.graph(name, snapshot, lineage, store))
    }

    fn graph(&self, name: &str, snapshot: Snapshot, lineage: Lineage, store: GraphStore) -> Graph {
        let memory = Arc::clone(&self.memory);
        Graph::new(name, snapshot, lineage, Some(store), self.listeners.clone(), memory)
    }

    fn store(&self, folder: PathBuf, journal: Journal, next_file: u64, archived: u64) -> GraphStore {
        GraphStore::new(folder, self, journal, next_file, if self.archives { archived } else { u64::MAX })
    }
}

/// The graph at its last checkpoint.
fn restore(
    store: &GraphStore,
    manifest: Manifest,
    contents: &JournalContents,
    dictionary: &Arc<Dictionary>,
) -> Result<Snapshot, StorageError> {
    let unreadable = |what: String| StorageError::unreadable(store.journal().path(), what);
    let mut catalog = Catalog::default();
    let changes = record::defining_changes(manifest.definitions).map_err(unreadable)?;
    let (defined, _) = State::stored(0, catalog, OrdMap::new()).apply(&changes, 0);
    catalog = defined.catalog().clone();
    let mut relations = OrdMap::new();
    for (name, files) in manifest.runs {
        let definition = catalog.relation(&name);
        let arity = definition
            .map(|definition| definition.arity)
            .ok_or_else(|| unreadable(format!("{name} is not defined")))?;
        // All threads read one file: to read several at once would take the memory of several.
        let runs = files.iter().map(|file| read_file(store, file, arity, contents, dictionary));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        relations.insert(name, Relation::of_runs(arity, runs.into_iter().flatten().collect()));
    }
    let stored = State::stored(manifest.version, catalog, relations);
    let stored = match manifest.changed {
        Some(changed) => stored.with_changed(changed),
        None => stored,
    };
    Ok(Snapshot::of(stored, Arc::clone(dictionary)))
}

/// A run without its deleted rows; none if all of them are.
fn read_file(
    store: &GraphStore,
    record: &FileRecord,
    arity: usize,
    contents: &JournalContents,
    dictionary: &Dictionary,
) -> Result<Option<Run>, StorageError> {
    let expected = record.expected();
    let path = store.run_path(&expected.name);
    let mut rows = read_run(store.medium().as_ref(), &path, &expected, arity, dictionary)?;
    let stored = rows.len;
    if let Some(bits) = contents.deleted.get(&expected.name) {
        if bits.len() < stored.div_ceil(8) {
            return Err(StorageError::unreadable(store.journal().path(), "too few bits for deleted rows"));
        }
        let deleted = BooleanBuffer::new(Buffer::from_vec(bits.clone()), 0, stored);
        for column in &mut rows.columns {
            let mut row = 0;
            column.retain(|_| {
                row += 1;
                !deleted.value(row - 1)
            });
        }
        rows.len -= deleted.count_set_bits();
    }
    if rows.len == 0 {
        return Ok(None);
    }
    let is_whole = rows.len == stored;
    let (run, in_order) = sorted_run(rows);
    if is_whole {
        run.set_file(RunFile { in_order, ..expected });
    }
    Ok(Some(run))
}
