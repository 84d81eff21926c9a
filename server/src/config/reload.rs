//! What of a new configuration counts at once, and what only after a new start.

use super::settings::{Given, SETTINGS};
use super::{Config, ConfigError};

/// The keys that count at once. What they bound that is open already keeps the bounds with which it began: sockets their
/// sizes, rates and times, requests their time and memory.
const LIVE: &[&str] = &[
    "logging.level",
    "logging.audit",
    "logging.slow_query_ms",
    "http.cors_origins",
    "http.cors_allow_all",
    "http.allowed_hosts",
    "http.trusted_proxies",
    "http.tls.certificate",
    "http.tls.key",
    "http.max_message_bytes",
    "http.ws_idle_timeout_ms",
    "http.shutdown_grace_ms",
    "http.rate_limit.ws_max_messages_per_sec",
    "http.rate_limit.ws_max_lifetime_secs",
    "limits.query_timeout_ms",
    "limits.query_memory_bytes",
    "limits.max_result_rows",
];

/// The keys that have other values than before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Those that count now.
    pub now: Vec<&'static str>,
    /// Those that count after a new start.
    pub after_restart: Vec<&'static str>,
}

impl Config {
    /// This configuration with what another one says and what can change while a server runs.
    pub(crate) fn adopt(&self, other: &Config) -> Result<(Config, Changes), ConfigError> {
        let (mut next, mut changes) = (self.clone(), Changes::default());
        for setting in SETTINGS {
            match ((setting.show)(self), (setting.show)(other)) {
                (before, after) if before == after => {}
                // What is switched on or off was there from the start, or was not.
                (Some(_), Some(after)) if LIVE.contains(&setting.key) => {
                    let key = setting.key.to_owned();
                    (setting.set)(&mut next, &Given::File(after))
                        .map_err(|reason| ConfigError::BadValue { key, reason })?;
                    changes.now.push(setting.key);
                }
                (_, _) => changes.after_restart.push(setting.key),
            }
        }
        Ok((next, changes))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::settings::SETTINGS;
    use super::{Config, LIVE};

    #[test]
    fn what_can_change_changes_and_the_rest_is_named() {
        let (before, mut after) = (Config::default(), Config::default());
        after
            .merge_toml(
                "[logging]\nlevel = \"debug\"\n[http]\nport = 1\nallowed_hosts = [\"a.example\"]\n\
                 [http.tls]\ncertificate = \"c\"\nkey = \"k\"\n[limits]\nquery_timeout_ms = 5\n",
            )
            .unwrap();
        let (next, changes) = before.adopt(&after).unwrap();
        assert_eq!(changes.now, ["logging.level", "http.allowed_hosts", "limits.query_timeout_ms"]);
        assert_eq!(changes.after_restart, ["http.port", "http.tls.certificate", "http.tls.key"]);
        assert_eq!((next.log_level.as_str(), next.port), ("debug", before.port));
        assert_eq!(next.limits.query_timeout, Duration::from_millis(5));
        assert!(next.hosts.allow("a.example") && !before.hosts.allow("a.example"));
        let (_, again) = next.adopt(&after).unwrap();
        assert_eq!(again.now, Vec::<&str>::new());
    }

    #[test]
    fn every_key_that_counts_at_once_is_a_setting() {
        for key in LIVE {
            assert!(SETTINGS.iter().any(|setting| setting.key == *key), "{key}");
        }
    }
}
