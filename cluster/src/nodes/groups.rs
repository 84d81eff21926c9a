//! `GroupsExec`: programs of the engine on rows of whole groups, which do not depend on those of others.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion_common::Result;
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_plan::stream::RecordBatchStreamAdapter;
use datafusion_physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use foldhash::HashMap;
use futures::StreamExt;
use futures::stream::unfold;
use stratalog_engine::Thresholds;
use stratalog_engine::analysis::program::Program;
use stratalog_engine::data::{Code, Rows, Run, ValueRef, sorted_run};
use stratalog_engine::exec::{Computation, ExecError, Relations, execute};

use super::single::{properties, single_input};
use crate::batches::{self, append, codes};
use crate::failure::carried;
use crate::findings::Findings;

/// The name of the relation of which a program sees whole groups.
pub(crate) const GROUPS: &str = "?groups";

/// What becomes of the rows of groups.
#[derive(Debug)]
pub(crate) struct OfGroups {
    /// What reads them, as [`GROUPS`].
    pub(crate) program: Program,
    /// What else it reads.
    pub(crate) others: HashMap<String, Vec<Run>>,
    /// The first columns of the input are the rows, so many of them.
    pub(crate) arity: usize,
    /// The columns of the input that tell groups apart, by which it is sorted.
    pub(crate) by: Vec<usize>,
    pub(crate) computation: Computation,
    pub(crate) findings: Arc<Findings>,
    /// From so many rows on a heap of whole groups is evaluated.
    pub(crate) rows: usize,
    /// So many rows should come of one heap.
    pub(crate) made: usize,
    /// Where groups are evaluated piece by piece, as rows come: how many pieces there have been. What is made of a piece has its
    /// number in one more column.
    pub(crate) pieces: Option<AtomicU32>,
}

/// Evaluates a program on heaps of whole groups.
#[derive(Debug)]
pub(crate) struct GroupsExec {
    input: Arc<dyn ExecutionPlan>,
    of_groups: Arc<OfGroups>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl GroupsExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, of_groups: Arc<OfGroups>) -> GroupsExec {
        let head = &of_groups.program.relations[of_groups.program.goal.index()];
        let schema = batches::schema(head.arity + usize::from(of_groups.pieces.is_some()));
        let properties = properties(Arc::clone(&schema), &input);
        GroupsExec { input, of_groups, schema, properties }
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> GroupsExec {
        GroupsExec::new(input, Arc::clone(&self.of_groups))
    }
}

impl DisplayAs for GroupsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GroupsExec: by={:?}", self.of_groups.by)
    }
}

impl ExecutionPlan for GroupsExec {
    fn name(&self) -> &str {
        "GroupsExec"
    }

    single_input!();

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let heap = Heap::new(Arc::clone(&self.of_groups));
        let stream = unfold((input, heap, false), |(mut input, mut heap, is_over)| async move {
            if is_over {
                return None;
            }
            while let Some(batch) = input.next().await {
                match batch.and_then(|batch| heap.take(&batch)) {
                    Ok(None) => {}
                    Ok(Some(rows)) => return Some((Ok(rows), (input, heap, false))),
                    Err(error) => return Some((Err(error), (input, heap, true))),
                }
            }
            let rest = heap.finish()?;
            Some((rest, (input, heap, true)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), Box::pin(stream))))
    }
}

/// Rows that wait until their group is complete.
struct Heap {
    of_groups: Arc<OfGroups>,
    rows: Rows,
    /// From so many on they are evaluated.
    enough: usize,
    /// Where the last group begins, and what it is.
    last_group: usize,
    last_keys: Vec<Code>,
    /// Bytes that are accounted for.
    charged: usize,
}

impl Heap {
    fn new(of_groups: Arc<OfGroups>) -> Heap {
        let (rows, enough) = (Rows::empty(of_groups.arity), of_groups.rows);
        Heap { of_groups, rows, enough, last_group: 0, last_keys: Vec::new(), charged: 0 }
    }

