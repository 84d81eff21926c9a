//! The server as a process: arguments, configuration, run, exit code.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use stratalog_engine::storage::{Disk, Medium, Moment};
use stratalog_engine::{Engine, EngineOptions, StorageOptions, Until, restore_to};
use stratalog_protocol::VERSION;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::{EnvFilter, reload};

use crate::audit::{Audit, AuditError, Entry};
use crate::cluster::MakeCluster;
use crate::config::{Config, ConfigError};
use crate::probe::{ProbeError, probe};
use crate::vault::{PlaceError, place};
use crate::{ServeError, Server, runtime, serve};

/// The exit code for wrong arguments or a wrong configuration.
const USAGE: u8 = 2;

/// The Stratalog knowledge-graph server.
#[derive(Debug, Clone, Parser)]
#[command(name = "stratalog-server", version)]
struct Arguments {
    /// A port number, or the path of a TOML configuration file.
    #[arg(value_name = "PORT|FILE")]
    target: Option<String>,
    /// The address to listen on.
    #[arg(long)]
    host: Option<String>,
    /// The port to listen on; 0 takes any free one.
    #[arg(long)]
    port: Option<u16>,
    /// The TOML configuration file.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Where data is kept.
    #[arg(long, value_name = "FOLDER", global = true)]
    data_dir: Option<PathBuf>,
    /// Print every setting with its value and where it comes from, and end.
    #[arg(long)]
    print_config: bool,
    #[command(subcommand)]
    action: Option<Action>,
}

/// What can be done beside serving: all but `probe` with a data folder that no server works on.
#[derive(Debug, Clone, Subcommand)]
enum Action {
    /// Ask the running server of this configuration whether it is ready; the exit code tells.
    Probe,
    /// Copy all knowledge graphs and accounts to a new folder.
    Backup {
        /// Add to a folder of backups, which share what does not change; it is made if it is not there.
        #[arg(long)]
        incremental: bool,
        /// The folder, or s3://BUCKET/FOLDER; it must be empty or not there.
        folder: String,
    },
    /// Make a data folder of a backup, after comparing every file with its checksum.
    Restore {
        /// The backup, or a folder of backups: then the latest, with what is archived after it. It may be in an object
        /// store: s3://BUCKET/FOLDER.
        folder: String,
        /// The folder to make, instead of storage.data_dir; it must be empty or not there.
        target: Option<PathBuf>,
        /// Everything as it was at this time, such as 2026-11-22T23:53:41Z, or when a graph had a version: GRAPH@VERSION.
        #[arg(long, value_name = "TIME|GRAPH@VERSION", value_parser = until)]
        until: Option<Until>,
    },
    /// Write a knowledge graph to a folder: a Parquet file for each relation, and program.dl.
    Export {
        /// The knowledge graph.
        graph: String,
        /// The folder; it must be empty or not there.
        folder: PathBuf,
    },
    /// Make a knowledge graph of such a folder.
    Import {
        /// The knowledge graph; it must be empty or not there.
        graph: String,
        /// The folder.
        folder: PathBuf,
    },
}

