//! `stratalog-cluster`: a server whose questions need not fit memory.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use stratalog_cluster::{Evaluator, Settings};
use stratalog_engine::Elsewhere;
use stratalog_server::config::ClusterSettings;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: stratalog-cluster server [ARGUMENTS of stratalog-server]";

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_none_or(|command| command != "server") {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    arguments.remove(1);
    stratalog_server::process::run(arguments, Some(evaluator))
}

/// What evaluates questions with these settings.
fn evaluator(settings: &ClusterSettings, threads: usize) -> Result<Arc<dyn Elsewhere>, String> {
    let settings = Settings {
        pool_bytes: usize::try_from(settings.memory_bytes).unwrap_or(usize::MAX),
        spill_bytes: settings.disk_bytes,
        ..Settings::new(&settings.folder, threads)
    };
    let evaluator = Evaluator::new(settings).map_err(|error| error.to_string())?;
    Ok(Arc::new(evaluator))
}
