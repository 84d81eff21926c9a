//! What the server counts, and the one list of metrics that `/metrics/prometheus` shows.
//!
//! Counting is adding to an atomic number: no request waits for another, or for somebody who reads.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use stratalog_engine::{Engine, LiveStatus, ViewStatus};

/// What is counted as requests go by.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Programs that were run.
    queries: AtomicU64,
    /// Deltas that were sent to subscribers, and how often all rows had to be sent anew.
    deltas: AtomicU64,
    resets: AtomicU64,
    /// From the arrival of a request to its answer.
    pub(crate) whole: Histogram,
    /// Waiting for a place.
    pub(crate) waiting: Histogram,
    /// Reading a program.
    pub(crate) parsing: Histogram,
    /// Running it.
    pub(crate) executing: Histogram,
}

/// How many sessions there are, and what they hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SessionCounts {
    /// All of them.
    pub(crate) total: usize,
    /// Those with facts or rules of their own.
    pub(crate) dirty: usize,
    /// Facts of sessions.
    pub(crate) facts: usize,
    /// Rules of sessions.
    pub(crate) rules: usize,
    /// The bytes that both take.
    pub(crate) bytes: u64,
}

/// What is asked live.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LiveCounts {
    /// Questions.
    pub(crate) queries: u64,
    /// Those who have subscribed to them.
    pub(crate) subscriptions: u64,
    /// The bytes of answers, and of what is known of earlier ones.
    pub(crate) bytes: u64,
    /// So many versions the question has not looked at that is the farthest behind.
    pub(crate) behind: u64,
}

impl LiveCounts {
    /// Adds them up.
    pub(crate) fn of(queries: &[LiveStatus]) -> LiveCounts {
        LiveCounts {
            queries: queries.len() as u64,
            subscriptions: queries.iter().map(|live| live.subscribers as u64).sum(),
            bytes: queries.iter().map(|live| live.bytes as u64).sum(),
            behind: queries.iter().map(LiveStatus::behind).max().unwrap_or(0),
        }
    }
}

/// How many connections have places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ConnectionCounts {
    /// All of them.
    pub(crate) connections: usize,
    /// The WebSockets among them.
    pub(crate) sockets: usize,
    /// Those that were refused since the start, as there was no place for them.
    pub(crate) refused: u64,
}

impl Metrics {
    /// Counts a program that is run.
    pub(crate) fn count_query(&self) {
        self.queries.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts what a subscriber has been told beside the first rows: what has changed, or all rows anew.
    pub(crate) fn count_delta(&self, is_reset: bool) {
        let counted = if is_reset { &self.resets } else { &self.deltas };
        counted.fetch_add(1, Ordering::Relaxed);
    }
}

/// The upper bounds of the buckets, in microseconds; the last bucket has none.
const BOUNDS: [u64; 8] = [1_000, 5_000, 10_000, 50_000, 100_000, 500_000, 1_000_000, 5_000_000];

/// How long something took, over time.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    sum_us: AtomicU64,
}

impl Histogram {
    /// Counts one duration.
    pub(crate) fn observe(&self, time: Duration) {
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.buckets[BOUNDS.partition_point(|bound| *bound < us)].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// All durations together.
    pub(crate) fn sum(&self) -> Duration {
        Duration::from_micros(self.sum_us.load(Ordering::Relaxed))
    }

    fn write(&self, name: &str, text: &mut String) {
        let mut count = 0;
        let bounds = BOUNDS.iter().map(|us| (*us as f64 / 1e6).to_string()).chain(["+Inf".to_owned()]);
        for (bound, bucket) in bounds.zip(&self.buckets) {
            count += bucket.load(Ordering::Relaxed);
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {count}");
        }
        let sum = self.sum().as_secs_f64();
        let _ = writeln!(text, "{name}_sum {sum}\n{name}_count {count}");
    }
}

/// What the server tells of itself at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) uptime_secs: u64,
    pub(crate) queries: u64,
    pub(crate) knowledge_graphs: u64,
    pub(crate) unwritable: u64,
    pub(crate) relations: u64,
    pub(crate) views: u64,
    pub(crate) kept: ViewStatus,
    pub(crate) tuples: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) stored_bytes: u64,
    pub(crate) stored_limit: u64,
    pub(crate) sessions: u64,
    pub(crate) dirty_sessions: u64,
    pub(crate) ephemeral_facts: u64,
    pub(crate) ephemeral_rules: u64,
    pub(crate) ephemeral_bytes: u64,
    pub(crate) connections: ConnectionCounts,
    pub(crate) live: LiveCounts,
    pub(crate) live_deltas: u64,
    pub(crate) live_resets: u64,
    pub(crate) archive_age_secs: u64,
    pub(crate) archive_failures: u64,
}

impl Reading {
    /// Sessions without facts and rules of their own.
    pub(crate) fn clean_sessions(&self) -> u64 {
        self.sessions.saturating_sub(self.dirty_sessions)
    }
}