/// Why it was not done.
#[derive(Debug, thiserror::Error)]
enum ActionError {
    #[error(transparent)]
    Engine(#[from] stratalog_engine::Error),
    #[error(transparent)]
    Probe(#[from] ProbeError),
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[error(transparent)]
    Place(#[from] PlaceError),
}

impl Action {
    /// Does it, and says so in the audit log.
    fn run(&self, config: &Config) -> Result<String, ActionError> {
        let Some((action, what)) = self.audited() else { return self.perform(config) };
        let audit = Audit::open(&config.audit)?;
        let done = self.perform(config);
        let entry = Entry { action, what, ..Entry::default() };
        audit.record(&match &done {
            Ok(_) => entry,
            Err(error) => entry.refused(error),
        });
        done
    }

    /// What the audit log says of it.
    fn audited(&self) -> Option<(&'static str, String)> {
        Some(match self {
            Action::Probe => return None,
            Action::Backup { folder, .. } => ("backup", format!("backup to {folder}")),
            Action::Restore { folder, .. } => ("restore", format!("restored from {folder}")),
            Action::Export { graph, folder } => {
                ("export", format!("knowledge graph {graph} to {}", folder.display()))
            }
            Action::Import { graph, folder } => {
                ("import", format!("knowledge graph {graph} from {}", folder.display()))
            }
        })
    }

    fn perform(&self, config: &Config) -> Result<String, ActionError> {
        let data = &config.data_dir;
        let open = || Engine::open(EngineOptions::default(), StorageOptions::new(data));
        Ok(match self {
            Action::Probe => {
                probe(config)?;
                "ready".to_owned()
            }
            Action::Backup { incremental, folder } => {
                let place = place(folder)?;
                let engine = open()?;
                let summary = match incremental {
                    true => engine.add_backup(&place)?.summary,
                    false => engine.back_up_to(&place)?,
                };
                format!("backed up {} knowledge graphs, {} bytes", summary.graphs.len(), summary.bytes())
            }
            Action::Restore { folder, target, until } => {
                let medium: Arc<dyn Medium> = Arc::new(Disk);
                let (target, until) =
                    (target.as_ref().unwrap_or(data), until.as_ref().unwrap_or(&Until::End));
                let summary = restore_to(&place(folder)?, &medium, target, until)
                    .map_err(stratalog_engine::Error::from)?;
                let moment = summary.moment.map(|moment| format!(" as of {moment}")).unwrap_or_default();
                format!(
                    "restored {} knowledge graphs, {} bytes{moment}",
                    summary.graphs.len(),
                    summary.bytes()
                )
            }
            Action::Export { graph, folder } => {
                let done = open()?.export(graph, folder)?;
                format!(
                    "exported {} rows of {} relations, {} statements",
                    done.rows, done.relations, done.statements
                )
            }
            Action::Import { graph, folder } => {
                let done = open()?.import(graph, folder)?;
                format!(
                    "imported {} rows of {} relations, {} statements",
                    done.rows, done.relations, done.statements
                )
            }
        })
    }
}

/// Reads what `--until` says.
fn until(text: &str) -> Result<Until, String> {
    if let Some((graph, version)) = text.rsplit_once('@')
        && let Ok(version) = version.parse()
    {
        return Ok(Until::Version { graph: graph.to_owned(), version });
    }
    let moment = Moment::parse(text).map(Until::Moment);
    moment.ok_or_else(|| "expected a time such as 2026-11-22T23:53:41Z, or GRAPH@VERSION".to_owned())
}

/// Runs a server with these arguments, of which the first is the executable's name, until it is stopped. `cluster` makes what it
/// asks where questions do not fit memory.
pub fn run(arguments: impl IntoIterator<Item = OsString>, cluster: Option<MakeCluster>) -> ExitCode {
    let mut arguments = Arguments::parse_from(arguments);
    let action = arguments.action.take();
    let print_config = arguments.print_config;
    let config = match arguments.clone().configure() {
        Ok(config) => config,
        Err(problem) => {
            eprintln!("stratalog-server: {problem}");
            return ExitCode::from(USAGE);
        }
    };
    if print_config {
        // Whoever closes the pipe has read enough.
        let _ = std::io::stdout().write_all(config.describe().as_bytes());
        return ExitCode::SUCCESS;
    }
    let set_level = start_log(&config);
    // Each connection takes a file descriptor, and many systems start with 1024.
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!(%error, "cannot raise the number of open files");
    }
    if let Some(action) = action {
        return match action.run(&config) {
            Ok(done) => {
                eprintln!("stratalog-server: {done}");
                ExitCode::SUCCESS
            }
            Err(ActionError::Engine(error)) => {
                eprint!("{}", error.render(""));
                ExitCode::FAILURE
            }
            Err(error @ (ActionError::Probe(_) | ActionError::Audit(_) | ActionError::Place(_))) => {
                eprintln!("stratalog-server: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let runtime = match runtime(&config.limits) {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("stratalog-server: cannot start threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    let code = serve_on(&runtime, config, cluster, &Reloading { arguments, set_level });
    // What was cancelled needs no waiting for.
    runtime.shutdown_background();
    code
}

fn serve_on(
    runtime: &Runtime,
    config: Config,
    cluster: Option<MakeCluster>,
    reloading: &Reloading,
) -> ExitCode {
    let outcome = runtime.block_on(async {
        // From here on a hangup ends nothing.
        let hangup = signal(SignalKind::hangup());
        let server = serve(config, cluster).await?;
        // Whoever reads where it listens may stop it at once.
        let stop = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
        announce(&server);
        until_stopped(server, stop, hangup.ok(), reloading).await;
        Ok(())
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(ServeError::Disabled) => {
            eprintln!("stratalog-server: {}", ServeError::Disabled);
            ExitCode::SUCCESS
        }
        Err(error @ ServeError::Config(_)) => {
            eprintln!("stratalog-server: {error}");
            ExitCode::from(USAGE)
        }
        Err(error @ (ServeError::Listen { .. } | ServeError::Open(_) | ServeError::Tls(_))) => {
            eprintln!("stratalog-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn announce(server: &Server) {
    if let Some(password) = server.generated_password() {
        eprintln!("stratalog-server: created the user admin with the password {}", password.expose());
    }
    eprintln!("stratalog-server {VERSION} listening on {}", server.url());
}

/// The first signal stops the server in order, the second one at once. A hangup lets it read its configuration again.
async fn until_stopped(
    server: Server,
    stop: (io::Result<Signal>, io::Result<Signal>),
    mut hangup: Option<Signal>,
    reloading: &Reloading,
) {
    let (Ok(mut terminate), Ok(mut interrupt)) = stop else {
        tracing::error!("cannot listen for signals");
        return server.stopped().await;
    };
    loop {
        tokio::select! {
            () = either(&mut terminate, &mut interrupt) => break,
            () = next(&mut hangup) => reloading.reload(&server),
        }
    }
    tracing::info!("stopping");
    server.stop();
    tokio::select! {
        () = server.stopped() => tracing::info!("stopped"),
        () = either(&mut terminate, &mut interrupt) => tracing::warn!("stopped at once"),
    }
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

async fn next(hangup: &mut Option<Signal>) {
    if let Some(hangup) = hangup
        && hangup.recv().await.is_some()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// What it takes to read the configuration again.
struct Reloading {
    arguments: Arguments,
    set_level: SetLevel,
}

/// Lets the log show more or less from now on.
type SetLevel = Box<dyn Fn(&Config) -> Result<(), reload::Error> + Send + Sync>;

impl Reloading {
    /// Reads the configuration again, as it was read at the start. What is wrong with it changes nothing.
    fn reload(&self, server: &Server) {
        let read = self.arguments.clone().configure();
        let config = match read {
            Ok(config) => config,
            Err(problem) => {
                return tracing::error!("the configuration stays what it was: {problem}");
            }
        };
        let (changes, config) = match server.reload(&config) {
            Ok(taken) => taken,
            Err(problem) => {
                return tracing::error!("the configuration stays what it was: {problem}");
            }
        };
        if let Err(error) = (self.set_level)(&config) {
            tracing::error!(%error, "the level of the log stays what it was");
        }
        let now = if changes.now.is_empty() { "nothing changed".to_owned() } else { changes.now.join(", ") };
        tracing::info!("the configuration was read again: {now}");
        if !changes.after_restart.is_empty() {
            tracing::warn!("this counts only after a restart: {}", changes.after_restart.join(", "));
        }
    }
}

/// Log lines go to standard error; `RUST_LOG` picks by module where the level alone is too coarse.
fn start_log(config: &Config) -> SetLevel {
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter(config))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    if config.log_json {
        let log = log.json().with_filter_reloading();
        let handle = log.reload_handle();
        log.init();
        Box::new(move |config| handle.reload(filter(config)))
    } else {
        let log = log.with_filter_reloading();
        let handle = log.reload_handle();
        log.init();
        Box::new(move |config| handle.reload(filter(config)))
    }
}

/// What is logged.
fn filter(config: &Config) -> EnvFilter {
    let mut filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(&config.log_level));
    // At their finest some show what travels, and with it passwords; others tell of each plan.
    let quiet = ["tungstenite=info", "tokio_tungstenite=info", "hyper=info", "warp=info"];
    let plans = ["ballista_core=warn", "ballista_scheduler=warn", "datafusion_datasource=error"];
    for library in quiet.into_iter().chain(plans) {
        filter = library.parse().map_or_else(|_| EnvFilter::new("off"), |quiet| filter.add_directive(quiet));
    }
    filter
}

/// Why the arguments make no configuration.
#[derive(Debug, thiserror::Error)]
enum ArgumentError {
    #[error("`{0}` is not a port: a port is a number from 0 to 65535")]
    BadPort(String),
    #[error("the port is given twice, as an argument and with --port")]
    PortTwice,
    #[error("the configuration file is given twice, as an argument and with --config")]
    FileTwice,
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl Arguments {
    /// Defaults, then the file, then the environment, then what the command line says.
    fn configure(mut self) -> Result<Config, ArgumentError> {
        if let Some(target) = self.target.take() {
            if target.bytes().all(|byte| byte.is_ascii_digit()) {
                let port = target.parse().map_err(|_| ArgumentError::BadPort(target))?;
                if self.port.replace(port).is_some() {
                    return Err(ArgumentError::PortTwice);
                }
            } else if self.config.replace(PathBuf::from(target)).is_some() {
                return Err(ArgumentError::FileTwice);
            }
        }
        let mut config = Config::default();
        if let Some(path) = &self.config {
            let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Unreadable {
                path: path.display().to_string(),
                reason: error.to_string(),
            })?;
            config.merge_toml(&text)?;
        }
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        config.merge_environment(variables)?;
        let flags = [
            ("http.host", self.host),
            ("http.port", self.port.map(|port| port.to_string())),
            ("storage.data_dir", self.data_dir.map(|folder| folder.to_string_lossy().into_owned())),
        ];
        config.merge_flags(flags.into_iter().filter_map(|(key, value)| Some((key, value?))))?;
        Ok(config)
    }
}
