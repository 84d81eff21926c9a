//! The configuration: one list of settings, each with its key, its default and its check.
//!
//! Later sources win: defaults, the TOML file, the environment (`SERVICE_SECTION__KEY`), the command line. A key
//! that is not in the list is an error that names it, and names the nearest one.

mod cluster;
mod hosts;
mod limits;
mod memory;
mod origins;
mod reload;
mod settings;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;
use stratalog_protocol::Secret;
use toml::Value;

use crate::audit::AuditTo;
use crate::tls::TlsFiles;

pub use cluster::{ClusterSettings, ClusterTls};
pub use hosts::Hosts;
pub use limits::{Limits, UserLimits};
pub use origins::Origins;
pub use reload::Changes;
use settings::{ADMIN_PASSWORD, Given, SETTINGS, is_section, nearest, nearest_variable, variable};

/// Everything that can be set.
#[derive(Debug, Clone)]
pub struct Config {
    /// Whether to serve at all.
    pub enabled: bool,
    /// The address to listen on.
    pub host: String,
    /// The port to listen on; 0 takes any free one.
    pub port: u16,
    /// Whether there is a console.
    pub console: bool,
    /// Pages of which sites may use the server.
    pub origins: Origins,
    /// The names by which the server may be called.
    pub hosts: Hosts,
    /// The file with the certificate for TLS.
    pub certificate: Option<PathBuf>,
    /// The file with its private key.
    pub certificate_key: Option<PathBuf>,
    /// Whose word is taken for where a request comes from.
    pub trusted_proxies: Vec<IpNet>,
    /// The password of `admin`, used when the user is created.
    pub admin_password: Option<Secret>,
    /// Who may use the graph `default` without an entry.
    pub default_graph: DefaultGraph,
    /// How guesses of passwords are slowed down.
    pub throttling: Throttling,
    /// Where data is kept.
    pub data_dir: PathBuf,
    /// Where `.backup` makes backups.
    pub backup_dir: PathBuf,
    /// Backups at intervals, and the archive between them.
    pub archiving: Archiving,
    /// Bytes in the journal of a graph that make a checkpoint due.
    pub checkpoint_bytes: u64,
    /// The least severe level that is logged.
    pub log_level: String,
    /// Where the audit log goes.
    pub audit: AuditTo,
    /// Whether log lines are JSON.
    pub log_json: bool,
    /// Engine threads; `None` takes all cores.
    pub threads: Option<usize>,
    /// What a program may hold.
    pub program: stratalog_engine::Limits,
    /// What connections and requests may use.
    pub limits: Limits,
    /// What evaluations beyond memory may use.
    cluster: cluster::Said,
    /// Folders and buckets of which files may be attached.
    pub attach_places: Vec<String>,
    /// Where each value is from that is no default.
    sources: BTreeMap<&'static str, Source>,
}

/// Where a value comes from. Later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nobody has set it.
    Default,
    /// The TOML file.
    File,
    /// A variable.
    Environment,
    /// The command line.
    Flag,
}

impl Source {
    fn as_str(self) -> &'static str {
        match self {
            Source::Default => "default",
            Source::File => "file",
            Source::Environment => "environment",
            Source::Flag => "flag",
        }
    }
}

/// Who may use the graph `default` without an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefaultGraph {
    /// Everybody, with the level of their role.
    #[default]
    Role,
    /// Nobody: it is a graph like any other.
    Acl,
}

/// Where and how often backups are made.
#[derive(Debug, Clone)]
pub struct Archiving {
    /// The folder of backups, or `s3://BUCKET/FOLDER`; none are made where it is empty.
    pub folder: String,
    /// The time from one backup to the next.
    pub interval: Duration,
    /// How many are kept.
    pub keep: usize,
    /// The time from one look for what is to be archived to the next.
    pub pause: Duration,
}

/// How guesses are slowed down. Zero failures mean: never.
#[derive(Debug, Clone)]
pub struct Throttling {
    /// Failures of one address after which it has to wait.
    pub failures_per_address: u32,
    /// Failures of one user after which there is a wait for them.
    pub failures_per_user: u32,
    /// The time after which failures are forgotten.
    pub window: Duration,
    /// The longest wait.
    pub longest_delay: Duration,
    /// How fast the passwords of one user may be guessed, by everybody together.
    pub guesses_per_second: u32,
}

impl Default for Throttling {
    fn default() -> Throttling {
        Throttling {
            failures_per_address: 10,
            failures_per_user: 10,
            window: Duration::from_secs(300),
            longest_delay: Duration::from_secs(30),
            guesses_per_second: 5,
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            enabled: true,
            host: "127.0.0.1".to_owned(),
            port: 8080,
            console: true,
            origins: Origins::default(),
            hosts: Hosts { listed: Vec::new(), own: "127.0.0.1".to_owned() },
            certificate: None,
            certificate_key: None,
            trusted_proxies: Vec::new(),
            admin_password: None,
            default_graph: DefaultGraph::default(),
            throttling: Throttling::default(),
            data_dir: PathBuf::from("./data"),
            backup_dir: PathBuf::from("./backups"),
            archiving: Archiving {
                folder: String::new(),
                interval: Duration::from_secs(86_400),
                keep: 7,
                pause: Duration::from_secs(1),
            },
            checkpoint_bytes: 64 << 20,
            log_level: "info".to_owned(),
            audit: AuditTo::default(),
            log_json: false,
            threads: None,
            program: stratalog_engine::Limits::default(),
            limits: Limits::default(),
            cluster: cluster::Said::default(),
            attach_places: Vec::new(),
            sources: BTreeMap::new(),
        }
    }
}

