//! What is said beside the rows, on standard error: errors, warnings, counts and times.

use crate::diagnostics::{self, Look, Source};
use crate::output::{Format, printable};
use crate::terminal::{self, ColourChoice};
use std::io::Write;
use std::time::Duration;
use stratalog_client::{Answer, ClientError, Failure};

/// Standard error, and how to write to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notices {
    look: Look,
    quiet: bool,
}

impl Notices {
    /// Looks at what stands behind standard error.
    pub(crate) fn new(colour: ColourChoice, quiet: bool) -> Notices {
        Notices { look: Look { colour: terminal::colour(colour), width: terminal::error_width() }, quiet }
    }

    /// Whether errors and the prompt are coloured.
    pub(crate) fn colour(self) -> bool {
        self.look.colour
    }

    /// Whether progress is worth showing: somebody looks, and wants to.
    pub(crate) fn shows_progress(self) -> bool {
        !self.quiet && terminal::is_followed()
    }

    /// What is good to know, unless nobody wants to.
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// Writes one notice. Where standard error is closed there is nobody to tell, so failing is not an error.
    pub(crate) fn say(self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// What deserves a second look.
    pub(crate) fn warning(self, text: &str) {
        self.say(&format!("warning: {}", printable(text)));
    }

    /// An error that is about no program.
    pub(crate) fn error(self, message: &str) {
        self.say(&diagnostics::render_plain(message, self.look));
    }

    /// Why there is no answer to a program.
    pub(crate) fn refusal(self, error: &ClientError, source: Source<'_>) {
        match error {
            ClientError::Refused(failure) => self.say(&diagnostics::render(failure, source, self.look)),
            ClientError::File(problem) => {
                self.error(&problem.to_string());
                if let Some(help) = &problem.help {
                    self.say(&format!("  = help: {}", printable(help)));
                }
            }
            other => self.error(&other.to_string()),
        }
    }

    /// What was found in a program.
    pub(crate) fn report(self, failure: &Failure, source: Source<'_>) {
        self.say(&diagnostics::render(failure, source, self.look));
    }

    /// Ends the line on which a terminal has just written `^C`.
    pub(crate) fn end_line(self) {
        if terminal::is_followed() {
            self.say("");
        }
    }

    /// That a person stopped the program; a terminal has just written `^C` on the line.
    pub(crate) fn interrupted(self, uncertain: bool) {
        let line = if self.look.width.is_some() { "\n" } else { "" };
        let outcome = match uncertain {
            true => "; what was sent may have taken effect or not: look before you send it again",
            false => "",
        };
        self.say(&format!("{line}interrupted{outcome}"));
    }

    /// What there is to say about an answer: warnings always, the count with a drawn table, the times if asked for.
    pub(crate) fn about(self, answer: &Answer, rows: u64, format: Format, timing: bool) {
        answer.warnings.iter().for_each(|warning| self.warning(warning));
        if answer.truncated {
            self.note(&format!("note: {} of {} shown", counted(rows, "row"), answer.total_count));
        }
        if format.is_drawn() && !answer.is_message() {
            self.note(&footer(rows, answer.round_trip));
        }
        if timing {
            let (server, total) = (answer.execution_time, answer.round_trip);
            self.say(&format!("time: server {}, round trip {}", milliseconds(server), milliseconds(total)));
        }
    }
}

/// `(3 rows, 1.2 ms)`; the time is what the person waited.
fn footer(rows: u64, waited: Duration) -> String {
    format!("({}, {})", counted(rows, "row"), milliseconds(waited))
}

pub(crate) fn counted(count: u64, thing: &str) -> String {
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
        assert_eq!(footer(1, Duration::from_micros(1_240)), "(1 row, 1.2 ms)");
        assert_eq!(footer(0, Duration::from_millis(2_350)), "(0 rows, 2.35 s)");
    }
}
