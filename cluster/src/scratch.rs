//! `Scratch`: where the files of one evaluation are, as long as it lasts.

use std::fmt;
use std::sync::Arc;

use datafusion_common::Result;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use parking_lot::Mutex;
use stratalog_engine::data::Run;
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::published::{Published, PublishedRun};
use crate::store::Store;
use crate::table::Layer;

/// A place in a store that is emptied when this is dropped: whatever writes there has it, so that nothing comes later.
pub(crate) struct Scratch {
    store: Store,
    prefix: Path,
    /// The files of rows in memory, if there are to be any,
    published: Option<Arc<Published>>,
    /// and those that plans of this evaluation may read.
    lent: Mutex<Vec<Arc<PublishedRun>>>,
}

impl Scratch {
    /// An empty place. It has no folder above it but that of the store: in a file system, a folder goes with the last thing in
    /// it, and what was about to make one below it would fail.
    pub(crate) fn new(store: Store, published: Option<Arc<Published>>) -> Scratch {
        let prefix = Path::from(format!("job-{}", Uuid::new_v4().simple()));
        Scratch { store, prefix, published, lent: Mutex::default() }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// What the names of its files begin with.
    pub(crate) fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// The rows of runs as files, if whoever reads them does so from there.
    pub(crate) fn published(&self, runs: &[Run], parts: usize) -> Result<Option<Layer>> {
        let Some(published) = &self.published else { return Ok(None) };
        let mut all = Layer::default();
        for run in runs.iter().filter(|run| !run.is_empty()) {
            let run = published.run(run, parts, &self.store)?;
            all.files.extend(run.files().iter().cloned().enumerate());
            self.lent.lock().push(run);
        }
        Ok(Some(all))
    }
}

/// A name below a prefix that nothing has yet, nor will have if what writes it is tried again.
pub(crate) fn new_name(prefix: &Path) -> Path {
    prefix.clone().join(format!("{}.parquet", Uuid::new_v4().simple()))
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let (objects, prefix) = (Arc::clone(&self.store.objects), self.prefix.clone());
        let (done, is_done) = std::sync::mpsc::channel();
        self.store.handle.spawn(async move {
            let names = objects.list(Some(&prefix)).map_ok(|found| found.location).boxed();
            // What cannot be removed is in nobody's way, and goes with the process.
            let removed: std::result::Result<Vec<Path>, _> = objects.delete_stream(names).try_collect().await;
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

    use super::*;

    #[test]
    fn one_may_begin_as_another_ends() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _runtime) = Store::of_test(folder.path());
        let writers = [(); 4].map(|()| {
            let store = store.clone();
            std::thread::spawn(move || {
                for _ in 0..2_000 {
                    let scratch = Scratch::new(store.clone(), None);
                    let name = new_name(scratch.prefix());
                    store.handle.block_on(store.objects.put(&name, "rows".into())).expect("it is written");
                }
            })
        });
        writers.into_iter().for_each(|writer| writer.join().expect("a thread that ends"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "all has been removed");
    }
}