/// Why the configuration was refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration file {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// The file is not TOML.
    #[error("the configuration is not valid TOML: {0}")]
    Syntax(String),
    /// No setting has this key.
    #[error("unknown configuration key `{key}`{}", .nearest.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownKey {
        /// The key as given.
        key: String,
        /// The nearest one there is.
        nearest: Option<&'static str>,
    },
    /// No setting has this variable.
    #[error("unknown environment variable `{name}`{}", .nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownVariable {
        /// Its name.
        name: String,
        /// The nearest one there is.
        nearest: Option<String>,
    },
    /// The value does not fit.
    #[error("configuration key `{key}`: {reason}")]
    BadValue {
        /// The key.
        key: String,
        /// What was expected and what was found.
        reason: String,
    },
}

impl ConfigError {
    fn unknown_key(key: String) -> ConfigError {
        let nearest = nearest(&key);
        ConfigError::UnknownKey { key, nearest }
    }
}

impl Config {
    /// Takes over what a TOML text sets.
    pub fn merge_toml(&mut self, text: &str) -> Result<(), ConfigError> {
        // Of the message only the place is taken: an excerpt could show a password.
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let line =
                error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            ConfigError::Syntax(format!("line {line}: {}", error.message()))
        })?;
        self.merge_table("", table)
    }

    fn merge_table(&mut self, prefix: &str, table: toml::Table) -> Result<(), ConfigError> {
        for (name, value) in table {
            let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
            match value {
                Value::Table(inner) if !SETTINGS.iter().any(|setting| setting.key == key) => {
                    if !is_section(&key) {
                        return Err(ConfigError::unknown_key(key));
                    }
                    self.merge_table(&key, inner)?;
                }
                value => self.set(&key, &Given::File(value))?,
            }
        }
        Ok(())
    }

    /// Takes over what environment variables of the form `SERVICE_SECTION__KEY` set.
    pub fn merge_environment(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), ConfigError> {
        let mut admin_password = None;
        for (name, value) in variables {
            if !name.starts_with("SERVICE_") || name == CLIENT_KEY {
                continue;
            }
            if name == ADMIN_PASSWORD {
                admin_password = Some(value).filter(|password| !password.is_empty());
                continue;
            }
            match SETTINGS.iter().find(|setting| variable(setting.key) == name) {
                Some(setting) => self.set(setting.key, &Given::Environment(value))?,
                None => {
                    return Err(ConfigError::UnknownVariable { nearest: nearest_variable(&name), name });
                }
            }
        }
        // It wins over the variable of the key.
        admin_password.map_or(Ok(()), |password| {
            self.set("http.auth.bootstrap_admin_password", &Given::Environment(password))
        })
    }

    /// Takes over what the command line sets.
    pub fn merge_flags(
        &mut self,
        flags: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Result<(), ConfigError> {
        flags.into_iter().try_for_each(|(key, value)| self.set(key, &Given::Flag(value)))
    }

    /// The files for TLS; none where it is not spoken. One without the other is an error.
    pub fn tls(&self) -> Result<Option<TlsFiles>, ConfigError> {
        match (&self.certificate, &self.certificate_key) {
            (Some(certificate), Some(key)) => {
                Ok(Some(TlsFiles { certificate: certificate.clone(), key: key.clone() }))
            }
            (None, None) => Ok(None),
            (certificate, _) => {
                let (key, other) = match certificate {
                    Some(_) => ("http.tls.key", "http.tls.certificate"),
                    None => ("http.tls.certificate", "http.tls.key"),
                };
                let reason = format!("must be given with {other}");
                Err(ConfigError::BadValue { key: key.to_owned(), reason })
            }
        }
    }

    fn set(&mut self, key: &str, value: &Given) -> Result<(), ConfigError> {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
            return Err(ConfigError::unknown_key(key.to_owned()));
        };
        self.sources.insert(setting.key, value.source());
        (setting.set)(self, value).map_err(|reason| ConfigError::BadValue { key: key.to_owned(), reason })
    }

    /// Every key with its value, as a file could say it, and where it comes from. Passwords are stars.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for setting in SETTINGS {
            let source = self.sources.get(setting.key).copied().unwrap_or(Source::Default);
            let line = match (setting.show)(self) {
                Some(value) => format!("{} = {value}", setting.key),
                None => format!("# {} is not set", setting.key),
            };
            let _ = writeln!(text, "{line:<60} # {}", source.as_str());
        }
        text
    }
}

/// What the clients read; it is nothing to the server.
const CLIENT_KEY: &str = "SERVICE_API_KEY";

#[cfg(test)]
mod tests;
