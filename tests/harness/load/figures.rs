//! Latencies and what they come to.

use std::collections::BTreeMap;
use std::time::Duration;

use super::mix::{KINDS, Kind};

/// What some requests took.
#[derive(Debug, Default)]
pub struct Figures {
    /// Microseconds, by the place of the kind in [`KINDS`].
    latencies: BTreeMap<usize, Vec<u32>>,
    /// Answers that were not those that they must be.
    pub errors: u64,
    /// One of these.
    pub error: Option<String>,
}

impl Figures {
    /// A right answer.
    pub fn answered(&mut self, kind: Kind, took: Duration) {
        let place = KINDS.iter().position(|(known, _)| *known == kind).unwrap_or_default();
        self.latencies.entry(place).or_default().push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
    }

    /// A wrong one.
    pub fn failed(&mut self, error: String) {
        self.errors += 1;
        self.error.get_or_insert(error);
    }

    /// Both together.
    pub fn add(&mut self, other: Figures) {
        for (place, latencies) in other.latencies {
            self.latencies.entry(place).or_default().extend(latencies);
        }
        self.errors += other.errors;
        self.error = self.error.take().or(other.error);
    }

    /// Writes the names of the columns that [`Figures::print`] writes.
    pub fn print_head() {
        eprintln!(
            "{:>5}  {:<8} {:>10} {:>10} {:>10} {:>10} {:>10}",
            "conns", "kind", "a second", "p50 ms", "p99 ms", "p99.9 ms", "max ms"
        );
    }

    /// Writes a line for each kind, and one for all.
    pub fn print(&mut self, connections: usize, time: Duration) {
        let mut all: Vec<u32> = Vec::new();
        for (place, latencies) in &mut self.latencies {
            print_line(connections, KINDS[*place].1, latencies, time);
            all.extend_from_slice(latencies);
        }
        print_line(connections, "all", &mut all, time);
        if let Some(error) = &self.error {
            eprintln!("{connections:>5}  {} errors, such as {error}", self.errors);
        }
    }
}

fn print_line(connections: usize, name: &str, latencies: &mut [u32], time: Duration) {
    latencies.sort_unstable();
    let at = |place| f64::from(per_mille(latencies, place)) / 1000.0;
    let rate = latencies.len() as f64 / time.as_secs_f64();
    eprintln!(
        "{connections:>5}  {name:<8} {rate:>10.0} {:>10.2} {:>10.2} {:>10.2} {:>10.2}",
        at(500),
        at(990),
        at(999),
        at(1000)
    );
}

/// What so many of a thousand figures are below; they have to be in order.
pub fn per_mille(figures: &[u32], place: usize) -> u32 {
    let last = figures.len().saturating_sub(1);
    figures.get((figures.len() * place / 1000).min(last)).copied().unwrap_or_default()
}
