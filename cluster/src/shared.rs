//! `Shared`: where the files of processes are that others see, in folders or in a bucket.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion_common::Result;
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path;

use crate::bucket::{Bucket, Leased};
use crate::folder::Folder;
use crate::settings::StorePlace;

/// A place that processes share: each has a part of it, with a name.
#[derive(Debug, Clone)]
pub(crate) enum Shared {
    Folder(PathBuf),
    Bucket(Bucket),
}

/// The part of this process, which is emptied at its end.
#[derive(Debug)]
pub(crate) enum Lease {
    Folder(Folder),
    Bucket(Leased),
}

impl Shared {
    pub(crate) fn open(place: &StorePlace) -> Result<Shared> {
        Ok(match place {
            StorePlace::Folder(folder) => Shared::Folder(folder.clone()),
            StorePlace::Bucket { name, prefix } => {
                Shared::Bucket(Bucket::open(name, &path::Path::from(prefix.as_str()))?)
            }
        })
    }

    /// The files of a process.
    pub(crate) fn files_of(&self, process: &str) -> Result<Arc<dyn ObjectStore>> {
        match self {
            Shared::Folder(root) => files_in(&root.join(process)),
            Shared::Bucket(bucket) => Ok(bucket.files_of(process)),
        }
    }

    /// Looks whether it can be reached.
    pub(crate) async fn look(&self) -> Result<()> {
        match self {
            Shared::Folder(root) => drop(std::fs::read_dir(root)?),
            Shared::Bucket(bucket) => bucket.look().await?,
        }
        Ok(())
    }

    /// A part for this process, and the files in it. What those have left who are no more is removed.
    pub(crate) async fn lease(self) -> Result<(Lease, Arc<dyn ObjectStore>)> {
        let lease = match &self {
            Shared::Folder(root) => Lease::Folder(Folder::below(root)?),
            Shared::Bucket(bucket) => Lease::Bucket(bucket.lease().await?),
        };
        let files = self.files_of(lease.name())?;
        Ok((lease, files))
    }
}

impl Lease {
    /// The name of the part.
    pub(crate) fn name(&self) -> &str {
        match self {
            Lease::Folder(folder) => folder.name(),
            Lease::Bucket(leased) => leased.name(),
        }
    }
}

/// The files of a folder.
pub(crate) fn files_in(folder: &Path) -> Result<Arc<dyn ObjectStore>> {
    Ok(Arc::new(LocalFileSystem::new_with_prefix(folder)?.with_automatic_cleanup(true)))
}
