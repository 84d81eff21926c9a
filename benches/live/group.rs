//! Benches whose iterations are steps: what single ones took is printed below what Criterion prints.

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput};
use stratalog_benches::Steps;

/// A group of them.
pub(crate) struct Group<'c> {
    name: &'static str,
    criterion: BenchmarkGroup<'c, WallTime>,
    lines: Vec<(String, Steps)>,
}

impl<'c> Group<'c> {
    pub(crate) fn of(c: &'c mut Criterion, name: &'static str) -> Group<'c> {
        let mut criterion = c.benchmark_group(name);
        criterion.sample_size(10).sampling_mode(SamplingMode::Flat);
        criterion.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
        Group { name, criterion, lines: Vec::new() }
    }

    /// Each step is about so many rows.
    pub(crate) fn rows(&mut self, count: u64) {
        self.criterion.throughput(Throughput::Elements(count));
    }

    /// Measures steps, each of which says how much of its time counts. What they need is made with the first one, so that a bench
    /// that is filtered out costs nothing, and goes on from one bench to the next.
    pub(crate) fn bench<S>(
        &mut self,
        name: String,
        state: &mut Option<S>,
        make: impl Fn() -> S,
        mut step: impl FnMut(&mut S) -> Duration,
    ) {
        let mut steps = Steps::default();
        self.criterion.bench_function(name.as_str(), |b| {
            let state = state.get_or_insert_with(&make);
            b.iter_custom(|times| {
                let mut sum = Duration::ZERO;
                for _ in 0..times {
                    let took = step(state);
                    steps.took(took);
                    sum += took;
                }
                sum
            });
        });
        self.lines.push((name, steps));
    }

    /// Prints the median, the 99th of a hundred and the slowest of all steps, also of those before it was measured.
    pub(crate) fn end(self) {
        self.criterion.finish();
        let run: Vec<_> = self.lines.iter().filter(|(_, steps)| steps.count() > 0).collect();
        if run.is_empty() {
            return;
        }
        eprintln!("{:<32} {:>8} {:>10} {:>10} {:>10}", self.name, "steps", "p50 ms", "p99 ms", "max ms");
        for (name, steps) in run {
            let [p50, p99, max] = steps.ms([500, 990, 1_000]);
            eprintln!("  {name:<30} {:>8} {p50:>10.3} {p99:>10.3} {max:>10.3}", steps.count());
        }
        eprintln!();
    }
}
