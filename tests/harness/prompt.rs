//! The prompt as a person sees it: the real executable in a real terminal.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use tempfile::TempDir;

use crate::cli;
use crate::server::Server;
use crate::times::PATIENCE;

/// The height of the terminal.
pub const ROWS: u16 = 50;
/// Its width.
pub const COLUMNS: u16 = 110;
const ROWS_SHOWN: NonZero<u16> = NonZero::new(ROWS).expect("a height");
const COLUMNS_SHOWN: NonZero<u16> = NonZero::new(COLUMNS).expect("a width");

/// A prompt in a terminal. It ends with this value.
#[allow(missing_debug_implementations, reason = "holds a terminal")]
pub struct Prompt {
    /// The process.
    pub child: Box<dyn Child + Send + Sync>,
    keys: Arc<Mutex<Box<dyn Write + Send>>>,
    /// What the terminal shows.
    pub screen: Arc<Mutex<vt100::Parser>>,
    /// How often the prompt began to read a line.
    reads: Arc<AtomicUsize>,
    /// The folder that it runs in, which is also its home.
    pub home: Arc<TempDir>,
}

/// What the prompt sends when it begins to read: from here on pasted text comes in brackets.
const BEGINS_TO_READ: &[u8] = b"\x1b[?2004h";
/// What it sends to ask where the cursor is.
const WHERE: &[u8] = b"\x1b[6n";

impl Prompt {
    /// Opens one, and waits until it can be typed into.
    pub fn open(server: &Server) -> Prompt {
        Prompt::open_in(server, Arc::new(TempDir::new().unwrap()), &[])
    }

    /// The same in a folder, with variables of the environment.
    pub fn open_in(server: &Server, home: Arc<TempDir>, variables: &[(&str, &str)]) -> Prompt {
        let prompt = Prompt::start(server, home, variables);
        prompt.wait_for_reads(1);
        prompt.wait("default> ");
        prompt
    }

    /// Starts it, and waits for nothing.
    pub fn start(server: &Server, home: Arc<TempDir>, variables: &[(&str, &str)]) -> Prompt {
        let known = cli::at(server);
        let program = known.get_program().to_owned();
        Prompt::run(&known, CommandBuilder::new(program), home, variables)
    }

    /// Starts another command, with what the environment of `known` says.
    pub fn run(
        known: &Command,
        command: CommandBuilder,
        home: Arc<TempDir>,
        variables: &[(&str, &str)],
    ) -> Prompt {
        Prompt::run_as_wide_as(COLUMNS_SHOWN, known, command, home, variables)
    }

    /// The same in a terminal of another width.
    pub fn run_as_wide_as(
        columns: NonZero<u16>,
        known: &Command,
        mut command: CommandBuilder,
        home: Arc<TempDir>,
        variables: &[(&str, &str)],
    ) -> Prompt {
        let size = PtySize { rows: ROWS, cols: columns.get(), pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).expect("a terminal");
        command.env_clear();
        for (name, value) in known.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        command.env("HOME", home.path());
        command.env("TERM", "xterm-256color");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        for (name, value) in variables {
            command.env(name, value);
        }
        command.cwd(home.path());
        let child = pty.slave.spawn_command(command).expect("the command line starts");
        drop(pty.slave);
        let keys = Arc::new(Mutex::new(pty.master.take_writer().expect("keys")));
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS_SHOWN, columns, 10_000)));
        let mut output = pty.master.try_clone_reader().expect("a screen");
        let (seen, answers) = (Arc::clone(&screen), Arc::clone(&keys));
        let reads = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&reads);
        std::thread::spawn(move || {
            let _master = pty.master; // open as long as the screen is looked at
            let (mut bytes, mut recent) = ([0; 4096], Vec::new());
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                let mut screen = seen.lock().unwrap();
                for byte in &bytes[..read] {
                    screen.process(std::slice::from_ref(byte));
                    recent.push(*byte);
                    if recent.ends_with(BEGINS_TO_READ) {
                        counted.fetch_add(1, Ordering::SeqCst);
                    } else if recent.ends_with(WHERE) {
                        let (row, column) = screen.screen().cursor_position();
                        let answer = format!("\x1b[{};{}R", row + 1, column + 1);
                        let _ = answers.lock().unwrap().write_all(answer.as_bytes());
                    }
                }
                let keep = recent.len().saturating_sub(16);
                recent.drain(..keep);
            }
        });
        Prompt { child, keys, screen, reads, home }
    }

    /// Presses keys.
    pub fn keys(&self, keys: &str) {
        let mut writer = self.keys.lock().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// Types a line, and waits until the next one can be typed, and this is on the screen.
    pub fn type_line(&self, line: &str, expected: &str) {
        let reads = self.reads();
        self.keys(&format!("{line}\r"));
        self.wait_for_reads(reads + 1);
        self.wait(expected);
    }

    /// Types a line of a statement that goes on.
    pub fn type_more(&self, line: &str) {
        let lines = self.seen().matches("... ").count();
        self.keys(&format!("{line}\r"));
        self.wait_for("a further line", |screen| screen.matches("... ").count() > lines);
    }

    /// How often the prompt has begun to read a line.
    pub fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    /// Waits until it has done so this often.
    pub fn wait_for_reads(&self, reads: usize) {
        self.wait_for("a prompt", |_| self.reads() >= reads);
    }

    /// What has been shown.
    pub fn seen(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until a text is shown.
    pub fn wait(&self, expected: &str) {
        self.wait_for(expected, |screen| screen.contains(expected));
    }

    /// Waits until something is shown.
    pub fn wait_for(&self, what: &str, is_there: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_there(&self.seen()) {
            assert!(Instant::now() < until, "`{what}` does not show up on\n{}", self.seen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Leaves it; the exit code.
    pub fn end(mut self) -> u32 {
        self.keys("\u{4}");
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(Instant::now() < until, "the prompt does not end:\n{}", self.seen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A file in its folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}
