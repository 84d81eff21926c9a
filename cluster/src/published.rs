//! `Published`: rows in memory, as files for those who are not in this process. They are written once, and stay while there is room
//! and no other rows of them are masked.

use std::fmt;
use std::sync::Arc;

use datafusion_common::Result;
use futures::StreamExt;
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
            let names =
                futures::stream::iter(files.into_iter().map(|file| Ok(Path::from(file.object)))).boxed();
            // What cannot be removed is in nobody's way.
            objects.delete_stream(names).for_each(|_| async {}).await;
        });
    }
}

impl fmt::Debug for PublishedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishedRun").field("files", &self.files).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, Instant};

    use super::*;

    fn run_of(rows: u32) -> Run {
        Run::new(vec![(0..rows).collect(), (1..=rows).collect()], rows as usize)
    }

    fn rows(run: &PublishedRun) -> usize {
        run.files().iter().map(|file| file.rows).sum()
    }

    /// Waits until so many files are left: they are removed by somebody else.
    fn has_files(folder: &Path, expected: usize) {
        let begun = Instant::now();
        let count = || {
            let folders = std::fs::read_dir(folder).unwrap().flatten();
            folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten()).count()
        };
        while count() != expected {
            assert!(begun.elapsed() < Duration::from_secs(20), "{} files, and not {expected}", count());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_version_takes_the_place_of_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _runtime) = Store::of_test(folder.path());
        let published = Published::new(u64::MAX);
        let run = run_of(3_000);
        let first = published.run(&run, 2, &store).unwrap();
        assert_eq!((rows(&first), first.files().len()), (3_000, 2));
        let again = published.run(&run, 2, &store).unwrap();
        assert!(Arc::ptr_eq(&first, &again), "it is written once");
        drop(again);

        let without = run.without(&[0, 1_500]);
        let second = published.run(&without, 2, &store).unwrap();
        assert_eq!(rows(&second), 2_998);
        // Who has begun to read goes on reading.
        has_files(folder.path(), 4);
        drop(first);
        has_files(folder.path(), 2);
        drop((second, published));
        has_files(folder.path(), 0);
    }

    #[test]
    fn those_used_last_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _runtime) = Store::of_test(folder.path());
        let [first, second, third] = [run_of(1_000), run_of(1_000), run_of(1_000)];
        let bytes = Published::new(u64::MAX).run(&first, 1, &store).unwrap().bytes();
        let published = Published::new(2 * bytes);
        let publish = |run: &Run| published.run(run, 1, &store).unwrap();
        let kept = [&first, &second].map(|run| Arc::downgrade(&publish(run)));
        publish(&first);
        publish(&third);
        assert!(kept[0].upgrade().is_some() && kept[1].upgrade().is_none(), "the second was used before");
        has_files(folder.path(), 2);
        // More than there may be is kept as long as it is the only one.
        let large = run_of(50_000);
        let large = Arc::downgrade(&publish(&large));
        assert!(large.upgrade().is_some());
        has_files(folder.path(), 1);
    }
}
