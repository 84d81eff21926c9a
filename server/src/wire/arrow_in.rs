//! An Arrow IPC stream as it comes in, frame by frame, wherever the frames are cut.
//!
//! [`Messages`] puts each message of the stream together where Arrow's decoder need not move it: whole, and aligned. So
//! batches keep no frame alive, and hold no more memory than they need. It finds the end of the stream too, which the
//! decoder does not tell from a pause.

use arrow::buffer::{Buffer, MutableBuffer};
use arrow::ipc::reader::StreamDecoder;
use arrow::record_batch::RecordBatch;
use stratalog_protocol::{Code, Failure};

/// Takes a stream in.
pub(crate) struct ArrowIn {
    decoder: StreamDecoder,
    messages: Messages,
    batches: Vec<RecordBatch>,
    bytes: u64,
    limit: u64,
}

/// What came of one frame.
pub(crate) enum Fed {
    /// The stream goes on.
    More(ArrowIn),
    /// The stream is complete.
    Complete(Vec<RecordBatch>),
}

impl ArrowIn {
    /// A stream of at most so many bytes.
    pub(crate) fn new(limit: u64) -> ArrowIn {
        ArrowIn {
            decoder: StreamDecoder::new(),
            messages: Messages::default(),
            batches: Vec::new(),
            bytes: 0,
            limit,
        }
    }

    /// Takes one frame in. Takes processor time; what is malformed may panic inside Arrow's decoder.
    pub(crate) fn feed(mut self, frame: &[u8]) -> Result<Fed, Failure> {
        self.bytes += frame.len() as u64;
        if self.bytes > self.limit {
            return Err(Failure::new(
                Code::LimitExceeded,
                "the Arrow stream needs more memory than an insert may use",
            )
            .limit("query_memory_bytes", self.limit)
            .help("split the rows over several inserts"));
        }
        let mut rest = frame;
        while let Some(mut message) = self.messages.next(&mut rest).map_err(|problem| malformed(&problem))? {
            while !message.is_empty() {
                match self.decoder.decode(&mut message) {
                    Ok(Some(batch)) => self.keep(batch)?,
                    Ok(None) => {}
                    Err(error) => return Err(malformed(&error)),
                }
            }
        }
        match (self.messages.is_over(), self.decoder.schema()) {
            (false, _) => Ok(Fed::More(self)),
            (true, None) => Err(malformed(&"it ends before its schema")),
            (true, Some(schema)) => {
                if self.batches.is_empty() {
                    self.batches.push(RecordBatch::new_empty(schema));
                }
                Ok(Fed::Complete(self.batches))
            }
        }
    }

    /// A batch may claim any number of rows where a column has no bytes, so the count is held against the bytes.
    fn keep(&mut self, batch: RecordBatch) -> Result<(), Failure> {
        if batch.num_rows() as u64 > self.bytes.saturating_mul(8) {
            return Err(malformed(&"a batch has more rows than bits"));
        }
        self.batches.push(batch);
        Ok(())
    }
}

/// The failure of a stream that cannot be read.
pub(crate) fn malformed(problem: &dyn std::fmt::Display) -> Failure {
    Failure::new(Code::InvalidMessage, format!("the Arrow stream is malformed: {problem}"))
        .help("nothing was inserted; send one Arrow IPC stream, uncompressed, up to its end-of-stream marker")
}

/// What stands before each message: a marker, absent in older streams, and the length of the metadata.
const MARKER: [u8; 4] = [0xFF; 4];
/// A body gets room at once, up to here: the sender says how long it is, and may never send it.
const ROOM_BYTES: usize = 16 << 20;

/// Cuts a stream into its messages: prefix, metadata and body, again and again, until a length of zero.
enum Messages {
    /// The marker, if there is one, and the length.
    Prefix { bytes: Vec<u8> },
    /// Metadata up to this length of the message; it tells the length of the body.
    Metadata { message: MutableBuffer, end: usize },
    /// The body, up to this length of the message.
    Body { message: MutableBuffer, end: usize },
    /// The end-of-stream marker was seen.
    Over,
}

impl Default for Messages {
    fn default() -> Messages {
        Messages::Prefix { bytes: Vec::new() }
    }
}

