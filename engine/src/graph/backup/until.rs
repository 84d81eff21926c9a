//! Restoring to a moment: the latest backup before it, and what the archive has from there on.
//!
//! Everything is read and compared with its hash before anything is written, and what is missing is named: a segment of
//! the archive, or a commit.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::super::data_folder::{GRAPHS, JOURNAL, RUNS, SYSTEM};
use super::repository::{ARCHIVE, Repository, StoredBackup};
use super::segment::{self, Segment};
use super::source::Source;
use super::summary::{BackupSummary, CopiedFile};
use super::target::Target;
use super::{BackupPlace, check_is_free, create_folder, list};
use crate::storage::{
    Damage, Files, Journal, JournalContents, Medium, Moment, StorageError, StoredRecord, SystemContents,
    SystemStore,
};

/// How far to restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// As far as the archive goes.
    End,
    /// Everything that was stored until this moment.
    Moment(Moment),
    /// Everything that was stored until a graph had this version.
    Version {
        /// The name of the graph.
        graph: String,
        /// Its version.
        version: u64,
    },
}

/// Makes a data folder of a folder of backups.
pub(super) fn restore_until(
    backups: &BackupPlace,
    medium: &Arc<dyn Medium>,
    target: &Path,
    until: &Until,
) -> Result<BackupSummary, StorageError> {
    check_is_free(medium.as_ref(), target)?;
    let (files, folder) = (backups.files.as_ref(), &backups.folder);
    let source = Source { files, folder };
    let backups = Repository::open(backups)?.backups()?;
    let history = History { source: &source, folder, names: segments(files, folder)? };
    let plan = history.plan(&backups, until)?;
    let place = |path: &str, file: &CopiedFile| Repository::place(plan.backup.number, path, file);
    source.verify(&plan.backup.summary, &place)?;
    let versions = plan.check_versions()?;
    let target = Target::begin(medium.as_ref(), target)?;
    source.copy_all_but_system(&plan.backup.summary, &target, &place)?;
    plan.replay(&history, medium, &target)?;
    let folders = plan.write_system(&source, medium, &target)?;
    target.keep();
    let version = |(name, folder): (String, String)| {
        let version = versions.get(&folder).copied().unwrap_or_else(|| plan.version_of(&name, &folder));
        (name, version)
    };
    let graphs = folders.into_iter().map(version).collect();
    Ok(BackupSummary { moment: Some(plan.until), graphs, ..plan.backup.summary.clone() })
}

/// The names of the segments, oldest first.
fn segments(files: &dyn Files, folder: &Path) -> Result<Vec<String>, StorageError> {
    let names = list(files, &folder.join(ARCHIVE))?;
    Ok(names.into_iter().filter(|name| segment::until(name).is_some()).collect())
}

struct History<'s> {
    source: &'s Source<'s>,
    folder: &'s Path,
    names: Vec<String>,
}

/// A backup, and the segments to be laid over it.
struct Plan<'b> {
    backup: &'b StoredBackup,
    /// The moment of the backup.
    from: Moment,
    until: Moment,
    segments: Vec<(String, segment::Header)>,
}

