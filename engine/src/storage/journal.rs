//! `Journal`: the redb file of one graph. Commits since the last checkpoint, and what that checkpoint left.
//!
//! A record stands there in [`Pieces`](super::Pieces). All records of one [`Journal::append`] are one transaction and
//! one sync.
//!
//! When a sync fails, the file is *abandoned*: what is read back of it may never reach the disk, so it is neither read
//! nor written again, and only [`Journal::renew`] goes on, in a new file. Where something else fails before the sync, the
//! file is as it was.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use redb::{ReadableDatabase, ReadableTable};

use super::clock::Clock;
use super::database::{self, META, Opened, guarded};
use super::error::StorageError;
use super::files::Files;
use super::journal_contents::{COUNT_BYTES, DELETED, JournalContents, RECORDS, StoredRecord, place};
use super::medium::Medium;
use super::pinned::PinnedJournal;
use super::seal::{SEAL_BYTES, seal, seal_of};

/// The journal of one graph.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    medium: Arc<dyn Medium>,
    state: Mutex<State>,
    /// Whether it is abandoned, for those who do not want to wait for a sync.
    is_abandoned: AtomicBool,
    /// Bytes appended since the last checkpoint.
    bytes: AtomicU64,
}

#[derive(Debug)]
enum State {
    Open {
        file: Opened,
        mark: Mark,
    },
    /// Nothing is built on what the file holds.
    Abandoned(StorageError),
}

/// What tells one state of a journal from the one before and the one after.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    /// The hash of the manifest.
    manifest: Option<Vec<u8>>,
    /// The version of the last record.
    last: Option<u64>,
}

impl Journal {
    /// A new journal with these contents.
    pub fn create(
        medium: Arc<dyn Medium>,
        path: &Path,
        contents: &JournalContents,
    ) -> Result<Journal, StorageError> {
        let journal = Journal::unopened(medium, path);
        journal.renew(contents)?;
        Ok(journal)
    }

    /// Makes a file with these contents: it is there whole, or not at all.
    pub fn write(files: &dyn Files, path: &Path, contents: &JournalContents) -> Result<(), StorageError> {
        database::create(files, path, |transaction| {
            insert_beginning(transaction, contents)?;
            insert_records(transaction, &contents.records)
        })
    }

    /// The same with the records of another journal; answers their bytes. One record at a time is in memory.
    fn write_copy(
        medium: &dyn Medium,
        path: &Path,
        beginning: &JournalContents,
        records: &PinnedJournal,
    ) -> Result<u64, StorageError> {
        let (mut bytes, mut unreadable) = (0, None);
        let written = database::create(medium, path, |transaction| {
            insert_beginning(transaction, beginning)?;
            transaction.open_table(RECORDS)?;
            for record in records.records_after(0) {
                match record {
                    Ok(record) => {
                        insert_records(transaction, std::slice::from_ref(&record))?;
                        bytes += record.content.byte_count() as u64;
                    }
                    Err(error) => {
                        unreadable = Some(error);
                        return Err(redb::Error::Corrupted("a record".to_owned()));
                    }
                }
            }
            Ok(())
        });
        unreadable.map_or(written, Err).map(|()| bytes)
    }

    /// What the journal holds at this moment, to be read later, whatever is written meanwhile.
    pub fn pin(&self) -> Result<PinnedJournal, StorageError> {
        match &*self.state.lock() {
            State::Open { file, .. } => PinnedJournal::of(&self.path, &file.database),
            State::Abandoned(error) => Err(error.clone()),
        }
    }

    /// The records of later versions than `after`, until the version `until`, which were stored before the journal was
    /// abandoned; none unless all of them are there. Those were synced, and no later failure has touched them.
    pub fn salvage(&self, after: u64, until: u64) -> Result<Option<Vec<StoredRecord>>, StorageError> {
        if after >= until {
            return Ok(Some(Vec::new()));
        }
        let _nobody_writes = self.state.lock();
        let found = Journal::look(self.medium.as_ref(), &self.path)?;
        let is_early = |record: &Result<StoredRecord, StorageError>| {
            record.as_ref().map_or(true, |record| record.version <= until)
        };
        let records = found.records_after(after).take_while(is_early).collect::<Result<Vec<_>, _>>()?;
        let is_whole = records.iter().map(|record| record.version).eq(after + 1..=until);
        Ok(is_whole.then_some(records))
    }

