//! A medium that loses power: files and folders in memory, of which only what was synced survives.
//!
//! Every call that changes something counts as a step. At a chosen step the power goes: that step and everything after
//! it fails, and what comes back is, for each file, what was synced, with none, some or all of what was written since.
//!
//! A sync that fails is as on Linux: the pages that it was about are marked clean. They are read until the power goes,
//! no later sync writes them, and after that they are as they were before.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use redb::StorageBackend;
use stratalog_engine::storage::{DatabaseFile, Files, Medium, NewFile};

/// What comes back of the changes that were never synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsynced {
    /// Nothing.
    Lost,
    /// Everything.
    Kept,
    /// Every second write, and the last one torn in half.
    Mixed,
}

/// The files.
#[derive(Debug, Clone, Default)]
pub struct PowerLoss {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, Arc<Mutex<Content>>>,
    /// Folders that exist; they are durable at once, as [`Medium::create_folder`] promises.
    folders: Vec<PathBuf>,
    /// Names that would survive.
    durable_names: BTreeMap<PathBuf, Arc<Mutex<Content>>>,
    steps: u64,
    fails_at: Option<u64>,
    /// The call after so many more fails, once.
    fails_once: Option<u64>,
    /// The sync after so many more fails, once.
    fails_sync: Option<u64>,
    /// Every sync fails.
    is_sick: bool,
    /// Nothing grows.
    is_full: bool,
    /// Counts the times that power went: whoever holds a file from before gets errors.
    life: u64,
}

#[derive(Debug, Clone, Default)]
struct Content {
    now: Vec<u8>,
    synced: Vec<u8>,
    /// What was written since the last sync.
    since: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Change {
    Length(usize),
    Write(usize, Vec<u8>),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Change::Length(length) => bytes.resize(*length, 0),
            Change::Write(offset, written) => {
                let end = offset + written.len();
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[*offset..end].copy_from_slice(written);
            }
        }
    }
}

impl Content {
    fn change(&mut self, change: Change) {
        change.apply(&mut self.now);
        self.since.push(change);
    }

    /// Pages with changes go to the disk, as they are now.
    fn sync(&mut self) {
        for change in std::mem::take(&mut self.since) {
            match change {
                Change::Length(_) => change.apply(&mut self.synced),
                Change::Write(offset, written) => {
                    let end = (offset + written.len()).next_multiple_of(PAGE).min(self.now.len());
                    let start = (offset / PAGE * PAGE).min(end);
                    Change::Write(start, self.now[start..end].to_vec()).apply(&mut self.synced);
                }
            }
        }
        self.synced.resize(self.now.len(), 0);
    }

    /// Those pages are taken for clean, and never go there.
    fn drop_pages(&mut self) {
        self.since.clear();
    }

    /// Everything is on disk as it is now.
    fn settle(&mut self) {
        self.synced.clone_from(&self.now);
        self.since.clear();
    }

    fn lose(&mut self, unsynced: Unsynced) {
        let mut bytes = std::mem::take(&mut self.synced);
        let last = self.since.len().saturating_sub(1);
        for (i, change) in self.since.iter().enumerate() {
            match (unsynced, change) {
                (Unsynced::Lost, _) => {}
                (Unsynced::Kept, change) => change.apply(&mut bytes),
                (Unsynced::Mixed, Change::Write(offset, written)) if i == last => {
                    Change::Write(*offset, written[..written.len() / 2].to_vec()).apply(&mut bytes);
                }
                (Unsynced::Mixed, change) if i % 2 == 0 => change.apply(&mut bytes),
                (Unsynced::Mixed, _) => {}
            }
        }
        self.now.clone_from(&bytes);
        self.synced = bytes;
        self.since.clear();
    }
}

/// What is written to a disk at once.
const PAGE: usize = 4096;

fn no_power() -> io::Error {
    io::Error::other("no power")
}

