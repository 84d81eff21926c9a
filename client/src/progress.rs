//! How far a file is, on a terminal.

use crate::notices::Notices;
use crate::output::grouped;
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use std::io::{Write, stderr};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stratalog_client::{ExecuteOptions, Progress, WorkState, Working};
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
    working: Mutex<Option<Working>>,
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

    /// The same program, told how far it is while this waits for it.
    pub(crate) fn watching(&self, options: ExecuteOptions) -> ExecuteOptions {
        let Some((line, _)) = &self.0 else { return options };
        let line = Arc::clone(line);
        options.progress(move |working| line.note(working))
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
        let far = match self.rows.load(Ordering::Relaxed) {
            0 => self.working().map(|working| far(&working)).unwrap_or_default(),
            rows => format!(", {} rows", grouped(rows)),
        };
        let seconds = waited.as_secs_f64();
        // Where standard error is closed there is nobody to tell.
        let _ = write!(stderr().lock(), "\r{spinner} {seconds:.1} s{far} (Ctrl-C stops it){CLEAR_BEHIND}");
    }

    fn note(&self, working: &Working) {
        *self.working.lock().unwrap_or_else(PoisonError::into_inner) = Some(*working);
    }

    fn working(&self) -> Option<Working> {
        *self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clear(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ended = true;
        if state.shown {
            let _ = write!(stderr().lock(), "\r{CLEAR_BEHIND}");
        }
    }
}

/// How far a program is, so short that the line has room for it on 80 columns.
fn far(working: &Working) -> String {
    let mut far = match working.state {
        WorkState::Waiting => ", waits for a place".to_owned(),
        WorkState::Stopping => ", stops".to_owned(),
        WorkState::Running | WorkState::Unknown => String::new(),
    };
    match working.rounds {
        0 => {}
        1 => far.push_str(", 1 round"),
        rounds => far.push_str(&format!(", {} rounds", grouped(rounds))),
    }
    if working.rows > 0 {
        far.push_str(&format!(", {} found", grouped(working.rows)));
    }
    if working.memory_bytes > 0 {
        far.push_str(&format!(", {}", HumanBytes(working.memory_bytes)));
    }
    far
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_a_program_is_fits_on_80_columns() {
        let mut working =
            Working { state: WorkState::Waiting, elapsed_ms: 600, rounds: 0, rows: 0, memory_bytes: 0 };
        assert_eq!(far(&working), ", waits for a place");
        working =
            Working { state: WorkState::Running, rounds: 1, rows: 1_200, memory_bytes: 3 << 20, ..working };
        assert_eq!(far(&working), ", 1 round, 1,200 found, 3.00 MiB");
        working = Working { rounds: 9_999, rows: 9_999_999_999, memory_bytes: 999 << 30, ..working };
        assert!(format!("x 9999.9 s{} (Ctrl-C stops it)", far(&working)).len() < 80);
    }
}
