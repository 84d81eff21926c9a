//! What is said beside the rows, on standard error: errors, warnings, counts and times.

use crate::diagnostics::{self, Look, Source};
use crate::output::{Format, printable};
use crate::terminal;
use std::io::Write;
use std::time::Duration;
use stratalog_client::{Answer, ClientError, Failure};

/// Standard error, and how to write to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notices {
    look: Look,
}

impl Notices {
    /// Looks at what stands behind standard error.
    pub(crate) fn new() -> Notices {
        Notices { look: Look { colour: terminal::colour(), width: terminal::error_width() } }
    }

    /// Writes one notice. Where standard error is closed there is nobody to tell, so failing is not an error.
    pub(crate) fn say(self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// An error that is about no program.
    pub(crate) fn error(self, message: &str) {
        self.say(&diagnostics::render_plain(message, self.look));
    }

    /// Why there is no answer to a program.
    pub(crate) fn refusal(self, error: &ClientError, source: Source<'_>) {
        match error {
            ClientError::Refused(failure) => self.say(&diagnostics::render(failure, source, self.look)),
            other => self.error(&other.to_string()),
        }
    }

    /// What was found in a program.
    pub(crate) fn report(self, failure: &Failure, source: Source<'_>) {
        self.say(&diagnostics::render(failure, source, self.look));
    }

    /// That a person stopped the program; a terminal has just written `^C` on the line.
    pub(crate) fn interrupted(self) {
        self.say(if self.look.width.is_some() { "\ninterrupted" } else { "interrupted" });
    }

    /// What there is to say about an answer: warnings always, the count with a drawn table, the times if asked for.
    pub(crate) fn about(self, answer: &Answer, format: Format, timing: bool) {
        for warning in &answer.warnings {
            self.say(&format!("warning: {}", printable(warning)));
        }
        if answer.truncated {
            let shown = counted(answer.rows.len() as u64, "row");
            self.say(&format!("note: {shown} of {} shown", answer.total_count));
        }
        if format == Format::Table && !answer.is_message() {
            self.say(&footer(answer));
        }
        if timing {
            let (server, total) = (answer.execution_time, answer.round_trip);
            self.say(&format!("time: server {}, round trip {}", milliseconds(server), milliseconds(total)));
        }
    }
}

/// `(3 rows, 1.2 ms)`; the time is what the person waited.
fn footer(answer: &Answer) -> String {
    format!("({}, {})", counted(answer.rows.len() as u64, "row"), milliseconds(answer.round_trip))
}

fn counted(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

fn milliseconds(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1_000.0;
    if milliseconds < 1_000.0 {
        format!("{milliseconds:.1} ms")
    } else {
        format!("{:.2} s", time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_footer_counts_rows_and_time() {
        let mut answer = Answer::new(&["X"], vec![vec![stratalog_client::Value::Int(1)]]);
        answer.round_trip = Duration::from_micros(1_240);
        assert_eq!(footer(&answer), "(1 row, 1.2 ms)");
        answer.rows.clear();
        answer.round_trip = Duration::from_millis(2_350);
        assert_eq!(footer(&answer), "(0 rows, 2.35 s)");
    }
}
