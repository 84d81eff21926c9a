//! `Slots`: how many tasks each executor may be given, and what is lost.
//!
//! Ballista 55 counts them itself, but forgets those of tasks that are cancelled: an executor would be given less and less, and nothing
//! in the end (<https://github.com/apache/datafusion-ballista/issues/2418>). Here a slot is taken by a task, and free when the
//! executor says that it has ended, however that was. Of a task that an executor turns down, as it does not understand it, nothing is
//! ever said: it keeps the slot, and the executor gets fewer of them.
//!
//! Where an executor is lost, or a task fails, Ballista 55 does again what it takes to have been lost, and now and then too much: rows of
//! a stage came twice. So this is counted, and whoever waits for a plan meanwhile begins anew.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ballista_core::JobId;
use ballista_core::error::Result;
use ballista_core::serde::protobuf::failed_task::FailedReason;
use ballista_core::serde::protobuf::task_status::Status;
use ballista_core::serde::protobuf::{ExecutorHeartbeat, TaskStatus};
use ballista_core::serde::scheduler::{ExecutorData, ExecutorMetadata};
use ballista_scheduler::cluster::memory::InMemoryClusterState;
use ballista_scheduler::cluster::{BoundTask, ClusterState, ClusterStateEventStream, ExecutorSlot};
use ballista_scheduler::config::TaskDistributionPolicy;
use ballista_scheduler::state::task_manager::JobInfoCache;
use parking_lot::Mutex;
use tokio::sync::watch;
use tonic::async_trait;

/// Executors, and what they work on.
#[derive(Default)]
pub(super) struct Slots {
    executors: InMemoryClusterState,
    taken: Mutex<HashMap<Task, Taken>>,
    /// How many executors and tasks have been lost.
    losses: watch::Sender<u64>,
}

/// A task of a stage, which may be tried again.
#[derive(PartialEq, Eq, Hash)]
struct Task {
    job: String,
    stage: usize,
    attempt: usize,
    task: usize,
}

struct Taken {
    executor: String,
    slots: u32,
}

impl Slots {
    /// Tells of each executor and each task that is lost from now on.
    pub(super) fn losses(&self) -> watch::Receiver<u64> {
        self.losses.subscribe()
    }

    fn note_loss(&self) {
        self.losses.send_modify(|losses| *losses += 1);
    }

    /// What an executor says of tasks, each once.
    pub(super) async fn hear(&self, statuses: &[TaskStatus]) -> Result<()> {
        let has_ended =
            |status: &&TaskStatus| matches!(status.status, Some(Status::Failed(_) | Status::Successful(_)));
        if statuses.iter().any(is_lost) {
            self.note_loss();
        }
        let freed = {
            let mut taken = self.taken.lock();
            let ended = statuses.iter().filter(has_ended).map(|status| Task {
                job: status.job_id.clone(),
                stage: status.stage_id as usize,
                attempt: status.stage_attempt_num as usize,
                task: status.task_id as usize,
            });
            let freed = ended.filter_map(|task| taken.remove(&task));
            freed.map(|Taken { executor, slots }| (executor, slots)).collect()
        };
        self.executors.unbind_tasks(freed).await
    }
}

/// Whether a task is tried again: it has failed, was not ended, and it was not the plan that cannot be run.
fn is_lost(status: &TaskStatus) -> bool {
    let Some(Status::Failed(failed)) = &status.status else { return false };
    !matches!(failed.failed_reason, Some(FailedReason::TaskKilled(_) | FailedReason::ExecutionError(_)))
}

#[async_trait]
impl ClusterState for Slots {
    async fn bind_schedulable_tasks(
        &self,
        distribution: TaskDistributionPolicy,
        active_jobs: Arc<HashMap<JobId, JobInfoCache>>,
        executors: Option<HashSet<String>>,
    ) -> Result<Vec<BoundTask>> {
        let bound = self.executors.bind_schedulable_tasks(distribution, active_jobs, executors).await?;
        let taken = bound.iter().map(|(executor, task)| {
            let key = Task {
                job: task.key.job_id.to_string(),
                stage: task.key.stage_id,
                attempt: task.stage_attempt_num,
                task: task.key.task_id,
            };
            (key, Taken { executor: executor.clone(), slots: task.vcores_consumed })
        });
        self.taken.lock().extend(taken);
        Ok(bound)
    }

    /// What Ballista knows of ended tasks.
    async fn unbind_tasks(&self, _: Vec<ExecutorSlot>) -> Result<()> {
        Ok(())
    }

    async fn register_executor(&self, metadata: ExecutorMetadata, data: ExecutorData) -> Result<()> {
        self.executors.register_executor(metadata, data).await
    }

    async fn save_executor_metadata(&self, metadata: ExecutorMetadata) -> Result<()> {
        self.executors.save_executor_metadata(metadata).await
    }

    async fn get_executor_metadata(&self, executor: &str) -> Result<ExecutorMetadata> {
        self.executors.get_executor_metadata(executor).await
    }

    async fn registered_executor_metadata(&self) -> Vec<ExecutorMetadata> {
        self.executors.registered_executor_metadata().await
    }

    async fn save_executor_heartbeat(&self, heartbeat: ExecutorHeartbeat) -> Result<()> {
        self.executors.save_executor_heartbeat(heartbeat).await
    }

    async fn remove_executor(&self, executor: &str) -> Result<()> {
        self.note_loss();
        self.taken.lock().retain(|_, taken| taken.executor != executor);
        self.executors.remove_executor(executor).await
    }

    fn executor_heartbeats(&self) -> HashMap<String, ExecutorHeartbeat> {
        self.executors.executor_heartbeats()
    }

    fn get_executor_heartbeat(&self, executor: &str) -> Option<ExecutorHeartbeat> {
        self.executors.get_executor_heartbeat(executor)
    }

    async fn cluster_state_events(&self) -> Result<ClusterStateEventStream> {
        self.executors.cluster_state_events().await
    }
}
