//! `Bucket`: a bucket of an object store that speaks the protocol of S3, as files.
//!
//! A folder is what names have in common: it is there as long as something is in it.

use std::fmt::{self, Debug, Formatter};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::buffered::BufWriter;
use object_store::{ObjectStore, ObjectStoreExt, path};
use stratalog_engine::storage::{Files, NewFile};
use tokio::io::AsyncWriteExt;

use super::store::{open_store, wait};

/// How much is sent with one request; what is shorter is one request.
const PART_BYTES: usize = 8 << 20;
/// How many of these are on their way.
const PARTS: usize = 2;
/// A bucket.
pub(super) struct Bucket {
    /// What all its paths begin with: `s3://NAME`.
    root: PathBuf,
    store: Arc<dyn ObjectStore>,
}

impl Bucket {
    /// The bucket of this name.
    pub(super) fn open(root: PathBuf, name: &str) -> io::Result<Bucket> {
        let store = open_store(name, &format!("backups travel to {} in clear", root.display()))?;
        Ok(Bucket { root, store })
    }

    fn wait<T>(&self, request: impl Future<Output = object_store::Result<T>>) -> io::Result<T> {
        wait(request)?.map_err(into_io)
    }

    /// The name of what is at a path.
    fn key(&self, path: &Path) -> io::Result<path::Path> {
        let below = path.strip_prefix(&self.root).map_err(io::Error::other)?;
        path::Path::parse(below.to_string_lossy()).map_err(io::Error::other)
    }

    /// Whether anything has a name below this one.
    async fn is_folder(&self, key: &path::Path) -> object_store::Result<bool> {
        Ok(self.store.list(Some(key)).try_next().await?.is_some())
    }
}

impl Files for Bucket {
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        let writer = BufWriter::with_capacity(Arc::clone(&self.store), self.key(path)?, PART_BYTES)
            .with_max_concurrency(PARTS);
        Ok(Box::new(Upload { writer, is_over: false }))
    }

    fn read(&self, path: &Path) -> io::Result<Bytes> {
        let key = self.key(path)?;
        self.wait(async { self.store.get(&key).await?.bytes().await })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let key = self.key(path)?;
        self.wait(self.store.delete(&key))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.key(path).map(drop)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let key = self.key(path)?;
        let store = &self.store;
        self.wait(
            store.list(Some(&key)).try_for_each(|found| async move { store.delete(&found.location).await }),
        )
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let key = self.key(path)?;
        let found = self.wait(self.store.list_with_delimiter(Some(&key)))?;
        let files = found.objects.iter().map(|object| &object.location);
        let names = files.chain(&found.common_prefixes).filter_map(|path| path.filename());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let key = self.key(path)?;
        self.wait(async {
            if key.as_ref().is_empty() {
                // The bucket itself.
                return self.is_folder(&key).await;
            }
            match self.store.head(&key).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::NotFound { .. }) => self.is_folder(&key).await,
                Err(error) => Err(error),
            }
        })
    }
}

impl Debug for Bucket {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("root", &self.root).finish_non_exhaustive()
    }
}

/// A file on its way. Nothing of it is there until it is whole.
struct Upload {
    writer: BufWriter,
    is_over: bool,
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        wait(self.writer.write(bytes))?
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile for Upload {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        wait(self.writer.shutdown())??;
        self.is_over = true;
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // Parts would stay in the store, and cost.
        if !self.is_over
            && let Err(error) = wait(self.writer.abort()).and_then(|aborted| aborted.map_err(into_io))
        {
            tracing::warn!("parts of a file may be left in the object store: {error}");
        }
    }
}

fn into_io(error: object_store::Error) -> io::Error {
    let kind = match &error {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            io::ErrorKind::PermissionDenied
        }
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}
