//! `Stores`: all that plans can read and write on an executor, whoever has made them.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion_common::{DataFusionError, Result};
use datafusion_execution::object_store::ObjectStoreRegistry;
use object_store::ObjectStore;
use parking_lot::Mutex;
use url::Url;

use crate::folder::is_process;
use crate::shared::Shared;
use crate::store::SCHEME;

/// The files of processes in a place that executors share with them.
#[derive(Debug)]
pub(super) struct Stores {
    shared: Shared,
    known: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

impl Stores {
    pub(super) fn of(shared: Shared) -> Stores {
        Stores { shared, known: Mutex::default() }
    }
}

impl ObjectStoreRegistry for Stores {
    /// None is added.
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        let name = url.host_str().filter(|name| url.scheme() == SCHEME && is_process(name));
        let name = name.ok_or_else(|| DataFusionError::Execution(format!("{url} is not of a process")))?;
        let mut known = self.known.lock();
        if let Some(store) = known.get(name) {
            return Ok(Arc::clone(store));
        }
        let store = self.shared.files_of(name)?;
        known.insert(name.to_owned(), Arc::clone(&store));
        Ok(store)
    }
}
