//! `Reception`: what executors may say to the scheduler. Others may say nothing: jobs come from this process alone.

use std::sync::Arc;

use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpc;
use ballista_core::serde::protobuf::{
    CancelJobParams, CancelJobResult, CleanJobDataParams, CleanJobDataResult, CreateUpdateSessionParams,
    CreateUpdateSessionResult, ExecuteQueryParams, ExecuteQueryResult, ExecutorStoppedParams,
    ExecutorStoppedResult, GetJobMetricsParams, GetJobMetricsResult, GetJobStatusParams, GetJobStatusResult,
    HeartBeatParams, HeartBeatResult, PollWorkParams, PollWorkResult, RegisterExecutorParams,
    RegisterExecutorResult, RemoveSessionParams, RemoveSessionResult, UpdateTaskStatusParams,
    UpdateTaskStatusResult,
};
use futures::stream::BoxStream;
use tonic::{Request, Response, Status, async_trait};

use super::Scheduler;
use super::slots::Slots;

/// Hears executors.
pub(super) struct Reception {
    pub(super) scheduler: Scheduler,
    pub(super) slots: Arc<Slots>,
}

type Answer<T> = Result<Response<T>, Status>;

#[async_trait]
impl SchedulerGrpc for Reception {
    type ExecuteQueryPushStream = BoxStream<'static, Result<GetJobStatusResult, Status>>;

    async fn register_executor(
        &self,
        request: Request<RegisterExecutorParams>,
    ) -> Answer<RegisterExecutorResult> {
        SchedulerGrpc::register_executor(&self.scheduler, request).await
    }

    async fn heart_beat_from_executor(&self, request: Request<HeartBeatParams>) -> Answer<HeartBeatResult> {
        SchedulerGrpc::heart_beat_from_executor(&self.scheduler, request).await
    }

    async fn update_task_status(
        &self,
        request: Request<UpdateTaskStatusParams>,
    ) -> Answer<UpdateTaskStatusResult> {
        let heard = self.slots.hear(&request.get_ref().task_status).await;
        heard.map_err(|error| Status::internal(error.to_string()))?;
        SchedulerGrpc::update_task_status(&self.scheduler, request).await
    }

    async fn executor_stopped(
        &self,
        request: Request<ExecutorStoppedParams>,
    ) -> Answer<ExecutorStoppedResult> {
        SchedulerGrpc::executor_stopped(&self.scheduler, request).await
    }

    async fn poll_work(&self, _: Request<PollWorkParams>) -> Answer<PollWorkResult> {
        Err(refused())
    }

    async fn create_update_session(
        &self,
        _: Request<CreateUpdateSessionParams>,
    ) -> Answer<CreateUpdateSessionResult> {
        Err(refused())
    }

    async fn remove_session(&self, _: Request<RemoveSessionParams>) -> Answer<RemoveSessionResult> {
        Err(refused())
    }

    async fn execute_query_push(
        &self,
        _: Request<ExecuteQueryParams>,
    ) -> Answer<Self::ExecuteQueryPushStream> {
        Err(refused())
    }

    async fn execute_query(&self, _: Request<ExecuteQueryParams>) -> Answer<ExecuteQueryResult> {
        Err(refused())
    }

    async fn get_job_status(&self, _: Request<GetJobStatusParams>) -> Answer<GetJobStatusResult> {
        Err(refused())
    }

    async fn get_job_metrics(&self, _: Request<GetJobMetricsParams>) -> Answer<GetJobMetricsResult> {
        Err(refused())
    }

    async fn cancel_job(&self, _: Request<CancelJobParams>) -> Answer<CancelJobResult> {
        Err(refused())
    }

    async fn clean_job_data(&self, _: Request<CleanJobDataParams>) -> Answer<CleanJobDataResult> {
        Err(refused())
    }
}

fn refused() -> Status {
    Status::permission_denied("this is for executors")
}
