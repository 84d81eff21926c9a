//! What evaluations beyond memory may use, and when questions go there.

use std::path::PathBuf;

use stratalog_engine::ClusterUse;

use super::Config;

/// What evaluations beyond memory may use, and when questions go there.
#[derive(Debug, Clone)]
pub struct ClusterSettings {
    /// The folder for rows that are derived on the way and for what spills.
    pub folder: PathBuf,
    /// Where executors find this process, if there are to be any: a host and a port.
    pub listen: Option<String>,
    /// By what it and they know each other.
    pub tls: ClusterTls,
    /// The folder of files that they and this process see.
    pub store: PathBuf,
    /// Bytes of memory that joins, sorts and groups of all evaluations may hold.
    pub memory_bytes: u64,
    /// Bytes that they may put aside in the folder.
    pub disk_bytes: u64,
    /// Questions that read more bytes of stored rows go there at once.
    pub over_bytes: u64,
    /// What graphs do that do not say.
    pub default_use: ClusterUse,
}

/// The files, in PEM, by which the processes of a cluster know each other: all of them, or none.
#[derive(Debug, Clone, Default)]
pub struct ClusterTls {
    /// The certificates that those of all of them are signed with.
    pub authority: Option<PathBuf>,
    /// The certificate of this process, and those that it is signed with.
    pub certificate: Option<PathBuf>,
    /// Its private key.
    pub key: Option<PathBuf>,
}

/// The same, where it is said.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    pub(super) folder: Option<PathBuf>,
    pub(super) listen: Option<String>,
    pub(super) tls: ClusterTls,
    pub(super) store: Option<PathBuf>,
    pub(super) memory_bytes: Option<u64>,
    pub(super) disk_bytes: Option<u64>,
    pub(super) over_bytes: Option<u64>,
    pub(super) default_use: Option<ClusterUse>,
}

impl Config {
    /// Whether anything is said of it.
    pub(crate) fn tells_of_cluster(&self) -> bool {
        self.sources.keys().any(|key| key.starts_with("cluster."))
    }

    /// What is said, and else a folder of the data, the memory of one question, and all of the disk.
    pub fn cluster(&self) -> ClusterSettings {
        let Said { folder, listen, tls, store, memory_bytes, disk_bytes, over_bytes, default_use } =
            &self.cluster;
        let folder = folder.clone().unwrap_or_else(|| self.data_dir.join("cluster"));
        ClusterSettings {
            listen: listen.clone(),
            tls: tls.clone(),
            store: store.clone().unwrap_or_else(|| folder.join("store")),
            folder,
            memory_bytes: memory_bytes.unwrap_or(self.limits.query_memory),
            disk_bytes: disk_bytes.unwrap_or(u64::MAX),
            over_bytes: over_bytes.unwrap_or(self.limits.query_memory),
            default_use: default_use.unwrap_or(ClusterUse::Off),
        }
    }
}
