//! A folder of backups, which share what does not change: each sealed run is in it once, whichever backups need it.
//!
//! ```text
//! BACKUPS/
//!   backups.json              says what the folder is
//!   runs/HASH-BYTES.parquet   sealed runs
//!   000012/                   a backup: its journals and system store, and last of all backup-HASH.json
//!   archive/                  what was stored between backups: see `segment`
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::data_folder::RUNS;
use super::super::library::Library;
use super::folder::{read_run_file, write_backup};
use super::moment::Pinned;
use super::summary::{BackupSummary, CopiedFile, Kind, kind_of};
use super::{BackupPlace, create_folder, list, read, write_file};
use crate::storage::{Files, Moment, StorageError, file_hash};

/// What makes a folder one of backups.
const MARKER: &str = "backups.json";
const MARK: &[u8] = b"{\"format\": 1}\n";
/// The folder of segments.
pub(super) const ARCHIVE: &str = "archive";

/// A folder of backups.
#[derive(Debug)]
pub(super) struct Repository {
    pub(super) files: Arc<dyn Files>,
    pub(super) folder: PathBuf,
}

/// One of the backups in such a folder.
#[derive(Debug, Clone)]
pub struct StoredBackup {
    /// Its number, which names its folder.
    pub number: u64,
    /// What it holds.
    pub summary: BackupSummary,
}

impl Library {
    /// Adds a backup to a folder of backups.
    pub(in super::super) fn add_backup(
        &self,
        pinned: &Pinned<'_>,
        place: &BackupPlace,
    ) -> Result<StoredBackup, StorageError> {
        pinned.check_whole()?;
        Repository::open_or_create(place)?.add(pinned, None)
    }
}

impl Repository {
    /// Whether a folder is one of backups.
    pub(super) fn is_one(place: &BackupPlace) -> Result<bool, StorageError> {
        let path = place.folder.join(MARKER);
        place.files.exists(&path).map_err(|error| StorageError::io(&path, error))
    }

    /// The folder of backups that is there.
    pub(super) fn open(place: &BackupPlace) -> Result<Repository, StorageError> {
        let BackupPlace { files, folder } = place.clone();
        let path = folder.join(MARKER);
        let mark: serde_json::Value = serde_json::from_slice(&read(files.as_ref(), &path)?)
            .map_err(|error| StorageError::unreadable(&path, error))?;
        match mark["format"].as_u64() {
            Some(1) => Ok(Repository { files, folder }),
            Some(found) => {
                Err(StorageError::Version { path, found: u32::try_from(found).unwrap_or(u32::MAX) })
            }
            None => Err(StorageError::unreadable(&path, "it names no format")),
        }
    }

    /// The same; it is made if the folder is empty or not there.
    pub(super) fn open_or_create(place: &BackupPlace) -> Result<Repository, StorageError> {
        let (files, folder) = (place.files.as_ref(), &place.folder);
        if !Repository::is_one(place)? {
            // What an earlier attempt has left is no reason to refuse.
            let left = format!("{MARKER}.unfinished");
            if list(files, folder)? != [left] {
                super::check_is_free(files, folder)?;
            }
            create_folder(files, folder)?;
            // First of all: a folder without it is not taken for one of backups.
            write_file(files, &folder.join(MARKER), MARK)?;
        }
        create_folder(files, &folder.join(RUNS))?;
        create_folder(files, &folder.join(ARCHIVE))?;
        Repository::open(place)
    }

    /// Adds a backup. Runs that another backup has are not copied again.
    pub(super) fn add(
        &self,
        pinned: &Pinned<'_>,
        line: Option<Moment>,
    ) -> Result<StoredBackup, StorageError> {
        let files = self.files.as_ref();
        let number = self.numbers()?.last().map_or(1, |last| last + 1);
        let folder = self.folder_of(number);
        let written = self.write(pinned, line, &folder);
        if written.is_err()
            && let Err(error) = files.remove_folder(&folder)
        {
            tracing::warn!("cannot remove what is left in {}: {error}", folder.display());
        }
        Ok(StoredBackup { number, summary: written? })
    }

