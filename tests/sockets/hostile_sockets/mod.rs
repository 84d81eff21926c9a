//! Whoever sends broken, endless, huge or no frames hurts nobody but themselves: the server stays up, its memory stays
//! bounded, and others get their answers meanwhile.

mod frames;
mod names;
mod places;
mod sizes;
mod slowness;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use stratalog_tests::server::Server;
use tokio::task::JoinHandle;

/// What the server may ever take, whatever comes.
const MEMORY: u64 = 1 << 30;

/// A server under attack, and somebody who just wants answers.
struct Siege {
    server: Server,
    is_over: Arc<AtomicBool>,
    answers: Arc<AtomicU64>,
    bystander: JoinHandle<()>,
}

impl Siege {
    async fn begin(settings: &[(&str, &str)]) -> Siege {
        let server = Server::start_with(settings);
        let mut connection = server.log_in().await;
        connection
            .rows(
                "+edge[(1, 2), (2, 3)]\n+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)",
            )
            .await;
        let (is_over, answers) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let bystander = tokio::spawn({
            let (is_over, answers) = (is_over.clone(), answers.clone());
            async move {
                while !is_over.load(Ordering::Relaxed) {
                    assert_eq!(connection.rows("?reach(1, X:asc)").await, json!([[1, 2], [1, 3]]));
                    answers.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            }
        });
        Siege { server, is_over, answers, bystander }
    }

    /// The server has outlived it, within its memory, and others were answered.
    async fn end(mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.bystander.await.expect("everybody else is answered");
        assert!(self.answers.load(Ordering::Relaxed) > 0);
        assert!(self.server.is_running());
        assert_eq!(self.server.get("/health").0, 200);
        let log = self.server.log();
        assert!(!log.contains("panicked"), "{log}");
        let peak = self.server.peak();
        assert!(peak < MEMORY, "the server took {} MiB", peak >> 20);
    }
}
