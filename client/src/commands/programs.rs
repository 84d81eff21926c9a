//! The files of programs that a command is about.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// These files, and all that end in `.dl` in these folders and those inside, in the order of their paths.
pub(crate) fn programs(paths: &[impl AsRef<Path>]) -> Result<Vec<PathBuf>, String> {
    let mut all = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let mut files = Vec::new();
        if is_standard_input(path) {
            files.push(path.to_owned());
        } else {
            find(path, &mut files)?;
            files.sort();
        }
        if files.is_empty() {
            return Err(format!("{}: there are no files that end in .dl", path.display()));
        }
        all.append(&mut files);
    }
    Ok(all)
}

/// `-`, which stands for standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// What a program is called, and its text.
pub(crate) fn read(file: &Path) -> Result<(String, String), String> {
    if is_standard_input(file) {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).map_err(|error| format!("standard input: {error}"))?;
        return Ok(("<stdin>".to_owned(), text));
    }
    let text = fs::read_to_string(file).map_err(|error| failed(file, &error))?;
    Ok((file.display().to_string(), text))
}

fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if !path.is_dir() {
        fs::metadata(path).map_err(|error| failed(path, &error))?;
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(|error| failed(path, &error))? {
        let entry = entry.map_err(|error| failed(path, &error))?.path();
        if entry.is_dir() || entry.extension().is_some_and(|ending| ending == "dl") {
            find(&entry, files)?;
        }
    }
    Ok(())
}

fn failed(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}
