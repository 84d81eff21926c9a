//! Ctrl-C, counted: none is lost between two pieces of work, and everybody who works looks at the same count.

use std::io;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// How often a person has asked to stop since a moment.
#[derive(Debug, Clone)]
pub(crate) struct Interrupts {
    count: watch::Receiver<usize>,
    before: usize,
}

impl Interrupts {
    /// Counts from now on. Until then, Ctrl-C ends the process.
    pub(crate) fn listen(runtime: &Runtime) -> io::Result<Interrupts> {
        let _entered = runtime.enter();
        #[cfg(unix)]
        let mut signals = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
        #[cfg(windows)]
        let mut signals = tokio::signal::windows::ctrl_c()?;
        let (sender, count) = watch::channel(0);
        runtime.spawn(async move {
            while signals.recv().await.is_some() {
                sender.send_modify(|count| *count += 1);
            }
        });
        Ok(Interrupts { count, before: 0 })
    }

    /// The same, as if there had been none so far.
    pub(crate) fn anew(&self) -> Interrupts {
        Interrupts { count: self.count.clone(), before: *self.count.borrow() }
    }

    /// Whether there was one.
    pub(crate) fn is_requested(&self) -> bool {
        *self.count.borrow() > self.before
    }

    /// Waits for the first.
    pub(crate) async fn requested(&self) {
        self.more_than(0).await;
    }

    /// Waits for the second.
    pub(crate) async fn again(&self) {
        self.more_than(1).await;
    }

    async fn more_than(&self, times: usize) {
        let mut count = self.count.clone();
        if count.wait_for(|count| *count > self.before + times).await.is_err() {
            std::future::pending::<()>().await; // nobody counts any more
        }
    }
}
