//! `AttachedExec`: the rows of attached files, in codes, a row group after the other.

use std::fmt;
use std::sync::Arc;

use datafusion_common::Result;
use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion_physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion_physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion_physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use stratalog_engine::attached::{FilesError, RowFiles, RowGroup};
use stratalog_engine::exec::{Computation, ExecError};

use crate::batches::{of_rows, schema};
use crate::failure::carried;

/// So many batches are read before somebody asks for them.
const AHEAD: usize = 2;

/// Reads row groups. Equal rows come as often as they are there.
#[derive(Debug)]
pub(crate) struct AttachedExec {
    files: RowFiles,
    /// By the part that reads them.
    groups: Vec<Vec<RowGroup>>,
    computation: Computation,
    properties: Arc<PlanProperties>,
}

impl AttachedExec {
    /// The row groups of files of so many columns, in at most so many parts.
    pub(crate) fn new(
        files: RowFiles,
        arity: usize,
        groups: Vec<RowGroup>,
        parts: usize,
        computation: Computation,
    ) -> AttachedExec {
        let mut cut = vec![Vec::new(); parts.min(groups.len()).max(1)];
        let parts = cut.len();
        groups.into_iter().enumerate().for_each(|(number, group)| cut[number % parts].push(group));
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(schema(arity)),
            Partitioning::UnknownPartitioning(parts),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        AttachedExec { files, groups: cut, computation, properties }
    }
}

impl DisplayAs for AttachedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AttachedExec: {} rows", self.files.rows())
    }
}

impl ExecutionPlan for AttachedExec {
    fn name(&self) -> &str {
        "AttachedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    /// Files are waited for, so they are read by threads that may wait.
    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (files, computation) = (self.files.clone(), self.computation.clone());
        let groups = self.groups[partition].clone();
        let mut stream = RecordBatchReceiverStreamBuilder::new(self.schema(), AHEAD);
        let batches = stream.tx();
        stream.spawn_blocking(move || {
            let failed = |error: FilesError| carried(ExecError::from(error));
            for group in groups {
                let rows = files.read(group, computation.codec(), computation.budget()).map_err(failed)?;
                for rows in rows {
                    let batch = of_rows(rows.map_err(failed)?);
                    // Nobody wants the rest.
                    if batches.blocking_send(Ok(batch)).is_err() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        });
        Ok(stream.build())
    }
}