impl Metrics {
    /// What is counted here, beside what the engine tells of what it stores and what sessions hold.
    pub(crate) fn read(
        &self,
        engine: &Engine,
        sessions: SessionCounts,
        connections: ConnectionCounts,
        requests_memory: u64,
        uptime: Duration,
    ) -> Reading {
        let (stored, kept) = (engine.statistics(), engine.views());
        let live = LiveCounts::of(&engine.live_queries());
        let in_use = requests_memory + kept.memory_bytes as u64 + live.bytes;
        Reading {
            uptime_secs: uptime.as_secs(),
            queries: self.queries.load(Ordering::Relaxed),
            knowledge_graphs: stored.knowledge_graphs as u64,
            unwritable: stored.unwritable as u64,
            relations: stored.relations as u64,
            views: stored.views as u64,
            kept,
            tuples: stored.tuples as u64,
            memory_bytes: stored.memory_bytes as u64 + in_use,
            stored_bytes: stored.stored_bytes,
            stored_limit: stored.stored_limit.unwrap_or(0),
            sessions: sessions.total as u64,
            dirty_sessions: sessions.dirty as u64,
            ephemeral_facts: sessions.facts as u64,
            ephemeral_rules: sessions.rules as u64,
            ephemeral_bytes: sessions.bytes,
            connections,
            live,
            live_deltas: self.deltas.load(Ordering::Relaxed),
            live_resets: self.resets.load(Ordering::Relaxed),
            archive_age_secs: stored.archive.map_or(0, |archive| archive.age.as_secs()),
            archive_failures: stored.archive.map_or(0, |archive| archive.failures),
        }
    }

    /// All metrics in the text format of Prometheus.
    pub(crate) fn exposition(&self, reading: &Reading) -> String {
        let mut text = String::new();
        for Metric { name, kind, help, value } in METRICS {
            let value = value(reading);
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        }
        for Latency { name, help, histogram } in LATENCIES {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
            histogram(self).write(name, &mut text);
        }
        text
    }
}

/// One number of the exposition.
pub(crate) struct Sample<'t> {
    /// What is measured.
    pub(crate) name: &'t str,
    /// Of what part; empty where there is only one number.
    pub(crate) labels: &'t str,
    pub(crate) value: f64,
}

/// The numbers of an exposition, in its order.
pub(crate) fn samples(exposition: &str) -> impl Iterator<Item = Sample<'_>> {
    exposition.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (of, value) = line.rsplit_once(' ')?;
        let (name, labels) = of.split_once('{').unwrap_or((of, ""));
        Some(Sample { name, labels: labels.trim_end_matches('}'), value: value.parse().ok()? })
    })
}

/// One number.
struct Metric {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    value: fn(&Reading) -> u64,
}

