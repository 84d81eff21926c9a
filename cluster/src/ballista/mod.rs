//! Plans that executors run, by Apache Ballista: its scheduler is in this process, executors are processes of their own.
//!
//! What has values in it that only this process knows (what rules compute, and how they aggregate) is run here.

/// Programs as messages.
mod program;

/// Recursions that fall apart.
mod parts;

/// Our operators as messages.
mod codec;

/// A plan on its way.
mod job;

/// Who may take part.
mod members;

/// How much executors are given.
mod slots;

/// What they say.
mod reception;

/// What executors read and write.
mod stores;

/// Executors.
mod executor;

use std::fmt;
use std::future::pending;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;

use arrow::array::RecordBatch;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_core::serde::{BallistaCodec, BallistaLogicalExtensionCodec};
use ballista_core::utils::{GrpcServerConfig, create_grpc_server};
use ballista_scheduler::cluster::memory::InMemoryJobState;
use ballista_scheduler::cluster::{BallistaCluster, ClusterState};
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::metrics::default_metrics_collector;
use ballista_scheduler::scheduler_server::SchedulerServer;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion_execution::runtime_env::RuntimeEnvBuilder;
use datafusion_physical_plan::ExecutionPlan;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use stratalog_engine::Budget;
use stratalog_engine::exec::ExecError;
use tokio::net::TcpListener;
use tonic::transport::server::{Router, TcpIncoming};

use crate::failure::told;
use crate::lower::Plan;
use crate::nodes::{AttachedExec, Computed, GroupsExec};
use crate::published::{Published, PublishedRun};
use crate::runner::{InProcess, Runner, awaited};
use crate::scratch::Scratch;
use crate::settings::{Coordination, Settings};
use codec::Codec;
pub use executor::{Ended, Executor, ExecutorSettings};
use job::{Failure, Job};
use members::Members;
use parts::{Parts, PartsExec};
use reception::Reception;
use slots::Slots;

/// How soon an executor is missed that is no more.
const MISSED_SECONDS: u64 = 8;
/// Rows in memory that are in files, too, may take so many times the memory of plans.
const PUBLISHED_POOLS: u64 = 4;
/// A plan is begun so often, where executors are lost meanwhile.
const TRIES: usize = 3;
/// Plans name files, and may name many.
const MESSAGE_BYTES: u32 = 64 << 20;

type Scheduler = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// Hands plans to executors.
pub(crate) struct Ballista {
    /// For what cannot be handed over.
    here: InProcess,
    scheduler: Scheduler,
    slots: Arc<Slots>,
    context: Arc<SessionContext>,
    members: Option<Members>,
    published: Arc<Published>,
    pool_bytes: usize,
    /// How many plans were run by executors.
    run: AtomicU64,
}

