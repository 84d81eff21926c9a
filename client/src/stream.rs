//! `Batches`: the rows of an answer while they come.
//!
//! Binary frames are cut without regard to batches, so they go through Arrow's decoder as they arrive; no more than one
//! frame and one batch are held here.

use crate::answers::{Answer, begin, type_name};
use crate::errors::ClientError;
use crate::running::Running;
use crate::waiting::Piece;
use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;
use std::sync::Arc;
use stratalog_protocol::{Format, RequestId, Response, ResultEnd, Value};

/// The rows of an answer, batch by batch. Dropped before the end, it stops the request.
///
/// A program without a query answers with one batch of messages.
pub struct Batches {
    running: Running,
    header: Answer,
    decoder: StreamDecoder,
    schema: SchemaRef,
    frame: Buffer,
    /// Decoded, and not taken yet.
    ready: Option<RecordBatch>,
    rows: u64,
    frames: u64,
    ended: bool,
}

impl Batches {
    /// Waits until the columns and their types are known.
    pub(crate) async fn begin(mut running: Running) -> Result<Batches, ClientError> {
        let (header, messages) = match running.next_in_time().await? {
            Piece::Message(Response::ResultStart(start)) => {
                (Answer { is_message: false, ..begin(start, Format::Arrow)? }, None)
            }
            Piece::Message(Response::Result(table)) => {
                let mut answer = Answer::from(table);
                let batch = messages(&std::mem::take(&mut answer.rows), &answer.columns)?;
                (answer, Some(batch))
            }
            Piece::Message(Response::Error(failure)) => return Err(ClientError::Refused(Box::new(failure))),
            Piece::Message(other) => return Err(out_of_turn(&other)),
            Piece::Frame(_) => return Err(ClientError::protocol("rows came before their columns")),
        };
        running.moved(&header);
        let mut batches = Batches {
            header,
            decoder: StreamDecoder::new(),
            schema: Arc::new(Schema::empty()),
            frame: Buffer::from(Vec::<u8>::new()),
            ended: messages.is_some(),
            ready: messages,
            rows: 0,
            frames: 0,
            running,
        };
        if let Some(batch) = &batches.ready {
            batches.schema = batch.schema();
        }
        while !batches.ended && batches.decoder.schema().is_none() {
            batches.ready = batches.advance().await?;
        }
        if let Some(schema) = batches.decoder.schema() {
            batches.schema =
                Arc::new(schema.project(&batches.shown(schema.fields().len())).map_err(|e| undecodable(&e))?);
        }
        batches.header.round_trip = batches.running.elapsed();
        Ok(batches)
    }

    /// The answer without its rows: columns, counts, warnings, times.
    pub fn header(&self) -> &Answer {
        &self.header
    }

    /// Names and types of the columns. Those of values of several types and of lists are text, the JSON of each value, with
    /// `stratalog.type` = `any` or `list` in the metadata of the field.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The id to give to [`Client::cancel`](crate::Client::cancel).
    pub fn id(&self) -> RequestId {
        self.running.id()
    }

    /// The next batch; `None` after the last. An answer that breaks off is an error.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>, ClientError> {
        loop {
            if let Some(batch) = self.ready.take() {
                let shown = self.shown(batch.num_columns());
                return batch.project(&shown).map(Some).map_err(|error| undecodable(&error));
            }
            if self.ended {
                return Ok(None);
            }
            self.ready = self.advance().await?;
        }
    }

    /// All that is left.
    pub async fn collect(mut self) -> Result<Vec<RecordBatch>, ClientError> {
        let mut all = Vec::new();
        while let Some(batch) = self.next().await? {
            all.push(batch);
        }
        Ok(all)
    }

    /// The columns that were asked for: in a session with facts or rules of its own, one more says where rows come from.
    fn shown(&self, columns: usize) -> Vec<usize> {
        (0..columns.min(self.header.columns.len())).collect()
    }

    /// Decodes what is there, or waits for the next frame.
    async fn advance(&mut self) -> Result<Option<RecordBatch>, ClientError> {
        if self.frame.is_empty() {
            match self.running.next_in_time().await? {
                Piece::Frame(bytes) => {
                    self.frames += 1;
                    self.frame = Buffer::from(bytes);
                }
                Piece::Message(Response::ResultEnd(end)) => self.end(&end)?,
                Piece::Message(Response::Error(failure)) => {
                    return Err(ClientError::Refused(Box::new(failure)));
                }
                Piece::Message(other) => return Err(out_of_turn(&other)),
            }
        }
        let batch = self.decoder.decode(&mut self.frame).map_err(|error| undecodable(&error))?;
        self.rows += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        Ok(batch)
    }

    fn end(&mut self, end: &ResultEnd) -> Result<(), ClientError> {
        self.ended = true;
        self.decoder.finish().map_err(|error| undecodable(&error))?;
        if (end.row_count, end.chunk_count) != (self.rows, self.frames) {
            let (rows, frames) = (self.rows, self.frames);
            return Err(ClientError::protocol(format!(
                "{} rows in {} frames were announced, {rows} in {frames} came",
                end.row_count, end.chunk_count
            )));
        }
        Ok(())
    }
}

impl Running {
    /// Waits for the first rows of a program that was sent by
    /// [`Client::start_stream`](crate::Client::start_stream).
    pub async fn batches(self) -> Result<Batches, ClientError> {
        Batches::begin(self).await
    }
}

/// What statements had to say, as a batch of one column.
fn messages(rows: &[Vec<Value>], columns: &[String]) -> Result<RecordBatch, ClientError> {
    let name = columns.first().map_or("message", String::as_str);
    let texts = rows.iter().map(|row| match row.first() {
        Some(Value::Text(text)) => Some(text.clone()),
        Some(Value::Null) | None => None,
        Some(other) => Some(other.to_string()),
    });
    let schema = Schema::new(vec![Field::new(name, DataType::Utf8, true)]);
    let column: ArrayRef = Arc::new(StringArray::from_iter(texts));
    RecordBatch::try_new(Arc::new(schema), vec![column]).map_err(|error| undecodable(&error))
}

pub(crate) fn undecodable(error: &ArrowError) -> ClientError {
    ClientError::protocol(format!("rows that cannot be decoded: {error}"))
}

pub(crate) fn out_of_turn(response: &Response) -> ClientError {
    ClientError::protocol(format!("`{}` came out of turn", type_name(response)))
}
