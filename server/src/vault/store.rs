//! Object stores that speak the protocol of S3. The requests are made by one thread, and whoever asks waits for them: never ask from a
//! task.

use std::io;
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};
use stratalog_engine::{Budget, BudgetError};
use tokio::runtime::Runtime;
use tokio::time::sleep;
use tokio_rustls::rustls::crypto::ring;

/// How soon it is noticed that a request has to stop.
const PATIENCE: Duration = Duration::from_millis(20);
/// A store that does not answer is asked so many times in all.
const ATTEMPTS: usize = 4;
/// How long after the first time it is not asked again.
const RETRY_FOR: Duration = Duration::from_secs(20);
/// Unless the environment says otherwise. A part may travel slowly.
const TIMEOUTS: [(ClientConfigKey, &str); 2] =
    [(ClientConfigKey::ConnectTimeout, "5 seconds"), (ClientConfigKey::Timeout, "5 minutes")];

/// The bucket of this name. Where it is and who asks stand in the variables that all clients of S3 know, `AWS_...`. Where nothing is
/// encrypted on the way, that is told.
pub(crate) fn open_store(name: &str, in_clear: &str) -> io::Result<Arc<dyn ObjectStore>> {
    // A second one changes nothing.
    let _ = ring::default_provider().install_default();
    runtime()?;
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(name);
    let endpoint = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    let endpoint = endpoint.iter().find_map(|key| builder.get_config_value(key));
    if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
        tracing::warn!("{in_clear}");
        builder = builder.with_config(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp), "true");
    }
    for (key, value) in TIMEOUTS.map(|(key, value)| (AmazonS3ConfigKey::Client(key), value)) {
        if builder.get_config_value(&key).is_none() {
            builder = builder.with_config(key, value);
        }
    }
    let retry = RetryConfig { max_retries: ATTEMPTS - 1, retry_timeout: RETRY_FOR, ..RetryConfig::default() };
    // Not every store that speaks the protocol removes many at once.
    let store = builder.with_retry(retry).with_disable_bulk_delete(true).build().map_err(io::Error::other)?;
    Ok(Arc::new(store))
}

/// Waits for what a store is asked.
pub(crate) fn wait<F: Future>(request: F) -> io::Result<F::Output> {
    Ok(runtime()?.block_on(request))
}

/// The same, as long as a request may go on.
pub(crate) fn wait_within<F: Future>(
    request: F,
    budget: &Budget,
) -> io::Result<Result<F::Output, BudgetError>> {
    Ok(runtime()?.block_on(async {
        let mut request = pin!(request);
        loop {
            tokio::select! {
                answer = &mut request => return Ok(answer),
                () = sleep(PATIENCE) => budget.check()?,
            }
        }
    }))
}

/// What makes the requests: one for the process, which never ends, as a store may be let go in a task, where no runtime may.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(1).thread_name("bucket").enable_all().build()
    });
    RUNTIME.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))
}
