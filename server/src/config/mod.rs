//! The configuration: one list of settings, each with its key, its default and its check.
//!
//! Later sources win: defaults, the TOML file, the environment (`SERVICE_SECTION__KEY`), the command line. A key
//! that is not in the list is an error that names it, and names the nearest one.

mod hosts;
mod memory;
mod origins;
mod reload;
mod settings;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;
use stratalog_engine::ArchiveOptions;
use stratalog_protocol::Secret;
use toml::Value;

use crate::audit::AuditTo;
use crate::tls::TlsFiles;

pub use hosts::Hosts;
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
    /// Where backups are made at intervals, with an archive between them; nowhere if there is no folder.
    pub archive: ArchiveOptions,
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

/// What connections and requests may use. Zero durations and counts mean: no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Time a query may take.
    pub query_timeout: Duration,
    /// Memory a query may take, in bytes.
    pub query_memory: u64,
    /// Memory that all queries may take together, in bytes.
    pub total_memory: u64,
    /// Memory that may keep rows of rules between queries, in bytes.
    pub view_memory: u64,
    /// Memory that facts may take, in bytes, where it is set: see [`Limits::stored_memory`].
    pub stored_memory: Option<u64>,
    /// Queries that run for long at once.
    pub concurrent_queries: usize,
    /// Queries that have just begun at once.
    pub short_queries: usize,
    /// Queries that wait for a place among the long ones, after they have begun.
    pub paused_queries: usize,
    /// Time after which a query is worth a line in the log.
    pub slow_query: Duration,
    /// Rows a result may have.
    pub result_rows: u64,
    /// Size of a message after authentication, in bytes.
    pub message_bytes: usize,
    /// Open connections of any kind.
    pub connections: usize,
    /// Open connections of one address.
    pub connections_of_address: usize,
    /// Open WebSocket connections.
    pub sockets: usize,
    /// WebSocket connections beyond these, for administrators.
    pub kept_for_administrators: usize,
    /// Connections of one address that have not authenticated yet.
    pub unauthenticated: usize,
    /// HTTP requests a second of one address.
    pub requests_per_second: u64,
    /// Messages a second on one connection.
    pub messages_per_second: u64,
    /// Time that the headers of a request may take, and for which a kept connection may wait for the next one.
    pub request_head: Duration,
    /// Time for which somebody may take nothing of what is sent.
    pub longest_send: Duration,
    /// Time without any frame after which a connection is closed.
    pub idle: Duration,
    /// Time after which a connection is closed in any case.
    pub lifetime: Duration,
    /// Time that requests have to end when the server stops.
    pub shutdown: Duration,
    /// Time that they have to end by themselves before they are cancelled.
    pub shutdown_grace: Duration,
    /// Sessions.
    pub sessions: usize,
    /// Time for which a session waits for its client to come back.
    pub session_grace: Duration,
    /// Time without any frame after which a session ends.
    pub session_idle: Duration,
    /// Memory that facts and rules of all sessions may take, in bytes.
    pub session_memory: u64,
    /// Notifications that are kept for those who come later.
    pub notifications: usize,
    /// Bytes that these may take.
    pub notification_bytes: usize,
    /// What one user may have of it.
    pub user: UserLimits,
}

/// What one user may have at once. Administrators may have any number. Zero means: no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserLimits {
    /// WebSocket connections.
    pub sockets: usize,
    /// Places among the queries that run for long; half of them if this is zero.
    pub long_queries: usize,
    /// Memory that queries and their answers may take, in bytes.
    pub memory: u64,
    /// Memory that facts and rules of sessions may take, in bytes.
    pub session_memory: u64,
    /// Knowledge graphs that the user owns.
    pub graphs: usize,
}

/// Threads for what is no query: reading and writing large messages, hashing.
const OTHER_THREADS: usize = 512;