    fn write(
        &self,
        pinned: &Pinned<'_>,
        line: Option<Moment>,
        folder: &Path,
    ) -> Result<BackupSummary, StorageError> {
        let files = self.files.as_ref();
        let mut there: BTreeSet<String> = list(files, &self.folder.join(RUNS))?.into_iter().collect();
        create_folder(files, folder)?;
        let mut summary = write_backup(files, pinned, folder, |run, graph| {
            let name = run_name(&CopiedFile { bytes: run.bytes, xxh3: run.hash.clone() });
            if !there.contains(&name) {
                write_file(files, &self.folder.join(RUNS).join(&name), &read_run_file(graph, run)?)?;
                there.insert(name);
            }
            Ok(())
        })?;
        summary.line = line;
        let text = summary.text(folder)?;
        write_file(files, &folder.join(format!("backup-{}.json", file_hash(&text))), &text)?;
        Ok(summary)
    }

    /// The backups that are whole, oldest first.
    pub(super) fn backups(&self) -> Result<Vec<StoredBackup>, StorageError> {
        let mut backups = Vec::new();
        for number in self.numbers()? {
            let folder = self.folder_of(number);
            let names = list(self.files.as_ref(), &folder)?;
            let Some((name, hash)) = names.iter().find_map(|name| Some((name, hash_in(name)?))) else {
                continue;
            };
            let path = folder.join(name);
            let text = read(self.files.as_ref(), &path)?;
            if file_hash(&text) != hash {
                return Err(StorageError::unreadable(&path, "a checksum does not fit"));
            }
            backups.push(StoredBackup { number, summary: BackupSummary::parse(&path, &text)? });
        }
        backups.sort_by_key(|backup| (backup.summary.moment, backup.number));
        Ok(backups)
    }

    /// Removes all backups but the latest, and then what only they needed. Answers how many.
    pub(super) fn prune(&self, keep: usize) -> Result<usize, StorageError> {
        let files = self.files.as_ref();
        let backups = self.backups()?;
        let old = backups.len().saturating_sub(keep.max(1));
        let (old, kept) = backups.split_at(old);
        let whole: BTreeSet<u64> = kept.iter().map(|backup| backup.number).collect();
        // Those that were never finished go as well.
        for number in self.numbers()?.into_iter().filter(|number| !whole.contains(number)) {
            let folder = self.folder_of(number);
            for name in list(files, &folder)?.iter().filter(|name| hash_in(name).is_some()) {
                // Without it, the rest is no backup any more.
                files.remove(&folder.join(name)).map_err(|error| StorageError::io(&folder, error))?;
            }
            files.remove_folder(&folder).map_err(|error| StorageError::io(&folder, error))?;
        }
        let runs = |backup: &StoredBackup| {
            let files = backup.summary.files.iter().filter(|(path, _)| kind_of(path) == Some(Kind::Run));
            files.map(|(_, file)| run_name(file)).collect::<Vec<_>>()
        };
        let needed: BTreeSet<String> = kept.iter().flat_map(runs).collect();
        self.remove(RUNS, |name| !needed.contains(name))?;
        let oldest = kept.first().and_then(|backup| backup.summary.moment).unwrap_or_default();
        self.remove(ARCHIVE, |name| super::segment::until(name).is_some_and(|until| until <= oldest))?;
        Ok(old.len())
    }

    fn remove(&self, folder: &str, is_old: impl Fn(&str) -> bool) -> Result<(), StorageError> {
        let folder = self.folder.join(folder);
        for name in list(self.files.as_ref(), &folder)?.iter().filter(|name| is_old(name)) {
            let path = folder.join(name);
            self.files.remove(&path).map_err(|error| StorageError::io(&path, error))?;
        }
        Ok(())
    }

    /// Where a file of a backup is, below the folder of backups.
    pub(super) fn place(number: u64, path: &str, file: &CopiedFile) -> String {
        match kind_of(path) {
            Some(Kind::Run) => format!("{RUNS}/{}", run_name(file)),
            Some(Kind::Journal | Kind::System) | None => format!("{number:06}/{path}"),
        }
    }

    fn folder_of(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number:06}"))
    }

    fn numbers(&self) -> Result<Vec<u64>, StorageError> {
        let names = list(self.files.as_ref(), &self.folder)?;
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

fn run_name(file: &CopiedFile) -> String {
    format!("{}-{}.parquet", file.xxh3, file.bytes)
}

/// The hash that the name of a backup's summary tells.
fn hash_in(name: &str) -> Option<&str> {
    name.strip_prefix("backup-")?.strip_suffix(".json")
}
