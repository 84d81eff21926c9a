//! `App`: everything that the requests of one server share.

use std::sync::Arc;
use std::time::Instant;

use stratalog_engine::{Engine, EngineOptions, StorageOptions};
use stratalog_protocol::Secret;
use tokio::sync::watch;

use crate::auth::{StartError, Users};
use crate::config::{Config, Limits};
use crate::limits::Places;
use crate::queries::QueryPool;

/// Engine, users and limits of one running server.
pub(crate) struct App {
    /// The database.
    pub(crate) engine: Engine,
    /// Who may log in.
    pub(crate) users: Users,
    /// Where queries run.
    pub(crate) queries: QueryPool,
    /// What is counted and bounded.
    pub(crate) limits: Limits,
    /// Places for connections.
    pub(crate) places: Places,
    /// When the server started.
    pub(crate) started: Instant,
    stopping: watch::Sender<bool>,
}

/// Why the server could not open its data.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The engine refused.
    #[error("cannot open the database: {0}")]
    Engine(stratalog_engine::Error),
    /// The users could not be set up.
    #[error(transparent)]
    Users(#[from] StartError),
}

impl App {
    /// Opens the engine and creates the first administrator; a generated password is returned. Takes long.
    pub(crate) fn open(config: Config) -> Result<(Arc<App>, Option<Secret>), OpenError> {
        let options = EngineOptions {
            threads: config.threads,
            limits: config.program,
            backups: Some(config.backup_dir),
            ..EngineOptions::default()
        };
        let storage = StorageOptions {
            checkpoint_bytes: config.checkpoint_bytes,
            ..StorageOptions::new(config.data_dir)
        };
        let engine = Engine::open(options, storage).map_err(OpenError::Engine)?;
        let (users, generated) = Users::first_start(config.admin_password.as_ref())?;
        let app = App {
            engine,
            users,
            queries: QueryPool::new(&config.limits),
            places: Places::new(&config.limits),
            limits: config.limits,
            started: Instant::now(),
            stopping: watch::Sender::new(false),
        };
        Ok((Arc::new(app), generated))
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
