//! Where the server is and who asks: from the command line, from a profile, from the environment.
//!
//! What stands on the command line comes first, then a profile that is named, then the environment, and last the profile
//! `default`. A password is never used for another user than the one it stands with in a profile.

use crate::arguments::ConnectionArguments;
use crate::passwords;
use crate::profile::{self, Profile};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use stratalog_client::{Address, Credentials, DEFAULT_ADDRESS};

/// What else there is beside the command line.
pub(crate) trait Surroundings {
    /// A variable of the environment; an empty one counts as unset.
    fn variable(&self, name: &str) -> Option<String>;
    /// The first line of a file.
    fn first_line(&self, path: &Path) -> Result<String, String>;
    /// What a person types, unseen; `None` where there is nobody to ask.
    fn ask(&self, prompt: &str) -> Result<Option<String>, String>;
    /// The profile of this name.
    fn profile(&self, name: &str) -> Result<Option<Profile>, String>;
}

/// Where and who.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub address: Address,
    pub credentials: Credentials,
}

/// Finds out where and who.
pub(crate) fn find(arguments: &ConnectionArguments, around: &dyn Surroundings) -> Result<Settings, String> {
    if arguments.open.is_some() {
        let address = arguments.kg.iter().fold(Address::default(), |address, graph| address.graph(graph));
        // It asks nobody who they are.
        return Ok(Settings { address, credentials: Credentials::password("admin", "") });
    }
    let layers = layers(arguments, around)?;
    let first =
        |pick: fn(&Profile) -> &Option<String>| layers.iter().find_map(|layer| pick(&layer.values).clone());
    let url = first(|layer| &layer.url).unwrap_or_else(|| DEFAULT_ADDRESS.to_owned());
    let mut address: Address = url.parse().map_err(|error| format!("{url}: {error}"))?;
    if let Some(file) = layers.iter().find_map(|layer| layer.values.ca_file.as_deref()) {
        address = address.authorities(file);
    }
    if let Some(graph) = first(|layer| &layer.kg) {
        address = address.graph(&graph);
    }
    Ok(Settings { address, credentials: credentials(&layers, around)? })
}

/// One source of settings.
struct Layer {
    values: Profile,
    /// A password in it is for whoever asks.
    for_anybody: bool,
}

/// The sources, the strongest first.
fn layers(arguments: &ConnectionArguments, around: &dyn Surroundings) -> Result<Vec<Layer>, String> {
    let given = Profile {
        url: arguments.url.clone().filter(|url| !url.trim().is_empty()),
        kg: arguments.kg.clone(),
        ca_file: arguments.ca_file.clone(),
        user: arguments.user.clone(),
        password_file: arguments.password_file.clone(),
        password: None,
        api_key: arguments.api_key.clone(),
    };
    let environment = Profile {
        url: around.variable("STRATALOG_URL"),
        kg: None,
        ca_file: around.variable("STRATALOG_CA_FILE").map(PathBuf::from),
        user: around.variable("STRATALOG_USER"),
        password_file: None,
        password: around.variable("STRATALOG_PASSWORD"),
        api_key: around.variable("SERVICE_API_KEY"),
    };
    let layer = |values, for_anybody| Layer { values, for_anybody };
    let environment = layer(environment, true);
    let given = layer(given, false);
    match arguments.profile.clone().or_else(|| around.variable("STRATALOG_PROFILE")) {
        Some(name) => {
            let missing = || format!("there is no profile `{name}` in {}", profile::place());
            let named = around.profile(&name)?.ok_or_else(missing)?;
            Ok(vec![given, layer(named, false), environment])
        }
        None => {
            let default = around.profile("default")?.unwrap_or_default();
            Ok(vec![given, environment, layer(default, false)])
        }
    }
}

/// Of the strongest source that says who asks, an API key or else a user, whose password may come from a weaker one.
fn credentials(layers: &[Layer], around: &dyn Surroundings) -> Result<Credentials, String> {
    let says_who = |layer: &Layer| {
        let Profile { user, password_file, password, api_key, .. } = &layer.values;
        api_key.is_some() || user.is_some() || password_file.is_some() || password.is_some()
    };
    let start = layers.iter().position(says_who).unwrap_or(layers.len());
    let layers = &layers[start..];
    if let Some(key) = layers.first().and_then(|layer| layer.values.api_key.as_ref()) {
        return Ok(Credentials::api_key(key));
    }
    let user =
        layers.iter().find_map(|layer| layer.values.user.clone()).unwrap_or_else(|| "admin".to_owned());
    for (at, layer) in layers.iter().enumerate() {
        let theirs =
            at == 0 || layer.for_anybody || layer.values.user.as_ref().is_none_or(|owner| *owner == user);
        if !theirs {
            continue;
        }
        if let Some(path) = &layer.values.password_file {
            return Ok(Credentials::password(user, around.first_line(path)?));
        }
        if let Some(password) = &layer.values.password {
            return Ok(Credentials::password(user, password));
        }
    }
    let asked = around.ask(&format!("Password for {user}: "))?.ok_or(
        "no credentials: set STRATALOG_PASSWORD or SERVICE_API_KEY, write a profile, or give --password-file; \
         there is no terminal to ask on",
    )?;
    Ok(Credentials::password(user, asked))
}