impl Limits {
    /// Memory that the facts of all graphs may take, in bytes; 0 is no limit. What requests may take is left to them, and
    /// a quarter of the memory to everything else.
    pub fn stored_memory(&self) -> u64 {
        let memory = memory::available();
        self.stored_memory
            .unwrap_or_else(|| (memory / 4 * 3).saturating_sub(self.total_memory).max(memory / 8))
    }

    /// Threads that may block at once.
    pub fn blocking_threads(&self) -> usize {
        [self.concurrent_queries, self.short_queries, self.paused_queries]
            .into_iter()
            .fold(OTHER_THREADS, usize::saturating_add)
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            enabled: true,
            host: "127.0.0.1".to_owned(),
            port: 8080,
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
            archive: ArchiveOptions {
                folder: PathBuf::new(),
                interval: Duration::from_secs(86_400),
                keep: 7,
            },
            checkpoint_bytes: 64 << 20,
            log_level: "info".to_owned(),
            audit: AuditTo::default(),
            log_json: false,
            threads: None,
            program: stratalog_engine::Limits::default(),
            limits: Limits::default(),
            sources: BTreeMap::new(),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let memory = memory::available();
        Limits {
            query_timeout: Duration::from_secs(30),
            query_memory: memory / 4,
            total_memory: memory / 2,
            view_memory: memory / 8,
            stored_memory: None,
            concurrent_queries: (cores * 4).max(8),
            short_queries: (cores * 4).max(8),
            paused_queries: 64,
            slow_query: Duration::from_secs(5),
            result_rows: 0,
            message_bytes: 64 << 20,
            connections: 10_000,
            connections_of_address: 2_500,
            sockets: 5_000,
            kept_for_administrators: 8,
            unauthenticated: 64,
            requests_per_second: 1_000,
            messages_per_second: 10_000,
            request_head: Duration::from_secs(10),
            longest_send: Duration::from_secs(300),
            idle: Duration::from_secs(300),
            lifetime: Duration::from_secs(86_400),
            shutdown: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(5),
            sessions: 10_000,
            session_grace: Duration::from_secs(60),
            session_idle: Duration::from_secs(3600),
            session_memory: memory / 8,
            notifications: 1 << 16,
            notification_bytes: 64 << 20,
            user: UserLimits {
                sockets: 1_000,
                long_queries: 0,
                memory: memory / 4,
                session_memory: memory / 16,
                graphs: 250,
            },
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
mod tests {
    use std::time::Duration;

    use super::{Config, ConfigError};

    fn from_toml(text: &str) -> Result<Config, ConfigError> {
        let mut config = Config::default();
        config.merge_toml(text)?;
        Ok(config)
    }

    fn refusal(text: &str) -> String {
        from_toml(text).unwrap_err().to_string()
    }

    fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn defaults_are_those_of_the_interface() {
        let config = Config::default();
        assert!(config.enabled);
        assert_eq!((config.host.as_str(), config.port), ("127.0.0.1", 8080));
        assert_eq!(config.limits.query_timeout, Duration::from_secs(30));
        assert_eq!(config.limits.message_bytes, 64 * 1024 * 1024);
        assert_eq!(config.limits.messages_per_second, 10_000);
    }

    #[test]
    fn a_file_sets_what_it_names_and_nothing_else() {
        let config = from_toml(
            "[http]\nenabled = true\nport = 9000\n[http.auth]\nbootstrap_admin_password = \"pw\"\n\
             [limits]\nquery_timeout_ms = 250\n[storage]\ndata_dir = \"/x\"",
        )
        .unwrap();
        assert_eq!((config.host.as_str(), config.port), ("127.0.0.1", 9000));
        assert_eq!(config.admin_password.unwrap().expose(), "pw");
        assert_eq!(config.limits.query_timeout, Duration::from_millis(250));
        assert_eq!(config.data_dir.to_str(), Some("/x"));
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest_name() {
        assert_eq!(
            refusal("[http]\nprot = 1"),
            "unknown configuration key `http.prot`; did you mean `http.port`?"
        );
        assert_eq!(refusal("port = 1"), "unknown configuration key `port`; did you mean `http.port`?");
        assert_eq!(refusal("[zzz]\nqqq = 1"), "unknown configuration key `zzz`");
        assert_eq!(refusal("[http.gui]\nx = 1"), "unknown configuration key `http.gui`");
    }

    #[test]
    fn a_value_of_the_wrong_type_is_refused_with_its_key() {
        assert_eq!(
            refusal("[http]\nport = \"80\""),
            "configuration key `http.port`: expected a whole number, found string"
        );
        assert_eq!(refusal("[http]\nport = 70000"), "configuration key `http.port`: 70000 is out of range");
        assert_eq!(
            refusal("[http]\nenabled = 1"),
            "configuration key `http.enabled`: expected true or false, found integer"
        );
        assert!(refusal("[logging]\nlevel = \"loud\"").contains("expected one of error, warn, info"));
        assert!(refusal("http = 3").contains("unknown configuration key `http`"));
        assert!(refusal("[http\n").starts_with("the configuration is not valid TOML: line 1: "));
    }

    #[test]
    fn the_environment_wins_over_the_file() {
        let mut config =
            from_toml("[http]\nport = 9000\n[http.auth]\nbootstrap_admin_password = \"file\"").unwrap();
        config
            .merge_environment(variables(&[
                ("SERVICE_HTTP__PORT", "9001"),
                ("SERVICE_ADMIN_PASSWORD", "environment"),
                ("SERVICE_API_KEY", "the client's"),
                ("HOME", "/root"),
            ]))
            .unwrap();
        assert_eq!(config.port, 9001);
        assert_eq!(config.admin_password.unwrap().expose(), "environment");
    }

    #[test]
    fn an_unknown_variable_is_refused_with_the_nearest_name() {
        for (name, nearest) in [
            ("SERVICE_HTTP__HOSTT", Some("SERVICE_HTTP__HOST")),
            ("SERVICE_HTTP_PORT", Some("SERVICE_HTTP__PORT")),
            ("SERVICE_ADMIN_PASWORD", Some("SERVICE_ADMIN_PASSWORD")),
            ("SERVICE_Q", None),
        ] {
            assert_eq!(
                Config::default().merge_environment(variables(&[(name, "x")])),
                Err(ConfigError::UnknownVariable {
                    name: name.to_owned(),
                    nearest: nearest.map(str::to_owned)
                })
            );
        }
    }

    #[test]
    fn each_value_is_described_with_its_source_and_can_be_read_again() {
        let mut config = from_toml("[http]\nport = 9000\nhost = \"::1\"").unwrap();
        config
            .merge_environment(variables(&[
                ("SERVICE_HTTP__PORT", "9001"),
                ("SERVICE_ADMIN_PASSWORD", "lace"),
            ]))
            .unwrap();
        config.merge_flags([("storage.data_dir", "/x".to_owned())]).unwrap();
        let text = config.describe();
        let line = |key: &str| {
            let line = text.lines().find(|line| line.starts_with(key)).unwrap();
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line("http.port"), "http.port = 9001 # environment");
        assert_eq!(line("http.host"), "http.host = \"::1\" # file");
        assert_eq!(line("storage.data_dir"), "storage.data_dir = \"/x\" # flag");
        assert_eq!(line("logging.format"), "logging.format = \"text\" # default");
        assert_eq!(line("http.auth.boot"), "http.auth.bootstrap_admin_password = \"******\" # environment");
        assert!(!text.contains("lace"));
        let again = from_toml(&text).unwrap();
        assert_eq!((again.port, again.host.as_str()), (9001, "::1"));
        assert!(Config::default().describe().contains("# http.auth.bootstrap_admin_password is not set"));
        from_toml(&Config::default().describe()).unwrap();
    }

    #[test]
    fn the_password_does_not_show() {
        let config = from_toml("[http.auth]\nbootstrap_admin_password = \"lace\"").unwrap();
        assert!(!format!("{config:?}").contains("lace"));
        assert!(!refusal("[http.auth]\nbootstrap_admin_password = \"lace").contains("lace"));
    }
}
