//! A database inside of a program: everything that a server answers, without a listener, for whoever has opened it.
//!
//! What travels is what travels to a server, over a pair of sockets that nobody else can reach, so a client needs to know
//! no more than which socket it uses.

use std::fmt;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use parking_lot::Mutex;
use tokio::runtime::Runtime;

use crate::admin::ADMIN_COMMANDS;
use crate::app::{App, OpenError};
use crate::config::{Config, Limits};
use crate::deposits::Deposits;
use crate::http::Inside;
use crate::wire::HandedRows;
use crate::{end, runtime};

/// Where the data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddedPlace {
    /// In memory, as long as it is open.
    Memory,
    /// In a folder, as a server's: it is locked as long as it is open.
    Folder(PathBuf),
}

/// A database that is open in this process.
///
/// A process that is forked from this one cannot use it, nor open another. Without [`Embedded::close`], what was committed is kept all the same.
pub struct Embedded {
    /// None once it is closed.
    running: Mutex<Option<Running>>,
    process: u32,
}

struct Running {
    _standing: Standing,
    inside: Inside,
    runtime: Runtime,
    shutdown: Duration,
}

/// Why it cannot be opened or used.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// The data cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The system has no more threads or sockets.
    #[error("the system refuses what it takes: {0}")]
    System(#[from] io::Error),
    /// It was closed.
    #[error("the database is closed")]
    Closed,
    /// Another process has opened it, from which this one was forked.
    #[error("the database was opened by the process that this one was forked from, and is of no use here")]
    Forked,
    /// When this process was forked, its parent had a database open.
    #[error("this process was forked from one that had a database open, and cannot open any")]
    ForkedOpen,
}

/// How many are open, and in which process.
static OPEN: AtomicUsize = AtomicUsize::new(0);
static OPEN_IN: AtomicU32 = AtomicU32::new(0);

/// One of those that are open.
struct Standing;

impl Standing {
    /// Refused where another process, from which this one was forked, had some: what their threads wait for is noted in memory
    /// that was copied, and the threads were not, so that others may wait here for ever.
    fn take() -> Result<Standing, EmbeddedError> {
        let here = process::id();
        if OPEN.load(Ordering::Acquire) > 0 && OPEN_IN.load(Ordering::Acquire) != here {
            return Err(EmbeddedError::ForkedOpen);
        }
        OPEN_IN.store(here, Ordering::Release);
        OPEN.fetch_add(1, Ordering::AcqRel);
        Ok(Standing)
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::AcqRel);
    }
}

/// How long the last tasks may take to be gone once everything has ended.
const LONGEST_END: Duration = Duration::from_secs(2);

impl Embedded {
    /// Opens it; `threads` evaluate, as many as there are cores unless it says how many. Takes long where there is much to read.
    pub fn open(place: EmbeddedPlace, threads: Option<usize>) -> Result<Embedded, EmbeddedError> {
        let standing = Standing::take()?;
        let (data_dir, in_memory) = match place {
            EmbeddedPlace::Memory => (PathBuf::new(), true),
            EmbeddedPlace::Folder(folder) => (folder, false),
        };
        let mut config = Config::default();
        (config.limits, config.data_dir, config.threads) = (limits(), data_dir, threads);
        let (shutdown, runtime) = (config.limits.shutdown, runtime(&config.limits)?);
        let app = App::open_own(config, ADMIN_COMMANDS, in_memory)?;
        runtime.spawn({
            let app = app.clone();
            async move { app.look_after().await }
        });
        let running = Running { _standing: standing, inside: Inside::new(app), runtime, shutdown };
        Ok(Embedded { running: Mutex::new(Some(running)), process: process::id() })
    }

    /// Another connection: what comes out of this end is what a server would answer, handshake included. Any login is
    /// that of whoever has opened the database.
    pub fn connect(&self) -> Result<UnixStream, EmbeddedError> {
        self.with(|Running { inside, runtime, .. }| {
            let (theirs, ours) = UnixStream::pair()?;
            ours.set_nonblocking(true)?;
            let stream = {
                let _context = runtime.enter();
                tokio::net::UnixStream::from_std(ours)?
            };
            runtime.spawn(inside.serve(stream));
            Ok(theirs)
        })
    }

    /// Leaves rows for an insert of a connection, which sends the frame that is answered in the place of an Arrow stream.
    /// There is at least one batch, all of one schema.
    pub fn deposit(&self, batches: Vec<RecordBatch>) -> Result<Vec<u8>, EmbeddedError> {
        self.with_deposits(|deposits| deposits.leave(batches))
    }

    /// Takes rows back if no insert has taken them.
    pub fn withdraw(&self, frame: &[u8]) -> Result<(), EmbeddedError> {
        self.with_deposits(|deposits| drop(deposits.take(frame)))
    }

    /// Takes the rows of an answer that was asked for `in_place`, by the frame that came instead; none if they were taken.
    pub fn collect(&self, frame: &[u8]) -> Result<Option<HandedRows>, EmbeddedError> {
        self.with_deposits(|deposits| deposits.take_answer(frame))
    }

    fn with_deposits<T>(&self, work: impl FnOnce(&Deposits) -> T) -> Result<T, EmbeddedError> {
        self.with(|running| running.inside.app().deposits.as_deref().map(work).ok_or(EmbeddedError::Closed))
    }

    /// Does something as long as it is open.
    fn with<T>(&self, work: impl FnOnce(&Running) -> Result<T, EmbeddedError>) -> Result<T, EmbeddedError> {
        self.check_process()?;
        work(self.running.lock().as_ref().ok_or(EmbeddedError::Closed)?)
    }

    /// Ends its connections and leaves everything in order: little is left to read for whoever opens the folder next.
    /// Blocks until that is done; does nothing the second time.
    pub fn close(&self) -> Result<(), EmbeddedError> {
        self.check_process()?;
        let Some(running) = self.running.lock().take() else { return Ok(()) };
        let Running { _standing, inside, runtime, shutdown } = running;
        inside.app().stop();
        runtime.block_on(end(inside.app().clone(), shutdown));
        drop(inside);
        // The folder is free when the last task is gone.
        runtime.shutdown_timeout(LONGEST_END);
        Ok(())
    }

    fn check_process(&self) -> Result<(), EmbeddedError> {
        if process::id() == self.process { Ok(()) } else { Err(EmbeddedError::Forked) }
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.running.lock().is_some() { "open" } else { "closed" };
        write!(f, "Embedded({state})")
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        let Some(running) = self.running.get_mut().take() else { return };
        if self.check_process().is_err() {
            // Its threads are in the other process: whoever waits for them waits for ever.
            std::mem::forget(running);
            return;
        }
        running.inside.app().stop();
        running.runtime.shutdown_background();
    }
}

/// What connections and requests may use: what one program may.
fn limits() -> Limits {
    let server = Limits::default();
    Limits {
        query_timeout: Duration::ZERO,
        query_memory: server.total_memory,
        connections: 0,
        connections_of_address: 0,
        sockets: 0,
        unauthenticated: 0,
        requests_per_second: 0,
        messages_per_second: 0,
        idle: Duration::ZERO,
        lifetime: Duration::ZERO,
        session_idle: Duration::ZERO,
        // Whoever closes has said that nothing is waited for.
        shutdown_grace: Duration::ZERO,
        ..server
    }
}
