//! The list of settings: each key, where its value goes and how it is shown, and what is checked about it.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;
use stratalog_engine::ClusterUse;
use stratalog_protocol::Secret;
use toml::Value;

use super::{Config, DefaultGraph, Hosts, Origins, Source};
use crate::attached::Attachable;
use crate::audit::AuditTo;
use crate::vault;

/// One key of the configuration.
pub(super) struct Setting {
    /// Section and name.
    pub(super) key: &'static str,
    /// Takes a value over, or says what is wrong with it.
    pub(super) set: fn(&mut Config, &Given) -> Result<(), String>,
    /// The value as it would stand in a file; none where there is none.
    pub(super) show: fn(&Config) -> Option<Value>,
}

/// Every key, in the order of the documentation.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "storage.data_dir",
        set: |c, v| v.text().map(|text| c.data_dir = PathBuf::from(text)),
        show: |c| path(&c.data_dir),
    },
    Setting {
        key: "storage.backup_dir",
        set: |c, v| v.text().map(|text| c.backup_dir = PathBuf::from(text)),
        show: |c| path(&c.backup_dir),
    },
    Setting {
        key: "storage.checkpoint_bytes",
        set: |c, v| v.positive().map(|n| c.checkpoint_bytes = n),
        show: |c| whole(c.checkpoint_bytes),
    },
    Setting {
        key: "storage.max_knowledge_graphs",
        set: |c, v| v.number().map(|n| c.program.graphs = n),
        show: |c| whole(c.program.graphs),
    },
    Setting {
        key: "backup.folder",
        set: |c, v| {
            let folder = v.text()?;
            vault::bucket_in(&folder).map_err(|error| error.to_string())?;
            c.archiving.folder = folder;
            Ok(())
        },
        show: |c| text(&c.archiving.folder),
    },
    Setting {
        key: "backup.interval_secs",
        set: |c, v| v.positive().map(|n| c.archiving.interval = Duration::from_secs(n)),
        show: |c| seconds(c.archiving.interval),
    },
    Setting {
        key: "backup.keep",
        set: |c, v| v.positive().map(|n| c.archiving.keep = n),
        show: |c| whole(c.archiving.keep),
    },
    Setting {
        key: "backup.archive_secs",
        set: |c, v| v.positive().map(|n| c.archiving.pause = Duration::from_secs(n)),
        show: |c| seconds(c.archiving.pause),
    },
    Setting {
        key: "attach.places",
        set: |c, v| v.each(Attachable::normal).map(|places| c.attach_places = places),
        show: |c| list(&c.attach_places),
    },
    Setting {
        key: "cluster.folder",
        set: |c, v| v.text().map(|text| c.cluster.folder = Some(PathBuf::from(text))),
        show: |c| path(&c.cluster().folder),
    },
    Setting {
        key: "cluster.listen",
        set: |c, v| v.host_and_port().map(|address| c.cluster.listen = address),
        show: |c| text(c.cluster().listen.unwrap_or_default()),
    },
    Setting {
        key: "cluster.tls.authority",
        set: |c, v| v.text().map(|file| c.cluster.tls.authority = Some(PathBuf::from(file))),
        show: |c| c.cluster.tls.authority.as_deref().and_then(path),
    },
    Setting {
        key: "cluster.tls.certificate",
        set: |c, v| v.text().map(|file| c.cluster.tls.certificate = Some(PathBuf::from(file))),
        show: |c| c.cluster.tls.certificate.as_deref().and_then(path),
    },
    Setting {
        key: "cluster.tls.key",
        set: |c, v| v.text().map(|file| c.cluster.tls.key = Some(PathBuf::from(file))),
        show: |c| c.cluster.tls.key.as_deref().and_then(path),
    },
    Setting {
        key: "cluster.store",
        set: |c, v| v.text().map(|text| c.cluster.store = Some(PathBuf::from(text))),
        show: |c| path(&c.cluster().store),
    },
    Setting {
        key: "cluster.memory_bytes",
        set: |c, v| v.positive().map(|n| c.cluster.memory_bytes = Some(n)),
        show: |c| c.cluster.memory_bytes.and_then(whole),
    },
    Setting {
        key: "cluster.disk_bytes",
        set: |c, v| v.positive().map(|n| c.cluster.disk_bytes = Some(n)),
        show: |c| c.cluster.disk_bytes.and_then(whole),
    },
    Setting {
        key: "cluster.over_bytes",
        set: |c, v| v.number().map(|n| c.cluster.over_bytes = Some(n)),
        show: |c| c.cluster.over_bytes.and_then(whole),
    },
    Setting {
        key: "cluster.default_use",
        set: |c, v| {
            let word = v.one_of(&ClusterUse::ALL.map(ClusterUse::as_str))?;
            c.cluster.default_use = ClusterUse::of(&word);
            Ok(())
        },
        show: |c| text(c.cluster().default_use.as_str()),
    },
    Setting {
        key: "logging.level",
        set: |c, v| v.one_of(LEVELS).map(|level| c.log_level = level),
        show: |c| text(&c.log_level),
    },
    Setting {
        key: "logging.format",
        set: |c, v| v.one_of(FORMATS).map(|format| c.log_json = format == "json"),
        show: |c| text(if c.log_json { "json" } else { "text" }),
    },
    Setting {
        key: "logging.audit",
        set: |c, v| {
            v.text().map(|to| {
                c.audit = match to.as_str() {
                    "log" => AuditTo::Log,
                    "stdout" => AuditTo::Stdout,
                    file => AuditTo::File(PathBuf::from(file)),
                };
            })
        },
        show: |c| match &c.audit {
            AuditTo::Log => text("log"),
            AuditTo::Stdout => text("stdout"),
            AuditTo::File(file) => path(file),
        },
    },
    Setting {
        key: "logging.slow_query_ms",
        set: |c, v| v.number().map(|n| c.limits.slow_query = Duration::from_millis(n)),
        show: |c| milliseconds(c.limits.slow_query),
    },
    Setting {
        key: "http.enabled",
        set: |c, v| v.boolean().map(|b| c.enabled = b),
        show: |c| Some(Value::Boolean(c.enabled)),
    },
    Setting {
        key: "http.host",
        set: |c, v| {
            v.text().map(|host| {
                c.hosts.own.clone_from(&host);
                c.host = host;
            })
        },
        show: |c| text(&c.host),
    },
    Setting { key: "http.port", set: |c, v| v.number().map(|port| c.port = port), show: |c| whole(c.port) },
    Setting {
        key: "http.console",
        set: |c, v| v.boolean().map(|b| c.console = b),
        show: |c| Some(Value::Boolean(c.console)),
    },
    Setting {
        key: "http.cors_origins",
        set: |c, v| v.each(Origins::normal).map(|origins| c.origins.listed = origins),
        show: |c| list(&c.origins.listed),
    },
    Setting {
        key: "http.cors_allow_all",
        set: |c, v| v.boolean().map(|b| c.origins.all = b),
        show: |c| Some(Value::Boolean(c.origins.all)),
    },
    Setting {
        key: "http.allowed_hosts",
        set: |c, v| v.each(Hosts::normal).map(|names| c.hosts.listed = names),
        show: |c| list(&c.hosts.listed),
    },
    Setting {
        key: "http.trusted_proxies",
        set: |c, v| v.each(network).map(|networks| c.trusted_proxies = networks),
        show: |c| list(&c.trusted_proxies),
    },
    Setting {
        key: "http.tls.certificate",
        set: |c, v| v.text().map(|file| c.certificate = Some(PathBuf::from(file))),
        show: |c| c.certificate.as_deref().and_then(path),
    },
    Setting {
        key: "http.tls.key",
        set: |c, v| v.text().map(|file| c.certificate_key = Some(PathBuf::from(file))),
        show: |c| c.certificate_key.as_deref().and_then(path),
    },
    Setting {
        key: "http.auth.bootstrap_admin_password",
        set: |c, v| v.text().map(|password| c.admin_password = Some(Secret::new(password))),
        show: |c| c.admin_password.as_ref().and_then(|_| text("******")),
    },
    Setting {
        key: "http.auth.default_graph",
        set: |c, v| {
            v.one_of(DEFAULT_GRAPHS).map(|rule| {
                c.default_graph = if rule == "acl" { DefaultGraph::Acl } else { DefaultGraph::Role };
            })
        },
        show: |c| {
            text(match c.default_graph {
                DefaultGraph::Role => "role",
                DefaultGraph::Acl => "acl",
            })
        },
    },
    Setting {
        key: "http.auth.failures_per_address",
        set: |c, v| v.number().map(|n| c.throttling.failures_per_address = n),
        show: |c| whole(c.throttling.failures_per_address),
    },
    Setting {
        key: "http.auth.failures_per_user",
        set: |c, v| v.number().map(|n| c.throttling.failures_per_user = n),
        show: |c| whole(c.throttling.failures_per_user),
    },
    Setting {
        key: "http.auth.failure_window_secs",
        set: |c, v| v.number().map(|n: u32| c.throttling.window = Duration::from_secs(n.into())),
        show: |c| seconds(c.throttling.window),
    },
    Setting {
        key: "http.auth.longest_delay_ms",
        set: |c, v| v.number().map(|n: u32| c.throttling.longest_delay = Duration::from_millis(n.into())),
        show: |c| milliseconds(c.throttling.longest_delay),
    },
    Setting {
        key: "http.auth.guesses_per_second",
        set: |c, v| v.positive().map(|n| c.throttling.guesses_per_second = n),
        show: |c| whole(c.throttling.guesses_per_second),
    },
    Setting {
        key: "http.max_message_bytes",
        set: |c, v| v.positive().map(|n| c.limits.message_bytes = n),
        show: |c| whole(c.limits.message_bytes),
    },
    Setting {
        key: "http.request_timeout_ms",
        set: |c, v| v.positive().map(|n| c.limits.request_head = Duration::from_millis(n)),
        show: |c| milliseconds(c.limits.request_head),
    },
    Setting {
        key: "http.send_timeout_ms",
        set: |c, v| v.number().map(|n| c.limits.longest_send = Duration::from_millis(n)),
        show: |c| milliseconds(c.limits.longest_send),
    },
    Setting {
        key: "http.ws_idle_timeout_ms",
        set: |c, v| v.number().map(|n| c.limits.idle = Duration::from_millis(n)),
        show: |c| milliseconds(c.limits.idle),
    },
    Setting {
        key: "http.session_grace_ms",
        set: |c, v| v.number().map(|n| c.limits.session_grace = Duration::from_millis(n)),
        show: |c| milliseconds(c.limits.session_grace),
    },
    Setting {
        key: "http.session_idle_ms",
        set: |c, v| v.number().map(|n| c.limits.session_idle = Duration::from_millis(n)),
        show: |c| milliseconds(c.limits.session_idle),
    },
    Setting {
        key: "http.shutdown_timeout_secs",
        set: |c, v| v.number().map(|n: u32| c.limits.shutdown = Duration::from_secs(n.into())),
        show: |c| seconds(c.limits.shutdown),
    },
    Setting {
        key: "http.shutdown_grace_ms",
        set: |c, v| v.number().map(|n| c.limits.shutdown_grace = Duration::from_millis(n)),
        show: |c| milliseconds(c.limits.shutdown_grace),
    },
    Setting {
        key: "http.rate_limit.max_connections",
        set: |c, v| v.number().map(|n| c.limits.connections = n),
        show: |c| whole(c.limits.connections),
    },
    Setting {
        key: "http.rate_limit.max_connections_per_address",
        set: |c, v| v.number().map(|n| c.limits.connections_of_address = n),
        show: |c| whole(c.limits.connections_of_address),
    },
    Setting {
        key: "http.rate_limit.max_ws_connections",
        set: |c, v| v.number().map(|n| c.limits.sockets = n),
        show: |c| whole(c.limits.sockets),
    },
    Setting {
        key: "http.rate_limit.kept_for_administrators",
        set: |c, v| v.number().map(|n| c.limits.kept_for_administrators = n),
        show: |c| whole(c.limits.kept_for_administrators),
    },
    Setting {
        key: "http.rate_limit.max_unauthenticated_per_address",
        set: |c, v| v.number().map(|n| c.limits.unauthenticated = n),
        show: |c| whole(c.limits.unauthenticated),
    },
    Setting {
        key: "http.rate_limit.max_requests_per_sec_per_address",
        set: |c, v| v.number().map(|n| c.limits.requests_per_second = n),
        show: |c| whole(c.limits.requests_per_second),
    },
    Setting {
        key: "http.rate_limit.ws_max_messages_per_sec",
        set: |c, v| v.number().map(|n| c.limits.messages_per_second = n),
        show: |c| whole(c.limits.messages_per_second),
    },
    Setting {
        key: "http.rate_limit.ws_max_lifetime_secs",
        set: |c, v| v.number().map(|n: u32| c.limits.lifetime = Duration::from_secs(n.into())),
        show: |c| seconds(c.limits.lifetime),
    },
    Setting {
        key: "http.rate_limit.notification_buffer_size",
        set: |c, v| v.positive().map(|n| c.limits.notifications = n),
        show: |c| whole(c.limits.notifications),
    },
    Setting {
        key: "http.rate_limit.notification_buffer_bytes",
        set: |c, v| v.positive().map(|n| c.limits.notification_bytes = n),
        show: |c| whole(c.limits.notification_bytes),
    },
    Setting {
        key: "live.max_subscriptions",
        set: |c, v| v.number().map(|n| c.limits.subscriptions = n),
        show: |c| whole(c.limits.subscriptions),
    },
    Setting {
        key: "live.max_per_user",
        set: |c, v| v.number().map(|n| c.limits.user.subscriptions = n),
        show: |c| whole(c.limits.user.subscriptions),
    },
    Setting {
        key: "live.max_per_connection",
        set: |c, v| v.number().map(|n| c.limits.subscriptions_of_connection = n),
        show: |c| whole(c.limits.subscriptions_of_connection),
    },
    Setting {
        key: "live.max_queries",
        set: |c, v| v.positive().map(|n| c.limits.live_queries = n),
        show: |c| whole(c.limits.live_queries),
    },
    Setting {
        key: "live.log_bytes",
        set: |c, v| v.number().map(|n| c.limits.live_log_bytes = n),
        show: |c| whole(c.limits.live_log_bytes),
    },
    Setting {
        key: "live.answer_bytes",
        set: |c, v| v.positive().map(|n| c.limits.live_answer_bytes = n),
        show: |c| whole(c.limits.live_answer_bytes),
    },
    Setting {
        key: "live.step_timeout_ms",
        set: |c, v| v.positive().map(|n| c.limits.live_step = Duration::from_millis(n)),
        show: |c| milliseconds(c.limits.live_step),
    },
    Setting {
        key: "limits.query_timeout_ms",
        set: |c, v| v.number().map(|n| c.limits.query_timeout = Duration::from_millis(n)),
        show: |c| milliseconds(c.limits.query_timeout),
    },
    Setting {
        key: "limits.query_memory_bytes",
        set: |c, v| v.positive().map(|n| c.limits.query_memory = n),
        show: |c| whole(c.limits.query_memory),
    },
    Setting {
        key: "limits.total_memory_bytes",
        set: |c, v| v.positive().map(|n| c.limits.total_memory = n),
        show: |c| whole(c.limits.total_memory),
    },
    Setting {
        key: "limits.view_memory_bytes",
        set: |c, v| v.number().map(|n| c.limits.view_memory = n),
        show: |c| whole(c.limits.view_memory),
    },
    Setting {
        key: "limits.stored_memory_bytes",
        set: |c, v| v.number().map(|n| c.limits.stored_memory = Some(n)),
        show: |c| whole(c.limits.stored_memory()),
    },
    Setting {
        key: "limits.max_concurrent_queries",
        set: |c, v| v.positive().map(|n| c.limits.concurrent_queries = n),
        show: |c| whole(c.limits.concurrent_queries),
    },
    Setting {
        key: "limits.max_short_queries",
        set: |c, v| v.positive().map(|n| c.limits.short_queries = n),
        show: |c| whole(c.limits.short_queries),
    },
    Setting {
        key: "limits.max_paused_queries",
        set: |c, v| v.number().map(|n| c.limits.paused_queries = n),
        show: |c| whole(c.limits.paused_queries),
    },
    Setting {
        key: "limits.max_result_rows",
        set: |c, v| v.number().map(|n| c.limits.result_rows = n),
        show: |c| whole(c.limits.result_rows),
    },
    Setting {
        key: "limits.max_program_bytes",
        set: |c, v| v.positive().map(|n| c.program.program_bytes = n),
        show: |c| whole(c.program.program_bytes),
    },
    Setting {
        key: "limits.max_statements",
        set: |c, v| v.positive().map(|n| c.program.statements = n),
        show: |c| whole(c.program.statements),
    },
    Setting {
        key: "limits.max_literals",
        set: |c, v| v.positive().map(|n| c.program.literals = n),
        show: |c| whole(c.program.literals),
    },
    Setting {
        key: "limits.max_body_arguments",
        set: |c, v| v.positive().map(|n| c.program.body_arguments = n),
        show: |c| whole(c.program.body_arguments),
    },
    Setting {
        key: "limits.max_nesting",
        set: |c, v| v.positive().map(|n| c.program.nesting = n),
        show: |c| whole(c.program.nesting),
    },
    Setting {
        key: "limits.max_insert_tuples",
        set: |c, v| v.positive().map(|n| c.program.insert_tuples = n),
        show: |c| whole(c.program.insert_tuples),
    },
    Setting {
        key: "limits.max_string_bytes",
        set: |c, v| v.positive().map(|n| c.program.string_bytes = n),
        show: |c| whole(c.program.string_bytes),
    },
    Setting {
        key: "limits.max_name_bytes",
        set: |c, v| v.positive().map(|n| c.program.name_bytes = n),
        show: |c| whole(c.program.name_bytes),
    },
    Setting {
        key: "limits.max_columns",
        set: |c, v| v.at_most(c.program.columns).map(|n| c.program.columns = n),
        show: |c| whole(c.program.columns),
    },
    Setting {
        key: "limits.max_sessions",
        set: |c, v| v.number().map(|n| c.limits.sessions = n),
        show: |c| whole(c.limits.sessions),
    },
    Setting {
        key: "limits.max_session_facts",
        set: |c, v| v.number().map(|n| c.program.session_facts = n),
        show: |c| whole(c.program.session_facts),
    },
    Setting {
        key: "limits.max_session_rules",
        set: |c, v| v.number().map(|n| c.program.session_rules = n),
        show: |c| whole(c.program.session_rules),
    },
    Setting {
        key: "limits.max_session_bytes",
        set: |c, v| v.number().map(|n| c.program.session_bytes = n),
        show: |c| whole(c.program.session_bytes),
    },
    Setting {
        key: "limits.session_memory_bytes",
        set: |c, v| v.number().map(|n| c.limits.session_memory = n),
        show: |c| whole(c.limits.session_memory),
    },
    Setting {
        key: "limits.user.max_sockets",
        set: |c, v| v.number().map(|n| c.limits.user.sockets = n),
        show: |c| whole(c.limits.user.sockets),
    },
    Setting {
        key: "limits.user.max_long_queries",
        set: |c, v| v.number().map(|n| c.limits.user.long_queries = n),
        show: |c| whole(c.limits.user.long_queries),
    },
    Setting {
        key: "limits.user.memory_bytes",
        set: |c, v| v.number().map(|n| c.limits.user.memory = n),
        show: |c| whole(c.limits.user.memory),
    },
    Setting {
        key: "limits.user.session_memory_bytes",
        set: |c, v| v.number().map(|n| c.limits.user.session_memory = n),
        show: |c| whole(c.limits.user.session_memory),
    },
    Setting {
        key: "limits.user.max_graphs",
        set: |c, v| v.number().map(|n| c.limits.user.graphs = n),
        show: |c| whole(c.limits.user.graphs),
    },
    Setting {
        key: "limits.threads",
        set: |c, v| v.number().map(|n: usize| c.threads = (n > 0).then_some(n)),
        show: |c| whole(c.threads.unwrap_or(0)),
    },
];

const LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];
const FORMATS: &[&str] = &["text", "json"];
const DEFAULT_GRAPHS: &[&str] = &["role", "acl"];

fn text(text: impl Into<String>) -> Option<Value> {
    Some(Value::String(text.into()))
}

fn list(items: &[impl ToString]) -> Option<Value> {
    Some(Value::Array(items.iter().map(|item| Value::String(item.to_string())).collect()))
}

/// An address, or a network such as `10.0.0.0/8`.
fn network(text: &str) -> Result<IpNet, String> {
    let address = text.parse::<IpAddr>().map(IpNet::from);
    text.parse::<IpNet>()
        .or(address)
        .map_err(|_| format!("`{text}` is neither an address nor a network such as 10.0.0.0/8"))
}

fn path(path: &std::path::Path) -> Option<Value> {
    text(path.to_string_lossy())
}

fn whole(n: impl TryInto<i64>) -> Option<Value> {
    Some(Value::Integer(n.try_into().unwrap_or(i64::MAX)))
}

fn seconds(time: Duration) -> Option<Value> {
    whole(time.as_secs())
}

fn milliseconds(time: Duration) -> Option<Value> {
    whole(time.as_millis())
}

/// Whether some key is in this section.
pub(super) fn is_section(key: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}

/// The key that this one was perhaps meant to be.
pub(super) fn nearest(key: &str) -> Option<&'static str> {
    SETTINGS
        .iter()
        .map(|setting| (similarity(key, setting.key), setting.key))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(score, _)| *score > 0.7)
        .map(|(_, near)| near)
}

