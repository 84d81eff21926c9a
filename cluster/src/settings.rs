//! `Settings`: what is given for an evaluation.

use std::net::SocketAddr;
use std::path::PathBuf;

/// What evaluations may use, and from when on they work in other ways.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder for rows that are derived on the way and for what spills. It is emptied after each evaluation.
    pub folder: PathBuf,
    /// Bytes that joins, sorts and groups of all evaluations may hold; beyond these they spill.
    pub pool_bytes: usize,
    /// Bytes of files that joins, sorts and groups may spill.
    pub spill_bytes: u64,
    /// In so many parts rows are cut, by the hash of a key; threads work on parts.
    pub partitions: usize,
    /// Threads.
    pub threads: usize,
    /// Rows of a batch.
    pub batch_rows: usize,
    /// A side of a join of up to so many bytes is read by every part, and the other one need not be moved.
    pub shared_bytes: usize,
    /// From so many rows on what belongs to whole groups is worked on at once.
    pub group_rows: usize,
    /// So many rows should come of that.
    pub group_rows_made: usize,
    /// What reads at most so many bytes is tried in memory first, for a moment and in a few times as many; of 0, nothing is.
    pub small_bytes: usize,
    /// Bytes of relations that a recursion may read as a whole in each part, where it falls apart.
    pub carried_bytes: usize,
    /// Whether plans are run by executors, as far as they can be.
    pub coordination: Option<Coordination>,
}

/// How executors find this process, and both their files.
#[derive(Debug, Clone)]
pub struct Coordination {
    /// Where it listens for them.
    pub listen: SocketAddr,
    /// The folder of files that all of them see.
    pub store: PathBuf,
}

impl Settings {
    /// What a machine of this many threads would use in this folder.
    pub fn new(folder: impl Into<PathBuf>, threads: usize) -> Settings {
        Settings {
            folder: folder.into(),
            pool_bytes: 1 << 30,
            spill_bytes: 1 << 40,
            partitions: 4 * threads,
            threads,
            batch_rows: 8_192,
            shared_bytes: 16 << 20,
            group_rows: 1 << 16,
            group_rows_made: 1 << 22,
            small_bytes: 8 << 20,
            carried_bytes: 1 << 28,
            coordination: None,
        }
    }
}
