//! The knowledge-graph server: who may ask, and how it travels.
//!
//! Read the modules in this order; each uses only those above it, but for `wire` and `deposits`, `ws` and `http`, which
//! know files of each other. Only `ws` and `http` know warp, only `wire` knows the values of both engine and protocol.

#![allow(
    clippy::result_large_err,
    reason = "a failure ends its request: it is moved a few times and never stored"
)]

/// The time of day.
mod clock;

/// Who did what to people, rights and graphs.
pub mod audit;

/// Values that are replaced while others read them.
mod live;

/// Where backups are kept: a folder, or a bucket of an object store.
mod vault;

/// Files that may be attached, and how they are read.
mod attached;

/// The certificate that the server shows.
mod tls;

/// What can be set, and where from.
pub mod config;

/// Questions that do not fit memory.
pub mod cluster;

/// What is counted.
mod metrics;

/// Places that run out.
mod limits;

/// One TCP connection.
mod net;

/// Where queries run, and how they are stopped.
mod queries;

/// Who is asking, and what they may do.
mod auth;

/// Between the engine's values and the protocol's.
mod wire;

/// Rows of programs that have a database in their own process.
mod deposits;

/// Sessions by their id.
mod sessions;

/// What commits change, for those who want to know.
mod events;

/// How often subscribers are told.
mod pace;

/// Live queries that connections have subscribed to.
mod subscriptions;

/// Backups at intervals, and the archive between them.
mod backups;

/// What the requests of one server share.
mod app;

/// Dot commands about people.
mod admin;

/// What clients ask, one file a message.
mod requests;

/// The WebSocket transport.
mod ws;

/// The HTTP endpoints and the accept loop.
mod http;

/// Asking a running server.
mod probe;

/// The server as a process.
pub mod process;

/// The same without a listener, inside of a program.
#[cfg(unix)]
mod embedded;

/// Storage under faults, compared with a model.
#[cfg(test)]
mod simulation;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use stratalog_protocol::Secret;
use tokio::net::TcpListener;
use tokio::runtime::{self, Runtime};
use tokio::task::JoinHandle;

pub use app::OpenError;
pub use config::{Changes, Config, ConfigError};
#[cfg(unix)]
pub use embedded::{Embedded, EmbeddedError, EmbeddedPlace};
pub use probe::{ProbeError, probe};
pub use tls::{TlsError, TlsFiles};
pub use vault::{PlaceError, place};
pub use wire::{HandedRows, annotations};

use admin::ADMIN_COMMANDS;
use app::App;
use audit::AuditError;
use cluster::MakeCluster;
use config::Limits;
use http::Absence;
use tls::Tls;

/// A running server.
pub struct Server {
    app: Arc<App>,
    /// What counts at the moment.
    config: Mutex<Config>,
    address: SocketAddr,
    generated_password: Option<Secret>,
    accepting: JoinHandle<()>,
}

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The configuration says not to.
    #[error("http.enabled is false, and this server serves nothing but HTTP and WebSocket")]
    Disabled,
    /// The address cannot be listened on.
    #[error("cannot listen on {host}:{port}: {reason}")]
    Listen {
        /// The host of the configuration.
        host: String,
        /// The port of the configuration.
        port: u16,
        /// What the system said.
        reason: std::io::Error,
    },
    /// The data cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Settings do not fit together.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is no certificate to show.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Why a configuration was not taken over, so that everything stays as it was.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// Settings do not fit, or not together.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is no certificate to show.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The audit log cannot be written.
    #[error(transparent)]
    Audit(#[from] AuditError),
}

/// The stack of every thread: programs may be deeply nested.
const STACK_BYTES: usize = 8 << 20;

/// The threads on which a server with these limits works.
pub fn runtime(limits: &Limits) -> std::io::Result<Runtime> {
    runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("stratalog")
        .thread_stack_size(STACK_BYTES)
        .max_blocking_threads(limits.blocking_threads())
        .build()
}

