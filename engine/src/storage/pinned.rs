//! `PinnedJournal`: a journal as it was at one moment, to be read while others write.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable};

use super::database::{META, Opened, guarded};
use super::error::{Damage, StorageError};
use super::journal_contents::{COUNT_BYTES, DELETED, JournalContents, RECORDS, StoredRecord, place};
use super::pieces::Pieces;
use super::seal::unseal;

/// A journal as it was at one moment.
pub struct PinnedJournal {
    path: PathBuf,
    transaction: ReadTransaction,
    /// The file, where nothing else keeps it open.
    _file: Option<Opened>,
}

impl PinnedJournal {
    pub(super) fn of(path: &Path, database: &Database) -> Result<PinnedJournal, StorageError> {
        let transaction = guarded(path, || Ok(database.begin_read()?))?;
        Ok(PinnedJournal { path: path.to_owned(), transaction, _file: None })
    }

    /// The same, where nothing else keeps the file open.
    pub(super) fn with_file(self, file: Opened) -> PinnedJournal {
        PinnedJournal { _file: Some(file), ..self }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All of it.
    pub fn contents(&self) -> Result<JournalContents, StorageError> {
        Ok(JournalContents { records: self.records_after(0).collect::<Result<_, _>>()?, ..self.beginning()? })
    }

    /// All of it but the records.
    pub fn beginning(&self) -> Result<JournalContents, StorageError> {
        let mut contents = JournalContents::default();
        let mut sealed_deleted = Vec::new();
        let mut sealed_meta = BTreeMap::new();
        guarded(&self.path, || {
            for entry in self.transaction.open_table(META)?.iter()? {
                let (key, value) = entry?;
                sealed_meta.insert(key.value().to_owned(), value.value().to_vec());
            }
            for entry in self.transaction.open_table(DELETED)?.iter()? {
                let (file, bits) = entry?;
                sealed_deleted.push((file.value().to_owned(), bits.value().to_vec()));
            }
            Ok(())
        })?;
        let unseal = |place: &[u8], sealed: &[u8]| {
            unseal(place, sealed).map(<[u8]>::to_vec).map_err(|damage| self.damaged(damage))
        };
        let graph = sealed_meta.get("graph").ok_or_else(|| self.missing("the name of the graph"))?;
        contents.graph = String::from_utf8(unseal(b"graph", graph)?)
            .map_err(|error| StorageError::unreadable(&self.path, error))?;
        if let Some(manifest) = sealed_meta.get("manifest") {
            contents.manifest = Some(unseal(b"manifest", manifest)?);
        }
        if let Some(lineage) = sealed_meta.get("lineage") {
            contents.lineage = Some(unseal(b"lineage", lineage)?);
        }
        for (file, sealed) in sealed_deleted {
            let bits = unseal(file.as_bytes(), &sealed)?;
            contents.deleted.insert(file, bits);
        }
        Ok(contents)
    }

    /// The version of the last record.
    pub fn last_version(&self) -> Result<Option<u64>, StorageError> {
        guarded(&self.path, || {
            Ok(self.transaction.open_table(RECORDS)?.last()?.map(|(key, _)| key.value().0))
        })
    }

    /// The records of later versions than this one, in order. One at a time is in memory.
    pub fn records_after(&self, version: u64) -> Records<'_> {
        Records { journal: self, after: version, entries: None, next: None, is_over: false }
    }

    fn missing(&self, what: &str) -> StorageError {
        self.damaged(Damage::Missing(what.to_owned()))
    }

    fn damaged(&self, damage: Damage) -> StorageError {
        StorageError::damaged(&self.path, damage)
    }
}

impl fmt::Debug for PinnedJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedJournal").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The records of a journal, one after the other.
pub struct Records<'j> {
    journal: &'j PinnedJournal,
    after: u64,
    entries: Option<redb::Range<'static, (u64, u32), &'static [u8]>>,
    /// The first piece of the record to come.
    next: Option<SealedPiece>,
    is_over: bool,
}

/// Version and number of a piece, and what is stored under them.
type SealedPiece = ((u64, u32), Vec<u8>);

impl Records<'_> {
    fn piece(&mut self) -> Result<Option<SealedPiece>, StorageError> {
        if let Some(piece) = self.next.take() {
            return Ok(Some(piece));
        }
        let Records { journal, after, entries, .. } = self;
        guarded(&journal.path, || {
            let entries = match entries {
                Some(entries) => entries,
                None => {
                    let table = journal.transaction.open_table(RECORDS)?;
                    entries.insert(table.range((after.saturating_add(1), 0)..)?)
                }
            };
            let Some(entry) = entries.next() else { return Ok(None) };
            let (key, value) = entry?;
            Ok(Some((key.value(), value.value().to_vec())))
        })
    }

    fn record(&mut self) -> Result<Option<StoredRecord>, StorageError> {
        let Some(first) = self.piece()? else { return Ok(None) };
        let version = first.0.0;
        let mut sealed = vec![first];
        while let Some(piece) = self.piece()? {
            if piece.0.0 != version {
                self.next = Some(piece);
                break;
            }
            sealed.push(piece);
        }
        let (journal, found) = (self.journal, sealed.len());
        let mut content = Pieces::default();
        for ((_, piece), value) in sealed {
            let (prefix, sealed) =
                value.split_first_chunk::<COUNT_BYTES>().ok_or_else(|| journal.damaged(Damage::Checksum))?;
            let count = u32::from_le_bytes(*prefix);
            let unsealed =
                unseal(&place(version, piece, count), sealed).map_err(|damage| journal.damaged(damage))?;
            content.push(unsealed.to_vec());
            if count as usize != found {
                return Err(journal.missing(&format!("a part of commit {version}")));
            }
        }
        Ok(Some(StoredRecord { version, content }))
    }
}

impl Iterator for Records<'_> {
    type Item = Result<StoredRecord, StorageError>;

    /// After an error there is nothing more.
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let record = self.record().transpose();
        self.is_over = !matches!(record, Some(Ok(_)));
        record
    }
}
