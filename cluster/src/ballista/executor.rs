//! `Executor`: a process that runs plans for another one.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arrow_flight::flight_service_server::FlightServiceServer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::SessionConfigExt;
use ballista_core::utils::{
    GrpcClientConfig, GrpcServerConfig, create_grpc_client_endpoint, create_grpc_server,
};
use ballista_executor::ArrowFlightServerProvider;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::flight_service::BallistaFlightService;
use ballista_executor::shutdown::Shutdown;
use datafusion::prelude::SessionConfig;
use datafusion_execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion_execution::object_store::ObjectStoreRegistry;
use datafusion_execution::runtime_env::RuntimeEnvBuilder;
use futures::StreamExt;
use parking_lot::Mutex;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{sleep, timeout};

use super::codec::Codec;
use super::members::Members;
use super::stores::Stores;
use super::{MESSAGE_BYTES, for_members, host, serve};
use crate::settings::{StorePlace, TlsFiles};
use crate::shared::Shared;

/// How often an executor says that it is there.
const HEARTBEAT_SECONDS: u64 = 2;
/// How long it waits for its server to be there,
const SERVER: Duration = Duration::from_secs(60);
/// how often it looks,
const LOOK: Duration = Duration::from_millis(500);
/// and how long a look may take.
const LONG: Duration = Duration::from_secs(5);

/// What an executor is given.
#[derive(Debug, Clone)]
pub struct ExecutorSettings {
    /// Where the server listens for executors.
    pub server: SocketAddr,
    /// Where this one listens for others: for rows, and on the next port for work.
    pub listen: SocketAddr,
    /// By what it and the others know each other: needed where not all of them are on this machine.
    pub tls: Option<TlsFiles>,
    /// Where the files are that all of them see.
    pub store: StorePlace,
    /// The folder for rows on their way from one stage of a plan to the next, and for what spills.
    pub folder: PathBuf,
    /// So many parts are worked on at once.
    pub threads: usize,
    /// Bytes that joins, sorts and groups may hold.
    pub pool_bytes: u64,
    /// Bytes that they may spill.
    pub spill_bytes: u64,
}

/// Why an executor has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Its process was told to end.
    Told,
    /// Its server is gone.
    Left,
}

/// A process that runs plans for another one.
pub struct Executor {
    settings: ExecutorSettings,
    members: Option<Members>,
}

impl Executor {
    /// With these settings.
    pub fn new(settings: ExecutorSettings) -> Result<Executor, String> {
        let members = Members::new(settings.tls.as_ref(), &[settings.server, settings.listen])?;
        Ok(Executor { settings, members })
    }

    /// Works until the process is told to end, or the server has not been there for a while.
    pub async fn run(self) -> Result<Ended, String> {
        let Executor { settings, members } = self;
        let ExecutorSettings { server, listen, store, folder, threads, pool_bytes, spill_bytes, .. } =
            settings;
        let shared = Shared::open(&store).map_err(|error| error.to_string())?;
        let stores = Arc::new(Stores::of(shared.clone()));
        // What is old in the one goes by itself.
        let [under_way, spilled] = ["under_way", "spilled"].map(|name| folder.join(name));
        for folder in [&under_way, &spilled] {
            std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        let environment = move |_: &SessionConfig| {
            let disk = DiskManagerBuilder::default()
                .with_mode(DiskManagerMode::Directories(vec![spilled.clone()]))
                .with_max_temp_directory_size(spill_bytes);
            let stores = Arc::clone(&stores) as Arc<dyn ObjectStoreRegistry>;
            RuntimeEnvBuilder::new()
                .with_disk_manager_builder(disk)
                .with_object_store_registry(stores)
                .build_arc()
        };
        let session = {
            let members = members.clone();
            move || {
                let session = SessionConfig::new_with_ballista()
                    .with_ballista_grpc_client_max_message_size(MESSAGE_BYTES as usize)
                    .with_ballista_physical_extension_codec(Arc::new(Codec::default()));
                for_members(session, members.as_ref())
            }
        };
        let work_port = listen.port().checked_add(1).ok_or("there is no port after 65535")?;
        let rows = listening(listen).await?;
        let inside = match &members {
            Some(members) => {
                let inside = behind(listen.ip());
                let door = listening(SocketAddr::new(listen.ip(), work_port)).await?;
                tokio::spawn(let_in(members.clone(), door, SocketAddr::new(inside, work_port)));
                inside
            }
            None => listen.ip(),
        };
        reach(server, members.as_ref()).await?;
        shared.look().await.map_err(|error| format!("cannot use the store: {error}"))?;
        let config = ExecutorProcessConfig {
            bind_host: host(inside),
            external_host: Some(host(listen.ip())),
            port: listen.port(),
            grpc_port: work_port,
            scheduler_host: host(server.ip()),
            scheduler_port: server.port(),
            vcores: threads,
            task_scheduling_policy: TaskSchedulingPolicy::PushStaged,
            work_dir: Some(under_way.to_string_lossy().into_owned()),
            job_data_ttl_seconds: 3_600,
            job_data_clean_up_interval_seconds: 60,
            grpc_max_decoding_message_size: MESSAGE_BYTES,
            grpc_max_encoding_message_size: MESSAGE_BYTES,
            executor_heartbeat_interval_seconds: HEARTBEAT_SECONDS,
            memory_pool_size: Some(pool_bytes),
            override_runtime_producer: Some(Arc::new(environment)),
            override_config_producer: Some(Arc::new(session)),
            override_physical_codec: Some(Arc::new(Codec::default())),
            override_create_grpc_client_endpoint: members.as_ref().map(Members::endpoints),
            override_arrow_flight_service: Some(giving(rows, members)),
            ..ExecutorProcessConfig::default()
        };
        let is_told = told()?;
        let ended = start_executor_process(Arc::new(config)).await;
        ended.map_err(|error| {
            format!(
                "the server at {server} has not taken this executor, and its log says why: {}",
                chain(&error)
            )
        })?;
        // Both may have happened.
        sleep(LOOK).await;
        Ok(if is_told.load(Ordering::Relaxed) { Ended::Told } else { Ended::Left })
    }
}

/// Whether the process has been told to end.
fn told() -> Result<Arc<AtomicBool>, String> {
    let is_told = Arc::new(AtomicBool::new(false));
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut signals = signal(kind).map_err(|error| error.to_string())?;
        let is_told = Arc::clone(&is_told);
        tokio::spawn(async move {
            signals.recv().await;
            is_told.store(true, Ordering::Relaxed);
        });
    }
    Ok(is_told)
}

