//! `Bucket`: a bucket of an object store that speaks the protocol of S3, as files.
//!
//! A folder is what names have in common: it is there as long as something is in it. The requests are made by a thread of
//! the bucket's own, and whoever asks waits for them: never ask from a task.

use std::fmt::{self, Debug, Formatter};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::buffered::BufWriter;
use object_store::{ClientConfigKey, ObjectStore, ObjectStoreExt, RetryConfig, path};
use stratalog_engine::storage::{Files, NewFile};
use tokio::io::AsyncWriteExt;
use tokio::runtime::Runtime;
use tokio_rustls::rustls::crypto::ring;

/// How much is sent with one request; what is shorter is one request.
const PART_BYTES: usize = 8 << 20;
/// How many of these are on their way.
const PARTS: usize = 2;
/// A store that does not answer is asked so many times in all.
const ATTEMPTS: usize = 4;
/// How long after the first time it is not asked again.
const RETRY_FOR: Duration = Duration::from_secs(20);
/// Unless the environment says otherwise. A part may travel slowly.
const TIMEOUTS: [(ClientConfigKey, &str); 2] =
    [(ClientConfigKey::ConnectTimeout, "5 seconds"), (ClientConfigKey::Timeout, "5 minutes")];

/// A bucket.
pub(super) struct Bucket {
    /// What all its paths begin with: `s3://NAME`.
    root: PathBuf,
    store: Arc<dyn ObjectStore>,
    runtime: &'static Runtime,
}

impl Bucket {
    /// The bucket of this name. Where it is and who asks stand in the variables that all clients of S3 know, `AWS_...`.
    pub(super) fn open(root: PathBuf, name: &str) -> io::Result<Bucket> {
        // A second one changes nothing.
        let _ = ring::default_provider().install_default();
        let mut builder = AmazonS3Builder::from_env().with_bucket_name(name);
        let endpoint = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
        let endpoint = endpoint.iter().find_map(|key| builder.get_config_value(key));
        if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
            tracing::warn!("backups travel to {} in clear", root.display());
            builder = builder.with_config(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp), "true");
        }
        for (key, value) in TIMEOUTS.map(|(key, value)| (AmazonS3ConfigKey::Client(key), value)) {
            if builder.get_config_value(&key).is_none() {
                builder = builder.with_config(key, value);
            }
        }
        let retry =
            RetryConfig { max_retries: ATTEMPTS - 1, retry_timeout: RETRY_FOR, ..RetryConfig::default() };
        // Not every store that speaks the protocol removes many at once.
        let store = builder.with_retry(retry).with_disable_bulk_delete(true).build().map_err(into_io)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("bucket")
            .enable_all()
            .build()?;
        // A process has one bucket, and it may be let go in a task, where no runtime may end.
        let runtime = Box::leak(Box::new(runtime));
        Ok(Bucket { root, store: Arc::new(store), runtime })
    }

    fn wait<T>(&self, request: impl Future<Output = object_store::Result<T>>) -> io::Result<T> {
        self.runtime.block_on(request).map_err(into_io)
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
        Ok(Box::new(Upload { writer, runtime: self.runtime, is_over: false }))
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
    runtime: &'static Runtime,
    is_over: bool,
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.runtime.block_on(self.writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile for Upload {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.runtime.block_on(self.writer.shutdown())?;
        self.is_over = true;
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // Parts would stay in the store, and cost.
        if !self.is_over
            && let Err(error) = self.runtime.block_on(self.writer.abort())
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
