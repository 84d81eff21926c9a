//! Looks after the archive: about once a second, what is new is copied, and a backup is made when it is time.

use std::time::Duration;

use stratalog_engine::Engine;

/// How often.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long after a failure it is tried again.
const RETRY: Duration = Duration::from_secs(10);

/// Goes on for ever.
pub(crate) async fn keep(engine: &Engine) {
    loop {
        let engine = engine.clone();
        let pause = match tokio::task::spawn_blocking(move || tend(&engine)).await {
            Ok(true) => INTERVAL,
            Ok(false) => RETRY,
            Err(error) => {
                tracing::error!(%error, "looking after the archive panicked");
                RETRY
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// Once. `false` if it failed: it is tried again, and until then journals keep everything.
pub(crate) fn tend(engine: &Engine) -> bool {
    let tended = engine.tend_archive();
    if let Err(error) = &tended {
        tracing::error!("backups and archive wait: {error}");
    }
    tended.is_ok()
}
