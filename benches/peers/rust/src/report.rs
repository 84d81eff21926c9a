//! What a peer tells `run.py`.

use std::sync::RwLock;
use std::time::{Duration, Instant};

use crate::memory::peak_mb;

/// The answer of one program: how many rows, which, and how long it took.
pub struct Report {
    /// The number of rows.
    pub rows: u64,
    /// The sum of the rows' checksums, which does not depend on their order.
    pub checksum: Option<u64>,
    /// The time of the evaluation alone, with facts loaded.
    pub evaluation: Duration,
}

impl Report {
    /// Of an answer that can be gone through; its checksum is taken if somebody wants it.
    pub fn of<R: Row>(answer: impl IntoIterator<Item = R>, evaluation: Duration, check: bool) -> Report {
        let (mut rows, mut sum) = (0, 0);
        for row in answer {
            rows += 1;
            if check {
                sum += row.checksum();
            }
        }
        Report { rows, checksum: check.then_some(sum), evaluation }
    }

    /// One line of JSON.
    pub fn print(&self) {
        let checksum = self.checksum.map_or("null".to_owned(), |sum| sum.to_string());
        println!(
            "{{\"rows\": {}, \"checksum\": {checksum}, \"evaluate_s\": {}, \"peak_mb\": {}}}",
            self.rows,
            self.evaluation.as_secs_f64(),
            peak_mb()
        );
    }
}

/// How long something takes.
pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let made = work();
    (made, start.elapsed())
}

/// The share of a row in the checksum of an answer; `peer.py` has the same formula.
pub fn checksum(columns: &[u64]) -> u64 {
    const FACTORS: [u64; 3] = [1_000_003, 998_244_353, 16_777_619];
    const MODULUS: u64 = 2_147_483_647;
    columns.iter().zip(FACTORS).map(|(column, factor)| column * factor).sum::<u64>() % MODULUS
}

/// A row of an answer.
pub trait Row {
    /// Its share in the checksum.
    fn checksum(&self) -> u64;
}

impl Row for u32 {
    fn checksum(&self) -> u64 {
        checksum(&[u64::from(*self)])
    }
}

impl Row for (u32,) {
    fn checksum(&self) -> u64 {
        self.0.checksum()
    }
}

impl Row for (u32, u32) {
    fn checksum(&self) -> u64 {
        checksum(&[self.0.into(), self.1.into()])
    }
}

impl Row for (u32, u32, u32) {
    fn checksum(&self) -> u64 {
        checksum(&[self.0.into(), self.1.into(), self.2.into()])
    }
}

impl Row for (u32, ascent::Dual<u32>) {
    fn checksum(&self) -> u64 {
        (self.0, self.1.0).checksum()
    }
}

impl Row for (u32, u32, ascent::Dual<u32>) {
    fn checksum(&self) -> u64 {
        (self.0, self.1, self.2.0).checksum()
    }
}

impl<R: Row> Row for RwLock<R> {
    fn checksum(&self) -> u64 {
        self.read().expect("nobody writes any more").checksum()
    }
}

impl<R: Row> Row for &R {
    fn checksum(&self) -> u64 {
        (**self).checksum()
    }
}