impl History<'_> {
    fn read(&self, name: &str) -> Result<Segment, StorageError> {
        let path = format!("{ARCHIVE}/{name}");
        Segment::decode(&self.folder.join(&path), &self.source.read(&path)?)
    }

    fn missing(&self, what: String) -> StorageError {
        StorageError::damaged(self.folder, Damage::Missing(what))
    }

    fn plan<'b>(&self, backups: &'b [StoredBackup], until: &Until) -> Result<Plan<'b>, StorageError> {
        let at = |backup: &StoredBackup| backup.summary.moment.unwrap_or_default();
        let Some((oldest, latest)) = backups.first().zip(backups.last()) else {
            return Err(self.missing("a whole backup".to_owned()));
        };
        let moment = match until {
            Until::End => None,
            Until::Moment(moment) => Some(*moment),
            Until::Version { graph, version } => Some(self.moment_of(backups, graph, *version)?),
        };
        let backup = match moment {
            None => latest,
            Some(moment) => backups.iter().rev().find(|backup| at(backup) <= moment).ok_or_else(|| {
                let what =
                    format!("there is no backup of {moment} or earlier: the oldest is of {}", at(oldest));
                StorageError::unreadable(self.folder, what)
            })?,
        };
        let from = at(backup);
        let (segments, end) = self.chain(backup, moment)?;
        Ok(Plan { backup, from, until: moment.unwrap_or(end), segments })
    }

    /// The segments from a backup to a moment, or to the end of its line.
    fn chain(
        &self,
        backup: &StoredBackup,
        until: Option<Moment>,
    ) -> Result<(Vec<(String, segment::Header)>, Moment), StorageError> {
        let mut end = backup.summary.moment.unwrap_or_default();
        let mut chain: Vec<(String, segment::Header)> = Vec::new();
        let from = end;
        for name in self.names.iter().filter(|name| segment::until(name) > Some(from)) {
            if until.is_some_and(|until| end >= until) {
                break;
            }
            let header = self.read(name)?.header;
            if Some(header.line) != backup.summary.line {
                continue;
            }
            if header.after > end {
                return Err(self.missing(format!("what was stored between {end} and {}", header.after)));
            }
            end = header.until;
            chain.push((name.clone(), header));
        }
        match until {
            Some(until) if end < until => {
                Err(self
                    .missing(format!("what was stored after {end}, where the archive of this backup ends")))
            }
            _ => Ok((chain, end)),
        }
    }

    /// When a graph got a version.
    fn moment_of(&self, backups: &[StoredBackup], graph: &str, version: u64) -> Result<Moment, StorageError> {
        for name in self.names.iter().rev() {
            let segment = self.read(name)?;
            let mut records = segment.header.graphs.iter().filter(|part| part.name == graph);
            let found = records.find_map(|part| part.records.iter().find(|record| record.version == version));
            if let Some(record) = found {
                return Ok(record.moment);
            }
        }
        let has_it = |backup: &&StoredBackup| backup.summary.graphs.get(graph) == Some(&version);
        let found = backups.iter().rev().find(has_it).and_then(|backup| backup.summary.moment);
        found.ok_or_else(|| self.missing(format!("version {version} of the knowledge graph {graph}")))
    }
}

