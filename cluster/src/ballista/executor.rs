//! `Executor`: a process that runs plans for another one.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::SessionConfigExt;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use datafusion::prelude::SessionConfig;
use datafusion_execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion_execution::object_store::ObjectStoreRegistry;
use datafusion_execution::runtime_env::RuntimeEnvBuilder;

use super::MESSAGE_BYTES;
use super::codec::Codec;
use super::stores::Stores;

/// How often an executor says that it is there.
const HEARTBEAT_SECONDS: u64 = 2;

/// What an executor is given.
#[derive(Debug, Clone)]
pub struct ExecutorSettings {
    /// Where the server listens for executors.
    pub server: SocketAddr,
    /// Where this one listens for others: for rows, and on the next port for work.
    pub listen: SocketAddr,
    /// The folder of files that all of them see.
    pub store: PathBuf,
    /// The folder for rows on their way from one stage of a plan to the next, and for what spills.
    pub folder: PathBuf,
    /// So many parts are worked on at once.
    pub threads: usize,
    /// Bytes that joins, sorts and groups may hold.
    pub pool_bytes: u64,
    /// Bytes that they may spill.
    pub spill_bytes: u64,
}

/// A process that runs plans for another one.
pub struct Executor(ExecutorSettings);

impl Executor {
    /// With these settings. What nothing protects stays on one machine.
    pub fn new(settings: ExecutorSettings) -> Result<Executor, String> {
        let outside =
            [settings.server, settings.listen].into_iter().find(|address| !address.ip().is_loopback());
        match outside {
            Some(address) => {
                Err(format!("{address} is not of this machine alone, and nothing would protect it"))
            }
            None => Ok(Executor(settings)),
        }
    }

    /// Works until the process is told to end.
    pub async fn run(self) -> Result<(), String> {
        let ExecutorSettings { server, listen, store, folder, threads, pool_bytes, spill_bytes } = self.0;
        let stores = Arc::new(Stores::below(store));
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
        let session = || {
            SessionConfig::new_with_ballista()
                .with_ballista_grpc_client_max_message_size(MESSAGE_BYTES as usize)
                .with_ballista_physical_extension_codec(Arc::new(Codec::default()))
        };
        let config = ExecutorProcessConfig {
            bind_host: listen.ip().to_string(),
            external_host: Some(listen.ip().to_string()),
            port: listen.port(),
            grpc_port: listen.port().checked_add(1).ok_or("there is no port after 65535")?,
            scheduler_host: server.ip().to_string(),
            scheduler_port: server.port(),
            scheduler_connect_timeout_seconds: 60,
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
            ..ExecutorProcessConfig::default()
        };
        start_executor_process(Arc::new(config)).await.map_err(|error| error.to_string())
    }
}
