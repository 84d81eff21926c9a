//! Work split over threads: the only file that names rayon.
//!
//! Work is cut into *lanes* by its size alone, never by the number of threads, and results are put together in the
//! order of lanes: the same input gives the same output on any machine.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuildError};

use super::lazy::{GoOn, Stopped, each_row};
use super::priority::{self, Priority};

/// Stack of a thread: a pipeline goes one call deeper with each of its steps. Only what is used takes memory.
const STACK_BYTES: usize = 64 << 20;

/// Work on fewer rows is sooner done than handed to others and waited for.
pub(crate) const FEW_ROWS: usize = 1 << 13;

/// The threads of an engine, in crews. Whoever runs something has a crew of their own meanwhile, so no work ever waits
/// behind another's: the operating system shares the processor out among all that run. A crew that has given way to
/// others has a lower priority from then on, and is dismissed after its work, as few may raise theirs again.
#[derive(Debug)]
pub struct Threads {
    /// Threads of the first crew.
    most: usize,
    crews: Mutex<Crews>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Crews {
    made: usize,
    /// Those without work, by their number: the largest crews first.
    idle: BTreeMap<usize, Arc<Members>>,
}

/// The threads of a crew.
#[derive(Debug)]
struct Members {
    pool: ThreadPool,
    priority: Arc<Priority>,
}

impl Threads {
    /// So many threads for whoever is alone; all cores if `None`. The more run at once, the smaller their crews.
    pub fn new(threads: Option<usize>) -> Result<Threads, ThreadPoolBuildError> {
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let most = threads.unwrap_or_else(cores).max(1);
        let threads = Threads { most, crews: Mutex::default(), returned: Condvar::new() };
        let first = threads.members(0)?;
        *threads.crews.lock() = Crews { made: 1, idle: [(0, first)].into() };
        Ok(threads)
    }

    /// Runs `work` where [`map`] and [`sort_by_key`] use the threads of a crew. Elsewhere they use the caller's alone.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        if is_in_crew() {
            return work();
        }
        self.take().members.pool.install(work)
    }

    /// The same for work on so many rows, which the caller does alone if they are few.
    pub fn run_on<T: Send>(&self, rows: usize, work: impl FnOnce() -> T + Send) -> T {
        if rows < FEW_ROWS { work() } else { self.run(work) }
    }

    /// An idle crew, or a new one.
    fn take(&self) -> Crew<'_> {
        let mut crews = self.crews.lock();
        loop {
            if let Some((number, members)) = crews.idle.pop_first() {
                return Crew { threads: self, number, members };
            }
            let number = crews.made;
            if let Ok(members) = self.members(number) {
                crews.made += 1;
                return Crew { threads: self, number, members };
            }
            // The system has no threads left.
            self.returned.wait(&mut crews);
        }
    }

    /// The first crew has all threads, the second half as many, the third a third: many crews are few threads.
    fn members(&self, number: usize) -> Result<Arc<Members>, ThreadPoolBuildError> {
        let priority = Arc::new(Priority::default());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads((self.most / (number + 1)).max(1))
            .thread_name(move |i| format!("engine-{number}-{i}"))
            .stack_size(STACK_BYTES)
            .start_handler({
                let priority = Arc::clone(&priority);
                move |_| priority::share(&priority)
            })
            .build()?;
        Ok(Arc::new(Members { pool, priority }))
    }
}

/// A crew at work. It is idle again when this is dropped.
struct Crew<'t> {
    threads: &'t Threads,
    number: usize,
    members: Arc<Members>,
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        let members = match self.members.priority.is_low() {
            // Where no threads are left, slow ones are better than none.
            true => self.threads.members(self.number).unwrap_or_else(|_| Arc::clone(&self.members)),
            false => Arc::clone(&self.members),
        };
        self.threads.crews.lock().idle.insert(self.number, members);
        self.threads.returned.notify_one();
    }
}

fn is_in_crew() -> bool {
    rayon::current_thread_index().is_some()
}

/// Number of threads that share the work done here.
pub(crate) fn thread_count() -> usize {
    if is_in_crew() { rayon::current_num_threads() } else { 1 }
}

