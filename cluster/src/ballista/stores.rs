//! `Stores`: all that plans can read and write on an executor, whoever has made them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion_common::{DataFusionError, Result};
use datafusion_execution::object_store::ObjectStoreRegistry;
use object_store::ObjectStore;
use parking_lot::Mutex;
use url::Url;

use crate::runner::objects;
use crate::store::SCHEME;

/// The folders of processes below one that executors share with them.
#[derive(Debug)]
pub(super) struct Stores {
    root: PathBuf,
    known: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

impl Stores {
    pub(super) fn below(root: PathBuf) -> Stores {
        Stores { root, known: Mutex::default() }
    }
}

impl ObjectStoreRegistry for Stores {
    /// None is added.
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let name = url.host_str().filter(|_| url.scheme() == SCHEME).filter(is_name);
        let name =
            name.ok_or_else(|| DataFusionError::Execution(format!("{url} is no folder of a process")))?;
        let mut known = self.known.lock();
        if let Some(store) = known.get(name) {
            return Ok(Arc::clone(store));
        }
        let store = objects(&self.root.join(name))?;
        known.insert(name.to_owned(), Arc::clone(&store));
        Ok(store)
    }
}
