//! `Scratch`: where the files of one evaluation are, as long as it lasts.

use std::fmt;
use std::sync::Arc;

use datafusion_execution::object_store::ObjectStoreUrl;
use futures::{StreamExt, TryStreamExt};
use object_store::ObjectStore;
use object_store::path::Path;
use tokio::runtime::Handle;
use uuid::Uuid;

/// A store, and by which name plans know it.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) url: ObjectStoreUrl,
    /// Who waits for it.
    pub(crate) handle: Handle,
}

/// A place in a store that is emptied when this is dropped: whatever writes there has it, so that nothing comes later.
pub(crate) struct Scratch {
    store: Store,
    prefix: Path,
}

impl Scratch {
    /// An empty place. It has no folder above it but that of the store: in a file system, a folder goes with the last thing in
    /// it, and what was about to make one below it would fail.
    pub(crate) fn new(store: Store) -> Scratch {
        Scratch { store, prefix: Path::from(format!("job-{}", Uuid::new_v4().simple())) }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// A name in it that nothing has yet, nor will have if what writes it is tried again.
    pub(crate) fn new_name(&self) -> Path {
        self.prefix.clone().join(format!("{}.parquet", Uuid::new_v4().simple()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let (objects, prefix) = (Arc::clone(&self.store.objects), self.prefix.clone());
        let (done, is_done) = std::sync::mpsc::channel();
        self.store.handle.spawn(async move {
            let names = objects.list(Some(&prefix)).map_ok(|found| found.location).boxed();
            // What cannot be removed is in nobody's way, and goes with the process.
            let removed: Result<Vec<Path>, _> = objects.delete_stream(names).try_collect().await;
            done.send(removed.is_ok()).ok();
        });
        // Those who would do it do not wait for themselves.
        if Handle::try_current().is_err() {
            is_done.recv().ok();
        }
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").field("prefix", &self.prefix).finish()
    }
}

#[cfg(test)]
mod tests {
    use object_store::ObjectStoreExt;
    use object_store::local::LocalFileSystem;

    use super::*;

    #[test]
    fn one_may_begin_as_another_ends() {
        let folder = tempfile::tempdir().unwrap();
        let local = LocalFileSystem::new_with_prefix(folder.path()).unwrap().with_automatic_cleanup(true);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let url = ObjectStoreUrl::parse("stratalog://scratch").unwrap();
        let store = Store { objects: Arc::new(local), url, handle: runtime.handle().clone() };
        let writers = [(); 4].map(|()| {
            let store = store.clone();
            std::thread::spawn(move || {
                for _ in 0..2_000 {
                    let scratch = Scratch::new(store.clone());
                    let name = scratch.new_name();
                    store.handle.block_on(store.objects.put(&name, "rows".into())).expect("it is written");
                }
            })
        });
        writers.into_iter().for_each(|writer| writer.join().expect("a thread that ends"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "all has been removed");
    }
}
