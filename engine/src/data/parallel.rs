//! Work split over threads: the only file that names rayon.
//!
//! Work is cut into *lanes* by its size alone, never by the number of threads, and results are put together in the
//! order of lanes: the same input gives the same output on any machine.

use std::ops::Range;

use rayon::prelude::{IntoParallelIterator, ParallelIterator};

/// Stack of a thread: a pipeline goes one call deeper with each of its steps. Only what is used takes memory.
const STACK_BYTES: usize = 64 << 20;

/// The threads of an engine.
#[derive(Debug)]
pub struct Threads {
    pool: rayon::ThreadPool,
}

impl Threads {
    /// So many threads; all cores if `None`.
    pub fn new(threads: Option<usize>) -> Result<Threads, rayon::ThreadPoolBuildError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(0))
            .thread_name(|i| format!("engine-{i}"))
            .stack_size(STACK_BYTES)
            .build()?;
        Ok(Threads { pool })
    }

    /// Runs `work` where [`map`] and [`map_lanes`] use these threads.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }
}

/// `work` over every item, results in order.
pub(crate) fn map<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Sync + Send) -> Vec<T> {
    if items.len() <= 1 {
        return items.into_iter().map(work).collect();
    }
    items.into_par_iter().map(work).collect()
}

/// Cuts `0..rows` into lanes of about `lane_rows`.
pub(crate) fn lanes(rows: usize, lane_rows: usize) -> Vec<Range<usize>> {
    let count = rows.div_ceil(lane_rows.max(1)).max(1);
    (0..count).map(|i| rows * i / count..rows * (i + 1) / count).collect()
}

/// Sorts in parallel; equal items may change places.
pub(crate) fn sort_by_key<T: Send, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    use rayon::slice::ParallelSliceMut;
    items.par_sort_unstable_by_key(key);
}

/// Sorts in parallel; equal items keep their order.
pub(crate) fn sort_stable_by<T: Send>(
    items: &mut [T],
    compare: impl Fn(&T, &T) -> std::cmp::Ordering + Sync,
) {
    use rayon::slice::ParallelSliceMut;
    items.par_sort_by(compare);
}
