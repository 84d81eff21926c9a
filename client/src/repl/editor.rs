//! A program written in an editor of the user's choice.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use tempfile::TempPath;

/// Opens `$VISUAL` or `$EDITOR` on a file, or on a text that nobody else can read; answers what is in it afterwards.
pub(super) fn edit(file: Option<&Path>, text: &str) -> Result<String, String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = variable("VISUAL").or_else(|| variable("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    match file {
        Some(file) => open(&editor, file).map_err(|error| format!("{editor}: {error}"))?,
        None => {
            let scratch = scratch(text).map_err(|error| format!("cannot make a file to edit: {error}"))?;
            open(&editor, &scratch).map_err(|error| format!("{editor}: {error}"))?;
            return read(&scratch);
        }
    }
    read(file.unwrap_or(Path::new("")))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn open(editor: &str, file: &Path) -> io::Result<()> {
    let mut words = editor.split_whitespace();
    let status = Command::new(words.next().unwrap_or("vi")).args(words).arg(file).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("it ended with {status}"))) }
}

/// A file with a text, that its owner alone can read; gone when it is dropped.
fn scratch(text: &str) -> io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix("stratalog-edit-").suffix(".dl").tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file.into_temp_path())
}
