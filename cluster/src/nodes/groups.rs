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
use futures::StreamExt;
use futures::stream::try_unfold;
use stratalog_engine::analysis::program::Program;
use stratalog_engine::data::{Code, Rows, ValueRef, sorted_run};
use stratalog_engine::exec::{Computation, ExecError, execute};
use stratalog_engine::{BudgetError, Thresholds};

use super::single::{properties, single_input};
use crate::batches::{self, append, codes};
use crate::failure::carried;
use crate::findings::Findings;
use crate::inputs::Inputs;

/// The name of the relation of which a program sees whole groups.
pub(crate) const GROUPS: &str = "?groups";

/// What becomes of the rows of groups.
#[derive(Debug)]
pub(crate) struct OfGroups {
    /// What reads them, as [`GROUPS`].
    pub(crate) program: Program,
    /// What else it reads.
    pub(crate) others: Inputs,
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

    pub(crate) fn of_groups(&self) -> &OfGroups {
        &self.of_groups
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
        let stream = try_unfold((input, heap), |(mut input, mut heap)| async move {
            loop {
                if let Some(made) = heap.next()? {
                    return Ok(Some((made, (input, heap))));
                }
                if heap.is_over {
                    return Ok(None);
                }
                match input.next().await {
                    Some(batch) => heap.take(&batch?)?,
                    None => heap.finish(),
                }
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), Box::pin(stream))))
    }
}

/// Rows that wait until their group is complete, and those of complete groups until they are evaluated.
struct Heap {
    of_groups: Arc<OfGroups>,
    rows: Rows,
    /// Whole groups, the next ones last.
    complete: Vec<Rows>,
    /// Whether no more rows come.
    is_over: bool,
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
        Heap {
            of_groups,
            rows,
            complete: Vec::new(),
            is_over: false,
            enough,
            last_group: 0,
            last_keys: Vec::new(),
            charged: 0,
        }
    }

    /// Adds rows. Once there are enough, those of groups that are complete are to be evaluated.
    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
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
            return Ok(());
        }
        let (complete, rest) = cut(self.taken(), std::mem::take(&mut self.last_group));
        self.rows = rest;
        self.complete.push(complete);
        Ok(())
    }

    /// The last groups are complete. Where all is one group, something may come of it even if it is empty.
    fn finish(&mut self) {
        self.is_over = true;
        let is_one_group = self.of_groups.by.is_empty() && self.of_groups.pieces.is_none();
        if self.rows.len > 0 || is_one_group {
            let rest = self.taken();
            self.complete.push(rest);
        }
    }

    fn taken(&mut self) -> Rows {
        std::mem::replace(&mut self.rows, Rows::empty(self.of_groups.arity))
    }

    /// What comes of the next groups that are complete. Those that take more memory than there is are cut in two, as long as
    /// there are several.
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(groups) = self.complete.pop() {
            let middle = self.middle(&groups);
            match (self.evaluate(&groups), middle) {
                (Ok(made), _) => {
                    self.settle(groups.len, &made).map_err(carried)?;
                    return Ok(Some(made));
                }
                (Err(ExecError::Budget(BudgetError::Memory { .. })), Some(middle)) => {
                    let (first, second) = cut(groups, middle);
                    self.complete.extend([second, first]);
                }
                (Err(error), _) => return Err(carried(error)),
            }
        }
        Ok(None)
    }

    /// Where rows of several groups can be cut in two.
    fn middle(&self, groups: &Rows) -> Option<usize> {
        let OfGroups { by, arity, pieces, .. } = &*self.of_groups;
        let middle = groups.len / 2;
        if pieces.is_some() {
            return (middle > 0).then_some(middle);
        }
        let keys: Option<Vec<&Vec<Code>>> =
            by.iter().map(|column| groups.columns.get(*column).filter(|_| column < arity)).collect();
        let keys = keys?;
        let begins = |row: &usize| keys.iter().any(|key| key[*row] != key[*row - 1]);
        (middle.max(1)..groups.len).find(begins).or_else(|| (1..middle).rev().find(begins))
    }

    /// Accounts for rows: as they come, as they are sorted, and as they wait to be cut should that be too many.
    fn charge(&mut self, rows: usize) -> Result<(), ExecError> {
        let bytes = 3 * rows * self.rows.columns.len() * size_of::<Code>();
        self.of_groups.computation.budget().charge(bytes)?;
        self.charged += bytes;
        Ok(())
    }

    fn evaluate(&self, groups: &Rows) -> Result<RecordBatch, ExecError> {
        let OfGroups { program, others, computation, findings, pieces, .. } = &*self.of_groups;
        let (run, _) = sorted_run(groups.clone().distinct());
        let (codec, budget) = (computation.codec(), computation.budget());
        let mut inputs = others.clone();
        inputs.0.insert(GROUPS.to_owned(), vec![run]);
        let part = budget.part();
        let outcome = execute(program, &inputs, codec, &part, Thresholds::default(), None)?;
        let arity = program.relations[program.goal.index()].arity;
        let mut made = Rows::of_runs(arity, &outcome.runs);
        if let Some(pieces) = pieces {
            if outcome.saturated {
                return Err(ExecError::NotWorth);
            }
            let piece = i64::from(pieces.fetch_add(1, Ordering::Relaxed));
            let piece = codec.encode(ValueRef::Int(piece))?;
            made.columns.push(vec![piece; made.len]);
        }
        findings.add(&outcome);
        Ok(batches::of_rows(made))
    }

    /// What came of so many rows is handed on, and what it took is over.
    fn settle(&mut self, read: usize, made: &RecordBatch) -> Result<(), ExecError> {
        self.of_groups.computation.budget().release(std::mem::take(&mut self.charged));
        self.charge(self.rows.len + self.complete.iter().map(|groups| groups.len).sum::<usize>())?;
        // Never many more than before: one group may make next to nothing, and the next one much.
        let fitting = read.saturating_mul(self.of_groups.made) / made.num_rows().max(1);
        self.enough = fitting.clamp(1, 2 * read.max(1)).min(self.of_groups.rows.max(1));
        Ok(())
    }
}

/// Rows in two.
fn cut(rows: Rows, at: usize) -> (Rows, Rows) {
    let Rows { mut columns, len } = rows;
    let second = columns.iter_mut().map(|codes| codes.split_off(at)).collect();
    (Rows { columns, len: at }, Rows { columns: second, len: len - at })
}

impl Drop for Heap {
    fn drop(&mut self) {
        self.of_groups.computation.budget().release(self.charged);
    }
}
