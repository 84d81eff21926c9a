//! `Bucket`: a part of a bucket, in a store that speaks the protocol of S3, where the files of processes are.
//!
//! Nobody can lock anything there. So a process writes a mark again and again, and those whose mark has become old are taken for
//! dead: what they have left is removed by whoever comes next.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use datafusion_common::{DataFusionError, Result};
use futures::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ClientConfigKey, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::runtime;
use tokio::task::JoinHandle;
use tokio::time::interval;

use crate::folder::{is_process, new_process};

/// The name of the mark of a process, among its files.
const MARK: &str = "mark";
/// How often it is written,
const OFTEN: Duration = Duration::from_mins(10);
/// and how old it is of somebody who is dead: machines may sleep.
const OLD: Duration = Duration::from_hours(24);
/// A store that does not answer is asked so many times in all,
const ATTEMPTS: usize = 4;
/// and not any more that long after the first time.
const RETRY_FOR: Duration = Duration::from_secs(20);
/// How long to wait for files to be removed at the end.
const LEAVE: Duration = Duration::from_secs(20);
/// Unless the environment says otherwise. A part may travel slowly.
const TIMEOUTS: [(ClientConfigKey, &str); 2] =
    [(ClientConfigKey::ConnectTimeout, "5 seconds"), (ClientConfigKey::Timeout, "5 minutes")];

/// A part of a bucket.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    objects: Arc<dyn ObjectStore>,
}

/// The files of a process there, which are removed with it.
#[derive(Debug)]
pub(crate) struct Leased {
    objects: Arc<dyn ObjectStore>,
    name: String,
    marking: JoinHandle<()>,
}

impl Bucket {
    /// What begins with these names in the bucket. Where it is and who asks stand in the variables that all clients of S3 know,
    /// `AWS_...`.
    pub(crate) fn open(bucket: &str, prefix: &Path) -> Result<Bucket> {
        let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
        let endpoint = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
        let endpoint = endpoint.iter().find_map(|key| builder.get_config_value(key));
        if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
            tracing::warn!("rows travel to s3://{bucket} in clear");
            builder = builder.with_config(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp), "true");
        }
        for (key, value) in TIMEOUTS.map(|(key, value)| (AmazonS3ConfigKey::Client(key), value)) {
            if builder.get_config_value(&key).is_none() {
                builder = builder.with_config(key, value);
            }
        }
        let retry =
            RetryConfig { max_retries: ATTEMPTS - 1, retry_timeout: RETRY_FOR, ..RetryConfig::default() };
        let all = builder.with_retry(retry).build()?;
        Ok(Bucket { objects: Arc::new(PrefixStore::new(all, prefix.clone())) })
    }

    /// The files of a process of this name.
    pub(crate) fn files_of(&self, name: &str) -> Arc<dyn ObjectStore> {
        Arc::new(PrefixStore::new(Arc::clone(&self.objects), name))
    }

    /// Looks whether it can be reached.
    pub(crate) async fn look(&self) -> Result<()> {
        self.objects.list(None).try_next().await?;
        Ok(())
    }

    /// A place for the files of this process, as long as it lasts. What the dead have left is removed.
    pub(crate) async fn lease(&self) -> Result<Leased> {
        let name = new_process();
        let mark = Path::from(name.as_str()).join(MARK);
        self.objects.put(&mark, name.clone().into()).await?;
        self.sweep(&name).await?;
        let objects = Arc::clone(&self.objects);
        let marking = tokio::spawn({
            let (objects, name) = (Arc::clone(&objects), name.clone());
            async move {
                let mut often = interval(OFTEN);
                loop {
                    often.tick().await;
                    if let Err(error) = objects.put(&mark, name.clone().into()).await {
                        tracing::warn!(%error, "cannot say in the store that this process lives");
                    }
                }
            }
        });
        Ok(Leased { objects, name, marking })
    }

    /// Removes what the dead have left, by the clock of the store.
    async fn sweep(&self, own: &str) -> Result<()> {
        let mut found: BTreeMap<String, Vec<ObjectMeta>> = BTreeMap::new();
        let mut all = self.objects.list(None);
        while let Some(object) = all.try_next().await? {
            let process = object.location.as_ref().split('/').next().unwrap_or_default();
            if is_process(process) {
                found.entry(process.to_owned()).or_default().push(object);
            }
        }
        let marked = |process: &str, objects: &[ObjectMeta]| {
            let mark = Path::from(process).join(MARK);
            objects.iter().find(|object| object.location == mark).map(|object| object.last_modified)
        };
        let Some(now) = found.get(own).and_then(|objects| marked(own, objects)) else { return Ok(()) };
        let is_dead = |process: &str, objects: &[ObjectMeta]| {
            marked(process, objects).is_some_and(|marked| (now - marked).to_std().unwrap_or_default() > OLD)
        };
        let dead = found.into_iter().filter(|(process, objects)| is_dead(process, objects));
        let left = dead.flat_map(|(_, objects)| objects).map(|object| object.location);
        remove(&self.objects, left.collect()).await
    }
}

impl Leased {
    /// Its name among those of other processes.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        self.marking.abort();
        let (objects, prefix) = (Arc::clone(&self.objects), Path::from(self.name.as_str()));
        // The threads that ask stores may be gone already, and those who wait for this may be theirs.
        let removing = std::thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let found = objects.list(Some(&prefix)).map_ok(|object| object.location).try_collect();
                let removed = tokio::time::timeout(LEAVE, async { remove(&objects, found.await?).await });
                removed
                    .await
                    .unwrap_or_else(|_| Err(DataFusionError::Execution("it takes too long".to_owned())))
            })
        });
        if let Ok(Err(error)) = removing.join() {
            tracing::warn!(%error, "files of this process are left in the store");
        }
    }
}

/// Removes objects.
async fn remove(objects: &Arc<dyn ObjectStore>, names: Vec<Path>) -> Result<()> {
    let names = futures::stream::iter(names.into_iter().map(Ok)).boxed();
    let removed = objects.delete_stream(names);
    removed.try_for_each(|_| async { Ok(()) }).await?;
    Ok(())
}
