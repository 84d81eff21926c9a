//! A pager for what does not fit the screen.
//!
//! It is started when more has been written than fits; until then nothing is shown. What reads from it may leave early, and
//! whoever wrote waits until it has left, as the terminal is the pager's until then.

use std::io::{self, Stdout, Write, stdout};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// The pager where nobody has named one: colours and boxes as they are, long lines not wrapped, and what fits is just shown.
const USUAL: (&str, &str) = ("less", "-RSFX");

/// With these, a shell tells that there is no such command.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// The pager that runs, if one does.
#[derive(Clone, Default)]
pub(crate) struct Pager(Arc<Mutex<Option<Child>>>);

impl Pager {
    /// Where to write, on a terminal of this size.
    pub(crate) fn output(&self, columns: u16, rows: u16) -> Paged {
        let room = usize::from(rows.max(2)) - 1; // the prompt takes a line
        Paged {
            pager: self.clone(),
            columns: usize::from(columns.max(1)),
            room,
            state: State::Held(Vec::new()),
        }
    }

    /// Waits until it has left. It is an error if it could not begin; how it ended otherwise is its own matter.
    pub(crate) async fn left(self) -> io::Result<()> {
        let child = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut child) = child else { return Ok(()) };
        let ended = tokio::task::spawn_blocking(move || child.wait()).await.map_err(io::Error::other)??;
        match ended.code() {
            Some(NOT_EXECUTABLE | NOT_FOUND) => {
                Err(io::Error::other("$PAGER cannot be run; `--no-pager`, or `.pager off`, does without"))
            }
            _ => Ok(()),
        }
    }

    /// Starts it; `None` where there is none.
    fn start(&self) -> Option<ChildStdin> {
        let named = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
        let mut command = match named {
            Some(line) => by_shell(&line),
            None => {
                let mut command = Command::new(USUAL.0);
                command.arg(USUAL.1);
                command
            }
        };
        if std::env::var_os("LESSCHARSET").is_none() {
            command.env("LESSCHARSET", "utf-8");
        }
        let mut child = command.stdin(Stdio::piped()).spawn().ok()?;
        let input = child.stdin.take();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        input
    }
}

fn by_shell(line: &str) -> Command {
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = Command::new(shell);
    command.args([option, line]);
    command
}

/// What goes to a pager if it is too long for the screen.
pub(crate) struct Paged {
    pager: Pager,
    columns: usize,
    /// Lines of the screen that are left.
    room: usize,
    state: State,
}

enum State {
    /// It fits so far.
    Held(Vec<u8>),
    Paging(ChildStdin),
    /// There is no pager, or all of it fits.
    Plain(Stdout),
}

impl Write for Paged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Paging(pager) => return pager.write(bytes),
            State::Plain(output) => return output.write(bytes),
            State::Held(held) => held.extend_from_slice(bytes),
        }
        let taken = self.lines(bytes);
        match self.room.checked_sub(taken) {
            Some(room) => self.room = room,
            None => {
                self.state = match self.pager.start() {
                    Some(pager) => self.go_on(State::Paging(pager))?,
                    None => self.go_on(State::Plain(stdout()))?,
                };
            }
        }
        Ok(bytes.len())
    }

    /// All is written: what fits is shown.
    fn flush(&mut self) -> io::Result<()> {
        if let State::Held(_) = self.state {
            self.state = self.go_on(State::Plain(stdout()))?;
        }
        match &mut self.state {
            State::Paging(pager) => pager.flush(),
            State::Plain(output) => output.flush(),
            State::Held(_) => Ok(()),
        }
    }
}

impl Paged {
    /// Writes what was held back.
    fn go_on(&mut self, mut next: State) -> io::Result<State> {
        if let State::Held(held) = &self.state {
            match &mut next {
                State::Paging(pager) => pager.write_all(held)?,
                State::Plain(output) => output.write_all(held)?,
                State::Held(_) => {}
            }
        }
        Ok(next)
    }

    /// The lines of the screen that text takes: as far as that is known by its characters.
    fn lines(&self, bytes: &[u8]) -> usize {
        let text = String::from_utf8_lossy(bytes);
        let lines = text.matches('\n').count();
        let wrapped = text.lines().map(|line| line.chars().count().saturating_sub(1) / self.columns);
        lines + wrapped.sum::<usize>()
    }
}
