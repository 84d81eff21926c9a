//! A table as one Arrow IPC stream, cut into frames: schema, record batches, end-of-stream marker.
//!
//! Batches are sized so that their messages stay under a frame; only a batch whose rows are unusually wide makes a
//! larger one. Text travels as Utf8, as the engine decodes it.

use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use bytes::Bytes;

use super::table::Table;

/// The most bytes of a frame.
const LARGEST_FRAME: usize = 1 << 20;

/// The bytes that a batch is meant to have: with room for rows that are wider than the last ones.
const AIM: usize = LARGEST_FRAME / 2;

/// The most rows of a batch.
const MOST_ROWS: usize = 65_536;

/// The rest of an Arrow stream.
pub(super) struct ArrowOut {
    table: Table,
    next: usize,
    batch_rows: usize,
    writer: StreamWriter<Vec<u8>>,
    /// A message that did not fit into the last frame.
    held: Vec<u8>,
}

impl ArrowOut {
    /// Starts the stream with its schema.
    pub(super) fn new(table: Table) -> Result<ArrowOut, ArrowError> {
        let mut writer = StreamWriter::try_new(Vec::new(), &table.arrow_schema())?;
        let held = std::mem::take(writer.get_mut());
        Ok(ArrowOut { table, next: 0, batch_rows: 1024, writer, held })
    }

    /// The bytes of the next frame.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, ArrowError> {
        let mut frame = std::mem::take(&mut self.held);
        while let Some(message) = self.message()? {
            if !frame.is_empty() && frame.len() + message.len() > LARGEST_FRAME {
                self.held = message;
                break;
            }
            frame.extend_from_slice(&message);
        }
        Ok((!frame.is_empty()).then(|| frame.into()))
    }

    /// The next message of the stream; the last one is the end marker.
    fn message(&mut self) -> Result<Option<Vec<u8>>, ArrowError> {
        let left = self.table.row_count().saturating_sub(self.next);
        if left > 0 {
            let batch = self.table.arrow_batch(self.next, self.batch_rows.min(left))?;
            let rows = batch.num_rows();
            self.writer.write(&batch)?;
            let message = std::mem::take(self.writer.get_mut());
            self.next = if rows == 0 { self.table.row_count() } else { self.next + rows };
            self.batch_rows = (rows * AIM / message.len().max(1)).clamp(1, MOST_ROWS);
            return Ok(Some(message));
        }
        self.writer.finish().or_else(|error| match error {
            // The stream ended with an earlier call.
            ArrowError::IpcError(_) => Ok(()),
            error => Err(error),
        })?;
        let end = std::mem::take(self.writer.get_mut());
        Ok((!end.is_empty()).then_some(end))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use arrow::array::{AsArray, RecordBatch};
    use arrow::ipc::reader::StreamReader;

    use super::{ArrowOut, LARGEST_FRAME};
    use crate::wire::table::Table;

    fn frames(messages: &[String]) -> Vec<Vec<u8>> {
        let mut stream = ArrowOut::new(Table::messages(messages).unwrap()).unwrap();
        std::iter::from_fn(|| stream.next().unwrap()).map(|frame| frame.to_vec()).collect()
    }

    fn read(frames: &[Vec<u8>]) -> Vec<String> {
        let batches: Vec<RecordBatch> =
            StreamReader::try_new(Cursor::new(frames.concat()), None).unwrap().map(Result::unwrap).collect();
        let texts = |batch: &RecordBatch| {
            batch.column(0).as_string::<i32>().iter().map(|text| text.unwrap().to_owned()).collect::<Vec<_>>()
        };
        batches.iter().flat_map(texts).collect()
    }

    #[test]
    fn the_frames_together_are_one_stream_that_says_where_it_ends() {
        let messages: Vec<String> = (0..50_000).map(|n| format!("{n:0100}")).collect();
        let frames = frames(&messages);
        assert!(frames.len() > 4);
        assert!(frames.iter().all(|frame| frame.len() <= LARGEST_FRAME));
        assert!(frames.concat().ends_with(&[255, 255, 255, 255, 0, 0, 0, 0]));
        assert_eq!(read(&frames), messages);
    }

    #[test]
    fn an_empty_table_is_a_stream_without_batches() {
        let frames = frames(&[]);
        assert_eq!(frames.len(), 1);
        assert_eq!(read(&frames), Vec::<String>::new());
    }

    #[test]
    fn only_a_single_wide_message_exceeds_a_frame() {
        let mut messages = vec!["a".to_owned(); 3000];
        messages.push("x".repeat(3 << 20));
        let frames = frames(&messages);
        assert_eq!(read(&frames), messages);
        assert_eq!(frames.iter().filter(|frame| frame.len() > LARGEST_FRAME).count(), 1);
    }
}
