//! `Limits`: what connections, requests and users may take.

use std::time::Duration;

/// What connections and requests may use. Zero durations and counts mean: no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Time a query may take.
    pub query_timeout: Duration,
    /// Memory a query may take, in bytes.
    pub query_memory: u64,
    /// Memory that all queries may take together, in bytes.
    pub total_memory: u64,
    /// Memory that may keep rows of rules between queries, in bytes.
    pub view_memory: u64,
    /// Memory that facts may take, in bytes, where it is set: see [`Limits::stored_memory`].
    pub stored_memory: Option<u64>,
    /// Queries that run for long at once.
    pub concurrent_queries: usize,
    /// Queries that have just begun at once.
    pub short_queries: usize,
    /// Queries that wait for a place among the long ones, after they have begun.
    pub paused_queries: usize,
    /// Time after which a query is worth a line in the log.
    pub slow_query: Duration,
    /// Rows a result may have.
    pub result_rows: u64,
    /// Size of a message after authentication, in bytes.
    pub message_bytes: usize,
    /// Open connections of any kind.
    pub connections: usize,
    /// Open connections of one address.
    pub connections_of_address: usize,
    /// Open WebSocket connections.
    pub sockets: usize,
    /// WebSocket connections beyond these, for administrators.
    pub kept_for_administrators: usize,
    /// Connections of one address that have not authenticated yet.
    pub unauthenticated: usize,
    /// HTTP requests a second of one address.
    pub requests_per_second: u64,
    /// Messages a second on one connection.
    pub messages_per_second: u64,
    /// Time that the headers of a request may take, and for which a kept connection may wait for the next one.
    pub request_head: Duration,
    /// Time for which somebody may take nothing of what is sent.
    pub longest_send: Duration,
    /// Time without any frame after which a connection is closed.
    pub idle: Duration,
    /// Time after which a connection is closed in any case.
    pub lifetime: Duration,
    /// Time that requests have to end when the server stops.
    pub shutdown: Duration,
    /// Time that they have to end by themselves before they are cancelled.
    pub shutdown_grace: Duration,
    /// Sessions.
    pub sessions: usize,
    /// Time for which a session waits for its client to come back.
    pub session_grace: Duration,
    /// Time without any frame after which a session ends.
    pub session_idle: Duration,
    /// Memory that facts and rules of all sessions may take, in bytes.
    pub session_memory: u64,
    /// Notifications that are kept for those who come later.
    pub notifications: usize,
    /// Bytes that these may take.
    pub notification_bytes: usize,
    /// Subscriptions to live queries.
    pub subscriptions: usize,
    /// Those of one connection.
    pub subscriptions_of_connection: usize,
    /// Live queries: subscriptions to the same question on the same graph are one.
    pub live_queries: usize,
    /// Bytes of what is known of earlier answers to all of them.
    pub live_log_bytes: usize,
    /// Bytes of their present answers, all together.
    pub live_answer_bytes: u64,
    /// Time that an evaluation of one after a commit may take.
    pub live_step: Duration,
    /// What one user may have of it.
    pub user: UserLimits,
}

/// What one user may have at once. Administrators may have any number. Zero means: no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserLimits {
    /// WebSocket connections.
    pub sockets: usize,
    /// Places among the queries that run for long; half of them if this is zero.
    pub long_queries: usize,
    /// Memory that queries and their answers may take, in bytes.
    pub memory: u64,
    /// Memory that facts and rules of sessions may take, in bytes.
    pub session_memory: u64,
    /// Knowledge graphs that the user owns.
    pub graphs: usize,
    /// Subscriptions to live queries, also of an administrator.
    pub subscriptions: usize,
}

/// Threads for what is no query: reading and writing large messages, hashing.
const OTHER_THREADS: usize = 512;

impl Limits {
    /// Memory that the facts of all graphs may take, in bytes; 0 is no limit. What requests may take is left to them, and
    /// a quarter of the memory to everything else.
    pub fn stored_memory(&self) -> u64 {
        let memory = super::memory::available();
        self.stored_memory
            .unwrap_or_else(|| (memory / 4 * 3).saturating_sub(self.total_memory).max(memory / 8))
    }

    /// Threads that may block at once.
    pub fn blocking_threads(&self) -> usize {
        [self.concurrent_queries, self.short_queries, self.paused_queries]
            .into_iter()
            .fold(OTHER_THREADS, usize::saturating_add)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let memory = super::memory::available();
        Limits {
            query_timeout: Duration::from_secs(30),
            query_memory: memory / 4,
            total_memory: memory / 2,
            view_memory: memory / 8,
            stored_memory: None,
            concurrent_queries: (cores * 4).max(8),
            short_queries: (cores * 4).max(8),
            paused_queries: 64,
            slow_query: Duration::from_secs(5),
            result_rows: 0,
            message_bytes: 64 << 20,
            connections: 10_000,
            connections_of_address: 2_500,
            sockets: 5_000,
            kept_for_administrators: 8,
            unauthenticated: 64,
            requests_per_second: 1_000,
            messages_per_second: 10_000,
            request_head: Duration::from_secs(10),
            longest_send: Duration::from_secs(300),
            idle: Duration::from_secs(300),
            lifetime: Duration::from_secs(86_400),
            shutdown: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(5),
            sessions: 10_000,
            session_grace: Duration::from_secs(60),
            session_idle: Duration::from_secs(3600),
            session_memory: memory / 8,
            notifications: 1 << 16,
            notification_bytes: 64 << 20,
            subscriptions: 10_000,
            subscriptions_of_connection: 256,
            live_queries: 1_000,
            live_log_bytes: 64 << 20,
            live_answer_bytes: memory / 8,
            live_step: Duration::from_secs(10),
            user: UserLimits {
                sockets: 1_000,
                long_queries: 0,
                memory: memory / 4,
                session_memory: memory / 16,
                graphs: 250,
                subscriptions: 2_000,
            },
        }
    }
}
