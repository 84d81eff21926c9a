//! How far a file is, on a terminal.

use crate::notices::Notices;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;
use stratalog_client::Progress;

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
