//! `Writers`: where what sockets are sent is written.

use tokio::sync::Semaphore;

use super::NotRun;
use super::pool::off_thread;

/// The places of those who write what sockets are sent. Where a hundred are told at once, as many threads would take each
/// other's time, and keep memory each.
#[derive(Debug)]
pub(crate) struct Writers(Semaphore);

impl Writers {
    /// One for each processor.
    pub(crate) fn new() -> Writers {
        Writers(Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from)))
    }

    /// Runs work that is brief on another thread, when a place is free; those who wait go in turn.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        // It is never closed.
        let _place = self.0.acquire().await;
        off_thread(work).await
    }
}
