//! `Progress`: how far a request is, for those who look.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Budget;

/// How far a request is. Nobody knows before how many rounds a recursion takes, so there is no whole that this is a part of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rounds of recursions that are done.
    pub rounds: u64,
    /// Rows that rules have found, each as often as it was found anew.
    pub rows: u64,
    /// Bytes that it holds now.
    pub memory_bytes: u64,
}

/// What is counted of it on the way.
#[derive(Debug, Default)]
pub(super) struct Counted {
    rounds: AtomicU64,
    rows: AtomicU64,
}

impl Budget {
    /// A round of a recursion has found so many rows.
    pub fn note_round(&self, rows: usize) {
        self.shared.counted.rounds.fetch_add(1, Ordering::Relaxed);
        self.note_rows(rows);
    }

    /// So many rows were found in no round.
    pub fn note_rows(&self, rows: usize) {
        self.shared.counted.rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    /// How far the request is.
    pub fn progress(&self) -> Progress {
        let counted = &self.shared.counted;
        Progress {
            rounds: counted.rounds.load(Ordering::Relaxed),
            rows: counted.rows.load(Ordering::Relaxed),
            memory_bytes: self.shared.memory_used.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Progress};

    #[test]
    fn parts_count_for_their_request() {
        let whole = Budget::unlimited();
        let part = whole.part();
        part.note_rows(2);
        part.note_round(3);
        part.charge(5).expect("there is no limit");
        assert_eq!(whole.progress(), Progress { rounds: 1, rows: 5, memory_bytes: 5 });
        drop(part);
        assert_eq!(whole.progress(), Progress { rounds: 1, rows: 5, memory_bytes: 0 });
    }
}
