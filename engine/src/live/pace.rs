//! `Pace`: how often subscribers are told, so that those who ask and commit have the processors.

use std::fmt;
use std::time::Duration;

/// What was done for the questions of a family after a commit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Work {
    /// What the family is called; no other one of this process is called so.
    pub family: u64,
    /// How long it takes to find what has changed.
    pub took: Duration,
    /// So many subscribers are told,
    pub told: usize,
    /// and so many rows, all together.
    pub rows: usize,
}

impl Work {
    /// What more is told.
    pub(super) fn add(&mut self, more: Work) {
        (self.told, self.rows) = (self.told + more.told, self.rows + more.rows);
    }
}

/// How much of the processors live queries may take.
pub trait Pace: fmt::Debug + Send + Sync {
    /// How long the questions of a family rest after this. What has happened by then is told as one; those who are told
    /// each version do not wait.
    fn rest(&self, work: &Work) -> Duration;
}

/// They never rest.
#[derive(Debug)]
pub(super) struct Restless;

impl Pace for Restless {
    fn rest(&self, _: &Work) -> Duration {
        Duration::ZERO
    }
}
