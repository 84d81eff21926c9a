//! The audit log: who did what to people, rights and graphs, from where, and what came of it.
//!
//! It is a log of its own where `logging.audit` says so, one line of JSON for each entry, written before the answer goes
//! out. No entry holds a password or a key, nor what strangers typed in place of a name: that may be one.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;

use crate::clock;

/// Where entries go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AuditTo {
    /// To the server's log, under `stratalog_server::audit`.
    #[default]
    Log,
    /// To standard output, as JSON.
    Stdout,
    /// To the end of a file, as JSON.
    File(PathBuf),
}

/// The audit log cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the audit log {}: {reason}", .path.display())]
pub struct AuditError {
    path: PathBuf,
    reason: io::Error,
}

/// The audit log.
#[derive(Debug)]
pub struct Audit {
    sink: Mutex<Sink>,
    failures: Mutex<Failures>,
}

#[derive(Debug)]
enum Sink {
    Log,
    Stdout,
    File { path: PathBuf, file: File },
}

/// Failed logins a second that are written one by one: strangers must not fill the disk.
const FAILURES_A_SECOND: u32 = 100;

#[derive(Debug)]
struct Failures {
    second: Instant,
    written: u32,
    passed_over: u64,
}

/// One entry.
#[derive(Debug, Default, Serialize)]
pub struct Entry<'e> {
    /// What kind of thing it is about, such as `user.create`.
    pub action: &'static str,
    /// The user.
    pub who: Option<&'e str>,
    /// The label of the key with which that user came.
    pub key: Option<&'e str>,
    /// Where from; none on the machine itself.
    pub from: Option<IpAddr>,
    /// In a sentence.
    pub what: String,
    /// What came of it.
    pub outcome: Outcome,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was done.
    #[default]
    Ok,
    /// It was not done.
    Refused,
}

impl<'e> Entry<'e> {
    /// The same, refused.
    pub fn refused(self, reason: impl fmt::Display) -> Entry<'e> {
        Entry { outcome: Outcome::Refused, reason: Some(reason.to_string()), ..self }
    }

    fn is_failed_login(&self) -> bool {
        self.action == LOGIN && self.outcome == Outcome::Refused
    }
}

/// The action of those who say who they are.
pub(crate) const LOGIN: &str = "login";

#[derive(Serialize)]
struct Line<'e> {
    time: String,
    #[serde(flatten)]
    entry: &'e Entry<'e>,
}

impl Audit {
    /// Opens it where it is to be written.
    pub fn open(to: &AuditTo) -> Result<Audit, AuditError> {
        let failures = Failures { second: Instant::now(), written: 0, passed_over: 0 };
        Ok(Audit { sink: Mutex::new(Sink::open(to)?), failures: Mutex::new(failures) })
    }

    /// Opens it anew, perhaps elsewhere: what was renamed is let go. If that fails, it stays as it is.
    pub(crate) fn reopen(&self, to: &AuditTo) -> Result<(), AuditError> {
        let sink = Sink::open(to)?;
        *self.sink.lock() = sink;
        Ok(())
    }

    /// Writes an entry. What cannot be written is in the server's log.
    pub fn record(&self, entry: &Entry<'_>) {
        if entry.is_failed_login() {
            let Some(passed_over) = self.failures.lock().count(Instant::now()) else { return };
            if passed_over > 0 {
                let what = format!("{passed_over} more failed logins are not in this log");
                self.write(&Entry { action: LOGIN, what, ..Entry::default() }.refused("too many a second"));
            }
        }
        self.write(entry);
    }

    fn write(&self, entry: &Entry<'_>) {
        let mut sink = self.sink.lock();
        let written = match &mut *sink {
            Sink::Log => return logged(entry),
            Sink::Stdout => line(entry).and_then(|line| {
                let mut out = io::stdout().lock();
                out.write_all(&line)?;
                out.flush()
            }),
            // One call a line, so that no other process's line stands in the midst of it.
            Sink::File { file, .. } => line(entry).and_then(|line| file.write_all(&line)),
        };
        let place = sink.to_string();
        drop(sink);
        if let Err(error) = written {
            tracing::error!(%error, "cannot write the audit log {place}");
            logged(entry);
        }
    }
}

