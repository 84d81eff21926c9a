//! `Rounds`: telling many connections that there is something new, a few at a time.
//!
//! Whoever commits only rings a bell. One task goes round, wakes a few readers, and the next ones a moment later: so
//! answers never stand behind notifications for thousands, and these take a small part of the processor's time. What
//! comes while a round goes on waits for the next one, so the busier it gets the more a reader finds at once, and the
//! less each costs.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// How many readers are woken at once.
const FEW: usize = 16;

/// How long it is until the next ones are woken: thousands hear of something within a fraction of a second.
const MOMENT: Duration = Duration::from_millis(1);

/// The readers of a log, and the bell.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    bell: Notify,
    readers: Mutex<Readers>,
}

#[derive(Debug, Default)]
struct Readers {
    last: u64,
    by_number: BTreeMap<u64, Arc<Notify>>,
}

/// A reader's place in the round, as long as this is kept.
#[derive(Debug)]
pub(crate) struct Place<'r> {
    rounds: &'r Rounds,
    number: u64,
    woken: Arc<Notify>,
}

impl Rounds {
    /// There is something new for everybody. This takes no longer when there are more of them.
    pub(super) fn ring(&self) {
        self.bell.notify_one();
    }

    /// A place at the end of the round.
    pub(super) fn join(&self) -> Place<'_> {
        let woken = Arc::new(Notify::new());
        let mut readers = self.readers.lock();
        readers.last += 1;
        let number = readers.last;
        readers.by_number.insert(number, Arc::clone(&woken));
        Place { rounds: self, number, woken }
    }

    /// Goes round whenever the bell has rung; never ends.
    pub(super) async fn go(&self) {
        loop {
            self.bell.notified().await;
            let mut at = Bound::Unbounded;
            while let Some(last) = self.wake_a_few(at) {
                at = Bound::Excluded(last);
                tokio::time::sleep(MOMENT).await;
            }
        }
    }

    /// Wakes the next readers; the number of the last of them.
    fn wake_a_few(&self, from: Bound<u64>) -> Option<u64> {
        let readers = self.readers.lock();
        let few = readers.by_number.range((from, Bound::Unbounded)).take(FEW);
        few.map(|(number, woken)| (woken.notify_one(), *number).1).last()
    }
}

impl Place<'_> {
    /// Waits until there may be something new since this was called last, or since the place was taken.
    pub(crate) async fn woken(&self) {
        self.woken.notified().await;
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.rounds.readers.lock().by_number.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::time::Duration;

    use futures_util::future::join_all;
    use tokio::time::Instant;

    use super::{FEW, Rounds};

    #[tokio::test(start_paused = true)]
    async fn everybody_is_woken_a_few_at_a_time() {
        let (rounds, told) = (Rounds::default(), RefCell::new(Vec::new()));
        let start = Instant::now();
        let readers = join_all((0..3 * FEW).map(async |number| {
            let place = rounds.join();
            for _ in 0..2 {
                place.woken().await;
                told.borrow_mut().push((start.elapsed(), number));
            }
        }));
        let bell = async {
            for _ in 0..2 {
                // Twice in a row is once.
                rounds.ring();
                rounds.ring();
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        tokio::select! {
            biased;
            _ = async { tokio::join!(readers, bell) } => {}
            () = rounds.go() => {}
        }
        let told = told.into_inner();
        let together: Vec<_> = told.chunk_by(|one, next| one.0 == next.0).map(<[_]>::len).collect();
        assert_eq!(together, [FEW; 6]);
        let numbers: Vec<_> = told.iter().map(|(_, number)| *number).collect();
        assert_eq!(numbers, (0..2).flat_map(|_| 0..3 * FEW).collect::<Vec<_>>());
        assert!(rounds.readers.lock().by_number.is_empty());
    }
}
