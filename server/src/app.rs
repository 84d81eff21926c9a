//! `App`: everything that the requests of one server share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ipnet::IpNet;
use stratalog_engine::{ArchiveOptions, CommandFamily, Engine, EngineOptions, LiveOptions, StorageOptions};
use stratalog_protocol::Secret;
use tokio::sync::watch;

use crate::attached::{Attachable, AttachedFiles};
use crate::audit::{Audit, AuditError};
use crate::auth::{AccountError, Accounts, Journal};
use crate::backups;
use crate::cluster::{self, MakeCluster};
use crate::config::{Archiving, Config, Hosts, Limits, Origins};
use crate::deposits::Deposits;
use crate::events::{self, EventLog};
use crate::limits::Places;
use crate::live::Live;
use crate::metrics::{Metrics, Reading};
use crate::pace::Pace;
use crate::queries::{QueryPool, Running, Writers};
use crate::sessions::Sessions;
use crate::tls::Tls;
use crate::vault::{PlaceError, place};
use crate::wire::Rendered;

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
    /// What a program in this process and the database leave for each other, where it has opened it.
    pub(crate) deposits: Option<Arc<Deposits>>,
    /// Where what sockets are sent is written.
    pub(crate) writers: Writers,
    /// What was told of live queries last.
    pub(crate) rendered: Rendered,
    /// What is counted and bounded.
    pub(crate) limits: Live<Limits>,
    /// Whether there is a console.
    pub(crate) has_console: bool,
    /// Pages of which sites may use the server.
    pub(crate) origins: Live<Origins>,
    /// The names by which the server may be called.
    pub(crate) hosts: Live<Hosts>,
    /// What connections are encrypted with, if they are.
    pub(crate) tls: Option<Arc<Tls>>,
    /// Whose word is taken for where a request comes from.
    pub(crate) trusted_proxies: Live<Vec<IpNet>>,
    /// Places for connections.
    pub(crate) places: Places,
    /// The time from one look for what is to be archived to the next.
    archive_pause: Duration,
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
    /// The audit log cannot be written.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// There can be no backups where they are to be.
    #[error(transparent)]
    Backups(#[from] PlaceError),
    /// What evaluates beyond memory cannot work.
    #[error("cannot evaluate beyond memory: {0}")]
    Cluster(String),
    /// The users could not be set up.
    #[error("cannot open the accounts: {0}")]
    Accounts(String),
}

impl From<AccountError> for OpenError {
    fn from(error: AccountError) -> OpenError {
        OpenError::Accounts(error.to_string())
    }
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

/// The archive that is wanted; none where there is no folder for it.
fn archive_options(archiving: &Archiving) -> Result<Option<ArchiveOptions>, PlaceError> {
    let Archiving { folder, interval, keep, pause: _ } = archiving;
    match folder.as_str() {
        "" => Ok(None),
        folder => Ok(Some(ArchiveOptions { place: place(folder)?, interval: *interval, keep: *keep })),
    }
}

/// What the engine is told.
fn engine_options(
    config: &Config,
    commands: &'static [CommandFamily],
    metrics: &Arc<Metrics>,
    backups: Option<PathBuf>,
    attachable: Attachable,
) -> EngineOptions {
    let stored_bytes = match config.limits.stored_memory() {
        0 => u64::MAX,
        bytes => bytes,
    };
    EngineOptions {
        threads: config.threads,
        limits: stratalog_engine::Limits { stored_bytes, ..config.program.clone() },
        backups,
        commands,
        places: Some(Arc::new(AttachedFiles::new(attachable))),
        view_memory: usize::try_from(config.limits.view_memory).unwrap_or(usize::MAX),
        live: LiveOptions {
            step_time: config.limits.live_step,
            step_memory: config.limits.query_memory,
            log_bytes: config.limits.live_log_bytes,
            answer_bytes: usize::try_from(config.limits.live_answer_bytes).unwrap_or(usize::MAX),
            queries: config.limits.live_queries,
            pace: Arc::new(Pace::new(Arc::clone(metrics))),
            ..LiveOptions::default()
        },
        ..EngineOptions::default()
    }
}

/// Where the engine keeps its data, and how.
fn storage_options(config: &Config) -> Result<StorageOptions, PlaceError> {
    Ok(StorageOptions {
        archive: archive_options(&config.archiving)?,
        checkpoint_bytes: config.checkpoint_bytes,
        ..StorageOptions::new(&config.data_dir)
    })
}

/// How many files and connections may be open together.
fn descriptors() -> usize {
    let limit = rlimit::Resource::NOFILE.get_soft().unwrap_or(u64::MAX);
    usize::try_from(limit).unwrap_or(usize::MAX)
}

impl App {
    /// Opens the engine, with more commands than its own, and creates the first administrator; a generated password is
    /// returned. Takes long.
    pub(crate) fn open(
        config: Config,
        commands: &'static [CommandFamily],
        tls: Option<Arc<Tls>>,
        cluster: Option<MakeCluster>,
    ) -> Result<(Arc<App>, Option<Secret>), OpenError> {
        let metrics = Arc::<Metrics>::default();
        let attachable = Attachable::Below(config.attach_places.clone());
        let options =
            engine_options(&config, commands, &metrics, Some(config.backup_dir.clone()), attachable);
        if cluster.is_none() && config.tells_of_cluster() {
            tracing::warn!("the settings of `cluster` count in `stratalog-cluster server`, and not here");
        }
        let cluster = cluster.map(|make| cluster::cluster(&config, make)).transpose();
        let options = EngineOptions { cluster: cluster.map_err(OpenError::Cluster)?, ..options };
        let engine = Engine::open(options, storage_options(&config)?).map_err(OpenError::Engine)?;
        let (admin, journal) = (config.admin_password.as_ref(), Journal::new(engine.clone()));
        let audit = Arc::new(Audit::open(&config.audit)?);
        let (accounts, generated) =
            Accounts::open(journal, admin, config.default_graph, config.throttling.clone(), audit)?;
        Ok((App::of(engine, accounts, config, metrics, tls, None)?, generated))
    }

