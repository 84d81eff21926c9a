//! `SinkExec`: writes the rows of each part to a file, and answers what it has written.

use std::fmt;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use datafusion_common::Result;
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_plan::stream::RecordBatchStreamAdapter;
use datafusion_physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use object_store::buffered::BufWriter;
use parquet::arrow::AsyncArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::single::{properties, single_input};
use crate::scratch::Scratch;
use crate::table::{File, Layer};

/// Writes parts to files below a prefix: whoever tries again writes others, and only what is answered counts.
#[derive(Debug)]
pub(crate) struct SinkExec {
    input: Arc<dyn ExecutionPlan>,
    scratch: Arc<Scratch>,
    properties: Arc<PlanProperties>,
}

impl SinkExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, scratch: Arc<Scratch>) -> SinkExec {
        let properties = properties(written_schema(), &input);
        SinkExec { input, scratch, properties }
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> SinkExec {
        SinkExec::new(input, Arc::clone(&self.scratch))
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
        write!(f, "SinkExec: {:?}", self.scratch)
    }
}

impl ExecutionPlan for SinkExec {
    fn name(&self) -> &str {
        "SinkExec"
    }

    single_input!();

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let written = write(partition, input, Arc::clone(&self.scratch));
        let stream = futures::stream::once(written).filter_map(async |written| written.transpose());
        Ok(Box::pin(RecordBatchStreamAdapter::new(written_schema(), Box::pin(stream))))
    }
}

/// Writes a part that has rows.
async fn write(
    part: usize,
    mut input: SendableRecordBatchStream,
    scratch: Arc<Scratch>,
) -> Result<Option<RecordBatch>> {
    let name = scratch.new_name();
    let mut writer = None;
    let mut rows = 0;
    while let Some(batch) = input.next().await {
        let batch = batch?;
        if batch.num_rows() == 0 {
            continue;
        }
        if writer.is_none() {
            let object = BufWriter::new(Arc::clone(&scratch.store().objects), name.clone());
            writer = Some(AsyncArrowWriter::try_new(object, batch.schema(), Some(file_properties()))?);
        }
        if let Some(writer) = &mut writer {
            writer.write(&batch).await?;
        }
        rows += batch.num_rows() as u64;
    }
    let Some(mut writer) = writer else { return Ok(None) };
    writer.finish().await?;
    let bytes = writer.bytes_written() as u64;
    let columns: Vec<arrow::array::ArrayRef> = vec![
        Arc::new(UInt64Array::from(vec![part as u64])),
        Arc::new(StringArray::from(vec![name.to_string()])),
        Arc::new(UInt64Array::from(vec![rows])),
        Arc::new(UInt64Array::from(vec![bytes])),
    ];
    Ok(Some(RecordBatch::try_new(written_schema(), columns)?))
}

/// Codes are dense already, and files are read whole and once or twice.
fn file_properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .build()
}
