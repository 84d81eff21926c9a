//! Who runs plans: in this process (`InProcess`), or executors of other processes (`ballista`).

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use arrow::array::RecordBatch;
use datafusion_common::DataFusionError;
use datafusion_execution::TaskContext;
use datafusion_execution::config::SessionConfig;
use datafusion_execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion_execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion_physical_plan::{ExecutionPlan, collect};
use stratalog_engine::Budget;
use stratalog_engine::exec::ExecError;
use tokio::runtime::{Builder, Runtime};

use crate::failure::said;
use crate::folder::Folder;
use crate::pool::{LITTLE, Pool};
use crate::scratch::Scratch;
use crate::settings::{Coordination, Settings};
use crate::shared::{Lease, Shared, files_in};
use crate::store::{Store, wait};

/// How soon it is noticed that a request has to stop.
const PATIENCE: Duration = Duration::from_millis(20);

/// To merge what was sorted and spilled takes so many bytes a part.
const MERGE_BYTES: usize = 10 << 20;

/// Runs plans to their end.
pub(crate) trait Runner: fmt::Debug + Send + Sync {
    /// All rows that a plan gives. The means are asked again and again whether it may go on.
    fn run(&self, plan: Arc<dyn ExecutionPlan>, budget: &Budget) -> Result<Vec<RecordBatch>, ExecError>;

    /// A place for the files of an evaluation, which plans find.
    fn scratch(&self) -> Scratch;

    /// Whether there are executors,
    fn has_executors(&self) -> bool {
        false
    }

    /// and how many plans they have run.
    fn run_by_executors(&self) -> u64 {
        0
    }
}

/// Runs plans in this process, on threads of its own.
pub(crate) struct InProcess {
    /// Nothing only when it is dropped.
    runtime: Option<Runtime>,
    environment: Arc<RuntimeEnv>,
    store: Store,
    batch_rows: usize,
    partitions: usize,
    pool_bytes: usize,
    /// Removed at the end: its own, and that of files which others see.
    _files: (Folder, Option<Lease>),
}

impl InProcess {
    /// With these settings; what was killed has left in the folder is removed.
    pub(crate) fn new(settings: &Settings) -> Result<InProcess, ExecError> {
        let failed = |error: DataFusionError| said(&error, settings.pool_bytes);
        let io = |error: std::io::Error| ExecError::Elsewhere { why: error.to_string() };
        let folder = Folder::below(&settings.folder).map_err(io)?;
        let spilled = folder.path().join("spilled");
        std::fs::create_dir(&spilled).map_err(io)?;
        let disk = DiskManagerBuilder::default()
            .with_mode(DiskManagerMode::Directories(vec![spilled]))
            .with_max_temp_directory_size(settings.spill_bytes);
        let environment = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(Pool::new(settings.pool_bytes)))
            .with_disk_manager_builder(disk)
            .build_arc()
            .map_err(failed)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(settings.threads)
            .thread_name("elsewhere")
            .enable_all()
            .build()
            .map_err(io)?;
        let (objects, name, lease) = match &settings.coordination {
            Some(Coordination { store, .. }) => {
                let shared = Shared::open(store).map_err(failed)?;
                let (lease, files) = wait(runtime.handle(), shared.lease()).map_err(failed)?;
                (files, lease.name().to_owned(), Some(lease))
            }
            None => (files_in(folder.path()).map_err(failed)?, folder.name().to_owned(), None),
        };
        let url = Store::url_of(&name).map_err(failed)?;
        environment.register_object_store(url.as_ref(), Arc::clone(&objects));
        let store = Store { objects, url, handle: runtime.handle().clone() };
        let Settings { batch_rows, partitions, pool_bytes, .. } = *settings;
        Ok(InProcess {
            runtime: Some(runtime),
            environment,
            store,
            batch_rows,
            partitions,
            pool_bytes,
            _files: (folder, lease),
        })
    }

    /// Where files are.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        // A server lets go of it on a thread that must not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Waits for work that another thread does, as long as the means allow it; `stop` ends it.
pub(crate) fn awaited<T>(
    is_done: &Receiver<T>,
    budget: &Budget,
    stop: impl FnOnce(),
) -> Result<T, ExecError> {
    loop {
        match is_done.recv_timeout(PATIENCE) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(stopped) = budget.check() {
                    stop();
                    return Err(stopped.into());
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(ExecError::Elsewhere { why: "a plan ended without an answer".to_owned() });
            }
        }
    }
}

impl Runner for InProcess {
    fn scratch(&self) -> Scratch {
        Scratch::new(self.store.clone(), None)
    }

    fn run(&self, plan: Arc<dyn ExecutionPlan>, budget: &Budget) -> Result<Vec<RecordBatch>, ExecError> {
        budget.check()?;
        // What merges sorted parts holds this back from the beginning.
        let held_back = (self.pool_bytes / (2 * LITTLE)).min(MERGE_BYTES);
        let config = SessionConfig::new()
            .with_batch_size(self.batch_rows)
            .with_target_partitions(self.partitions)
            .with_sort_spill_reservation_bytes(held_back);
        let context = TaskContext::new(
            None,
            "stratalog".to_owned(),
            config,
            HashMap::new(),
            HashMap::new(),
            HashMap::new(),
            HashMap::new(),
            Arc::clone(&self.environment),
        );
        let (done, is_done) = channel();
        let running = self.store.handle.spawn(async move {
            done.send(collect(plan, Arc::new(context)).await).ok();
        });
        let done = awaited(&is_done, budget, || running.abort())?;
        done.map_err(|error| said(&error, self.pool_bytes))
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess").field("pool_bytes", &self.pool_bytes).finish_non_exhaustive()
    }
}