/// The variable that sets a key.
pub(super) fn variable(key: &str) -> String {
    format!("SERVICE_{}", key.replace('.', "__").to_uppercase())
}

/// The variable that this one was perhaps meant to be.
pub(super) fn nearest_variable(name: &str) -> Option<String> {
    let known = SETTINGS.iter().map(|setting| variable(setting.key));
    known
        .chain([ADMIN_PASSWORD.to_owned()])
        .map(|known| (strsim::normalized_damerau_levenshtein(name, &known), known))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(score, _)| *score > 0.7)
        .map(|(_, near)| near)
}

/// The variable of the first password, which is no key of a section.
pub(super) const ADMIN_PASSWORD: &str = "SERVICE_ADMIN_PASSWORD";

/// How alike two keys are: as wholes, or in their last word where the section was left out.
fn similarity(key: &str, known: &str) -> f64 {
    let last = known.rsplit('.').next().unwrap_or(known);
    let given = key.rsplit('.').next().unwrap_or(key);
    strsim::normalized_damerau_levenshtein(key, known)
        .max(strsim::normalized_damerau_levenshtein(given, last))
}

/// A value as it was given: typed in the file, text elsewhere.
pub(super) enum Given {
    /// From the file.
    File(Value),
    /// From a variable.
    Environment(String),
    /// From the command line.
    Flag(String),
}

