//! Load on a real server over real sockets: throughput, latencies by kind of request, errors, memory.
//!
//! Everything is set by the environment; `docs/performance.md` lists it. Every answer is compared with what it must be.

mod attack;
mod live;
mod settings;

use std::time::{Duration, Instant};

use stratalog_tests::load::{Figures, Fleet, prepare, prepare_live};
use stratalog_tests::server::{Connection, Server};

use settings::Settings;

#[tokio::main]
async fn main() {
    rlimit::increase_nofile_limit(u64::MAX).expect("files may be opened");
    let settings = Settings::read();
    // There are more of each than servers are meant for.
    let server = Server::start_with(&[
        ("SERVICE_HTTP__RATE_LIMIT__MAX_REQUESTS_PER_SEC_PER_ADDRESS", "0"),
        ("SERVICE_LIVE__MAX_SUBSCRIPTIONS", "0"),
        ("SERVICE_LIVE__MAX_PER_USER", "0"),
        ("SERVICE_LIVE__MAX_QUERIES", "1000000"),
    ]);
    let mut admin = server.log_in().await;
    prepare(&mut admin, settings.facts).await;
    let key = admin.new_key("load").await;
    if settings.subscriptions.is_empty() {
        requests(&server, &mut admin, &key, &settings).await;
    } else {
        prepare_live(&mut admin).await;
        live::print_head();
        for &connections in &settings.connections {
            live::run(&server, &key, &settings, connections).await;
        }
    }
}

/// The mix of requests, by so many connections as the settings say.
async fn requests(server: &Server, admin: &mut Connection, key: &str, settings: &Settings) {
    eprintln!("{} facts; mix {}; {:?} each", settings.facts, settings.mix, settings.time);
    Figures::print_head();
    let mut failed = false;
    for &connections in &settings.connections {
        let mut fleet = Fleet::connect(server, key, &settings.mix, settings.facts, connections).await;
        fleet.run(Duration::from_secs(1)).await;
        let noise = attack::begin(server, admin, settings).await;
        let before = server.resident();
        let mut half = before;
        let started = Instant::now();
        let mut figures = Figures::default();
        // In two halves: what memory does in the second one is what it does for ever.
        for _ in 0..2 {
            half = server.resident();
            figures.add(fleet.run(settings.time / 2).await);
        }
        figures.print(connections, started.elapsed());
        let after = server.resident();
        eprintln!(
            "{connections:>5}  memory {} MiB, then {} MiB, then {} MiB",
            before >> 20,
            half >> 20,
            after >> 20
        );
        failed |= figures.errors > 0;
        attack::end(noise).await;
    }
    assert!(!failed, "there were errors");
}