/// Starts a server: when this returns, connections are accepted. `cluster` makes what it asks where questions do not fit memory.
pub async fn serve(config: Config, cluster: Option<MakeCluster>) -> Result<Server, ServeError> {
    if !config.enabled {
        return Err(ServeError::Disabled);
    }
    let refused = |reason| ServeError::Listen { host: config.host.clone(), port: config.port, reason };
    let listener = TcpListener::bind((config.host.as_str(), config.port)).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let tls = config.tls()?.map(|files| Tls::open(&files).map(Arc::new)).transpose()?;
    let shutdown = config.limits.shutdown;
    let opening = tokio::task::spawn_blocking({
        let (config, tls) = (config.clone(), tls.clone());
        move || App::open(config, ADMIN_COMMANDS, tls, cluster)
    });
    let starting = http::while_away(&listener, tls.as_ref(), Absence::Starting, Instant::now());
    let opened = tokio::select! {
        opened = opening => opened,
        never = starting => match never {},
    };
    let (app, generated_password) =
        opened.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
    tokio::spawn({
        let app = app.clone();
        async move { app.look_after().await }
    });
    let accepting = tokio::spawn({
        let app = app.clone();
        async move {
            http::accept(&listener, app.clone()).await;
            let stopping = http::while_away(&listener, app.tls.as_ref(), Absence::Stopping, app.started);
            tokio::select! {
                () = end(app.clone(), shutdown) => {}
                never = stopping => match never {},
            }
        }
    });
    Ok(Server { app, config: Mutex::new(config), address, generated_password, accepting })
}

/// Waits until what was told to stop has ended, and leaves everything in order.
async fn end(app: Arc<App>, shutdown: Duration) {
    if tokio::time::timeout(shutdown, app.quiet()).await.is_ok() {
        settle(app.clone()).await;
    } else {
        // Those may still commit something, so the last number is not known.
        tracing::warn!("some requests did not end in time");
    }
    if tokio::time::timeout(shutdown, checkpoint(app)).await.is_err() {
        tracing::warn!("the checkpoint did not end in time");
    }
}

/// Writes down the number of the last notification.
async fn settle(app: Arc<App>) {
    let settling = tokio::task::spawn_blocking(move || events::settle(&app.events, &app.engine));
    if let Err(error) = settling.await {
        tracing::error!(%error, "settling the notifications panicked");
    }
}

/// Leaves little to read for the next start. What cannot be written now stays in the journals.
async fn checkpoint(app: Arc<App>) {
    // Until it is archived, no checkpoint forgets anything.
    backups::finish(app.engine.clone()).await;
    let written = tokio::task::spawn_blocking(move || app.engine.checkpoint()).await;
    match written {
        Ok(Ok(())) => tracing::info!("everything is checkpointed"),
        Ok(Err(error)) => tracing::warn!(%error, "no checkpoint"),
        Err(error) => tracing::error!(%error, "the checkpoint panicked"),
    }
}

impl Server {
    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How it is reached: its scheme and address.
    pub fn url(&self) -> String {
        let scheme = if self.app.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Takes over what of a new configuration can change while the server runs; answers what counts now and what does
    /// not, and the configuration as it is then. The audit log is opened anew, and certificates are read again.
    pub fn reload(&self, given: &Config) -> Result<(Changes, Config), ReloadError> {
        let mut config = self.config.lock();
        given.tls()?;
        let (next, changes) = config.adopt(given)?;
        let tls = next.tls()?.map(|files| Tls::open(&files)).transpose()?;
        self.app.adopt(&next, tls)?;
        *config = next.clone();
        Ok((changes, next))
    }

    /// The password of `admin`, where none was given and one was generated.
    pub fn generated_password(&self) -> Option<&Secret> {
        self.generated_password.as_ref()
    }

    /// Tells the server to stop: no new connections, running requests ended, open connections closed, all of it
    /// checkpointed.
    pub fn stop(&self) {
        self.app.stop();
    }

    /// Waits until the server has stopped.
    pub async fn stopped(self) {
        if let Err(error) = self.accepting.await {
            tracing::error!(%error, "the accept loop panicked");
        }
    }
}
