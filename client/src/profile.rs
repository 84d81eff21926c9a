//! Profiles: servers and users by name, in a file of the user.
//!
//! ```toml
//! [default]
//! url = "ws://127.0.0.1:8080/ws"
//! user = "ada"
//! password_file = "/home/ada/.stratalog-password"
//! ```
//!
//! A file that holds a password or a key is refused if others can read it.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// What a profile may say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    pub url: Option<String>,
    pub kg: Option<String>,
    pub ca_file: Option<PathBuf>,
    pub user: Option<String>,
    pub password_file: Option<PathBuf>,
    pub password: Option<String>,
    pub api_key: Option<String>,
}

/// The profile of this name, if there is one.
pub(crate) fn read(name: &str) -> Result<Option<Profile>, String> {
    let Some(path) = file(|name| std::env::var_os(name).map(PathBuf::from)) else { return Ok(None) };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let mut profiles = parse(&text).map_err(|problem| format!("{}: {problem}", path.display()))?;
    let metadata = std::fs::metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let secret = profiles.values().any(|profile| profile.password.is_some() || profile.api_key.is_some());
    if secret && others_may_read(&metadata) {
        let path = path.display();
        return Err(format!("{path} holds a secret, and others may read it: chmod 600 {path}"));
    }
    Ok(profiles.remove(name))
}

/// The profiles in a text.
pub(crate) fn parse(text: &str) -> Result<BTreeMap<String, Profile>, String> {
    // The message shows the line, which may hold a secret.
    toml::from_str(text).map_err(|error| {
        let line =
            error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        format!("line {line}: {}", error.message())
    })
}

/// Where profiles are looked for, for messages.
pub(crate) fn place() -> String {
    let path = file(|name| std::env::var_os(name).map(PathBuf::from));
    path.map_or_else(|| "~/.config/stratalog/config.toml".to_owned(), |path| path.display().to_string())
}

/// `stratalog/config.toml` in the user's configuration directory.
fn file(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    let directory = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(directory.join(Path::new("stratalog/config.toml")))
}

#[cfg(unix)]
fn others_may_read(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(metadata) & 0o077 != 0
}

#[cfg(not(unix))]
fn others_may_read(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_lies_in_the_configuration_directory() {
        let place = |xdg: Option<&str>, home: Option<&str>| {
            file(|name| if name == "HOME" { home.map(PathBuf::from) } else { xdg.map(PathBuf::from) })
        };
        assert_eq!(place(Some("/c"), Some("/home/ada")), Some("/c/stratalog/config.toml".into()));
        assert_eq!(
            place(Some("c"), Some("/home/ada")),
            Some("/home/ada/.config/stratalog/config.toml".into())
        );
        assert_eq!(place(None, None), None);
    }

    #[test]
    fn a_mistake_has_its_line_and_keeps_the_secret() {
        let problem = parse("[a]\nurl = \"x\"\npasswrd = \"hunter2\"\n").unwrap_err();
        assert!(problem.starts_with("line 3: ") && problem.contains("passwrd"), "{problem}");
        assert!(!problem.contains("hunter2"), "{problem}");
    }
}
