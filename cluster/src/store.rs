//! `Store`: where files are.

use std::sync::Arc;
use std::sync::mpsc::channel;

use datafusion_common::{DataFusionError, Result};
use datafusion_execution::object_store::ObjectStoreUrl;
use object_store::ObjectStore;
use tokio::runtime::Handle;

/// What the addresses of stores begin with, before the name of a folder.
pub(crate) const SCHEME: &str = "stratalog";

/// A store, and by which name plans know it.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) url: ObjectStoreUrl,
    /// Who waits for it.
    pub(crate) handle: Handle,
}

impl Store {
    /// The folder of this name, as plans know it.
    pub(crate) fn url_of(name: &str) -> Result<ObjectStoreUrl> {
        ObjectStoreUrl::parse(format!("{SCHEME}://{name}"))
    }

    /// A folder, and who waits for it.
    #[cfg(test)]
    pub(crate) fn of_test(folder: &std::path::Path) -> (Store, tokio::runtime::Runtime) {
        let objects = crate::shared::files_in(folder).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let url = Store::url_of("test").unwrap();
        (Store { objects, url, handle: runtime.handle().clone() }, runtime)
    }

    /// Waits for work on files, on a thread that does none.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        wait(&self.handle, work)
    }
}

/// Waits for work on files, on a thread that does none.
pub(crate) fn wait<T: Send + 'static>(
    handle: &Handle,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let (done, is_done) = channel();
    handle.spawn(async move { done.send(work.await).ok() });
    let lost = |_| DataFusionError::Internal("work on files ended without an answer".to_owned());
    is_done.recv().map_err(lost)?
}