impl Ballista {
    /// Listens for executors from now on.
    pub(crate) fn new(
        here: InProcess,
        coordination: &Coordination,
        settings: &Settings,
    ) -> Result<Ballista, ExecError> {
        let failed = |error: &dyn fmt::Display| ExecError::Elsewhere { why: error.to_string() };
        let listen = coordination.listen;
        let members =
            Members::new(coordination.tls.as_ref(), &[listen]).map_err(|why| ExecError::Elsewhere { why })?;
        let session = for_members(session(settings), members.as_ref());
        let state = state(session.clone()).map_err(|error| failed(&error))?;
        let context = Arc::new(SessionContext::new_with_state(state.clone()));
        let config = SchedulerConfig {
            external_host: host(listen.ip()),
            bind_host: host(listen.ip()),
            bind_port: listen.port(),
            scheduling_policy: TaskSchedulingPolicy::PushStaged,
            finished_job_data_clean_up_interval_seconds: 5,
            finished_job_state_clean_up_interval_seconds: 10,
            executor_timeout_seconds: MISSED_SECONDS,
            expire_dead_executor_interval_seconds: MISSED_SECONDS / 4,
            no_executors_grace_period_seconds: MISSED_SECONDS,
            min_ready_executors: 1,
            grpc_server_max_decoding_message_size: MESSAGE_BYTES,
            grpc_server_max_encoding_message_size: MESSAGE_BYTES,
            grpc_client_max_message_size: MESSAGE_BYTES,
            override_create_grpc_client_endpoint: members.as_ref().map(Members::endpoints),
            ..SchedulerConfig::default()
        };
        let builder = Arc::new(move |_: SessionConfig| Ok(state.clone()));
        let producer = Arc::new(move || session.clone());
        let slots = Arc::new(Slots::default());
        let jobs = InMemoryJobState::new(config.scheduler_endpoint(), builder, producer);
        let cluster = BallistaCluster::new(Arc::clone(&slots) as Arc<dyn ClusterState>, Arc::new(jobs));
        let codec = BallistaCodec::new(
            Arc::new(BallistaLogicalExtensionCodec::default()),
            Arc::new(Codec::default()),
        );
        let metrics = default_metrics_collector().map_err(|error| failed(&error))?;
        let scheduler =
            Scheduler::new(config.scheduler_endpoint(), cluster, codec, Arc::new(config), metrics);
        let listening = here.store().wait({
            let mut scheduler = scheduler.clone();
            async move {
                let why = |error: &dyn fmt::Display| {
                    datafusion_common::DataFusionError::Execution(error.to_string())
                };
                let listener = TcpListener::bind(listen).await?;
                scheduler.init().await.map_err(|error| why(&error))?;
                Ok((scheduler, listener))
            }
        });
        let (scheduler, listener) = listening.map_err(|error| failed(&error))?;
        let reception = Reception { scheduler: scheduler.clone(), slots: Arc::clone(&slots) };
        here.store().handle.spawn(listen_on(listener, members.clone(), reception));
        tracing::info!(%listen, "listening for executors");
        let most_published =
            settings.spill_bytes.min(PUBLISHED_POOLS.saturating_mul(settings.pool_bytes as u64));
        let published = Arc::new(Published::new(most_published));
        Ok(Ballista {
            here,
            scheduler,
            slots,
            context,
            members,
            published,
            pool_bytes: settings.pool_bytes,
            run: AtomicU64::default(),
        })
    }
}

impl Runner for Ballista {
    fn scratch(&self) -> Scratch {
        Scratch::new(self.here.store().clone(), Some(Arc::clone(&self.published)))
    }

    fn run(&self, plan: Arc<dyn ExecutionPlan>, budget: &Budget) -> Result<Vec<RecordBatch>, ExecError> {
        if !self.has_executors() {
            return self.here.run(plan, budget);
        }
        let Some((travelling, lent)) = self.travelling(&plan)? else { return self.here.run(plan, budget) };
        let mut begun = 1;
        let done = loop {
            match self.handed_over(&travelling, budget)? {
                Err(Failure::Lost) if begun < TRIES && self.has_executors() => begun += 1,
                done => break done,
            }
        };
        drop(lent);
        let done = done.map_err(|failure| match failure {
            Failure::Lost => ExecError::Elsewhere { why: "executors are lost again and again".to_owned() },
            Failure::Said(why) => told(why, self.pool_bytes),
        });
        match done {
            Ok(batches) => {
                self.run.fetch_add(1, Ordering::Relaxed);
                Ok(batches)
            }
            // Executors are gone, or do not understand: what they read is there still.
            Err(ExecError::Elsewhere { why }) => {
                tracing::warn!(why, "executors have failed");
                self.here.run(plan, budget)
            }
            Err(error) => Err(error),
        }
    }

    fn has_executors(&self) -> bool {
        self.scheduler.is_ready()
    }

    fn run_by_executors(&self) -> u64 {
        self.run.load(Ordering::Relaxed)
    }
}

impl Ballista {
    /// What executors make of a plan.
    fn handed_over(
        &self,
        plan: &Plan,
        budget: &Budget,
    ) -> Result<Result<Vec<RecordBatch>, Failure>, ExecError> {
        budget.check()?;
        let (done, is_done) = channel();
        let job = Arc::new(Job::default());
        let (scheduler, context) = (self.scheduler.clone(), Arc::clone(&self.context));
        let (members, losses) = (self.members.clone(), self.slots.losses());
        self.here.store().handle.spawn({
            let (job, plan) = (Arc::clone(&job), Arc::clone(plan));
            async move { done.send(job.run(&scheduler, members.as_ref(), context, plan, losses).await).ok() }
        });
        awaited(&is_done, budget, || job.cancel(&self.scheduler, &self.here.store().handle))
    }

