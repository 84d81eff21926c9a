//! The real command line: `target/release/stratalog`, or what `STRATALOG_CLI` names.

use std::path::{Path, PathBuf};
use std::process::Command;

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
