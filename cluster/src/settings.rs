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
    /// By what it and they know each other: needed where that is not an address of this machine alone.
    pub tls: Option<TlsFiles>,
    /// Where the files are that all of them see.
    pub store: StorePlace,
}

/// Where files are that several processes see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorePlace {
    /// A folder.
    Folder(PathBuf),
    /// What names of a bucket begin with, in a store that speaks the protocol of S3.
    Bucket {
        /// The bucket.
        name: String,
        /// What its names begin with; nothing for all of it.
        prefix: String,
    },
}

impl StorePlace {
    /// A folder, or `s3://BUCKET/PREFIX`.
    pub fn of(text: &str) -> Result<StorePlace, String> {
        match text.split_once("://") {
            Some(("s3", rest)) => {
                let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                match name {
                    "" => Err(format!("no bucket is named in {text}")),
                    name => Ok(StorePlace::Bucket { name: name.to_owned(), prefix: prefix.to_owned() }),
                }
            }
            Some(("file", path)) => Ok(StorePlace::Folder(PathBuf::from(path))),
            Some((scheme, _)) => Err(format!("files cannot be in {scheme}://, but in a folder or in s3://")),
            None if text.is_empty() => Err("no store is named".to_owned()),
            None => Ok(StorePlace::Folder(PathBuf::from(text))),
        }
    }
}

/// The files, in PEM, by which the processes of a cluster know each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificates that those of all of them are signed with.
    pub authority: PathBuf,
    /// The certificate of this process, and those that it is signed with.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl TlsFiles {
    /// All of them, or none.
    pub fn of(
        authority: Option<PathBuf>,
        certificate: Option<PathBuf>,
        key: Option<PathBuf>,
    ) -> Result<Option<TlsFiles>, String> {
        match (authority, certificate, key) {
            (Some(authority), Some(certificate), Some(key)) => {
                Ok(Some(TlsFiles { authority, certificate, key }))
            }
            (None, None, None) => Ok(None),
            _ => Err("TLS in a cluster takes three files: authority, certificate and key".to_owned()),
        }
    }
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