impl Given {
    /// Where it is from.
    pub(super) fn source(&self) -> Source {
        match self {
            Given::File(_) => Source::File,
            Given::Environment(_) => Source::Environment,
            Given::Flag(_) => Source::Flag,
        }
    }

    fn text(&self) -> Result<String, String> {
        match self {
            Given::Environment(text) | Given::Flag(text) | Given::File(Value::String(text)) => {
                Ok(text.clone())
            }
            Given::File(other) => Err(format!("expected a string, found {}", other.type_str())),
        }
    }

    /// A host and a port, or nothing.
    fn host_and_port(&self) -> Result<Option<String>, String> {
        let text = self.text()?;
        let is_address = |(host, port): (&str, &str)| !host.is_empty() && port.parse::<u16>().is_ok();
        match text.rsplit_once(':').is_some_and(is_address) {
            true => Ok(Some(text)),
            false if text.is_empty() => Ok(None),
            false => Err(format!("expected a host and a port, such as `10.0.0.1:50050`, found `{text}`")),
        }
    }

    /// A list: an array in the file, elsewhere with commas in between.
    fn each<T>(&self, read: fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
        match self {
            Given::File(Value::Array(items)) => items
                .iter()
                .map(|item| match item {
                    Value::String(text) => read(text),
                    other => Err(format!("expected a string in the list, found {}", other.type_str())),
                })
                .collect(),
            Given::File(other) => Err(format!("expected a list of strings, found {}", other.type_str())),
            Given::Environment(text) | Given::Flag(text) => {
                text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(read).collect()
            }
        }
    }