/// Waits until a server listens, and looks whether it is one of ours.
async fn reach(server: SocketAddr, members: Option<&Members>) -> Result<(), String> {
    let begun = Instant::now();
    let mut said = String::new();
    loop {
        let missed = match timeout(LONG, TcpStream::connect(server)).await {
            Ok(Ok(_)) => break,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it does not answer".to_owned(),
        };
        let missed = format!("no server at {server}: {missed}");
        if begun.elapsed() > SERVER {
            return Err(missed);
        }
        if said != missed {
            tracing::warn!("{missed}");
            said = missed;
        }
        sleep(LOOK).await;
    }
    let endpoint =
        create_grpc_client_endpoint(format!("http://{server}"), Some(&GrpcClientConfig::default()));
    let mut endpoint = endpoint.map_err(|error| error.to_string())?;
    if let Some(members) = members {
        endpoint = members.endpoints()(endpoint).map_err(|error| error.to_string())?;
    }
    endpoint.connect().await.map_err(|error| format!("the server at {server}: {}", chain(&error)))?;
    Ok(())
}

async fn listening(address: SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(address).await.map_err(|error| format!("cannot listen on {address}: {error}"))
}

/// Gives rows to whoever is there, or to members.
fn giving(listener: TcpListener, members: Option<Members>) -> Arc<ArrowFlightServerProvider> {
    let once = Mutex::new(Some(listener));
    Arc::new(move |folder: String, _: SocketAddr, mut until: Shutdown, config: GrpcServerConfig| {
        let (listener, members) = (once.lock().take(), members.clone());
        tokio::spawn(async move {
            let Some(listener) = listener else { return Ok(()) };
            let service = FlightServiceServer::new(BallistaFlightService::new(folder))
                .max_decoding_message_size(MESSAGE_BYTES as usize)
                .max_encoding_message_size(MESSAGE_BYTES as usize);
            serve(create_grpc_server(&config).add_service(service), listener, members, until.recv()).await
        })
    })
}

/// An address of this machine alone, and another one than that which members know.
///
/// Where executors listen for work, Ballista has no TLS: they listen there, and members are let through.
fn behind(listen: IpAddr) -> IpAddr {
    match listen == IpAddr::from(Ipv4Addr::LOCALHOST) {
        true => Ipv4Addr::new(127, 0, 0, 2).into(),
        false => Ipv4Addr::LOCALHOST.into(),
    }
}

/// Lets members through to an address behind the door.
async fn let_in(members: Members, door: TcpListener, behind: SocketAddr) {
    let mut admitted = pin!(members.admitted(door));
    while let Some(Ok(mut member)) = admitted.next().await {
        tokio::spawn(async move {
            let mut inside = TcpStream::connect(behind).await?;
            inside.set_nodelay(true)?;
            copy_bidirectional(&mut member, &mut inside).await
        });
    }
}

/// An error with all that it comes from.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
