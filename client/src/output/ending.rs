//! What a run leaves behind that is told to end at once: no half of a file.

#[cfg(unix)]
pub(super) use by_signal::clean_up_on_signals;

#[cfg(not(unix))]
pub(super) fn clean_up_on_signals() {}

#[cfg(unix)]
mod by_signal {
    use std::sync::Once;
    use stratalog_client::files::NewFile;
    use tokio::signal::unix::{SignalKind, signal};

    /// From now on, `SIGTERM` and `SIGHUP` remove partial files before they end the process. A task of its own waits for
    /// them, as the one that writes may stand before a pipe that nobody reads.
    pub(in super::super) fn clean_up_on_signals() {
        static BEGUN: Once = Once::new();
        BEGUN.call_once(|| {
            end_on(SignalKind::terminate());
            // `nohup` has it ignored, and so it shall stay.
            if !is_ignored(SignalKind::hangup()) {
                end_on(SignalKind::hangup());
            }
        });
    }

    fn end_on(kind: SignalKind) {
        let Ok(mut signals) = signal(kind) else { return };
        tokio::spawn(async move {
            if signals.recv().await.is_some() {
                NewFile::remove_partial();
                std::process::exit(128 + kind.as_raw_value());
            }
        });
    }

    /// What the system says of this process, where it does.
    fn is_ignored(kind: SignalKind) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        mask >> (kind.as_raw_value() - 1) & 1 == 1
    }
}