    /// The journal that is there.
    pub fn open(medium: Arc<dyn Medium>, path: &Path) -> Result<Journal, StorageError> {
        let found = Journal::look(medium.as_ref(), path)?;
        let beginning = found.beginning()?;
        Ok(Journal::go_on(medium, &found, &beginning))
    }

    /// The journal that was found, and that nobody else can open meanwhile, with another beginning. It is written anew, so
    /// that nothing depends on what an earlier process left unsynced; where that fails, the journal is abandoned from the
    /// beginning.
    pub fn go_on(medium: Arc<dyn Medium>, found: &PinnedJournal, beginning: &JournalContents) -> Journal {
        let path = found.path();
        let journal = Journal::unopened(medium, path);
        let copied = Journal::write_copy(journal.medium.as_ref(), path, beginning, found);
        // Where it was a record that could not be read, whoever reads what was found is told.
        if let Err(error) = copied.and_then(|bytes| journal.reopen(bytes, &mut journal.state.lock())) {
            tracing::error!("{} cannot be written: {error}", path.display());
            *journal.state.lock() = State::Abandoned(error.as_abandoned());
        }
        journal
    }

    /// What a journal holds that nobody has open. Nobody can open it meanwhile.
    pub fn look(medium: &dyn Medium, path: &Path) -> Result<PinnedJournal, StorageError> {
        let file = database::look(medium, path)?;
        let pinned = PinnedJournal::of(path, &file.database)?;
        Ok(pinned.with_file(file))
    }

    fn unopened(medium: Arc<dyn Medium>, path: &Path) -> Journal {
        let error = StorageError::io(path, io::Error::other("not opened yet"));
        Journal {
            path: path.to_owned(),
            medium,
            state: Mutex::new(State::Abandoned(error)),
            is_abandoned: AtomicBool::new(true),
            bytes: AtomicU64::new(0),
        }
    }

    /// Writes a new file in place of the one that is there. When this returns, the old one cannot come back.
    pub fn renew(&self, contents: &JournalContents) -> Result<(), StorageError> {
        let mut state = self.state.lock();
        Journal::write(self.medium.as_ref(), &self.path, contents)?;
        let bytes = contents.records.iter().map(|record| record.content.byte_count() as u64).sum();
        self.reopen(bytes, &mut state)
    }

    /// Goes on with the file that was written in place of the one before, with records of so many bytes.
    fn reopen(&self, bytes: u64, state: &mut State) -> Result<(), StorageError> {
        *state = self.open_file()?;
        self.bytes.store(bytes, Ordering::Relaxed);
        self.is_abandoned.store(false, Ordering::Release);
        Ok(())
    }