    /// Adds rows; answers what comes of groups that are complete, once there are enough.
    fn take(&mut self, batch: &RecordBatch) -> Result<Option<RecordBatch>> {
        let before = self.rows.len;
        let keys: Vec<&[Code]> = self.of_groups.by.iter().map(|column| codes(batch, *column)).collect();
        let differs = |row: usize| keys.iter().any(|key| key[row] != key[row - 1]);
        if let Some(row) = (1..batch.num_rows()).rev().find(|row| differs(*row)) {
            self.last_group = before + row;
        } else if keys.iter().zip(&self.last_keys).any(|(key, last)| key.first() != Some(last)) {
            self.last_group = before;
        }
        self.last_keys = keys.iter().filter_map(|key| key.last().copied()).collect();
        append(&mut self.rows, batch);
        self.charge(batch.num_rows()).map_err(carried)?;
        if self.of_groups.pieces.is_some() {
            self.last_group = self.rows.len;
        }
        if self.rows.len < self.enough || self.last_group == 0 {
            return Ok(None);
        }
        let rest = self.rows.columns.iter_mut().map(|codes| codes.split_off(self.last_group)).collect();
        let rest = Rows { columns: rest, len: self.rows.len - self.last_group };
        let complete = Rows { len: self.last_group, ..std::mem::replace(&mut self.rows, rest) };
        self.last_group = 0;
        self.evaluate(complete).map(Some)
    }

    /// What comes of the last groups. Where all is one group, something may come of it even if it is empty.
    fn finish(&mut self) -> Option<Result<RecordBatch>> {
        let is_one_group = self.of_groups.by.is_empty() && self.of_groups.pieces.is_none();
        if self.rows.len == 0 && !is_one_group {
            return None;
        }
        let rest = std::mem::replace(&mut self.rows, Rows::empty(self.of_groups.arity));
        Some(self.evaluate(rest))
    }

    /// Accounts for rows: once as they come, and once more as they are sorted.
    fn charge(&mut self, rows: usize) -> Result<(), ExecError> {
        let bytes = 2 * rows * self.rows.columns.len() * size_of::<Code>();
        self.of_groups.computation.budget().charge(bytes)?;
        self.charged += bytes;
        Ok(())
    }

    fn evaluate(&mut self, groups: Rows) -> Result<RecordBatch> {
        let of_groups = Arc::clone(&self.of_groups);
        let OfGroups { program, others, computation, findings, .. } = &*of_groups;
        let read = groups.len;
        let (run, _) = sorted_run(groups.distinct());
        let (codec, budget) = (computation.codec(), computation.budget());
        let inputs = Inputs { groups: run, others };
        let part = budget.part();
        let outcome =
            execute(program, &inputs, codec, &part, Thresholds::default(), None).map_err(carried)?;
        let arity = program.relations[program.goal.index()].arity;
        let mut made = Rows::of_runs(arity, &outcome.runs);
        if let Some(pieces) = &of_groups.pieces {
            if outcome.saturated {
                return Err(carried(ExecError::NotWorth));
            }
            let piece = i64::from(pieces.fetch_add(1, Ordering::Relaxed));
            let piece = codec.encode(ValueRef::Int(piece)).map_err(|full| carried(full.into()))?;
            made.columns.push(vec![piece; made.len]);
        }
        findings.add(&outcome);
        let made = batches::of_rows(made);
        // What it took is over when its rows are handed on.
        drop((outcome, part));
        budget.release(std::mem::take(&mut self.charged));
        self.charge(self.rows.len).map_err(carried)?;
        // Never many more than before: one group may make next to nothing, and the next one much.
        let fitting = read.saturating_mul(of_groups.made) / made.num_rows().max(1);
        self.enough = fitting.clamp(1, 2 * read.max(1)).min(of_groups.rows.max(1));
        Ok(made)
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        self.of_groups.computation.budget().release(self.charged);
    }
}

/// Groups, and what else is read.
struct Inputs<'i> {
    groups: Run,
    others: &'i HashMap<String, Vec<Run>>,
}

impl Relations for Inputs<'_> {
    fn runs(&self, relation: &str) -> Vec<Run> {
        match relation {
            GROUPS => vec![self.groups.clone()],
            other => self.others.get(other).cloned().unwrap_or_default(),
        }
    }
}