    /// Opens the data for whoever calls this, who may do everything; `in_memory` there is none before, and none after it.
    pub(crate) fn open_own(
        config: Config,
        commands: &'static [CommandFamily],
        in_memory: bool,
    ) -> Result<Arc<App>, OpenError> {
        let metrics = Arc::<Metrics>::default();
        let options = engine_options(&config, commands, &metrics, None, Attachable::All);
        let engine = match in_memory {
            true => Engine::in_memory(options),
            false => Engine::open(options, storage_options(&config)?),
        };
        let engine = engine.map_err(OpenError::Engine)?;
        let audit = Arc::new(Audit::open(&config.audit)?);
        let accounts = Accounts::of_owner(Journal::new(engine.clone()), audit)?;
        App::of(engine, accounts, config, metrics, None, Some(Arc::default()))
    }

    fn of(
        engine: Engine,
        accounts: Arc<Accounts>,
        config: Config,
        metrics: Arc<Metrics>,
        tls: Option<Arc<Tls>>,
        deposits: Option<Arc<Deposits>>,
    ) -> Result<Arc<App>, OpenError> {
        let events = events::open(&engine, config.limits.notifications, config.limits.notification_bytes)
            .map_err(OpenError::Engine)?;
        Ok(Arc::new(App {
            engine,
            events,
            sessions: Arc::new(Sessions::new(&config.limits)),
            accounts,
            queries: QueryPool::new(&config.limits, metrics.clone()),
            running: Arc::default(),
            metrics,
            rendered: Rendered::default(),
            deposits,
            writers: Writers::new(),
            places: Places::new(&config.limits, descriptors()),
            archive_pause: config.archiving.pause,
            limits: config.limits.into(),
            has_console: config.console,
            origins: config.origins.into(),
            hosts: config.hosts.into(),
            tls,
            trusted_proxies: config.trusted_proxies.into(),
            started: Instant::now(),
            probing: tokio::sync::Mutex::default(),
            stopping: watch::Sender::new(false),
        }))
    }

    /// What goes on beside the connections, until the server is told to stop.
    pub(crate) async fn look_after(&self) {
        tokio::select! {
            () = self.stopped() => {}
            () = self.sessions.keep() => {}
            () = events::keep(&self.events, &self.engine) => {}
            () = self.events.tell() => {}
            () = self.keep_certificate() => {}
            () = backups::keep(&self.engine, self.archive_pause) => {}
        }
    }

    async fn keep_certificate(&self) {
        match &self.tls {
            Some(tls) => tls.keep().await,
            None => std::future::pending().await,
        }
    }

    /// Takes over what of a configuration can change while the server runs. What may fail comes first.
    pub(crate) fn adopt(&self, config: &Config, tls: Option<Tls>) -> Result<(), AuditError> {
        self.accounts.audit().reopen(&config.audit)?;
        if let (Some(shown), Some(read)) = (&self.tls, tls) {
            shown.replace(read);
        }
        self.queries.adopt(&config.limits);
        self.limits.set(config.limits.clone());
        self.origins.set(config.origins.clone());
        self.hosts.set(config.hosts.clone());
        self.trusted_proxies.set(config.trusted_proxies.clone());
        Ok(())
    }

    /// What the server tells of itself now.
    pub(crate) fn reading(&self) -> Reading {
        let (sessions, connections) = (self.sessions.counts(), self.places.counts());
        let (requests, uptime) = (self.queries.memory_used(), self.started.elapsed());
        self.metrics.read(&self.engine, sessions, connections, requests, uptime)
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
