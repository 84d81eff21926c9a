//! `Lazy`: what the first to ask builds, unless that is stopped, while others wait.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;

/// Asked now and then by long work: whether to go on.
pub type GoOn<'g> = &'g (dyn Fn() -> bool + Sync);

/// Work was stopped before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Who waits looks that often whether to go on.
const WAIT: Duration = Duration::from_millis(10);

/// Calls `visit` for each row, and asks in between whether to go on.
pub fn each_row(rows: Range<usize>, go_on: GoOn<'_>, mut visit: impl FnMut(usize)) -> Result<(), Stopped> {
    const CHECK_ROWS: usize = 1 << 16;
    for start in rows.clone().step_by(CHECK_ROWS) {
        if !go_on() {
            return Err(Stopped);
        }
        (start..rows.end.min(start + CHECK_ROWS)).for_each(&mut visit);
    }
    Ok(())
}

/// Something that is built on first use and then shared.
#[derive(Debug)]
pub(super) struct Lazy<T> {
    built: OnceLock<Arc<T>>,
    building: Mutex<()>,
}

impl<T> Default for Lazy<T> {
    fn default() -> Lazy<T> {
        Lazy { built: OnceLock::new(), building: Mutex::new(()) }
    }
}

impl<T> Lazy<T> {
    /// What was built, if it was.
    pub(super) fn get(&self) -> Option<&Arc<T>> {
        self.built.get()
    }

    /// What was built, now or before. If whoever builds is stopped, the next one who waits builds.
    pub(super) fn get_or_build(
        &self,
        go_on: GoOn<'_>,
        build: impl FnOnce() -> Result<T, Stopped>,
    ) -> Result<Arc<T>, Stopped> {
        loop {
            if let Some(built) = self.built.get() {
                return Ok(Arc::clone(built));
            }
            if let Some(_building) = self.building.try_lock_for(WAIT) {
                if let Some(built) = self.built.get() {
                    return Ok(Arc::clone(built));
                }
                let built = Arc::new(build()?);
                return Ok(Arc::clone(self.built.get_or_init(|| built)));
            }
            if !go_on() {
                return Err(Stopped);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::{Lazy, Stopped, each_row};

    #[test]
    fn who_waits_builds_when_the_builder_is_stopped() {
        let (lazy, begun, is_on) = (Lazy::default(), Barrier::new(2), AtomicBool::new(true));
        thread::scope(|scope| {
            let stopped = scope.spawn(|| {
                lazy.get_or_build(&|| is_on.load(Ordering::Relaxed), || {
                    begun.wait();
                    each_row(0..usize::MAX, &|| is_on.load(Ordering::Relaxed), |_| {}).map(|()| 1)
                })
            });
            begun.wait();
            // Whoever waits gives up when told so.
            assert_eq!(lazy.get_or_build(&|| false, || Ok(2)), Err(Stopped));
            let waits = scope.spawn(|| lazy.get_or_build(&|| true, || Ok(3)));
            is_on.store(false, Ordering::Relaxed);
            assert_eq!(stopped.join().unwrap(), Err(Stopped));
            assert_eq!(*waits.join().unwrap().unwrap(), 3);
        });
        assert_eq!(lazy.get_or_build(&|| false, || Ok(4)).as_deref(), Ok(&3));
    }

    #[test]
    fn every_row_is_visited() {
        let mut sum = 0;
        assert_eq!(each_row(5..200_000, &|| true, |row| sum += row), Ok(()));
        assert_eq!(sum, (5..200_000).sum::<usize>());
        assert_eq!(each_row(0..1, &|| false, |_| {}), Err(Stopped));
    }
}
