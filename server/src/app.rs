//! `App`: everything that the requests of one server share.

use std::sync::Arc;
use std::time::Instant;

use ipnet::IpNet;
use stratalog_engine::{Engine, EngineOptions, StorageOptions};
use stratalog_protocol::Secret;
use tokio::sync::watch;

use crate::admin::ADMIN_COMMANDS;
use crate::auth::{Accounts, Journal};
use crate::backups;
use crate::config::{Config, Limits, Origins};
use crate::events::{self, EventLog};
use crate::limits::Places;
use crate::metrics::{Metrics, Reading};
use crate::queries::{QueryPool, Running};
use crate::sessions::Sessions;

/// Engine, accounts and limits of one running server.
pub(crate) struct App {
    /// The database.
    pub(crate) engine: Engine,
    /// Who may use the server, and how.
    pub(crate) accounts: Arc<Accounts>,
    /// What has changed lately.
    pub(crate) events: Arc<EventLog>,
    /// The sessions.
    pub(crate) sessions: Arc<Sessions>,
    /// Where queries run.
    pub(crate) queries: QueryPool,
    /// The requests that wait or run.
    pub(crate) running: Arc<Running>,
    /// What is counted.
    pub(crate) metrics: Arc<Metrics>,
    /// What is counted and bounded.
    pub(crate) limits: Limits,
    /// Pages of which sites may use the server.
    pub(crate) origins: Origins,
    /// Whose word is taken for where a request comes from.
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// Places for connections.
    pub(crate) places: Places,
    /// When the server started.
    pub(crate) started: Instant,
    /// When a probe last waited for storage, and whether it waited in vain. Held by the one that waits.
    pub(crate) probing: tokio::sync::Mutex<Option<(Instant, bool)>>,
    stopping: watch::Sender<bool>,
}

/// Why the server could not open its data.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The engine refused.
    #[error("cannot open the data: {}", with_help(.0))]
    Engine(stratalog_engine::Error),
    /// The users could not be set up.
    #[error("cannot open the accounts: {0}")]
    Accounts(String),
}

/// What is wrong and what to do, for somebody who reads the log.
fn with_help(error: &stratalog_engine::Error) -> String {
    let stratalog_engine::Error::Refused(diagnostics) = error else { return error.to_string() };
    let told = diagnostics.iter().map(|diagnostic| match &diagnostic.help {
        Some(help) => format!("{} ({help})", diagnostic.message),
        None => diagnostic.message.clone(),
    });
    told.collect::<Vec<_>>().join("; ")
}

impl App {
    /// Opens the engine and creates the first administrator; a generated password is returned. Takes long.
    pub(crate) fn open(config: Config) -> Result<(Arc<App>, Option<Secret>), OpenError> {
        let stored_bytes = match config.limits.stored_memory() {
            0 => u64::MAX,
            bytes => bytes,
        };
        let options = EngineOptions {
            threads: config.threads,
            limits: stratalog_engine::Limits { stored_bytes, ..config.program },
            backups: Some(config.backup_dir),
            commands: ADMIN_COMMANDS,
            view_memory: usize::try_from(config.limits.view_memory).unwrap_or(usize::MAX),
            ..EngineOptions::default()
        };
        let archive = Some(config.archive).filter(|archive| !archive.folder.as_os_str().is_empty());
        let storage = StorageOptions {
            archive,
            checkpoint_bytes: config.checkpoint_bytes,
            ..StorageOptions::new(config.data_dir)
        };
        let engine = Engine::open(options, storage).map_err(OpenError::Engine)?;
        let admin = config.admin_password.as_ref();
        let (accounts, generated) =
            Accounts::open(Journal::new(engine.clone()), admin, config.default_graph, config.throttling)
                .map_err(|error| OpenError::Accounts(error.to_string()))?;
        let events = events::open(&engine, config.limits.notifications, config.limits.notification_bytes)
            .map_err(OpenError::Engine)?;
        let metrics = Arc::<Metrics>::default();
        let app = App {
            engine,
            events,
            sessions: Arc::new(Sessions::new(&config.limits)),
            accounts,
            queries: QueryPool::new(&config.limits, metrics.clone()),
            running: Arc::default(),
            metrics,
            places: Places::new(&config.limits),
            limits: config.limits,
            origins: config.origins,
            trusted_proxies: config.trusted_proxies,
            started: Instant::now(),
            probing: tokio::sync::Mutex::default(),
            stopping: watch::Sender::new(false),
        };
        Ok((Arc::new(app), generated))
    }

    /// What goes on beside the connections, until the server is told to stop.
    pub(crate) async fn look_after(&self) {
        tokio::select! {
            () = self.stopped() => {}
            () = self.sessions.keep() => {}
            () = events::keep(&self.events, &self.engine) => {}
            () = self.events.tell() => {}
            () = backups::keep(&self.engine) => {}
        }
    }

    /// What the server tells of itself now.
    pub(crate) fn reading(&self) -> Reading {
        let stored = self.engine.statistics();
        let in_use = self.queries.memory_used() + self.engine.view_memory_bytes() as u64;
        self.metrics.read(stored, self.sessions.counts(), in_use, self.started.elapsed())
    }

    /// Tells every connection to end.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Waits until the server is told to stop.
    pub(crate) async fn stopped(&self) {
        // The sender lives as long as `self`, so waiting ends only with the value.
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }

    /// Waits until every connection has ended.
    pub(crate) async fn quiet(&self) {
        self.stopping.closed().await;
    }

    /// Counts a connection as long as the result is kept.
    pub(crate) fn watch(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }
}