impl PowerLoss {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic with the lock held")
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.state().steps
    }

    /// Power goes at this step, counted from the beginning.
    pub fn fail_at(&self, step: u64) {
        self.state().fails_at = Some(step);
    }

    /// The call after so many more fails, once.
    pub fn fail_once_after(&self, calls: u64) {
        self.state().fails_once = Some(calls);
    }

    /// The sync after so many more fails, once.
    pub fn fail_sync_after(&self, syncs: u64) {
        self.state().fails_sync = Some(syncs);
    }

    /// From now on every sync fails, or none.
    pub fn make_sick(&self, is_sick: bool) {
        self.state().is_sick = is_sick;
    }

    /// Whether the call or the sync that was to fail once has come.
    pub fn has_failed(&self) -> bool {
        let state = self.state();
        state.fails_once.is_none() && state.fails_sync.is_none()
    }

    /// Fills the disk, or frees some space: while it is full, nothing grows.
    pub fn fill(&self, is_full: bool) {
        self.state().is_full = is_full;
    }

    /// Power is back.
    pub fn restart(&self, unsynced: Unsynced) {
        let mut state = self.state();
        state.life += 1;
        (state.fails_at, state.fails_once, state.fails_sync) = (None, None, None);
        state.steps = 0;
        // A name that was not durable may have survived all the same.
        let names = match unsynced {
            Unsynced::Lost => state.durable_names.clone(),
            Unsynced::Kept | Unsynced::Mixed => state.files.clone(),
        };
        let mut files = BTreeMap::new();
        for (path, content) in names {
            // A new file, so that whoever held the old one cannot reach it.
            let mut content = content.lock().expect("no panic with the lock held").clone();
            content.lose(unsynced);
            files.insert(path, Arc::new(Mutex::new(content)));
        }
        state.durable_names.clone_from(&files);
        state.files = files;
    }

    /// The process ends without a word: nothing is lost, and whoever held a file from before gets errors.
    pub fn kill(&self) {
        let mut state = self.state();
        state.life += 1;
        (state.fails_at, state.fails_once, state.fails_sync) = (None, None, None);
        state.steps = 0;
    }

    /// The names of all files, for tests that damage them.
    pub fn files(&self) -> Vec<PathBuf> {
        self.state().files.keys().cloned().collect()
    }

    /// Changes the bytes of a file behind everybody's back.
    pub fn damage(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let file = self.state().files[path].clone();
        let mut content = file.lock().expect("no panic with the lock held");
        change(&mut content.now);
        content.settle();
    }

    /// The length of a file.
    pub fn read_len(&self, path: &Path) -> usize {
        self.state().files[path].lock().expect("no panic with the lock held").now.len()
    }

    /// Removes a file behind everybody's back.
    pub fn remove_file(&self, path: &Path) {
        let mut state = self.state();
        state.files.remove(path);
        state.durable_names.remove(path);
    }

    /// Removes a folder behind everybody's back.
    pub fn remove_under(&self, folder: &Path) {
        let mut state = self.state();
        state.files.retain(|path, _| !path.starts_with(folder));
        state.durable_names.retain(|path, _| !path.starts_with(folder));
        state.folders.retain(|path| !path.starts_with(folder));
    }

    /// An independent copy.
    pub fn copy(&self) -> PowerLoss {
        let state = self.state();
        let copy = |files: &BTreeMap<PathBuf, Arc<Mutex<Content>>>| {
            let entry = |(path, content): (&PathBuf, &Arc<Mutex<Content>>)| {
                let content = content.lock().expect("no panic with the lock held").clone();
                (path.clone(), Arc::new(Mutex::new(content)))
            };
            files.iter().map(entry).collect::<BTreeMap<_, _>>()
        };
        let files = copy(&state.files);
        let copied =
            State { durable_names: files.clone(), files, folders: state.folders.clone(), ..State::default() };
        PowerLoss { state: Arc::new(Mutex::new(copied)) }
    }

    /// One change of something.
    fn step(&self, life: u64) -> io::Result<()> {
        let mut state = self.state();
        if life != state.life {
            return Err(no_power());
        }
        state.steps += 1;
        match &mut state.fails_once {
            Some(0) => {
                state.fails_once = None;
                return Err(io::Error::other("a call that fails once"));
            }
            Some(left) => *left -= 1,
            None => {}
        }
        match state.fails_at {
            Some(step) if state.steps > step => Err(no_power()),
            _ => Ok(()),
        }
    }

    /// One sync, of a file or a folder.
    fn sync(&self, life: u64) -> io::Result<()> {
        self.step(life)?;
        let mut state = self.state();
        let fails = match &mut state.fails_sync {
            Some(0) => {
                state.fails_sync = None;
                true
            }
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        };
        match fails || state.is_sick {
            true => Err(io::Error::other("a sync that fails")),
            false => Ok(()),
        }
    }

    fn grow(&self) -> io::Result<()> {
        if self.state().is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    /// Whether the power has gone.
    pub fn is_dark(&self) -> bool {
        let state = self.state();
        state.fails_at.is_some_and(|step| state.steps > step)
    }

    fn life(&self) -> u64 {
        self.state().life
    }
}

