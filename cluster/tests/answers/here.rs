//! The evaluator that all engines of this suite ask.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use stratalog_cluster::{Coordination, Evaluator, Settings, StorePlace};
use tempfile::TempDir;

use crate::modes;

/// Small parts, batches and heaps, so that a few rows take every way.
pub(crate) fn evaluator() -> Arc<Evaluator> {
    static EVALUATOR: OnceLock<(Arc<Evaluator>, TempDir)> = OnceLock::new();
    let (evaluator, _) = EVALUATOR.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder for a while");
        let store = folder.path().join("store");
        let executors = std::env::var("STRATALOG_EXECUTORS").ok().map(|n| n.parse().expect("a number"));
        let coordination = executors.map(|_: usize| {
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
            let listen = free.local_addr().expect("its address");
            Coordination { listen, tls: None, store: StorePlace::Folder(store.clone()) }
        });
        let settings = Settings {
            partitions: 3,
            batch_rows: 4,
            shared_bytes: 64,
            group_rows: 3,
            group_rows_made: 5,
            small_bytes: 0,
            carried_bytes: 64,
            pool_bytes: 256 << 20,
            coordination: coordination.clone(),
            ..Settings::new(folder.path(), 2)
        };
        let evaluator = Arc::new(Evaluator::new(settings).expect("an evaluator"));
        for Coordination { listen, .. } in coordination.iter().cycle().take(executors.unwrap_or(0)) {
            Command::new(env!("CARGO_BIN_EXE_stratalog-cluster"))
                .args([
                    "executor",
                    "--with-parent",
                    "--threads",
                    "1",
                    "--server",
                    &listen.to_string(),
                    "--store",
                ])
                .arg(&store)
                .spawn()
                .expect("an executor");
        }
        while executors.is_some() && !evaluator.has_executors() {
            std::thread::sleep(Duration::from_millis(20));
        }
        (evaluator, folder)
    });
    modes::ask(Arc::clone(evaluator) as Arc<dyn stratalog_engine::Elsewhere>);
    Arc::clone(evaluator)
}