impl Messages {
    /// The next message that is complete with this frame, whose bytes are consumed; the last one is the marker of the end.
    fn next(&mut self, frame: &mut &[u8]) -> Result<Option<Buffer>, String> {
        loop {
            match self {
                Messages::Prefix { bytes } => {
                    let wanted = if bytes.starts_with(&MARKER) { 8 } else { 4 };
                    let taken = take(frame, wanted - bytes.len());
                    bytes.extend_from_slice(taken);
                    if bytes.len() < wanted {
                        return Ok(None);
                    }
                    let Some(length) = bytes.last_chunk::<4>().filter(|last| wanted == 8 || **last != MARKER)
                    else {
                        continue;
                    };
                    let mut message = MutableBuffer::new(0);
                    message.extend_from_slice(&MARKER);
                    message.extend_from_slice(length);
                    match u32::from_le_bytes(*length) as usize {
                        0 => {
                            *self = Messages::Over;
                            return Ok(Some(message.into()));
                        }
                        length => *self = Messages::Metadata { end: message.len() + length, message },
                    }
                }
                Messages::Metadata { message, end } => {
                    message.extend_from_slice(take(frame, *end - message.len()));
                    if message.len() < *end {
                        return Ok(None);
                    }
                    let metadata = &message[2 * MARKER.len()..];
                    let header = arrow::ipc::root_as_message(metadata).map_err(|error| error.to_string())?;
                    let body = usize::try_from(header.bodyLength()).map_err(|_| "a negative length")?;
                    let mut message = std::mem::take(message);
                    message.reserve(body.min(ROOM_BYTES));
                    let end = message.len().checked_add(body).ok_or("a body without end")?;
                    *self = Messages::Body { message, end };
                }
                Messages::Body { message, end } => {
                    message.extend_from_slice(take(frame, *end - message.len()));
                    if message.len() < *end {
                        return Ok(None);
                    }
                    let message = std::mem::take(message);
                    *self = Messages::default();
                    return Ok(Some(message.into()));
                }
                Messages::Over if frame.is_empty() => return Ok(None),
                Messages::Over => return Err("bytes follow its end".to_owned()),
            }
        }
    }

    fn is_over(&self) -> bool {
        matches!(self, Messages::Over)
    }
}

/// Takes at most so many bytes from the front.
fn take<'f>(frame: &mut &'f [u8], most: usize) -> &'f [u8] {
    let (taken, rest) = frame.split_at(most.min(frame.len()));
    *frame = rest;
    taken
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use arrow::ipc::writer::StreamWriter;
    use stratalog_protocol::{Code, Failure};

    use super::{ArrowIn, Fed};

    fn batch(start: i64) -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(start..start + 100));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..100).map(|n| format!("row {n}"))));
        RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap()
    }

    fn stream(batches: &[RecordBatch]) -> Vec<u8> {
        let mut writer = StreamWriter::try_new(Vec::new(), &batch(0).schema()).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.into_inner().unwrap()
    }

    fn feed(pieces: impl IntoIterator<Item = Vec<u8>>) -> Result<Option<Vec<RecordBatch>>, Failure> {
        let mut stream = ArrowIn::new(1 << 20);
        for piece in pieces {
            stream = match stream.feed(&piece)? {
                Fed::More(stream) => stream,
                Fed::Complete(batches) => return Ok(Some(batches)),
            };
        }
        Ok(None)
    }

    #[test]
    fn a_stream_is_the_same_however_it_is_cut() {
        let batches = [batch(0), batch(100)];
        let bytes = stream(&batches);
        for size in [1, 7, 8, 1000, bytes.len()] {
            let pieces = bytes.chunks(size).map(<[u8]>::to_vec);
            assert_eq!(feed(pieces).unwrap().as_deref(), Some(batches.as_slice()), "pieces of {size}");
        }
    }

    #[test]
    fn batches_hold_their_own_bytes_and_no_frame() {
        let batches: Vec<RecordBatch> = (0..5).map(|n| batch(n * 100)).collect();
        let bytes = stream(&batches);
        for size in [7, 1000, 5000, bytes.len()] {
            let found = feed(bytes.chunks(size).map(<[u8]>::to_vec)).unwrap().unwrap();
            // All arrays of a batch are in one message, and each counts all of it.
            let held: usize = found.iter().map(|batch| batch.column(0).get_array_memory_size()).sum();
            assert!(held < 2 * bytes.len(), "{held} bytes for {} in frames of {size}", bytes.len());
        }
    }

    #[test]
    fn a_stream_without_rows_is_complete_and_has_its_columns() {
        let batches = feed([stream(&[])]).unwrap().unwrap();
        assert_eq!((batches.len(), batches[0].num_rows(), batches[0].num_columns()), (1, 0, 2));
    }

    #[test]
    fn every_beginning_of_a_stream_waits_for_more() {
        let bytes = stream(&[batch(0)]);
        for length in [0, 3, 8, 100, bytes.len() - 8, bytes.len() - 1] {
            assert_eq!(feed([bytes[..length].to_vec()]).unwrap(), None, "{length} bytes");
        }
    }

    #[test]
    fn what_is_no_stream_is_malformed() {
        let mut surplus = stream(&[batch(0)]);
        surplus.push(0);
        let no_schema = vec![255, 255, 255, 255, 0, 0, 0, 0];
        let noise: Vec<u8> = (0..200).map(|n| (n * 37 % 251) as u8).collect();
        let text = b"{\"type\":\"ping\"}{\"type\":\"ping\"}".to_vec();
        for bytes in [surplus, no_schema, [vec![16, 0, 0, 0], noise].concat()] {
            assert_eq!(feed([bytes]).unwrap_err().code, Code::InvalidMessage);
        }
        // A text reads as a length that never comes: the next message ends it.
        assert_eq!(feed([text]).unwrap(), None);
    }

    #[test]
    fn a_stream_beyond_the_limit_is_refused() {
        let refused = ArrowIn::new(10).feed(&[0; 11]).err().unwrap();
        assert_eq!(refused.code, Code::LimitExceeded);
        assert_eq!(refused.limit.unwrap().value, 10);
    }
}
