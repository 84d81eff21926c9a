//! Pins: while a backup copies, what it has found stays in its place.
//!
//! Checkpoints go on meanwhile, and graphs are dropped; only files and folders that nobody needs any more stay a little
//! longer. While the moment of a backup is chosen, no checkpoint switches manifests, so none has what came later.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{RwLock, RwLockReadGuard};

/// Who needs files to stay.
#[derive(Debug, Default)]
pub(super) struct Pins {
    /// Read by those who switch manifests, written by who pins.
    switching: RwLock<()>,
    /// Backups that copy.
    copying: AtomicUsize,
}

/// Permission to replace what is named by what.
pub(super) struct Switching<'p> {
    pins: &'p Pins,
    _held: RwLockReadGuard<'p, ()>,
}

impl Switching<'_> {
    /// Whether nobody copies what is not needed any more.
    pub(super) fn may_remove(&self) -> bool {
        self.pins.copying.load(Ordering::Acquire) == 0
    }
}

/// Everything stays until this is dropped.
#[derive(Debug)]
pub(super) struct Pin<'p>(&'p Pins);

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        self.0.copying.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Pins {
    /// Waits while somebody pins, for as long as it takes to begin a few transactions.
    pub(super) fn switch(&self) -> Switching<'_> {
        Switching { _held: self.switching.read(), pins: self }
    }

    /// Looks at what there is while nobody switches, and keeps it where it is from then on.
    pub(super) fn pin<T>(&self, look: impl FnOnce() -> T) -> (Pin<'_>, T) {
        let _alone = self.switching.write();
        self.copying.fetch_add(1, Ordering::AcqRel);
        (Pin(self), look())
    }
}
