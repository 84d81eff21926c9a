//! `PartsExec`: a recursion that falls apart, on executors: each part is worked on to its end by the engine.

use std::fmt;
use std::sync::Arc;

use datafusion_common::{DataFusionError, Result};
use datafusion_execution::memory_pool::MemoryLimit;
use datafusion_execution::object_store::ObjectStoreUrl;
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_plan::stream::RecordBatchStreamAdapter;
use datafusion_physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use foldhash::{HashMap, HashMapExt};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parking_lot::Mutex;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use prost::Message;
use stratalog_engine::Budget;
use stratalog_engine::data::{Codec, Dictionary, Rows, Run, sorted_run};
use stratalog_engine::exec::Computation;
use tokio::sync::OnceCell;

use super::program::Told;
use crate::batches::{append, schema};
use crate::findings::Findings;
use crate::inputs::Inputs;
use crate::nodes::{GroupsExec, OfGroups, properties, single_input};
use crate::published::{Published, PublishedRun};
use crate::store::Store;

/// What becomes of the rows of groups, as a message.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Parts {
    #[prost(message, optional, tag = "1")]
    program: Option<Told>,
    /// What else it reads.
    #[prost(message, repeated, tag = "2")]
    others: Vec<Other>,
    #[prost(string, tag = "3")]
    url: String,
    #[prost(uint64, tag = "4")]
    arity: u64,
    #[prost(uint64, repeated, tag = "5")]
    by: Vec<u64>,
    #[prost(uint64, tag = "6")]
    rows: u64,
    #[prost(uint64, tag = "7")]
    made: u64,
}

/// A relation in files.
#[derive(Clone, PartialEq, Message)]
struct Other {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(uint64, tag = "2")]
    arity: u64,
    #[prost(string, repeated, tag = "3")]
    objects: Vec<String>,
}

impl Parts {
    /// The message of what a plan does, if it can be told, and the files that it names.
    pub(super) fn of(
        of_groups: &OfGroups,
        published: &Published,
        store: &Store,
    ) -> Result<Option<(Parts, Vec<Arc<PublishedRun>>)>> {
        let Some(program) = Told::of(&of_groups.program).filter(|_| of_groups.pieces.is_none()) else {
            return Ok(None);
        };
        let (mut others, mut lent) = (Vec::new(), Vec::new());
        for (name, runs) in &of_groups.others.0 {
            let mut objects = Vec::new();
            for run in runs.iter().filter(|run| !run.is_empty()) {
                let run_files = published.run(run, 1, store)?;
                objects.extend(run_files.files().iter().map(|file| file.object.clone()));
                lent.push(run_files);
            }
            let arity = runs.first().map_or(0, |run| run.columns().len()) as u64;
            others.push(Other { name: name.clone(), arity, objects });
        }
        let parts = Parts {
            program: Some(program),
            others,
            url: store.url.as_str().to_owned(),
            arity: of_groups.arity as u64,
            by: of_groups.by.iter().map(|column| *column as u64).collect(),
            rows: of_groups.rows as u64,
            made: of_groups.made as u64,
        };
        Ok(Some((parts, lent)))
    }
}

/// What parts read besides, by the files that it was in: tasks of a process share it.
#[derive(Debug, Default)]
pub(super) struct Carried {
    known: Mutex<Vec<(Vec<String>, Arc<OnceCell<Run>>)>>,
}

impl Carried {
    /// So many relations are kept.
    const MOST: usize = 16;

    async fn run(&self, other: &Other, objects: &Arc<dyn ObjectStore>) -> Result<Run> {
        let cell = self.cell(&other.objects);
        cell.get_or_try_init(|| read(other, objects)).await.cloned()
    }

    /// Those asked for last are kept.
    fn cell(&self, objects: &[String]) -> Arc<OnceCell<Run>> {
        let mut known = self.known.lock();
        let found = known.iter().position(|(other, _)| other == objects).map(|place| known.remove(place));
        let (objects, cell) = found.unwrap_or_else(|| (objects.to_vec(), Arc::default()));
        known.push((objects, Arc::clone(&cell)));
        if known.len() > Carried::MOST {
            known.remove(0);
        }
        cell
    }
}

/// The rows of files, in order.
async fn read(other: &Other, objects: &Arc<dyn ObjectStore>) -> Result<Run> {
    let mut rows = Rows::empty(other.arity as usize);
    for object in &other.objects {
        let bytes = objects.get(&Path::from(object.as_str())).await?.bytes().await?;
        for batch in ParquetRecordBatchReaderBuilder::try_new(bytes)?.build()? {
            append(&mut rows, &batch?);
        }
    }
    Ok(sorted_run(rows).0)
}

/// Evaluates a program on heaps of whole groups, elsewhere than where it comes from.
#[derive(Debug)]
pub(super) struct PartsExec {
    input: Arc<dyn ExecutionPlan>,
    parts: Parts,
    carried: Arc<Carried>,
    properties: Arc<PlanProperties>,
}

impl PartsExec {
    /// What is wrong with a message is said.
    pub(super) fn try_new(
        input: Arc<dyn ExecutionPlan>,
        parts: Parts,
        carried: Arc<Carried>,
    ) -> Result<PartsExec> {
        let program = parts.program.as_ref().and_then(Told::program);
        let program = program.ok_or_else(|| wrong("no program"))?;
        let arity = program.relations[program.goal.index()].arity;
        let properties = properties(schema(arity), &input);
        Ok(PartsExec { input, parts, carried, properties })
    }

    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> PartsExec {
        let properties = properties(self.schema(), &input);
        PartsExec { input, parts: self.parts.clone(), carried: Arc::clone(&self.carried), properties }
    }
}

fn wrong(what: &str) -> DataFusionError {
    DataFusionError::Execution(format!("a message of another version: {what}"))
}

impl DisplayAs for PartsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartsExec: by={:?}", self.parts.by)
    }
}

impl ExecutionPlan for PartsExec {
    fn name(&self) -> &str {
        "PartsExec"
    }

    single_input!();

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let url = ObjectStoreUrl::parse(&self.parts.url)?;
        let objects = context.runtime_env().object_store(&url)?;
        let (parts, carried) = (self.parts.clone(), Arc::clone(&self.carried));
        let input = Arc::clone(&self.input);
        let schema = self.schema();
        let stream = futures::stream::once(async move {
            let mut others = HashMap::new();
            for other in &parts.others {
                let runs = match other.objects.is_empty() {
                    true => Vec::new(),
                    false => vec![carried.run(other, &objects).await?],
                };
                others.insert(other.name.clone(), runs);
            }
            let program = parts.program.as_ref().and_then(Told::program);
            let memory = match context.memory_pool().memory_limit() {
                MemoryLimit::Finite(bytes) => bytes as u64,
                MemoryLimit::Infinite | MemoryLimit::Unknown => u64::MAX,
            };
            // The codes are told of nobody: they stand for themselves.
            let codec = Codec::over(Arc::new(Dictionary::shared()));
            let of_groups = OfGroups {
                program: program.ok_or_else(|| wrong("no program"))?,
                others: Inputs(others),
                arity: parts.arity as usize,
                by: parts.by.iter().map(|column| *column as usize).collect(),
                computation: Computation::new(codec, Budget::new(None, memory)),
                findings: Arc::new(Findings::default()),
                rows: parts.rows as usize,
                made: parts.made as usize,
                pieces: None,
            };
            GroupsExec::new(input, Arc::new(of_groups)).execute(partition, context)
        });
        let stream = stream.try_flatten().boxed();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}
