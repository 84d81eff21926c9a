//! redb databases: made whole, opened with every page checked.

use std::io::{self, Write};
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::{BackendError, Database, ReadableDatabase, StorageBackend, TableDefinition, WriteTransaction};

use super::FORMAT_VERSION;
use super::error::{Damage, StorageError};
use super::files::Files;
use super::medium::{DatabaseFile, Medium, SyncWatch};
use super::seal::{seal, unseal};
use super::shadow::Shadow;

/// What the database is: `format` and more, sealed.
pub(super) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");

/// Pages that are kept in memory of a database that is written to.
const CACHE_BYTES: usize = 32 << 20;
/// The same of one that is read from its beginning to its end.
const READING_CACHE_BYTES: usize = 4 << 20;

/// A database that is open, and whether a sync of its file has failed.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) database: Database,
    watch: SyncWatch,
}

impl Opened {
    /// Whether what is read back of the file is what is on disk, or will be after the next sync.
    pub(super) fn can_be_trusted(&self) -> bool {
        !self.watch.has_failed()
    }

    /// Makes one durable change, or fails.
    pub(super) fn change(
        &self,
        path: &Path,
        work: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<(), StorageError> {
        guarded(path, || {
            let transaction = self.database.begin_write()?;
            work(&transaction)?;
            Ok(transaction.commit()?)
        })
    }
}

/// Makes a database in a new file: it is there whole, or not at all. Both of redb's commit slots lead to the same
/// content, so that damage to one of them loses nothing.
pub(super) fn create(
    files: &dyn Files,
    path: &Path,
    fill: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
) -> Result<(), StorageError> {
    let image = Image::default();
    guarded(path, || {
        let database = Database::builder().create_with_backend(image.clone())?;
        let transaction = database.begin_write()?;
        transaction
            .open_table(META)?
            .insert("format", seal(b"format", &FORMAT_VERSION.to_le_bytes()).as_slice())?;
        fill(&transaction)?;
        transaction.commit()?;
        let transaction = database.begin_write()?;
        transaction
            .open_table(META)?
            .insert("format", seal(b"format", &FORMAT_VERSION.to_le_bytes()).as_slice())?;
        Ok(transaction.commit()?)
    })?;
    let write = || -> io::Result<()> {
        let mut file = files.create(path)?;
        file.write_all(&image.bytes())?;
        file.finish()
    };
    write().map_err(|error| StorageError::io(path, error))
}

/// Opens a database. All its pages are compared with their hashes, and what a later release wrote is refused.
pub(super) fn open(medium: &dyn Medium, path: &Path) -> Result<Opened, StorageError> {
    let file = find(medium, path)?;
    let watch = file.watch();
    let database = check(path, file, CACHE_BYTES)?;
    Ok(Opened { database, watch })
}

/// Opens a database whose file nobody writes to, as whoever does not know how an earlier process ended: if a sync of it
/// failed, then what is read is not what is on disk, and the least write to the file would damage it.
pub(super) fn look(medium: &dyn Medium, path: &Path) -> Result<Opened, StorageError> {
    let file = find(medium, path)?;
    match file.try_lock_range(Bound::Unbounded, Bound::Unbounded) {
        // A medium without locks is nobody else's.
        Ok(true) | Err(BackendError::Unsupported) => {}
        Ok(false) => return Err(StorageError::InUse { path: path.to_owned() }),
        Err(BackendError::Io(error)) => return Err(StorageError::io(path, error)),
        Err(other) => return Err(StorageError::io(path, io::Error::other(format!("{other:?}")))),
    }
    let watch = file.watch();
    let shadow = Shadow::of(file).map_err(|error| StorageError::io(path, error))?;
    Ok(Opened { database: check(path, shadow, READING_CACHE_BYTES)?, watch })
}

fn find(medium: &dyn Medium, path: &Path) -> Result<DatabaseFile, StorageError> {
    let file = medium.database(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StorageError::damaged(path, Damage::Missing("the file".to_owned())),
        _ => StorageError::io(path, error),
    })?;
    if file.len().map_err(|error| StorageError::io(path, error))? == 0 {
        // redb would make a new database of it.
        return Err(StorageError::damaged(path, Damage::Missing("its content".to_owned())));
    }
    Ok(file)
}

fn check(path: &Path, file: impl StorageBackend, cache: usize) -> Result<Database, StorageError> {
    let (database, format) = guarded(path, || {
        let mut database = Database::builder().set_cache_size(cache).create_with_backend(file)?;
        if !database.check_integrity()? {
            return Err(redb::Error::Corrupted("pages do not fit their checksums".to_owned()));
        }
        let format =
            database.begin_read()?.open_table(META)?.get("format")?.map(|sealed| sealed.value().to_vec());
        Ok((database, format))
    })?;
    let damaged = |damage| StorageError::damaged(path, damage);
    let format = format.ok_or_else(|| damaged(Damage::Missing("the format version".to_owned())))?;
    let version = unseal(b"format", &format).map_err(damaged)?;
    let version = <[u8; 4]>::try_from(version).map_err(|_| damaged(Damage::Checksum))?;
    match u32::from_le_bytes(version) {
        found if found > FORMAT_VERSION => Err(StorageError::Version { path: path.to_owned(), found }),
        _ => Ok(database),
    }
}

/// Runs redb, which panics on some kinds of damage.
pub(super) fn guarded<T>(
    path: &Path,
    work: impl FnOnce() -> Result<T, redb::Error>,
) -> Result<T, StorageError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|error| StorageError::database(path, error)),
        Err(_) => Err(StorageError::damaged(path, Damage::Unreadable("redb cannot read it".to_owned()))),
    }
}

/// A database in memory, on its way to a file.
#[derive(Debug, Clone, Default)]
struct Image(Arc<Mutex<Vec<u8>>>);

impl Image {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StorageBackend for Image {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let bytes = self.bytes();
        out.copy_from_slice(bytes.get(start..start + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.bytes().resize(usize::try_from(len).map_err(io::Error::other)?, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let mut bytes = self.bytes();
        let target = bytes.get_mut(start..start + data.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        target.copy_from_slice(data);
        Ok(())
    }
}