/// The numbers of the interface, in its order.
const METRICS: &[Metric] = &[
    Metric {
        name: "service_uptime_seconds",
        kind: "gauge",
        help: "Server uptime in seconds",
        value: |r| r.uptime_secs,
    },
    Metric {
        name: "service_queries_total",
        kind: "counter",
        help: "Total queries executed",
        value: |r| r.queries,
    },
    Metric {
        name: "service_knowledge_graphs",
        kind: "gauge",
        help: "Number of knowledge graphs",
        value: |r| r.knowledge_graphs,
    },
    Metric {
        name: "service_unwritable_knowledge_graphs",
        kind: "gauge",
        help: "Knowledge graphs that take no writes because a sync failed",
        value: |r| r.unwritable,
    },
    Metric {
        name: "service_relations_total",
        kind: "gauge",
        help: "Total base relations",
        value: |r| r.relations,
    },
    Metric {
        name: "service_views_total",
        kind: "gauge",
        help: "Total derived views (rules)",
        value: |r| r.views,
    },
    Metric { name: "service_sessions_total", kind: "gauge", help: "Active sessions", value: |r| r.sessions },
    Metric {
        name: "service_sessions_clean",
        kind: "gauge",
        help: "Clean (idle) sessions",
        value: Reading::clean_sessions,
    },
    Metric {
        name: "service_sessions_dirty",
        kind: "gauge",
        help: "Dirty (active) sessions",
        value: |r| r.dirty_sessions,
    },
    Metric { name: "service_tuples_total", kind: "gauge", help: "Total stored tuples", value: |r| r.tuples },
    Metric {
        name: "service_memory_usage_bytes",
        kind: "gauge",
        help: "Estimated memory usage",
        value: |r| r.memory_bytes,
    },
    Metric {
        name: "service_ephemeral_facts",
        kind: "gauge",
        help: "Ephemeral facts across sessions",
        value: |r| r.ephemeral_facts,
    },
    Metric {
        name: "service_ephemeral_rules",
        kind: "gauge",
        help: "Ephemeral rules across sessions",
        value: |r| r.ephemeral_rules,
    },
    // Our own, after those of the interface.
    Metric {
        name: "service_ephemeral_bytes",
        kind: "gauge",
        help: "Bytes of facts and rules across sessions",
        value: |r| r.ephemeral_bytes,
    },
    Metric {
        name: "service_connections",
        kind: "gauge",
        help: "Open connections that have a place",
        value: |r| r.connections.connections as u64,
    },
    Metric {
        name: "service_websockets",
        kind: "gauge",
        help: "Open WebSocket connections that have a place",
        value: |r| r.connections.sockets as u64,
    },
    Metric {
        name: "service_connections_refused_total",
        kind: "counter",
        help: "Connections for which there was no place",
        value: |r| r.connections.refused,
    },
    Metric {
        name: "service_stored_memory_bytes",
        kind: "gauge",
        help: "Memory that stored facts take",
        value: |r| r.stored_bytes,
    },
    Metric {
        name: "service_stored_memory_limit_bytes",
        kind: "gauge",
        help: "Memory that stored facts may take; 0 is no limit",
        value: |r| r.stored_limit,
    },
    Metric {
        name: "service_kept_views",
        kind: "gauge",
        help: "Derived relations whose rows are kept for the next question",
        value: |r| r.kept.views as u64,
    },
    Metric {
        name: "service_kept_view_memory_bytes",
        kind: "gauge",
        help: "Memory that holds them",
        value: |r| r.kept.memory_bytes as u64,
    },
    Metric {
        name: "service_kept_view_steps_total",
        kind: "counter",
        help: "Times that one was brought forward by what had changed",
        value: |r| r.kept.steps,
    },
    Metric {
        name: "service_kept_view_steps_given_up_total",
        kind: "counter",
        help: "Times that this was given up, as it was no faster than to derive it anew, or not possible",
        value: |r| r.kept.given_up,
    },
    Metric {
        name: "service_live_queries",
        kind: "gauge",
        help: "Questions that are asked live",
        value: |r| r.live.queries,
    },
    Metric {
        name: "service_live_subscriptions",
        kind: "gauge",
        help: "Subscriptions to them",
        value: |r| r.live.subscriptions,
    },
    Metric {
        name: "service_live_memory_bytes",
        kind: "gauge",
        help: "Memory of live answers, and of what is known of earlier ones",
        value: |r| r.live.bytes,
    },
    Metric {
        name: "service_live_behind_versions",
        kind: "gauge",
        help: "Versions that the question has not looked at which is the farthest behind",
        value: |r| r.live.behind,
    },
    Metric {
        name: "service_live_deltas_total",
        kind: "counter",
        help: "Changes of live answers that were sent",
        value: |r| r.live_deltas,
    },
    Metric {
        name: "service_live_resets_total",
        kind: "counter",
        help: "Times that all rows were sent anew, as it was not known what had changed",
        value: |r| r.live_resets,
    },
    Metric {
        name: "service_archive_age_seconds",
        kind: "gauge",
        help: "Seconds since everything stored was in the archive; 0 where there is none",
        value: |r| r.archive_age_secs,
    },
    Metric {
        name: "service_archive_failures_total",
        kind: "counter",
        help: "Times that the archive could not be written",
        value: |r| r.archive_failures,
    },
];

/// How long a part of a request takes.
struct Latency {
    name: &'static str,
    help: &'static str,
    histogram: fn(&Metrics) -> &Histogram,
}

/// The stages of a request.
const LATENCIES: &[Latency] = &[
    Latency {
        name: "service_query_seconds",
        help: "Seconds from a request's turn to its answer, waiting included",
        histogram: |m| &m.whole,
    },
    Latency {
        name: "service_query_wait_seconds",
        help: "Seconds that a request waited for a place",
        histogram: |m| &m.waiting,
    },
    Latency {
        name: "service_query_parse_seconds",
        help: "Seconds to parse a program",
        histogram: |m| &m.parsing,
    },
    Latency {
        name: "service_query_execute_seconds",
        help: "Seconds to run a program",
        histogram: |m| &m.executing,
    },
];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Histogram;

    #[test]
    fn a_histogram_counts_up_to_and_including_each_bound() {
        let histogram = Histogram::default();
        for us in [1, 1_000, 1_001, 4_999_999, 5_000_001] {
            histogram.observe(Duration::from_micros(us));
        }
        let mut text = String::new();
        histogram.write("h", &mut text);
        assert_eq!(
            text,
            "h_bucket{le=\"0.001\"} 2\nh_bucket{le=\"0.005\"} 3\nh_bucket{le=\"0.01\"} 3\n\
             h_bucket{le=\"0.05\"} 3\nh_bucket{le=\"0.1\"} 3\nh_bucket{le=\"0.5\"} 3\nh_bucket{le=\"1\"} 3\n\
             h_bucket{le=\"5\"} 4\nh_bucket{le=\"+Inf\"} 5\nh_sum 10.002002\nh_count 5\n"
        );
    }
}
