//! `stratalog-cluster`: a server whose questions need not fit memory, and the processes that may help it.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs, UdpSocket};
use std::os::unix::process::{CommandExt, parent_id};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use stratalog_cluster::{
    Coordination, Ended, Evaluator, Executor, ExecutorSettings, Settings, StorePlace, TlsFiles,
};
use stratalog_engine::Elsewhere;
use stratalog_server::config::{ClusterSettings, ClusterTls};
use tracing_subscriber::EnvFilter;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A server whose questions need not fit memory, and executors that evaluate them.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Serve as stratalog-server does; with `cluster.listen`, executors may help
    #[command(disable_help_flag = true)]
    Server {
        /// Those of stratalog-server
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Run plans of a server
    Executor(ExecutorArguments),
    /// Serve with executors on this machine
    LocalCluster {
        /// How many executors
        #[arg(long, default_value_t = 2)]
        executors: usize,
        /// The folder of files that all of them see, or s3://BUCKET/PREFIX
        #[arg(long, default_value = "./data/cluster/store")]
        store: String,
        /// Those of stratalog-server
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

#[derive(Args)]
struct ExecutorArguments {
    /// Where the server listens for executors, its `cluster.listen`
    #[arg(long, value_name = "HOST:PORT")]
    server: String,
    /// The folder of files that all of them see, or s3://BUCKET/PREFIX: its `cluster.store`
    #[arg(long)]
    store: String,
    /// Where to listen for rows, and on the next port for work; port 0 takes any two [default: any two, where the server finds them]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// PEM file: the certificates that those of server and executors are signed with
    #[arg(long, value_name = "FILE")]
    tls_authority: Option<PathBuf>,
    /// PEM file: the certificate of this executor, and those that it is signed with
    #[arg(long, value_name = "FILE")]
    tls_certificate: Option<PathBuf>,
    /// PEM file: its private key
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// The folder for what is on its way [default: one for a while]
    #[arg(long)]
    folder: Option<PathBuf>,
    /// How many parts to work on at once [default: as many as there are processors]
    #[arg(long)]
    threads: Option<usize>,
    /// Bytes that joins, sorts and groups may hold
    #[arg(long, default_value_t = 1 << 30)]
    memory_bytes: u64,
    /// Bytes that they may put aside
    #[arg(long, default_value_t = 1 << 40)]
    disk_bytes: u64,
    /// End with the process that has started this one
    #[arg(long, hide = true)]
    with_parent: bool,
}

fn main() -> ExitCode {
    let name = std::env::args_os().next().unwrap_or_else(|| "stratalog-cluster".into());
    let ended = match Arguments::parse().command {
        Subcommands::Server { arguments } => {
            let arguments = [name].into_iter().chain(arguments);
            return stratalog_server::process::run(arguments, Some(evaluator));
        }
        Subcommands::Executor(arguments) => arguments.run().and_then(|ended| match ended {
            Ended::Told => Ok(()),
            Ended::Left => begin_again().map(|never| match never {}),
        }),
        Subcommands::LocalCluster { executors, store, arguments } => {
            local_cluster(executors, store, arguments).map(|never| match never {})
        }
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("stratalog-cluster: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// What evaluates questions with these settings.
fn evaluator(settings: &ClusterSettings, threads: usize) -> Result<Arc<dyn Elsewhere>, String> {
    let ClusterTls { authority, certificate, key } = settings.tls.clone();
    let tls = TlsFiles::of(authority, certificate, key)?;
    let coordination = match &settings.listen {
        Some(listen) => {
            let store = StorePlace::of(&settings.store.to_string_lossy())?;
            Some(Coordination { listen: found(listen)?, tls, store })
        }
        None => None,
    };
    let settings = Settings {
        pool_bytes: usize::try_from(settings.memory_bytes).unwrap_or(usize::MAX),
        spill_bytes: settings.disk_bytes,
        coordination,
        ..Settings::new(&settings.folder, threads)
    };
    let evaluator = Evaluator::new(settings).map_err(|error| error.to_string())?;
    Ok(Arc::new(evaluator))
}

impl ExecutorArguments {
    fn run(self) -> Result<Ended, String> {
        let filter = EnvFilter::try_from_default_env()
            .unwrap_or_else(|_| EnvFilter::new("warn,datafusion_datasource=error"));
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(io::stderr().is_terminal());
        log.with_writer(io::stderr).init();
        let threads = self.threads.or_else(|| Some(std::thread::available_parallelism().ok()?.get()));
        let threads = threads.unwrap_or(1);
        // A folder for a while goes with the process.
        let for_a_while = match &self.folder {
            Some(_) => None,
            None => Some(tempfile::tempdir().map_err(|error| error.to_string())?),
        };
        let folder =
            self.folder.or_else(|| Some(for_a_while.as_ref()?.path().to_owned())).unwrap_or_default();
        let server = found(&self.server)?;
        let said = |error: io::Error| error.to_string();
        let mut listen = match self.listen {
            Some(listen) => listen,
            None => SocketAddr::new(towards(server).map_err(said)?, 0),
        };
        if listen.port() == 0 {
            listen.set_port(two_free_ports(listen.ip()).map_err(said)?);
        }
        let executor = Executor::new(ExecutorSettings {
            server,
            listen,
            tls: TlsFiles::of(self.tls_authority, self.tls_certificate, self.tls_key)?,
            store: StorePlace::of(&self.store)?,
            folder,
            threads,
            pool_bytes: self.memory_bytes,
            spill_bytes: self.disk_bytes,
        })?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let parent = self.with_parent.then(parent_id);
        eprintln!("stratalog-cluster: an executor of {server}, listening on {listen}");
        runtime.block_on(async {
            tokio::select! {
                ended = executor.run() => ended,
                () = orphaned(parent) => Ok(Ended::Told),
            }
        })
    }
}

/// Becomes an executor that waits for its server: Ballista's ends with it.
fn begin_again() -> Result<Infallible, String> {
    eprintln!("stratalog-cluster: the server is gone, and waited for");
    let said = |error: io::Error| error.to_string();
    let this = std::env::current_exe().map_err(said)?;
    Err(said(Command::new(this).args(std::env::args_os().skip(1)).exec()))
}

/// Waits until the process that has started this one is no more.
async fn orphaned(parent: Option<u32>) {
    const OFTEN: Duration = Duration::from_millis(500);
    while parent.is_none_or(|parent| parent == parent_id()) {
        tokio::time::sleep(OFTEN).await;
    }
}

/// The address of a host and a port; of several, one that most networks have.
fn found(address: &str) -> Result<SocketAddr, String> {
    let all = address.to_socket_addrs().map_err(|error| format!("cannot find {address}: {error}"));
    all?.min_by_key(SocketAddr::is_ipv6).ok_or_else(|| format!("cannot find {address}"))
}

/// The address of this machine that another one sees. Nothing is sent.
fn towards(other: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match other {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(other)?;
    Ok(socket.local_addr()?.ip())
}

/// A port that nobody has, as the next one.
fn two_free_ports(address: IpAddr) -> io::Result<u16> {
    const TRIES: usize = 100;
    for _ in 0..TRIES {
        let first = TcpListener::bind((address, 0))?.local_addr()?.port();
        if let Some(second) = first.checked_add(1)
            && TcpListener::bind((address, second)).is_ok()
        {
            return Ok(first);
        }
    }
    Err(io::Error::other("no two ports in a row are free"))
}

/// Starts executors, and becomes the server.
fn local_cluster(executors: usize, store: String, arguments: Vec<OsString>) -> Result<Infallible, String> {
    let said = |error: io::Error| error.to_string();
    if let StorePlace::Folder(folder) = StorePlace::of(&store)? {
        std::fs::create_dir_all(folder).map_err(said)?;
    }
    let listen =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr()).map_err(said)?;
    let this = std::env::current_exe().map_err(said)?;
    for _ in 0..executors {
        Command::new(&this)
            .args(["executor", "--with-parent", "--server", &listen.to_string(), "--store", &store])
            .spawn()
            .map_err(said)?;
    }
    let error = Command::new(&this)
        .arg("server")
        .args(arguments)
        .env("SERVICE_CLUSTER__LISTEN", listen.to_string())
        .env("SERVICE_CLUSTER__STORE", store)
        .exec();
    Err(error.to_string())
}
