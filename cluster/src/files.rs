//! `FileWriter`: rows to a file of a store.

use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion_common::Result;
use object_store::ObjectStore;
use object_store::buffered::BufWriter;
use object_store::path::Path;
use parquet::arrow::AsyncArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::table::File;

/// A file that comes about with its first row.
pub(crate) struct FileWriter {
    objects: Arc<dyn ObjectStore>,
    name: Path,
    writer: Option<AsyncArrowWriter<BufWriter>>,
    rows: usize,
}

impl FileWriter {
    /// Under this name, which nothing has yet.
    pub(crate) fn new(objects: Arc<dyn ObjectStore>, name: Path) -> FileWriter {
        FileWriter { objects, name, writer: None, rows: 0 }
    }

    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                let object = BufWriter::new(Arc::clone(&self.objects), self.name.clone());
                none.insert(AsyncArrowWriter::try_new(object, batch.schema(), Some(properties()))?)
            }
        };
        writer.write(batch).await?;
        self.rows += batch.num_rows();
        Ok(())
    }

    /// The file, if there was a row.
    pub(crate) async fn finish(self) -> Result<Option<File>> {
        let Some(mut writer) = self.writer else { return Ok(None) };
        writer.finish().await?;
        let bytes = writer.bytes_written() as u64;
        Ok(Some(File { object: self.name.to_string(), rows: self.rows, bytes }))
    }
}

/// Codes are dense already, and files are read whole and once or twice.
fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .build()
}