impl Sink {
    fn open(to: &AuditTo) -> Result<Sink, AuditError> {
        Ok(match to {
            AuditTo::Log => Sink::Log,
            AuditTo::Stdout => Sink::Stdout,
            AuditTo::File(path) => {
                let file = appended(path).map_err(|reason| AuditError { path: path.clone(), reason })?;
                Sink::File { path: path.clone(), file }
            }
        })
    }
}

impl fmt::Display for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sink::Log => f.write_str("log"),
            Sink::Stdout => f.write_str("stdout"),
            Sink::File { path, .. } => write!(f, "{}", path.display()),
        }
    }
}

/// Who was there and from where is for the server's user alone.
fn appended(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.append(true).create(true).open(path)
}

fn line(entry: &Entry<'_>) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Line { time: clock::written(clock::now_ms()), entry })?;
    line.push(b'\n');
    Ok(line)
}

/// The entry in the server's log. Who logs in is of interest to few there.
fn logged(entry: &Entry<'_>) {
    let Entry { action, who: by, key: via_key, from, what, outcome, reason } = entry;
    let from = from.map(|address| address.to_string());
    match outcome {
        Outcome::Ok if *action == LOGIN => {
            tracing::debug!(target: "stratalog_server::audit", by, via_key, from, "{what}");
        }
        Outcome::Ok => tracing::info!(target: "stratalog_server::audit", by, via_key, from, "{what}"),
        Outcome::Refused => {
            tracing::info!(target: "stratalog_server::audit", by, via_key, from, reason, "refused: {what}");
        }
    }
}

impl Failures {
    /// Whether one more may be written; if so, how many could not be since the last one.
    fn count(&mut self, now: Instant) -> Option<u64> {
        if now.saturating_duration_since(self.second) >= Duration::from_secs(1) {
            (self.second, self.written) = (now, 0);
        }
        if self.written >= FAILURES_A_SECOND {
            self.passed_over += 1;
            return None;
        }
        self.written += 1;
        Some(std::mem::take(&mut self.passed_over))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Audit, AuditTo, Entry, FAILURES_A_SECOND, Failures};

    #[test]
    fn lines_are_json_and_go_to_a_new_file_after_it_was_renamed() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("audit.jsonl");
        let to = AuditTo::File(path.clone());
        let audit = Audit::open(&to).unwrap();
        let entry = |what: &str| Entry {
            action: "user.create",
            who: Some("ada"),
            what: what.to_owned(),
            ..Entry::default()
        };
        audit.record(&entry("one"));
        std::fs::rename(&path, folder.path().join("old")).unwrap();
        audit.record(&entry("two").refused("no"));
        audit.reopen(&to).unwrap();
        audit.record(&entry("three"));
        let read = |name: &str| -> Vec<serde_json::Value> {
            let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let (old, new) = (read("old"), read("audit.jsonl"));
        assert_eq!((old.len(), new.len()), (2, 1));
        assert_eq!((&old[0]["who"], &old[0]["outcome"]), (&"ada".into(), &"ok".into()));
        assert_eq!((&old[1]["outcome"], &old[1]["reason"]), (&"refused".into(), &"no".into()));
        assert_eq!(new[0]["what"], "three");
    }

    #[test]
    fn a_file_that_cannot_be_opened_leaves_the_one_that_is() {
        let folder = tempfile::TempDir::new().unwrap();
        let audit = Audit::open(&AuditTo::File(folder.path().join("a"))).unwrap();
        let missing = AuditTo::File(folder.path().join("none/a"));
        assert!(audit.reopen(&missing).unwrap_err().to_string().contains("none/a"));
        audit.record(&Entry { action: "backup", ..Entry::default() });
        assert_eq!(std::fs::read_to_string(folder.path().join("a")).unwrap().lines().count(), 1);
    }

    #[test]
    fn a_flood_of_failures_is_counted_and_not_written() {
        let start = Instant::now();
        let mut failures = Failures { second: start, written: 0, passed_over: 0 };
        let written = (0..FAILURES_A_SECOND + 50).filter(|_| failures.count(start).is_some()).count();
        assert_eq!(written, FAILURES_A_SECOND as usize);
        assert_eq!(failures.count(start + Duration::from_secs(1)), Some(50));
        assert_eq!(failures.count(start + Duration::from_secs(1)), Some(0));
    }
}
