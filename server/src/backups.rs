//! Looks after the archive: about once a second, what is new is copied, and a backup is made when it is time.

use std::time::Duration;

use stratalog_engine::Engine;

/// How long after a failure it is tried again.
const RETRY: Duration = Duration::from_secs(10);

/// How long the server waits for the archive before it ends.
const FAREWELL: Duration = Duration::from_secs(10);

/// Goes on for ever.
pub(crate) async fn keep(engine: &Engine, pause: Duration) {
    loop {
        let engine = engine.clone();
        let time = match tokio::task::spawn_blocking(move || tend(&engine)).await {
            Ok(true) => pause,
            Ok(false) => RETRY,
            Err(error) => {
                tracing::error!(%error, "looking after the archive panicked");
                RETRY
            }
        };
        tokio::time::sleep(time).await;
    }
}

/// Once. `false` if it failed: it is tried again, and until then journals keep everything.
fn tend(engine: &Engine) -> bool {
    let tended = engine.tend_archive();
    if let Err(error) = &tended {
        tracing::error!("backups and archive wait: {error}");
    }
    tended.is_ok()
}

/// The last time, before the server ends: what takes longer than others may wait is archived after the next start.
pub(crate) async fn finish(engine: Engine) {
    let tending = tokio::task::spawn_blocking(move || tend(&engine));
    match tokio::time::timeout(FAREWELL, tending).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::error!(%error, "looking after the archive panicked"),
        Err(_) => tracing::warn!("the last changes are archived after the next start"),
    }
}
