//! The configuration: one list of settings, each with its key, its default and its check.
//!
//! Later sources win: defaults, the TOML file, the environment (`SERVICE_SECTION__KEY`), the command line. A key
//! that is not in the list is an error that names it, and names the nearest one.

mod settings;

use std::path::PathBuf;
use std::time::Duration;

use stratalog_protocol::Secret;
use toml::Value;

use settings::{Given, SETTINGS, is_section, nearest};

/// Everything that can be set.
#[derive(Debug, Clone)]
pub struct Config {
    /// Whether to serve at all.
    pub enabled: bool,
    /// The address to listen on.
    pub host: String,
    /// The port to listen on; 0 takes any free one.
    pub port: u16,
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
    /// Bytes in the journal of a graph that make a checkpoint due.
    pub checkpoint_bytes: u64,
    /// The least severe level that is logged.
    pub log_level: String,
    /// Whether log lines are JSON.
    pub log_json: bool,
    /// Engine threads; `None` takes all cores.
    pub threads: Option<usize>,
    /// What a program may hold.
    pub program: stratalog_engine::Limits,
    /// What connections and requests may use.
    pub limits: Limits,
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
#[derive(Debug, Clone)]
pub struct Limits {
    /// Time a query may take.
    pub query_timeout: Duration,
    /// Memory a query may take, in bytes.
    pub query_memory: u64,
    /// Queries that run at once.
    pub concurrent_queries: usize,
    /// Rows a result may have.
    pub result_rows: u64,
    /// Size of a message after authentication, in bytes.
    pub message_bytes: usize,
    /// Open connections of any kind.
    pub connections: usize,
    /// Open WebSocket connections.
    pub sockets: usize,
    /// Connections of one address that have not authenticated yet.
    pub unauthenticated: usize,
    /// Messages a second on one connection.
    pub messages_per_second: u64,
    /// Time without any frame after which a connection is closed.
    pub idle: Duration,
    /// Time after which a connection is closed in any case.
    pub lifetime: Duration,
    /// Time that requests have to end when the server stops.
    pub shutdown: Duration,
    /// Sessions.
    pub sessions: usize,
    /// Time for which a session waits for its client to come back.
    pub session_grace: Duration,
    /// Time without any frame after which a session ends.
    pub session_idle: Duration,
    /// Notifications that are kept for those who come later.
    pub notifications: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            enabled: true,
            host: "127.0.0.1".to_owned(),
            port: 8080,
            admin_password: None,
            default_graph: DefaultGraph::default(),
            throttling: Throttling::default(),
            data_dir: PathBuf::from("./data"),
            backup_dir: PathBuf::from("./backups"),
            checkpoint_bytes: 64 << 20,
            log_level: "info".to_owned(),
            log_json: false,
            threads: None,
            program: stratalog_engine::Limits::default(),
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Limits {
            query_timeout: Duration::from_secs(30),
            query_memory: machine_memory() / 4,
            concurrent_queries: (cores * 4).max(8),
            result_rows: 0,
            message_bytes: 64 << 20,
            connections: 10_000,
            sockets: 5_000,
            unauthenticated: 64,
            messages_per_second: 10_000,
            idle: Duration::from_secs(300),
            lifetime: Duration::from_secs(86_400),
            shutdown: Duration::from_secs(30),
            sessions: 10_000,
            session_grace: Duration::from_secs(60),
            session_idle: Duration::from_secs(3600),
            notifications: 1 << 16,
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
            if let Some(rest) = name.strip_prefix("SERVICE_")
                && rest.contains("__")
            {
                let key = rest.to_lowercase().replace("__", ".");
                self.set(&key, &Given::Environment(value))?;
            } else if name == "SERVICE_ADMIN_PASSWORD" && !value.is_empty() {
                admin_password = Some(Secret::new(value));
            }
        }
        if admin_password.is_some() {
            self.admin_password = admin_password;
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &Given) -> Result<(), ConfigError> {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
            return Err(ConfigError::unknown_key(key.to_owned()));
        };
        (setting.set)(self, value).map_err(|reason| ConfigError::BadValue { key: key.to_owned(), reason })
    }
}

/// Bytes of memory of the machine, or of the container that the process runs in.
fn machine_memory() -> u64 {
    let machine = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            text.lines()
                .find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse().ok())
        })
        .map_or(4 << 30, |kilobytes: u64| kilobytes << 10);
    let container =
        std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    container.map_or(machine, |limit: u64| machine.min(limit))
}

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
    fn an_unknown_variable_with_a_section_is_refused() {
        let refused =
            Config::default().merge_environment(variables(&[("SERVICE_HTTP__HOSTT", "x")])).unwrap_err();
        assert_eq!(
            refused,
            ConfigError::UnknownKey { key: "http.hostt".to_owned(), nearest: Some("http.host") }
        );
    }

    #[test]
    fn the_password_does_not_show() {
        let config = from_toml("[http.auth]\nbootstrap_admin_password = \"lace\"").unwrap();
        assert!(!format!("{config:?}").contains("lace"));
        assert!(!refusal("[http.auth]\nbootstrap_admin_password = \"lace").contains("lace"));
    }
}
