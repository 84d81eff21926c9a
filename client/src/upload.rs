//! `Upload`: an insert whose batches are sent while they are made. It is one commit at its end.

use crate::answers::Answer;
use crate::connection::Turn;
use crate::errors::ClientError;
use crate::inserted::Inserted;
use crate::running::Running;
use crate::waiting::Piece;
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use stratalog_protocol::{RequestId, Response};

/// The size of the frames that are sent.
const FRAME: usize = 1 << 20;

/// An insert that has begun. Dropped before it is finished, it inserts nothing.
///
/// ```no_run
/// # async fn example(
/// #     client: stratalog_client::Client, batches: Vec<stratalog_client::arrow::array::RecordBatch>,
/// # ) -> Result<(), stratalog_client::ClientError> {
/// use stratalog_client::Scope;
///
/// let mut upload = client.upload("edge", &batches[0].schema(), Scope::Persistent).await?;
/// for batch in &batches {
///     upload.write(batch).await?;
/// }
/// let inserted = upload.finish().await?;
/// eprintln!("{} new facts", inserted.inserted);
/// # Ok(())
/// # }
/// ```
pub struct Upload {
    running: Running,
    turn: Turn,
    encoder: StreamWriter<Vec<u8>>,
}

impl Upload {
    pub(crate) fn new(running: Running, turn: Turn, schema: &Schema) -> Result<Upload, ClientError> {
        let encoder = StreamWriter::try_new(Vec::new(), schema).map_err(|error| not_encodable(&error))?;
        Ok(Upload { running, turn, encoder })
    }

    /// The id to give to [`Client::cancel`](crate::Client::cancel).
    pub fn id(&self) -> RequestId {
        self.running.id()
    }

    /// Sends a batch, as soon as the connection takes more. It fails early when the server has refused what came before.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<(), ClientError> {
        self.encoder.write(batch).map_err(|error| not_encodable(&error))?;
        if self.encoder.get_ref().len() < FRAME {
            return Ok(());
        }
        let bytes = std::mem::take(self.encoder.get_mut());
        // Nothing is inserted of a stream whose end was not sent.
        self.send(&bytes).await.map_err(|error| error.of_sent(false))
    }

    /// Makes the facts part of the graph.
    pub async fn finish(mut self) -> Result<Inserted, ClientError> {
        self.encoder.finish().map_err(|error| not_encodable(&error))?;
        let bytes = std::mem::take(self.encoder.get_mut());
        let (before, last) = bytes.split_at(bytes.len().saturating_sub(1) / FRAME * FRAME);
        self.send(before).await.map_err(|error| error.of_sent(false))?;
        if let Some(error) = self.running.lost().await {
            return Err(error.of_sent(false));
        }
        // With the end of the stream it takes effect.
        self.running.writes_now();
        self.send(last).await?;
        loop {
            let piece = self.running.next().await?;
            if let Some(answer) = outcome(piece)? {
                return Inserted::try_from(&answer);
            }
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        for frame in bytes.chunks(FRAME) {
            if let Some(piece) = self.running.try_next() {
                outcome(piece?)?;
                return Err(ClientError::protocol("an insert was answered before its end"));
            }
            if !self.turn.send(frame.to_vec()).await {
                // The reply says how the connection ended.
                self.running.next().await?;
            }
        }
        Ok(())
    }
}

fn outcome(piece: Piece) -> Result<Option<Answer>, ClientError> {
    match piece {
        Piece::Message(Response::Result(table)) => Ok(Some(table.into())),
        Piece::Message(Response::Error(failure)) => Err(ClientError::Refused(Box::new(failure))),
        Piece::Message(_) | Piece::Frame(_) => {
            Err(ClientError::protocol("something else came for an insert's counts"))
        }
    }
}

fn not_encodable(error: &ArrowError) -> ClientError {
    ClientError::protocol(format!("a batch cannot be sent: {error}"))
}