impl Medium for PowerLoss {
    fn database(&self, path: &Path) -> io::Result<DatabaseFile> {
        let life = self.life();
        let known = self.state().files.get(path).cloned();
        let content = known.ok_or(io::ErrorKind::NotFound)?;
        Ok(DatabaseFile::new(Backend { medium: self.clone(), content, life }))
    }
}

impl Files for PowerLoss {
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        let life = self.life();
        self.step(life)?;
        let content = Arc::new(Mutex::new(Content::default()));
        Ok(Box::new(File { medium: self.clone(), path: path.to_owned(), content, life }))
    }

    fn read(&self, path: &Path) -> io::Result<Bytes> {
        let state = self.state();
        let content = state.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        let content = content.lock().expect("no panic with the lock held");
        Ok(Bytes::from(content.now.clone()))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(self.life())?;
        // The name may come back: `durable_names` keeps it.
        self.state().files.remove(path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.step(self.life())?;
        let mut state = self.state();
        for folder in path.ancestors() {
            if !state.folders.iter().any(|known| known == folder) {
                state.folders.push(folder.to_owned());
            }
        }
        Ok(())
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.step(self.life())?;
        let mut state = self.state();
        state.files.retain(|file, _| !file.starts_with(path));
        state.durable_names.retain(|file, _| !file.starts_with(path));
        state.folders.retain(|folder| !folder.starts_with(path));
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        let mut names: Vec<String> = state
            .files
            .keys()
            .chain(&state.folders)
            .filter(|entry| entry.parent() == Some(path))
            .filter_map(|entry| Some(entry.file_name()?.to_str()?.to_owned()))
            .collect();
        names.sort();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let state = self.state();
        Ok(state.files.contains_key(path) || state.folders.iter().any(|folder| folder == path))
    }
}

#[derive(Debug)]
struct Backend {
    medium: PowerLoss,
    content: Arc<Mutex<Content>>,
    life: u64,
}

impl Backend {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().expect("no panic with the lock held")
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.content().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let content = self.content();
        let bytes = content.now.get(start..start + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.medium.step(self.life)?;
        let length = usize::try_from(len).map_err(io::Error::other)?;
        if length > self.content().now.len() {
            self.medium.grow()?;
        }
        self.content().change(Change::Length(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let synced = self.medium.sync(self.life);
        match &synced {
            Ok(()) => self.content().sync(),
            Err(_) if self.life == self.medium.life() && !self.medium.is_dark() => {
                self.content().drop_pages();
            }
            Err(_) => {}
        }
        synced
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let done = self.medium.step(self.life);
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        // One that fails may have written a part.
        let written = if done.is_ok() { data.len() } else { data.len() / 2 };
        if done.is_ok() || (self.life == self.medium.life() && !self.medium.is_dark()) {
            self.content().change(Change::Write(offset, data[..written].to_vec()));
        }
        done
    }
}

struct File {
    medium: PowerLoss,
    path: PathBuf,
    content: Arc<Mutex<Content>>,
    life: u64,
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.medium.step(self.life)?;
        self.medium.grow()?;
        let mut content = self.content.lock().expect("no panic with the lock held");
        let offset = content.now.len();
        content.change(Change::Write(offset, bytes.to_vec()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile for File {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.medium.sync(self.life)?;
        self.content.lock().expect("no panic with the lock held").sync();
        self.medium.step(self.life)?;
        self.medium.state().files.insert(self.path.clone(), self.content.clone());
        self.medium.sync(self.life)?;
        self.medium.state().durable_names.insert(self.path.clone(), self.content.clone());
        Ok(())
    }
}