impl Plan<'_> {
    /// Whether a record is to be laid over a graph that has this version. The backup has what was stored before it, but for
    /// graphs that were dropped by then.
    fn takes(&self, record: &segment::RecordPart, version: u64) -> bool {
        record.moment > self.from && record.moment <= self.until && record.version > version
    }

    /// Finds commits that are missing. Answers the versions of graphs, by their folders.
    fn check_versions(&self) -> Result<BTreeMap<String, u64>, StorageError> {
        let mut versions: BTreeMap<String, u64> = BTreeMap::new();
        for (name, header) in &self.segments {
            for part in &header.graphs {
                let known = || self.version_of(&part.name, &part.folder);
                let version = versions.entry(part.folder.clone()).or_insert_with(known);
                for record in &part.records {
                    if !self.takes(record, *version) {
                        continue;
                    }
                    if record.version != *version + 1 {
                        let what = format!("commit {} of the knowledge graph {}", *version + 1, part.name);
                        return Err(StorageError::damaged(Path::new(name), Damage::Missing(what)));
                    }
                    *version = record.version;
                }
            }
        }
        Ok(versions)
    }

    /// The version that the backup has of a graph; none yet if it was made later.
    fn version_of(&self, name: &str, folder: &str) -> u64 {
        let files = &self.backup.summary.files;
        match files.contains_key(&format!("{GRAPHS}/{folder}/{JOURNAL}")) {
            true => self.backup.summary.graphs.get(name).copied().unwrap_or(0),
            false => 0,
        }
    }

    /// Writes what came after the backup to the journals.
    fn replay(
        &self,
        history: &History<'_>,
        medium: &Arc<dyn Medium>,
        target: &Target<'_>,
    ) -> Result<(), StorageError> {
        let mut journals: BTreeMap<String, (Journal, u64)> = BTreeMap::new();
        for (name, _) in &self.segments {
            let segment = history.read(name)?;
            let mut taken: BTreeMap<&str, Vec<StoredRecord>> = BTreeMap::new();
            for (part, record, content) in segment.records() {
                if !journals.contains_key(&part.folder) {
                    let journal = open_journal(medium, target, &part.folder, &part.name)?;
                    let version = self.version_of(&part.name, &part.folder);
                    journals.insert(part.folder.clone(), (journal, version));
                }
                let Some((journal, version)) = journals.get_mut(&part.folder) else { continue };
                if self.takes(record, *version) {
                    let stored = segment::stored(record.version, content)
                        .map_err(|error| StorageError::io(journal.path(), error))?;
                    taken.entry(&part.folder).or_default().push(stored);
                    *version = record.version;
                }
            }
            for (folder, records) in taken {
                if let Some((journal, _)) = journals.get(folder) {
                    journal.append_again(&records)?;
                }
            }
        }
        Ok(())
    }

    /// The system store as it was at the moment, and no graph that it does not list. Answers the folders of those.
    fn write_system(
        &self,
        source: &Source<'_>,
        medium: &Arc<dyn Medium>,
        target: &Target<'_>,
    ) -> Result<BTreeMap<String, String>, StorageError> {
        let file = &self.backup.summary.files[SYSTEM];
        let content = source.checked(&Repository::place(self.backup.number, SYSTEM, file), file)?;
        // Under another name: what is there is no data folder before it is whole.
        let unfinished = format!("{SYSTEM}.backup");
        target.write(&unfinished, &content)?;
        let path = target.folder.join(&unfinished);
        let SystemContents { mut graphs, mut records, .. } = SystemStore::look(medium.as_ref(), &path)?;
        medium.remove(&path).map_err(|error| StorageError::io(&path, error))?;
        let edits = self.segments.iter().flat_map(|(_, header)| &header.system);
        let mut last = self.from;
        for edit in edits.filter(|edit| edit.moment <= self.until) {
            // Two segments may both have it.
            if edit.moment > last {
                edit.apply(&mut graphs, &mut records);
                last = edit.moment;
            }
        }
        let folders = target.folder.join(GRAPHS);
        for folder in list(medium.as_ref(), &folders)? {
            if !graphs.values().any(|listed| *listed == folder) {
                let path = folders.join(&folder);
                medium.remove_folder(&path).map_err(|error| StorageError::io(&path, error))?;
            }
        }
        for (name, folder) in &graphs {
            open_journal(medium, target, folder, name)?;
        }
        let contents = SystemContents { graphs, records, ..SystemContents::default() };
        SystemStore::write(medium.as_ref(), &target.folder.join(SYSTEM), &contents)?;
        Ok(contents.graphs)
    }
}

/// The journal of a graph in the target; a new one if the backup has none.
fn open_journal(
    medium: &Arc<dyn Medium>,
    target: &Target<'_>,
    folder: &str,
    name: &str,
) -> Result<Journal, StorageError> {
    let folder = target.folder.join(GRAPHS).join(folder);
    let path = folder.join(JOURNAL);
    if medium.exists(&path).map_err(|error| StorageError::io(&path, error))? {
        return Journal::open(Arc::clone(medium), &path);
    }
    create_folder(medium.as_ref(), &folder.join(RUNS))?;
    let contents = JournalContents { graph: name.to_owned(), ..JournalContents::default() };
    Journal::create(Arc::clone(medium), &path, &contents)
}