    fn open_file(&self) -> Result<State, StorageError> {
        let file = database::open(self.medium.as_ref(), &self.path)?;
        let mark = self.mark(&file)?;
        Ok(State::Open { file, mark })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a sync has failed: [`Journal::renew`] must come before anything else.
    pub fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::Acquire)
    }

    /// Why it is abandoned, if it is. Waits for whoever writes.
    pub fn trouble(&self) -> Option<StorageError> {
        if !self.is_abandoned() {
            return None;
        }
        match &*self.state.lock() {
            State::Open { .. } => None,
            State::Abandoned(error) => Some(error.clone()),
        }
    }

    /// Whether the file is free at some moment before `deadline`: nobody writes or syncs then.
    pub fn is_free_by(&self, deadline: Instant) -> bool {
        self.state.try_lock_until(deadline).is_some()
    }

    /// Bytes of the records since the last checkpoint.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Writes records, each with its moment at the end, and syncs. After a failure none of them is there, or it is not
    /// known: the error says which.
    pub fn append(&self, records: &mut [StoredRecord], clock: &Clock) -> Result<(), StorageError> {
        self.change(|transaction, mark| {
            mark.last = records.last().map(|record| record.version).or(mark.last);
            // Nobody else writes here until these are stored: that makes moments tell the order.
            for record in &mut *records {
                record.content.push(clock.next().0.to_le_bytes().to_vec());
            }
            insert_records(transaction, records)
        })?;
        let bytes: u64 = records.iter().map(|record| record.content.byte_count() as u64).sum();
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Writes records that have their moments already.
    pub fn append_again(&self, records: &[StoredRecord]) -> Result<(), StorageError> {
        self.change(|transaction, mark| {
            mark.last = records.last().map(|record| record.version).or(mark.last);
            insert_records(transaction, records)
        })
    }

    /// Replaces the manifest and forgets the records up to the version that it covers, in one transaction; but no record
    /// of a later version than the archive has.
    pub fn checkpoint(
        &self,
        manifest: &[u8],
        deleted: &BTreeMap<String, Vec<u8>>,
        version: u64,
        archived: u64,
    ) -> Result<(), StorageError> {
        let mut left = 0;
        self.change(|transaction, mark| {
            let mut meta = transaction.open_table(META)?;
            mark.manifest = Some(seal_of(b"manifest", manifest).to_vec());
            meta.insert("manifest", seal(b"manifest", manifest).as_slice())?;
            transaction.delete_table(DELETED)?;
            insert_deleted(transaction, deleted)?;
            let mut records = transaction.open_table(RECORDS)?;
            records.retain_in((0, 0)..(version.min(archived) + 1, 0), |_, _| false)?;
            mark.last = records.last()?.map(|(key, _)| key.value().0);
            for entry in records.range((version + 1, 0)..)? {
                left += entry?.1.value().len() as u64;
            }
            Ok(())
        })?;
        self.bytes.store(left, Ordering::Relaxed);
        Ok(())
    }

    fn change(
        &self,
        work: impl FnOnce(&redb::WriteTransaction, &mut Mark) -> Result<(), redb::Error>,
    ) -> Result<(), StorageError> {
        let mut state = self.state.lock();
        let (file, before) = match &*state {
            State::Open { file, mark } => (file, mark.clone()),
            State::Abandoned(error) => return Err(error.clone()),
        };
        let mut after = before.clone();
        let changed = file.change(&self.path, |transaction| work(transaction, &mut after));
        let is_trusted = file.can_be_trusted();
        if let State::Open { mark, .. } = &mut *state {
            *mark = after;
        }
        let Err(error) = changed else { return Ok(()) };
        // The file cannot be opened twice.
        *state = State::Abandoned(error.as_abandoned());
        let reopened = if is_trusted { self.open_file() } else { Err(error.clone()) };
        match reopened {
            Ok(State::Open { file, mark }) if mark == before => {
                *state = State::Open { file, mark };
                Err(error)
            }
            _ => {
                self.is_abandoned.store(true, Ordering::Release);
                Err(error.with_unknown_outcome())
            }
        }
    }

    fn mark(&self, file: &Opened) -> Result<Mark, StorageError> {
        guarded(&self.path, || {
            let transaction = file.database.begin_read()?;
            let seal_of = |sealed: &[u8]| sealed.iter().take(SEAL_BYTES).copied().collect();
            let manifest =
                transaction.open_table(META)?.get("manifest")?.map(|sealed| seal_of(sealed.value()));
            let last = transaction.open_table(RECORDS)?.last()?.map(|(key, _)| key.value().0);
            Ok(Mark { manifest, last })
        })
    }
}

fn insert_beginning(
    transaction: &redb::WriteTransaction,
    contents: &JournalContents,
) -> Result<(), redb::Error> {
    let mut meta = transaction.open_table(META)?;
    meta.insert("graph", seal(b"graph", contents.graph.as_bytes()).as_slice())?;
    if let Some(manifest) = &contents.manifest {
        meta.insert("manifest", seal(b"manifest", manifest).as_slice())?;
    }
    if let Some(lineage) = &contents.lineage {
        meta.insert("lineage", seal(b"lineage", lineage).as_slice())?;
    }
    insert_deleted(transaction, &contents.deleted)
}

fn insert_records(transaction: &redb::WriteTransaction, records: &[StoredRecord]) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(RECORDS)?;
    for record in records {
        let count = record.content.iter().len() as u32;
        for (piece, content) in (0..).zip(record.content.iter()) {
            let seal = seal_of(&place(record.version, piece, count), content);
            let mut value =
                table.insert_reserve((record.version, piece), COUNT_BYTES + SEAL_BYTES + content.len())?;
            let (head, rest) = value.as_mut().split_at_mut(COUNT_BYTES + SEAL_BYTES);
            head[..COUNT_BYTES].copy_from_slice(&count.to_le_bytes());
            head[COUNT_BYTES..].copy_from_slice(&seal);
            rest.copy_from_slice(content);
        }
    }
    Ok(())
}

fn insert_deleted(
    transaction: &redb::WriteTransaction,
    deleted: &BTreeMap<String, Vec<u8>>,
) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(DELETED)?;
    for (file, bits) in deleted {
        table.insert(file.as_str(), seal(file.as_bytes(), bits).as_slice())?;
    }
    Ok(())
}