/// The real environment, file system and terminal.
pub(crate) struct System;

impl Surroundings for System {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.trim().is_empty())
    }

    fn first_line(&self, path: &Path) -> Result<String, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        match text.lines().next() {
            Some(line) if !line.is_empty() => Ok(line.to_owned()),
            _ => Err(format!("{}: there is no password on the first line", path.display())),
        }
    }

    fn ask(&self, prompt: &str) -> Result<Option<String>, String> {
        if !std::io::stderr().is_terminal() {
            return Ok(None);
        }
        Ok(passwords::ask(prompt).ok()) // there may be no terminal behind it after all
    }

    fn profile(&self, name: &str) -> Result<Option<Profile>, String> {
        profile::read(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::Parser;

    /// Variables, files and answers by name, and profiles in TOML.
    struct Fixed(&'static [(&'static str, &'static str)], &'static str);

    impl Surroundings for Fixed {
        fn variable(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }

        fn first_line(&self, path: &Path) -> Result<String, String> {
            self.variable(&path.to_string_lossy()).ok_or_else(|| "no such file".to_owned())
        }

        fn ask(&self, prompt: &str) -> Result<Option<String>, String> {
            Ok(self.variable(prompt))
        }

        fn profile(&self, name: &str) -> Result<Option<Profile>, String> {
            profile::parse(self.1).map(|mut profiles| profiles.remove(name))
        }
    }

    fn chosen(
        words: &[&str],
        secrets: &'static [(&'static str, &'static str)],
        profiles: &'static str,
    ) -> Result<Settings, String> {
        let words = std::iter::once("stratalog").chain(words.iter().copied());
        find(&Arguments::try_parse_from(words).unwrap().connection, &Fixed(secrets, profiles))
    }

    fn who(words: &[&str], secrets: &'static [(&'static str, &'static str)]) -> Result<Credentials, String> {
        chosen(words, secrets, "").map(|settings| settings.credentials)
    }

    #[test]
    fn the_command_line_beats_the_environment() {
        let all =
            &[("SERVICE_API_KEY", "k"), ("STRATALOG_PASSWORD", "p"), ("STRATALOG_USER", "eve"), ("pw", "f")];
        assert_eq!(who(&[], all), Ok(Credentials::api_key("k")));
        assert_eq!(who(&["--api-key", "x"], all), Ok(Credentials::api_key("x")));
        assert_eq!(who(&["-U", "ada"], all), Ok(Credentials::password("ada", "p")));
        assert_eq!(who(&["--password-file", "pw"], all), Ok(Credentials::password("eve", "f")));
    }

    #[test]
    fn a_password_alone_belongs_to_admin_and_is_asked_for_last() {
        assert_eq!(who(&[], &[("STRATALOG_PASSWORD", "p")]), Ok(Credentials::password("admin", "p")));
        assert_eq!(
            who(&["-U", "ada"], &[("Password for ada: ", "t")]),
            Ok(Credentials::password("ada", "t"))
        );
        assert!(who(&[], &[]).unwrap_err().contains("STRATALOG_PASSWORD"));
    }

    const PROFILES: &str = "\
[default]
url = \"there:1\"
user = \"bob\"
password = \"b\"

[work]
url = \"work:2\"
kg = \"lab\"
api_key = \"w\"
";

    #[test]
    fn the_default_profile_counts_where_nothing_else_is_said() {
        let found = chosen(&[], &[], PROFILES).unwrap();
        assert_eq!(found.address.to_string(), "ws://there:1/ws");
        assert_eq!(found.credentials, Credentials::password("bob", "b"));
        let found =
            chosen(&["--kg", "x"], &[("STRATALOG_URL", "here:3"), ("SERVICE_API_KEY", "k")], PROFILES)
                .unwrap();
        assert_eq!(found.address.to_string(), "ws://here:3/ws?kg=x");
        assert_eq!(found.credentials, Credentials::api_key("k"));
    }

    #[test]
    fn a_profile_that_is_named_beats_the_environment() {
        let around = &[("STRATALOG_URL", "here:3"), ("STRATALOG_PASSWORD", "p"), ("STRATALOG_USER", "eve")];
        let found = chosen(&["--profile", "work"], around, PROFILES).unwrap();
        assert_eq!(found.address.to_string(), "ws://work:2/ws?kg=lab");
        assert_eq!(found.credentials, Credentials::api_key("w"));
        let found = chosen(&["-p", "work", "--url", "a:4", "-U", "ada"], around, PROFILES).unwrap();
        assert_eq!(found.address.to_string(), "ws://a:4/ws?kg=lab");
        assert_eq!(found.credentials, Credentials::password("ada", "p"));
        assert!(chosen(&["-p", "home"], &[], PROFILES).unwrap_err().contains("no profile `home`"));
    }

    #[test]
    fn a_password_of_one_user_is_not_sent_for_another() {
        let found = chosen(&["-U", "ada"], &[("Password for ada: ", "typed")], PROFILES).unwrap();
        assert_eq!(found.credentials, Credentials::password("ada", "typed"));
    }
}
