//! `Running`: the requests that wait or run, so that an administrator can see and stop them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use stratalog_engine::{Progress, Stop};
use stratalog_protocol::{WorkState, masked};
use uuid::Uuid;

use super::Ticket;

/// Bytes of a program that are kept for those who look.
const KEPT_BYTES: usize = 512;
/// Characters of it that are shown.
const SHOWN_CHARACTERS: usize = 200;

/// The requests of all connections that wait or run.
#[derive(Debug, Default)]
pub(crate) struct Running {
    last: AtomicU64,
    by_number: Mutex<BTreeMap<u64, Entry>>,
}

#[derive(Debug)]
struct Entry {
    user: String,
    graph: String,
    session: Uuid,
    program: String,
    began: Instant,
    started_at_ms: i64,
    ticket: Arc<Ticket>,
}

/// A request on the list, as long as this is kept.
#[derive(Debug)]
pub(crate) struct Request {
    /// Its number: no two requests of a server have the same.
    pub(crate) number: u64,
    running: Arc<Running>,
}

/// What is told about a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) number: u64,
    pub(crate) user: String,
    pub(crate) graph: String,
    pub(crate) session: Uuid,
    pub(crate) state: WorkState,
    pub(crate) started_at_ms: i64,
    pub(crate) elapsed_ms: u64,
    pub(crate) program: String,
    pub(crate) progress: Progress,
}

impl Running {
    /// Puts a request on the list.
    pub(crate) fn enter(
        self: &Arc<Running>,
        user: &str,
        graph: String,
        session: Uuid,
        program: &str,
        ticket: &Arc<Ticket>,
    ) -> Request {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let entry = Entry {
            user: user.to_owned(),
            graph,
            session,
            program: beginning(program).to_owned(),
            began: Instant::now(),
            started_at_ms: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
            ticket: ticket.clone(),
        };
        self.by_number.lock().insert(number, entry);
        Request { number, running: self.clone() }
    }

    /// The requests, oldest first.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let listed = |(number, entry): (&u64, &Entry)| {
            let (state, progress) = entry.ticket.standing();
            Listed {
                number: *number,
                user: entry.user.clone(),
                graph: entry.graph.clone(),
                session: entry.session,
                state,
                started_at_ms: entry.started_at_ms,
                elapsed_ms: u64::try_from(entry.began.elapsed().as_millis()).unwrap_or(u64::MAX),
                program: shown(&entry.program),
                progress,
            }
        };
        self.by_number.lock().iter().map(listed).collect()
    }

    /// Stops a request; answers whose it is, if there is one of this number.
    pub(crate) fn kill(&self, number: u64) -> Option<String> {
        let requests = self.by_number.lock();
        let entry = requests.get(&number)?;
        entry.ticket.stop(Stop::Administrator);
        Some(entry.user.clone())
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.running.by_number.lock().remove(&self.number);
    }
}

/// The beginning of a program on one line, with stars in place of passwords.
pub(crate) fn shown(program: &str) -> String {
    let program = masked(beginning(program));
    let mut shown: String = program.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = shown.char_indices().nth(SHOWN_CHARACTERS) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

/// As much of a program as is ever shown.
pub(crate) fn beginning(program: &str) -> &str {
    &program[..program.floor_char_boundary(KEPT_BYTES)]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use stratalog_engine::Stop;
    use stratalog_protocol::WorkState;
    use uuid::Uuid;

    use super::{Running, Ticket, shown};

    #[test]
    fn a_request_is_listed_until_it_is_answered_and_can_be_killed() {
        let running = Arc::new(Running::default());
        let ticket = Arc::new(Ticket::default());
        let request = running.enter("ada", "lab".to_owned(), Uuid::nil(), "?n(X)", &ticket);
        let listed = running.list();
        assert_eq!(listed.len(), 1);
        assert_eq!(
            (listed[0].number, listed[0].user.as_str(), listed[0].state),
            (1, "ada", WorkState::Waiting)
        );
        assert_eq!(running.kill(2), None);
        assert_eq!(running.kill(1), Some("ada".to_owned()));
        assert_eq!(ticket.stopped(), Some(Stop::Administrator));
        assert_eq!(running.list()[0].state, WorkState::Stopping);
        drop(request);
        assert_eq!(running.list(), []);
    }

    #[test]
    fn a_program_is_shown_short_and_without_passwords() {
        assert_eq!(shown("?a(X),\n  b(X)"), "?a(X), b(X)");
        assert_eq!(shown(".user create ada s3cret editor"), ".user create ada ****** ******");
        let long = format!("+a(\"{}\")", "é".repeat(400));
        assert_eq!(shown(&long).chars().count(), 201);
        let far = format!("{}\n.user create ada s3cret editor", "?a(X)\n".repeat(84));
        assert!(!shown(&far).contains("s3"), "{}", shown(&far));
    }
}
