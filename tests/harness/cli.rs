//! The real command line: `target/release/stratalog`, or what `STRATALOG_CLI` names.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::server::{PASSWORD, Server};
use crate::times::PATIENCE;

/// A command that runs it without colours.
pub fn command() -> Command {
    let path: PathBuf = match std::env::var_os("STRATALOG_CLI") {
        Some(path) => path.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/stratalog"),
    };
    assert!(path.exists(), "{}: run `cargo build --release -p stratalog-client` first", path.display());
    let mut command = Command::new(path);
    command.env("NO_COLOR", "1");
    command
}

/// A command that talks to this server as `admin`, whatever the environment says.
pub fn at(server: &Server) -> Command {
    let mut command = command();
    for name in ["SERVICE_API_KEY", "STRATALOG_USER", "STRATALOG_PROFILE", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
        .env("STRATALOG_URL", server.url())
        .env("STRATALOG_PASSWORD", PASSWORD)
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .stdin(Stdio::null());
    command
}

/// Waits until the server is at work on a request of somebody else.
pub fn until_one_runs(server: &Server) {
    let until = Instant::now() + PATIENCE;
    // The listing is a request, too.
    while run(at(server), &["-c", ".query list", "--csv", "--no-header"], "").out.lines().count() < 2 {
        assert!(Instant::now() < until, "nothing runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What a command did.
#[derive(Debug)]
pub struct Done {
    /// Its exit code.
    pub code: Option<i32>,
    /// What it wrote to standard output.
    pub out: String,
    /// What it wrote to standard error.
    pub err: String,
}

/// Runs it on a server with these arguments and nothing on standard input.
pub fn run_at(server: &Server, arguments: &[&str]) -> Done {
    run(at(server), arguments, "")
}

/// What it writes there, where all is well.
pub fn ok(server: &Server, arguments: &[&str]) -> String {
    let done = run_at(server, arguments);
    assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
    done.out
}

/// Runs a command with these arguments, and this on standard input.
pub fn run(mut command: Command, arguments: &[&str], input: &str) -> Done {
    let mut process = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command line starts");
    // It may end without reading everything.
    let _ = process.stdin.take().expect("standard input is piped").write_all(input.as_bytes());
    let output = process.wait_with_output().expect("the command line ends");
    Done {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
