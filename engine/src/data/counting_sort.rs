//! Items by group, in the order of rows, on all threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

use super::lazy::{GoOn, Stopped, each_row};
use super::parallel::{lanes, thread_count};

/// Fewer rows are not worth a second thread.
const MANY: usize = 1 << 20;

/// What is sorted: something that threads can put into places of one list.
pub trait Item: Copy + Default + Ord + Send + Sync {
    /// A place.
    type Cell: Default + Send + Sync;
    /// Puts it into a place, which nobody else does.
    fn put(self, cell: &Self::Cell);
    /// What was put there.
    fn taken(cell: Self::Cell) -> Self;
}

macro_rules! item {
    ($item:ty, $cell:ty) => {
        impl Item for $item {
            type Cell = $cell;

            #[inline]
            fn put(self, cell: &$cell) {
                cell.store(self, Ordering::Relaxed);
            }

            #[inline]
            fn taken(cell: $cell) -> $item {
                cell.into_inner()
            }
        }
    };
}

item!(u32, AtomicU32);
item!(u64, AtomicU64);

/// The items of all rows, those of one group side by side, and where each group begins; one more beginning is the end.
pub fn counting_sort<T: Item>(
    rows: usize,
    groups: usize,
    group_of: impl Fn(usize) -> u32 + Sync,
    item_of: impl Fn(usize) -> T + Sync,
    go_on: GoOn<'_>,
) -> Result<(Vec<u32>, Vec<T>), Stopped> {
    let threads = thread_count();
    if rows < MANY || threads == 1 || groups > rows {
        return on_one_thread(rows, groups, group_of, item_of, go_on);
    }
    // These threads are not rayon's: one that waits for others must not be given other work, which could wait for what
    // is made here.
    let chunks = lanes(rows, rows.div_ceil(threads));
    let count = |chunk: Range<usize>| {
        let mut counts = vec![0_u32; groups];
        each_row(chunk, go_on, |row| counts[group_of(row) as usize] += 1).map(|()| counts)
    };
    let mut counts: Vec<Vec<u32>> = thread::scope(|scope| {
        let counting: Vec<_> = chunks.iter().map(|chunk| scope.spawn(|| count(chunk.clone()))).collect();
        counting.into_iter().map(|counting| counting.join().unwrap_or(Err(Stopped))).collect::<Result<_, _>>()
    })?;
    // Where the items of each group from each chunk go.
    let mut starts = Vec::with_capacity(groups + 1);
    let mut start = 0;
    for group in 0..groups {
        starts.push(start);
        for counts in &mut counts {
            start += std::mem::replace(&mut counts[group], start);
        }
    }
    starts.push(start);
    let items: Vec<T::Cell> = (0..rows).map(|_| T::Cell::default()).collect();
    let place = |chunk: Range<usize>, mut next: Vec<u32>| {
        each_row(chunk, go_on, |row| {
            let slot = &mut next[group_of(row) as usize];
            // Each place is written once.
            item_of(row).put(&items[*slot as usize]);
            *slot += 1;
        })
    };
    thread::scope(|scope| {
        let chunks = chunks.into_iter().zip(counts);
        let placing: Vec<_> = chunks.map(|(chunk, next)| scope.spawn(|| place(chunk, next))).collect();
        placing.into_iter().try_for_each(|placing| placing.join().unwrap_or(Err(Stopped)))
    })?;
    Ok((starts, items.into_iter().map(T::taken).collect()))
}

/// Where each group begins, of rows that stand in the order of their groups.
pub(super) fn starts_of_sorted(
    rows: usize,
    groups: usize,
    group_of: impl Fn(usize) -> u32,
    go_on: GoOn<'_>,
) -> Result<Vec<u32>, Stopped> {
    let mut starts = vec![0_u32; groups + 1];
    // The last row of a group leaves where the next one begins; groups without rows have it from those before.
    each_row(0..rows, go_on, |row| starts[group_of(row) as usize + 1] = row as u32 + 1)?;
    let mut start = 0;
    for found in &mut starts {
        start = start.max(*found);
        *found = start;
    }
    Ok(starts)
}

fn on_one_thread<T: Item>(
    rows: usize,
    groups: usize,
    group_of: impl Fn(usize) -> u32,
    item_of: impl Fn(usize) -> T,
    go_on: GoOn<'_>,
) -> Result<(Vec<u32>, Vec<T>), Stopped> {
    let mut starts = vec![0_u32; groups + 1];
    each_row(0..rows, go_on, |row| starts[group_of(row) as usize + 1] += 1)?;
    for group in 0..groups {
        starts[group + 1] += starts[group];
    }
    let mut next = starts.clone();
    let mut items = vec![T::default(); rows];
    each_row(0..rows, go_on, |row| {
        let slot = &mut next[group_of(row) as usize];
        items[*slot as usize] = item_of(row);
        *slot += 1;
    })?;
    Ok((starts, items))
}

#[cfg(test)]
mod tests {
    use super::{MANY, Stopped, counting_sort, on_one_thread};

    #[test]
    fn threads_find_what_one_finds() {
        let (rows, groups) = (MANY + 7, 1_000);
        let group_of = |row: usize| (row * 7_919 % 1_009 % groups) as u32;
        let item_of = |row: usize| row as u32 ^ 1;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let found = pool.install(|| counting_sort(rows, groups, group_of, item_of, &|| true));
        assert!(found == on_one_thread(rows, groups, group_of, item_of, &|| true));
        assert_eq!(counting_sort(0, 3, group_of, item_of, &|| true), Ok((vec![0; 4], vec![])));
        for rows in [1, rows] {
            let stopped = pool.install(|| counting_sort(rows, groups, group_of, item_of, &|| false));
            assert_eq!(stopped.err(), Some(Stopped));
        }
    }
}