/// `work` over every item, results in order.
pub(crate) fn map<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Sync + Send) -> Vec<T> {
    if items.len() <= 1 || !is_in_crew() {
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
    if is_in_crew() {
        items.par_sort_unstable_by_key(key);
    } else {
        items.sort_unstable_by_key(key);
    }
}

/// Sorts parts in parallel, and then merges pairs of them; equal items keep their order. Unlike a sort of all items at
/// once it can be stopped.
pub(crate) fn sort_stable_by<T: Copy + Send + Sync>(
    mut items: Vec<T>,
    go_on: GoOn<'_>,
    compare: impl Fn(&T, &T) -> Ordering + Sync,
) -> Result<Vec<T>, Stopped> {
    const PART: usize = 1 << 14;
    let sort = |part: &mut [T]| {
        part.sort_by(&compare);
        go_on().then_some(()).ok_or(Stopped)
    };
    map(items.chunks_mut(PART).collect(), sort).into_iter().collect::<Result<(), _>>()?;
    let mut width = PART;
    while width < items.len() {
        let merge = |pair: &[T]| merge(pair.split_at(width.min(pair.len())), go_on, &compare);
        let merged = map(items.chunks(2 * width).collect(), merge);
        let merged = merged.into_iter().collect::<Result<Vec<_>, _>>()?;
        items = if merged.len() == 1 { merged.into_iter().flatten().collect() } else { merged.concat() };
        width *= 2;
    }
    Ok(items)
}

fn merge<T: Copy>(
    (left, right): (&[T], &[T]),
    go_on: GoOn<'_>,
    compare: &impl Fn(&T, &T) -> Ordering,
) -> Result<Vec<T>, Stopped> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    each_row(0..left.len() + right.len(), go_on, |_| {
        let is_right = match (left.get(i), right.get(j)) {
            (Some(a), Some(b)) => compare(b, a).is_lt(),
            (left, _) => left.is_none(),
        };
        if is_right {
            merged.push(right[j]);
            j += 1;
        } else {
            merged.push(left[i]);
            i += 1;
        }
    })?;
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::{Stopped, Threads, priority, sort_stable_by};

    #[test]
    fn parts_are_sorted_and_merged() {
        for len in [0, 1, 16_384, 16_385, 100_000] {
            let items: Vec<(u32, u32)> =
                (0..len).map(|i: u32| (i.wrapping_mul(0x9E37_79B9) % 1_000, i)).collect();
            let mut expected = items.clone();
            expected.sort();
            assert!(sort_stable_by(items, &|| true, |a, b| a.0.cmp(&b.0)) == Ok(expected));
        }
        assert_eq!(sort_stable_by(vec![2, 1], &|| false, u32::cmp), Err(Stopped));
    }

    #[test]
    fn everybody_has_a_crew_and_it_is_used_again() {
        let threads = Threads::new(Some(4)).unwrap();
        let together = Barrier::new(3);
        // None of the three ends before all have begun: with one crew this would wait for ever.
        let mut sizes: Vec<usize> = std::thread::scope(|scope| {
            let begin = || threads.run(|| (together.wait(), rayon::current_num_threads()).1);
            let begun: Vec<_> = (0..3).map(|_| scope.spawn(begin)).collect();
            begun.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        sizes.sort_unstable();
        assert_eq!(sizes, [1, 2, 4]);
        assert_eq!(threads.run(rayon::current_num_threads), 4);
        assert_eq!(threads.crews.lock().made, 3);
        assert_eq!(threads.run(|| threads.run(rayon::current_num_threads)), 4);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_crew_that_has_given_way_is_replaced() {
        let threads = Threads::new(Some(2)).unwrap();
        let (first, usual) = threads.run(|| (std::thread::current().id(), priority::nice()));
        let nices = threads.run(|| {
            priority::give_way();
            rayon::broadcast(|_| priority::nice())
        });
        assert_eq!(nices, [usual.max(15); 2]);
        let after = threads.run(|| rayon::broadcast(|_| (priority::nice(), std::thread::current().id())));
        assert_eq!(after.iter().map(|(nice, _)| *nice).collect::<Vec<_>>(), [usual; 2]);
        assert!(after.iter().all(|(_, id)| *id != first));
        assert_eq!(threads.crews.lock().made, 1);
    }

    #[test]
    fn a_crew_survives_a_panic() {
        let threads = Threads::new(Some(1)).unwrap();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            threads.run(|| panic!("on purpose"));
        }));
        assert!(panicked.is_err());
        assert_eq!(threads.run(|| 7), 7);
        assert_eq!(threads.crews.lock().made, 1);
    }
}
