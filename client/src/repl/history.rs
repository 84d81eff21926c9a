//! The lines typed before, kept in a file that only its owner can read.
//!
//! A line that names a password never reaches the history, neither the file nor the memory of the prompt.

use reedline::{
    FileBackedHistory, History, HistoryItem, HistoryItemId, HistorySessionId, Result, SearchDirection,
    SearchQuery,
};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use stratalog_protocol::tells_a_secret;

/// How many lines are kept.
const LINES: usize = 5_000;

/// The history of the prompt: the file's when there is a place for one, else this run's only. The second part says
/// why there is no file.
pub(crate) fn open() -> (Box<dyn History>, Option<String>) {
    let problem = match file(|name| std::env::var_os(name).map(PathBuf::from)) {
        None => "neither XDG_STATE_HOME nor HOME is set".to_owned(),
        Some(path) => match make_private(&path).map(|()| FileBackedHistory::with_file(LINES, path.clone())) {
            Ok(Ok(history)) => return (Box::new(Discreet(history)), None),
            Ok(Err(error)) => format!("{}: {error}", path.display()),
            Err(error) => format!("{}: {error}", path.display()),
        },
    };
    (Box::new(Discreet(FileBackedHistory::default())), Some(problem))
}

/// The lines that are kept, the oldest first: all of them, or those with a part.
pub(crate) fn lines(history: &dyn History, part: Option<&str>) -> Vec<String> {
    let found = history.search(SearchQuery::everything(SearchDirection::Forward, None)).unwrap_or_default();
    let lines = found.into_iter().map(|item| item.command_line);
    lines.filter(|line| part.is_none_or(|part| line.contains(part))).collect()
}

/// `stratalog/history` in the user's state directory.
fn file(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let state = match variable("XDG_STATE_HOME").filter(|path| path.is_absolute()) {
        Some(directory) => directory,
        None => variable("HOME").filter(|path| path.is_absolute())?.join(".local").join("state"),
    };
    Some(state.join("stratalog").join("history"))
}

/// Sees to it that the file exists and that nobody but its owner may open it, before anything is written to it.
fn make_private(path: &Path) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    drop(file);
    Ok(())
}

/// A history that does not listen when a password is spoken.
struct Discreet(FileBackedHistory);

impl History for Discreet {
    fn save(&mut self, item: HistoryItem) -> Result<HistoryItem> {
        if tells_a_secret(&item.command_line) {
            // Without an id the prompt treats it like a repeated line: run, but not kept.
            return Ok(HistoryItem { id: None, ..item });
        }
        let saved = self.0.save(item)?;
        self.0.sync()?; // a prompt that is killed loses nothing
        Ok(saved)
    }

    fn load(&self, id: HistoryItemId) -> Result<HistoryItem> {
        self.0.load(id)
    }

    fn count(&self, query: SearchQuery) -> Result<i64> {
        self.0.count(query)
    }

    fn search(&self, query: SearchQuery) -> Result<Vec<HistoryItem>> {
        self.0.search(query)
    }

    fn update(&mut self, id: HistoryItemId, updater: &dyn Fn(HistoryItem) -> HistoryItem) -> Result<()> {
        self.0.update(id, updater)
    }

    fn clear(&mut self) -> Result<()> {
        self.0.clear()
    }

    fn delete(&mut self, id: HistoryItemId) -> Result<()> {
        self.0.delete(id)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }

    fn session(&self) -> Option<HistorySessionId> {
        self.0.session()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An own directory for one test, gone when the test ends.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            Scratch(std::env::temp_dir().join(format!("stratalog-{name}-{}", std::process::id())))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_file_lies_in_the_state_directory() {
        let place = |xdg: Option<&str>, home: Option<&str>| {
            file(|name| if name == "HOME" { home.map(PathBuf::from) } else { xdg.map(PathBuf::from) })
        };
        assert_eq!(place(Some("/state"), Some("/home/ada")), Some("/state/stratalog/history".into()));
        assert_eq!(place(None, Some("/home/ada")), Some("/home/ada/.local/state/stratalog/history".into()));
        assert_eq!(place(Some("not/absolute"), None), None);
    }

    #[test]
    fn a_line_with_a_password_never_reaches_the_file() {
        let scratch = Scratch::new("secret");
        let path = scratch.0.join("history");
        make_private(&path).unwrap();
        let mut history = Discreet(FileBackedHistory::with_file(LINES, path.clone()).unwrap());
        for line in ["?a(X)", ".user create ada s3cret editor", "?b(X)"] {
            history.save(HistoryItem::from_command_line(line)).unwrap();
        }
        drop(history);
        assert_eq!(fs::read_to_string(&path).unwrap(), "?a(X)\n?b(X)\n");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::new("mode");
        let path = scratch.0.join("history");
        fs::create_dir_all(&scratch.0).unwrap();
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        make_private(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
