//! Several files at once: who waits for files does so on threads of its own, so that nobody else waits with it.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

/// The results of some work on each of these, in their order, by a few threads.
pub(super) fn at_once<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = readers().min(items.len());
    if threads < 2 {
        return items.into_iter().map(work).collect();
    }
    let mut results: Vec<Option<R>> = Vec::new();
    results.resize_with(items.len(), || None);
    let left = Mutex::new(items.into_iter().zip(results.iter_mut()));
    let next = || left.lock().map_or(None, |mut left| left.next());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((item, result)) = next() {
                    *result = Some(work(item));
                }
            });
        }
    });
    results.into_iter().flatten().collect()
}

/// So many threads read.
pub(super) fn readers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::at_once;

    #[test]
    fn results_are_in_the_order_of_what_they_are_of() {
        for count in [0, 1, 2, 100] {
            let doubled = at_once((0..count).collect(), |n: i32| 2 * n);
            assert_eq!(doubled, (0..count).map(|n| 2 * n).collect::<Vec<_>>());
        }
    }
}