    /// A plan as executors know it, and the files that it names; none if there is something in it that they do not know.
    fn travelling(&self, plan: &Plan) -> Result<Option<(Plan, Vec<Arc<PublishedRun>>)>, ExecError> {
        let mut lent = Vec::new();
        let made = Arc::clone(plan).transform_up(|node| {
            let Some(groups) = node.downcast_ref::<GroupsExec>() else { return Ok(Transformed::no(node)) };
            let told = Parts::of(groups.of_groups(), &self.published, self.here.store())?;
            let Some((parts, files)) = told else { return Ok(Transformed::no(node)) };
            lent.extend(files);
            let input = Arc::clone(node.children()[0]);
            Ok(Transformed::yes(Arc::new(PartsExec::try_new(input, parts, Arc::default())?) as Plan))
        });
        let made = made.map_err(|error| ExecError::Elsewhere { why: error.to_string() })?.data;
        Ok(can_travel(&made)?.then_some((made, lent)))
    }
}

/// Hears executors until the process ends.
async fn listen_on(listener: TcpListener, members: Option<Members>, reception: Reception) {
    let service = SchedulerGrpcServer::new(reception)
        .max_encoding_message_size(MESSAGE_BYTES as usize)
        .max_decoding_message_size(MESSAGE_BYTES as usize);
    let server = create_grpc_server(&GrpcServerConfig::default()).add_service(service);
    if let Err(error) = serve(server, listener, members, pending()).await {
        tracing::error!(%error, "executors are not heard any more");
    }
}

/// Serves whoever connects, or members alone, until it is time to stop.
async fn serve(
    server: Router,
    listener: TcpListener,
    members: Option<Members>,
    until: impl Future<Output = ()>,
) -> Result<(), BallistaError> {
    match members {
        Some(members) => server.serve_with_incoming_shutdown(members.admitted(listener), until).await?,
        None => {
            let connections = TcpIncoming::from(listener).with_nodelay(Some(true));
            server.serve_with_incoming_shutdown(connections, until).await?;
        }
    }
    Ok(())
}

/// An address as the host of others.
fn host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// How results, and rows on their way, are asked for.
fn for_members(session: SessionConfig, members: Option<&Members>) -> SessionConfig {
    match members {
        Some(members) => session
            .with_ballista_use_tls(true)
            .with_ballista_override_create_grpc_client_endpoint(members.endpoints()),
        None => session,
    }
}

/// What plans are run with.
fn session(settings: &Settings) -> SessionConfig {
    SessionConfig::new_with_ballista()
        .with_batch_size(settings.batch_rows)
        .with_target_partitions(settings.partitions)
        // Plans come as they are to be run.
        .with_ballista_adaptive_query_planner(false)
        .with_ballista_coalesce_enabled(false)
        .with_ballista_grpc_client_max_message_size(MESSAGE_BYTES as usize)
        .with_ballista_physical_extension_codec(Arc::new(Codec::default()))
}

fn state(session: SessionConfig) -> datafusion_common::Result<SessionState> {
    let environment = RuntimeEnvBuilder::new().build_arc()?;
    Ok(SessionStateBuilder::new()
        .with_config(session)
        .with_runtime_env(environment)
        .with_default_features()
        .build())
}

/// Whether a plan is of rows alone.
fn can_travel(plan: &Plan) -> Result<bool, ExecError> {
    let mut travels = true;
    let mut look = |node: &Plan| {
        travels &= !node.is::<GroupsExec>() && !node.is::<AttachedExec>();
        node.apply_expressions(&mut |expression| {
            expression.apply(|part| {
                travels &= !part.is::<Computed>();
                Ok(TreeNodeRecursion::Continue)
            })
        })
    };
    let looked = plan.apply(&mut look);
    looked.map_err(|error| ExecError::Elsewhere { why: error.to_string() })?;
    Ok(travels)
}

impl fmt::Debug for Ballista {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ballista").field("here", &self.here).finish_non_exhaustive()
    }
}
