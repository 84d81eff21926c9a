//! `Published`: rows in memory, as files for those who are not in this process. They are written once, and stay while there is room
//! and no other rows of them are masked.

use std::fmt;
use std::sync::Arc;

use datafusion_common::Result;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use parking_lot::Mutex;
use stratalog_engine::data::Run;
use uuid::Uuid;

use crate::batches::of_run;
use crate::files::FileWriter;
use crate::scratch::new_name;
use crate::store::Store;
use crate::table::{File, SMALLEST_SLICE};

/// Rows in memory that are in files, too: those used last come last.
#[derive(Debug)]
pub(crate) struct Published {
    runs: Mutex<Vec<Arc<PublishedRun>>>,
    most_bytes: u64,
}

/// The files of a run, which go with it.
pub(crate) struct PublishedRun {
    /// Those of the run.
    number: u64,
    id: u64,
    files: Vec<File>,
    store: Store,
}

impl Published {
    /// Of up to about so many bytes.
    pub(crate) fn new(most_bytes: u64) -> Published {
        Published { runs: Mutex::default(), most_bytes }
    }

    /// The rows of a run that count, in about so many files.
    pub(crate) fn run(&self, run: &Run, parts: usize, store: &Store) -> Result<Arc<PublishedRun>> {
        if let Some(known) = self.used(run) {
            return Ok(known);
        }
        let batch = of_run(run);
        let slice = batch.num_rows().div_ceil(parts).max(SMALLEST_SLICE);
        let objects = Arc::clone(&store.objects);
        // A folder of its own, as it goes with the last thing in it.
        let prefix = Path::from(format!("run-{}", Uuid::new_v4().simple()));
        let files = store.wait(async move {
            let mut files = Vec::new();
            for start in (0..batch.num_rows()).step_by(slice) {
                let mut file = FileWriter::new(Arc::clone(&objects), new_name(&prefix));
                file.write(&batch.slice(start, slice.min(batch.num_rows() - start))).await?;
                files.extend(file.finish().await?);
            }
            Ok(files)
        })?;
        let published =
            Arc::new(PublishedRun { number: run.number(), id: run.id(), files, store: store.clone() });
        self.keep(&published);
        Ok(published)
    }

    fn used(&self, run: &Run) -> Option<Arc<PublishedRun>> {
        let mut runs = self.runs.lock();
        let place = runs.iter().position(|known| known.number == run.number())?;
        let used = runs.remove(place);
        runs.push(Arc::clone(&used));
        Some(used)
    }

    /// Whoever reads another version of the run keeps that.
    fn keep(&self, run: &Arc<PublishedRun>) {
        let mut runs = self.runs.lock();
        runs.retain(|other| other.id != run.id);
        runs.push(Arc::clone(run));
        let mut bytes: u64 = runs.iter().map(|run| run.bytes()).sum();
        while bytes > self.most_bytes && runs.len() > 1 {
            bytes -= runs.remove(0).bytes();
        }
    }
}

impl PublishedRun {
    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

impl Drop for PublishedRun {
    fn drop(&mut self) {
        let (objects, files) = (Arc::clone(&self.store.objects), std::mem::take(&mut self.files));
        self.store.handle.spawn(async move {
            for file in files {
                // What cannot be removed is in nobody's way.
                objects.delete(&Path::from(file.object)).await.ok();
            }
        });
    }
}

impl fmt::Debug for PublishedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishedRun").field("files", &self.files).finish_non_exhaustive()
    }
}
