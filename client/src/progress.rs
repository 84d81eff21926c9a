//! How far a file is, on a terminal.

use crate::notices::Notices;
use crate::output::grouped;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{Write, stderr};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stratalog_client::Progress;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// Who waits no longer than this is not told of it.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the line moves.
const TICK: Duration = Duration::from_millis(100);

/// A line on the terminal that tells how long somebody has waited for an answer, and how many rows have come. It goes away
/// with this value.
///
/// The cursor stays behind the text, so that the `^C` that a terminal writes goes away with it; a bar of the library fills
/// the line, and the `^C` would go to the next one.
pub(crate) struct Wait(Option<(Arc<Line>, JoinHandle<()>)>);

#[derive(Default)]
struct Line {
    rows: AtomicU64,
    /// Held while the line is written. Once the wait has ended, nothing is written any more.
    state: Mutex<LineState>,
}

#[derive(Default)]
struct LineState {
    shown: bool,
    ended: bool,
}

impl Wait {
    pub(crate) fn begin(notices: Notices) -> Wait {
        Wait(notices.shows_progress().then(|| {
            let (line, begun) = (Arc::new(Line::default()), Instant::now());
            let shown = Arc::clone(&line);
            let showing = tokio::spawn(async move {
                sleep(PATIENCE).await;
                for spinner in SPINNER.chars().cycle() {
                    shown.draw(spinner, begun.elapsed());
                    sleep(TICK).await;
                }
            });
            (line, showing)
        }))
    }

    /// So many rows have come.
    pub(crate) fn tell(&self, rows: u64) {
        if let Some((line, _)) = &self.0 {
            line.rows.store(rows, Ordering::Relaxed);
        }
    }

    /// Takes the line away: something else is written.
    pub(crate) fn end(&mut self) {
        if let Some((line, showing)) = self.0.take() {
            showing.abort();
            line.clear();
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.end();
    }
}

impl Line {
    fn draw(&self, spinner: char, waited: Duration) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.ended {
            return;
        }
        state.shown = true;
        let rows = match self.rows.load(Ordering::Relaxed) {
            0 => String::new(),
            rows => format!(", {} rows", grouped(rows)),
        };
        let seconds = waited.as_secs_f64();
        // Where standard error is closed there is nobody to tell.
        let _ = write!(stderr().lock(), "\r{spinner} {seconds:.1} s{rows} (Ctrl-C stops it){CLEAR_BEHIND}");
    }

    fn clear(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ended = true;
        if state.shown {
            let _ = write!(stderr().lock(), "\r{CLEAR_BEHIND}");
        }
    }
}

/// What moves at the beginning of the line.
const SPINNER: &str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
/// Tells a terminal to take away what stands behind the cursor.
const CLEAR_BEHIND: &str = "\x1b[K";

/// A bar on the terminal, where there is one. It goes away with this value.
pub(crate) struct Bar(Option<ProgressBar>);

impl Bar {
    pub(crate) fn begin(file: &Path, notices: Notices) -> Bar {
        Bar(notices.shows_progress().then(|| {
            let bar = ProgressBar::no_length();
            bar.set_prefix(file.display().to_string());
            bar
        }))
    }

    pub(crate) fn tell(&self, progress: Progress) {
        let Some(bar) = &self.0 else { return };
        if bar.position() == 0 {
            bar.set_style(style(progress));
        }
        if let Some(total) = progress.total {
            bar.set_length(total);
        }
        bar.set_position(progress.done);
        let seconds = bar.elapsed().as_secs_f64().max(0.001);
        bar.set_message(format!("{} rows, {:.0} rows/s", progress.rows, progress.rows as f64 / seconds));
    }

    /// None at all.
    pub(crate) fn none() -> Bar {
        Bar(None)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

fn style(progress: Progress) -> ProgressStyle {
    let template = match (progress.total, progress.in_rows) {
        (Some(_), true) => "{prefix} {wide_bar} {pos}/{len}, {msg}, {eta} left",
        (Some(_), false) => "{prefix} {wide_bar} {bytes}/{total_bytes}, {msg}, {eta} left",
        (None, _) => "{prefix} {spinner} {msg}",
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
