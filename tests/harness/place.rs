//! A server, and a folder in which its command line runs.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::cli::{self, Done};
use crate::server::Server;

/// A server, and a folder for files.
#[derive(Debug)]
pub struct Place {
    /// The server.
    pub server: Server,
    /// The folder.
    pub folder: TempDir,
}

impl Default for Place {
    fn default() -> Place {
        Place::new()
    }
}

impl Place {
    /// Both are new.
    pub fn new() -> Place {
        Place { server: Server::start(), folder: TempDir::new().expect("a temporary folder") }
    }

    /// The path of a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file can be written");
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the file is text")
    }

    /// The names of all files.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("the folder can be read");
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The command line in this folder.
    pub fn command(&self) -> Command {
        let mut command = cli::at(&self.server);
        command.current_dir(self.folder.path());
        command
    }

    /// Runs the command line.
    pub fn run(&self, arguments: &[&str]) -> Done {
        cli::run(self.command(), arguments, "")
    }

    /// What it writes where it succeeds.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
        done.out
    }

    /// The error of a command that fails, and leaves no relation `r`.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!((done.code, done.out.as_str()), (Some(1), ""), "{arguments:?}: {}", done.err);
        assert!(!self.ok(&["-c", ".rel", "--csv", "--no-header"]).lines().any(|line| line.starts_with("r,")));
        done.err
    }

    /// The memory of a command that succeeds, in bytes at its peak, and what it writes to standard error.
    pub fn watched(&self, arguments: &[&str]) -> (u64, String) {
        let mut command = self.command();
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the command line starts");
        let status = format!("/proc/{}/status", process.id());
        let mut peak = 0;
        while process.try_wait().expect("it is a child of this process").is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
            peak = peak.max(kilobytes.unwrap_or(0) << 10);
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = process.wait_with_output().expect("it has ended");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{err}");
        (peak, err)
    }
}
