//! `SinkExec`: writes the rows of each part to a file, and answers what it has written.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use datafusion_common::Result;
use datafusion_execution::object_store::ObjectStoreUrl;
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr::expressions::Column;
use datafusion_physical_plan::metrics::Time;
use datafusion_physical_plan::repartition::BatchPartitioner;
use datafusion_physical_plan::stream::RecordBatchStreamAdapter;
use datafusion_physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use object_store::ObjectStore;
use object_store::path::Path;

use super::single::{properties, single_input};
use crate::files::FileWriter;
use crate::scratch::{Scratch, new_name};
use crate::table::{File, Layer};

/// Writes parts to files below a prefix: whoever tries again writes others, and only what is answered counts.
#[derive(Debug)]
pub(crate) struct SinkExec {
    input: Arc<dyn ExecutionPlan>,
    to: SinkTo,
    /// As long as it may write there, the place is not emptied.
    scratch: Option<Arc<Scratch>>,
    properties: Arc<PlanProperties>,
}

/// Where a sink writes, and how the rows are cut that come to it.
#[derive(Debug, Clone)]
pub(crate) struct SinkTo {
    pub(crate) url: ObjectStoreUrl,
    pub(crate) prefix: Path,
    /// The columns by whose hash they are cut,
    pub(crate) key: Vec<usize>,
    /// and in how many parts.
    pub(crate) parts: usize,
}

impl SinkExec {
    /// To where an evaluation has its files.
    pub(crate) fn new(
        input: Arc<dyn ExecutionPlan>,
        scratch: Arc<Scratch>,
        key: Vec<usize>,
        parts: usize,
    ) -> SinkExec {
        let (url, prefix) = (scratch.store().url.clone(), scratch.prefix().clone());
        SinkExec::of(input, SinkTo { url, prefix, key, parts }, Some(scratch))
    }

    /// In another process than that which evaluates.
    pub(crate) fn elsewhere(input: Arc<dyn ExecutionPlan>, to: SinkTo) -> SinkExec {
        SinkExec::of(input, to, None)
    }

    pub(crate) fn to(&self) -> &SinkTo {
        &self.to
    }

    fn of(input: Arc<dyn ExecutionPlan>, to: SinkTo, scratch: Option<Arc<Scratch>>) -> SinkExec {
        let properties = properties(written_schema(), &input);
        SinkExec { input, to, scratch, properties }
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> SinkExec {
        SinkExec::of(input, self.to.clone(), self.scratch.clone())
    }
}

/// A row a file: which part, its name, rows and bytes.
fn written_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("part", DataType::UInt64, false),
        Field::new("object", DataType::Utf8, false),
        Field::new("rows", DataType::UInt64, false),
        Field::new("bytes", DataType::UInt64, false),
    ]))
}

/// What has been written, by what sinks have answered.
pub(crate) fn layer_of(written: &[RecordBatch]) -> Layer {
    let mut files = Vec::new();
    for batch in written {
        let number = |column: usize, row: usize| batch.column(column).as_primitive::<UInt64Type>().value(row);
        let objects = batch.column(1).as_string::<i32>();
        files.extend((0..batch.num_rows()).map(|row| {
            let object = objects.value(row).to_owned();
            (number(0, row) as usize, File { object, rows: number(2, row) as usize, bytes: number(3, row) })
        }));
    }
    files.sort_by_key(|(part, _)| *part);
    Layer { files }
}

impl DisplayAs for SinkExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SinkExec: {:?}", self.to)
    }
}

impl ExecutionPlan for SinkExec {
    fn name(&self) -> &str {
        "SinkExec"
    }

    single_input!();

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let objects = context.runtime_env().object_store(&self.to.url)?;
        let input = self.input.execute(partition, context)?;
        let written = write(input, objects, self.to.clone(), self.scratch.clone());
        let stream = futures::stream::once(written).filter_map(async |written| written.transpose());
        Ok(Box::pin(RecordBatchStreamAdapter::new(written_schema(), Box::pin(stream))))
    }
}

/// Writes a part that has rows.
async fn write(
    mut input: SendableRecordBatchStream,
    objects: Arc<dyn ObjectStore>,
    to: SinkTo,
    scratch: Option<Arc<Scratch>>,
) -> Result<Option<RecordBatch>> {
    let mut file = FileWriter::new(objects, new_name(&to.prefix));
    let mut part = None;
    while let Some(batch) = input.next().await {
        let batch = batch?;
        if batch.num_rows() > 0 && part.is_none() {
            part = Some(to.part_of(&batch)?);
        }
        file.write(&batch).await?;
    }
    let written = file.finish().await?;
    drop(scratch);
    let Some((part, File { object, rows, bytes })) = part.zip(written) else { return Ok(None) };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from(vec![part as u64])),
        Arc::new(StringArray::from(vec![object])),
        Arc::new(UInt64Array::from(vec![rows as u64])),
        Arc::new(UInt64Array::from(vec![bytes])),
    ];
    Ok(Some(RecordBatch::try_new(written_schema(), columns)?))
}

impl SinkTo {
    /// The part to which rows belong: whoever runs plans may have numbered the parts anew.
    fn part_of(&self, batch: &RecordBatch) -> Result<usize> {
        let schema = batch.schema();
        let column =
            |at: &usize| Arc::new(Column::new(schema.field(*at).name(), *at)) as Arc<dyn PhysicalExpr>;
        let by = self.key.iter().map(column).collect();
        let mut part = 0;
        BatchPartitioner::new_hash_partitioner(by, self.parts, Time::new())?.partition(
            batch.slice(0, 1),
            |found, rows| {
                if rows.num_rows() > 0 {
                    part = found;
                }
                Ok(())
            },
        )?;
        Ok(part)
    }
}
