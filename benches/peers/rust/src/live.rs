//! What the peers that follow changes share: `PEER PROGRAM FOLDER CHANGES` reads the facts as for `PEER PROGRAM FOLDER`, and the
//! changes of one relation, each with its step, 1 for a row that comes or 0 for one that goes, and the row.

use std::time::Duration;

use crate::memory::peak_mb;

/// Rows that come (1) and go (-1) in a step.
pub type Step<R> = Vec<(R, i64)>;

/// How long a peer took for the first answer and for each step.
#[derive(Default)]
pub struct Steps {
    first: Duration,
    times: Vec<Duration>,
    rows: i64,
    told: u64,
}

impl Steps {
    /// The first answer has so many rows.
    pub fn first(&mut self, time: Duration, rows: i64) {
        (self.first, self.rows) = (time, rows);
    }

    /// After a step the answer has so many rows more, of so many that came or went.
    pub fn step(&mut self, time: Duration, more: i64, told: u64) {
        self.times.push(time);
        self.rows += more;
        self.told += told;
    }

    /// One line of JSON.
    pub fn print(mut self) {
        self.times.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let at = |part: usize| self.times.get(self.times.len() * part / 100).copied().map_or(0.0, ms);
        println!(
            "{{\"rows\": {}, \"first_ms\": {:.3}, \"p50_ms\": {:.4}, \"p99_ms\": {:.4}, \"max_ms\": {:.4}, \"told\": {}, \"peak_mb\": {}}}",
            self.rows,
            ms(self.first),
            at(50),
            at(99),
            self.times.last().copied().map_or(0.0, ms),
            self.told,
            peak_mb()
        );
    }
}

/// Changes in their order, cut into steps.
pub fn steps<R>(changes: impl IntoIterator<Item = (u32, u32, R)>) -> Vec<Step<R>> {
    let mut steps: Vec<Step<R>> = Vec::new();
    let mut last = None;
    for (step, comes, row) in changes {
        if last != Some(step) {
            steps.push(Vec::new());
            last = Some(step);
        }
        let sign = if comes == 1 { 1 } else { -1 };
        steps.last_mut().expect("one was just begun").push((row, sign));
    }
    steps
}
