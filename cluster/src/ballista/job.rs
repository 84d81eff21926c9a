//! `Job`: a plan on its way through the scheduler.

use std::sync::Arc;

use arrow::array::RecordBatch;
use ballista_core::JobId;
use ballista_core::client::BallistaClient;
use ballista_core::extension::BallistaConfigGrpcEndpoint;
use ballista_core::serde::protobuf::{JobStatus, PartitionLocation, job_status::Status};
use datafusion::prelude::SessionContext;
use datafusion_physical_plan::ExecutionPlan;
use futures::TryStreamExt;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use super::members::Members;
use super::{MESSAGE_BYTES, Scheduler};

/// A plan that executors run.
#[derive(Default)]
pub(super) struct Job {
    state: Mutex<State>,
}

/// Why there are no rows.
pub(super) enum Failure {
    /// An executor is lost, or a task has failed: what others have done cannot be relied on any more.
    Lost,
    /// As it is said.
    Said(String),
}

#[derive(Default)]
struct State {
    id: Option<JobId>,
    is_cancelled: bool,
}

impl Job {
    /// Has a plan run, and fetches what it gives, unless something is lost meanwhile.
    pub(super) async fn run(
        &self,
        scheduler: &Scheduler,
        members: Option<&Members>,
        context: Arc<SessionContext>,
        plan: Arc<dyn ExecutionPlan>,
        mut losses: watch::Receiver<u64>,
    ) -> Result<Vec<RecordBatch>, Failure> {
        let (told, mut news) = mpsc::channel(16);
        let id = scheduler
            .submit_physical_plan("stratalog", context, plan, Some(told))
            .await
            .map_err(|error| Failure::Said(error.to_string()))?;
        let is_cancelled = {
            let mut state = self.state.lock();
            state.id = Some(id.clone());
            state.is_cancelled
        };
        if is_cancelled {
            scheduler.cancel_job(id).await.ok();
            return Err(Failure::Said("the plan was cancelled".to_owned()));
        }
        loop {
            let told = tokio::select! {
                biased;
                _ = losses.changed() => {
                    scheduler.cancel_job(id).await.ok();
                    return Err(Failure::Lost);
                }
                told = news.recv() => told,
            };
            let Some(JobStatus { status, .. }) = told else {
                return Err(Failure::Said("the scheduler has let go of a plan".to_owned()));
            };
            match status {
                Some(Status::Successful(job)) => {
                    let mut rows = Vec::new();
                    for location in job.partition_location {
                        rows.extend(fetched(location, members).await.map_err(Failure::Said)?);
                    }
                    return Ok(rows);
                }
                Some(Status::Failed(failed)) => return Err(Failure::Said(failed.error)),
                Some(Status::Queued(_) | Status::Running(_)) | None => {}
            }
        }
    }

    /// Ends it, whether it has begun or not.
    pub(super) fn cancel(&self, scheduler: &Scheduler, handle: &Handle) {
        let id = {
            let mut state = self.state.lock();
            state.is_cancelled = true;
            state.id.clone()
        };
        if let Some(id) = id {
            let scheduler = scheduler.clone();
            handle.spawn(async move { scheduler.cancel_job(id).await.ok() });
        }
    }
}

/// The rows of a part of a result, from the executor that has them.
async fn fetched(location: PartitionLocation, members: Option<&Members>) -> Result<Vec<RecordBatch>, String> {
    const TRIES: u8 = 3;
    const PAUSE_MILLISECONDS: u64 = 200;
    let layout = location.layout();
    let (executor, part) =
        location.executor_meta.zip(location.partition_id).ok_or("a result that nobody has")?;
    let port = u16::try_from(executor.port).map_err(|error| error.to_string())?;
    let size = MESSAGE_BYTES as usize;
    let endpoints = members.map(|members| Arc::new(BallistaConfigGrpcEndpoint::new(members.endpoints())));
    let client = BallistaClient::try_new(
        &executor.host,
        port,
        size,
        members.is_some(),
        endpoints,
        TRIES,
        PAUSE_MILLISECONDS,
        0,
        0,
    );
    let mut client = client.await.map_err(|error| error.to_string())?;
    let rows = client
        .fetch_partition_proxied(
            &executor.id,
            &part.into(),
            location.file_id,
            layout,
            &executor.host,
            port,
            true,
        )
        .await
        .map_err(|error| error.to_string())?;
    rows.try_collect().await.map_err(|error| error.to_string())
}
