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
use tokio::sync::mpsc;

use super::members::Members;
use super::{MESSAGE_BYTES, Scheduler};

/// A plan that executors run.
#[derive(Default)]
pub(super) struct Job {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    id: Option<JobId>,
    is_cancelled: bool,
}

impl Job {
    /// Has a plan run, and fetches what it gives.
    pub(super) async fn run(
        &self,
        scheduler: &Scheduler,
        members: Option<&Members>,
        context: Arc<SessionContext>,
        plan: Arc<dyn ExecutionPlan>,
    ) -> Result<Vec<RecordBatch>, String> {
        let (told, mut news) = mpsc::channel(16);
        let id = scheduler
            .submit_physical_plan("stratalog", context, plan, Some(told))
            .await
            .map_err(|error| error.to_string())?;
        let is_cancelled = {
            let mut state = self.state.lock();
            state.id = Some(id.clone());
            state.is_cancelled
        };
        if is_cancelled {
            scheduler.cancel_job(id).await.ok();
            return Err("the plan was cancelled".to_owned());
        }
        while let Some(JobStatus { status, .. }) = news.recv().await {
            match status {
                Some(Status::Successful(job)) => {
                    let mut rows = Vec::new();
                    for location in job.partition_location {
                        rows.extend(fetched(location, members).await?);
                    }
                    return Ok(rows);
                }
                Some(Status::Failed(failed)) => return Err(failed.error),
                Some(Status::Queued(_) | Status::Running(_)) | None => {}
            }
        }
        Err("the scheduler has let go of a plan".to_owned())
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
