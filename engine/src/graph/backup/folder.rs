//! A backup in a folder of its own: it has the layout of a data folder, and `backup.json` beside it.

use std::path::Path;

use super::super::data_folder::{GRAPHS, JOURNAL, RUNS, SYSTEM};
use super::super::library::Library;
use super::moment::{Pinned, PinnedGraph};
use super::summary::{BackupSummary, CopiedFile};
use super::{BackupPlace, check_is_free, create_folder, read, write_file};
use crate::data::RunFile;
use crate::storage::{Files, Journal, Moment, StorageError, SystemContents, SystemStore, file_hash};

/// The file that makes a backup whole.
pub(super) const SUMMARY: &str = "backup.json";

impl Library {
    /// Copies everything to a folder that is not there yet.
    pub(in super::super) fn back_up(
        &self,
        pinned: &Pinned<'_>,
        target: &BackupPlace,
    ) -> Result<BackupSummary, StorageError> {
        let (files, target) = (target.files.as_ref(), &target.folder);
        pinned.check_whole()?;
        check_is_free(files, target)?;
        create_folder(files, target)?;
        let copy = |run: &RunFile, content: &[u8], folder: &str| {
            write_file(files, &target.join(GRAPHS).join(folder).join(RUNS).join(&run.name), content)
        };
        let summary = write_backup(files, pinned, target, |run, graph| {
            copy(run, &read_run_file(graph, run)?, &graph.folder)
        })?;
        let path = target.join(SUMMARY);
        write_file(files, &path, &summary.text(&path)?)?;
        Ok(summary)
    }
}

/// Writes journals and system store to a folder, and hands on each run.
pub(super) fn write_backup(
    files: &dyn Files,
    pinned: &Pinned<'_>,
    target: &Path,
    mut run: impl FnMut(&RunFile, &PinnedGraph) -> Result<(), StorageError>,
) -> Result<BackupSummary, StorageError> {
    let mut summary = BackupSummary::at(pinned.moment);
    for graph in &pinned.graphs {
        copy_graph(files, graph, pinned.moment, target, &mut summary, &mut run)?;
    }
    let SystemContents { graphs, records, .. } = pinned.system.clone();
    let contents = SystemContents { graphs, records, ..SystemContents::default() };
    SystemStore::write(files, &target.join(SYSTEM), &contents)?;
    summary.enter(SYSTEM.to_owned(), CopiedFile::of(&read(files, &target.join(SYSTEM))?));
    Ok(summary)
}

fn copy_graph(
    files: &dyn Files,
    graph: &PinnedGraph,
    moment: Moment,
    target: &Path,
    summary: &mut BackupSummary,
    run: &mut impl FnMut(&RunFile, &PinnedGraph) -> Result<(), StorageError>,
) -> Result<(), StorageError> {
    let folder = format!("{GRAPHS}/{}", graph.folder);
    create_folder(files, &target.join(&folder).join(RUNS))?;
    let (contents, manifest) = graph.contents(moment)?;
    let mut version = 0;
    if let Some(manifest) = manifest {
        version = manifest.version;
        for file in manifest.runs.values().flatten().map(|record| record.expected()) {
            run(&file, graph)?;
            let copied = CopiedFile { bytes: file.bytes, xxh3: file.hash.clone() };
            summary.enter(format!("{folder}/{RUNS}/{}", file.name), copied);
        }
    }
    version = contents.records.last().map_or(version, |record| record.version);
    let journal = format!("{folder}/{JOURNAL}");
    Journal::write(files, &target.join(&journal), &contents)?;
    summary.enter(journal.clone(), CopiedFile::of(&read(files, &target.join(&journal))?));
    summary.graphs.insert(graph.name.clone(), version);
    Ok(())
}

/// A run of a graph, if it still is what was written.
pub(super) fn read_run_file(graph: &PinnedGraph, run: &RunFile) -> Result<bytes::Bytes, StorageError> {
    let Some(store) = graph.store() else { return Ok(bytes::Bytes::new()) };
    let path = store.run_path(&run.name);
    let content = read(store.medium().as_ref(), &path)?;
    if content.len() as u64 != run.bytes || file_hash(&content) != run.hash {
        return Err(StorageError::unreadable(&path, "a checksum does not fit"));
    }
    Ok(content)
}