    fn one_of(&self, words: &[&str]) -> Result<String, String> {
        let text = self.text()?;
        match words.contains(&text.as_str()) {
            true => Ok(text),
            false => Err(format!("expected one of {}, found `{text}`", words.join(", "))),
        }
    }

    fn boolean(&self) -> Result<bool, String> {
        match self {
            Given::File(Value::Boolean(b)) => Ok(*b),
            Given::File(other) => Err(format!("expected true or false, found {}", other.type_str())),
            Given::Environment(text) | Given::Flag(text) => {
                text.parse().map_err(|_| format!("expected true or false, found `{text}`"))
            }
        }
    }

    fn number<T: TryFrom<i64>>(&self) -> Result<T, String> {
        let number = match self {
            Given::File(Value::Integer(n)) => *n,
            Given::File(other) => return Err(format!("expected a whole number, found {}", other.type_str())),
            Given::Environment(text) | Given::Flag(text) => {
                text.parse().map_err(|_| format!("expected a whole number, found `{text}`"))?
            }
        };
        T::try_from(number).map_err(|_| format!("{number} is out of range"))
    }

    /// More columns than the default are more than the engine can do.
    fn at_most(&self, most: usize) -> Result<usize, String> {
        self.positive().and_then(|n| match n <= most {
            true => Ok(n),
            false => Err(format!("must be at most {most}")),
        })
    }

    fn positive<T: TryFrom<i64> + PartialOrd + Default>(&self) -> Result<T, String> {
        self.number().and_then(|n: T| match n > T::default() {
            true => Ok(n),
            false => Err("must be greater than 0".to_owned()),
        })
    }
}
