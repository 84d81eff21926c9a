//! An Arrow IPC stream as it comes in, frame by frame, wherever the frames are cut.
//!
//! Arrow's decoder makes the batches but does not tell an end-of-stream marker from a pause between two messages,
//! so [`Scanner`] follows the lengths of the messages beside it and finds the end.

use arrow::buffer::Buffer;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use stratalog_protocol::{Code, Failure};

/// Takes a stream in.
pub(crate) struct ArrowIn {
    decoder: StreamDecoder,
    scanner: Scanner,
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
            scanner: Scanner::default(),
            batches: Vec::new(),
            bytes: 0,
            limit,
        }
    }

    /// Takes one frame in. Takes processor time; what is malformed may panic inside Arrow's decoder.
    pub(crate) fn feed(mut self, frame: Bytes) -> Result<Fed, Failure> {
        self.bytes += frame.len() as u64;
        if self.bytes > self.limit {
            return Err(Failure::new(
                Code::LimitExceeded,
                "the Arrow stream needs more memory than an insert may use",
            )
            .limit("query_memory_bytes", self.limit)
            .help("split the rows over several inserts"));
        }
        let ended = self.scanner.scan(&frame).map_err(|problem| malformed(&problem))?;
        let mut buffer = Buffer::from(frame);
        while !buffer.is_empty() {
            match self.decoder.decode(&mut buffer) {
                Ok(Some(batch)) => self.keep(batch)?,
                Ok(None) => {}
                Err(error) => return Err(malformed(&error)),
            }
        }
        match (ended, self.decoder.schema()) {
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

/// Follows the framing: prefix, metadata, body, again and again, until a length of zero.
#[derive(Default)]
struct Scanner {
    state: Scan,
}

enum Scan {
    /// Four bytes: the continuation marker, or the length in older streams.
    Prefix { bytes: Vec<u8>, marked: bool },
    /// Metadata of this length, which tells the length of the body.
    Metadata { bytes: Vec<u8>, length: usize },
    /// So many bytes of a body.
    Body { left: u64 },
    /// The end-of-stream marker was seen.
    End,
}

impl Default for Scan {
    fn default() -> Scan {
        Scan::Prefix { bytes: Vec::new(), marked: false }
    }
}

impl Scanner {
    /// Whether the stream ends with this frame.
    fn scan(&mut self, mut frame: &[u8]) -> Result<bool, String> {
        while !frame.is_empty() {
            match &mut self.state {
                Scan::Prefix { bytes, marked } => {
                    if !fill(bytes, 4, &mut frame) {
                        continue;
                    }
                    self.state = match u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) {
                        u32::MAX if !*marked => Scan::Prefix { bytes: Vec::new(), marked: true },
                        0 => Scan::End,
                        length => Scan::Metadata { bytes: Vec::new(), length: length as usize },
                    };
                }
                Scan::Metadata { bytes, length } => {
                    if !fill(bytes, *length, &mut frame) {
                        continue;
                    }
                    let message = arrow::ipc::root_as_message(bytes).map_err(|error| error.to_string())?;
                    let left = u64::try_from(message.bodyLength())
                        .map_err(|_| ArrowError::IpcError("a negative length".to_owned()).to_string())?;
                    self.state = Scan::Body { left };
                }
                Scan::Body { left } => {
                    let taken = (*left).min(frame.len() as u64);
                    *left -= taken;
                    frame = &frame[taken as usize..];
                }
                Scan::End => return Err("bytes follow its end".to_owned()),
            }
            // A body without bytes is over before the next byte comes.
            if let Scan::Body { left: 0 } = self.state {
                self.state = Scan::default();
            }
        }
        Ok(matches!(self.state, Scan::End))
    }
}

/// Moves bytes over until there are `wanted`; whether there are.
fn fill(bytes: &mut Vec<u8>, wanted: usize, frame: &mut &[u8]) -> bool {
    let taken = (wanted - bytes.len()).min(frame.len());
    bytes.extend_from_slice(&frame[..taken]);
    *frame = &frame[taken..];
    bytes.len() == wanted
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use arrow::ipc::writer::StreamWriter;
    use bytes::Bytes;
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
            stream = match stream.feed(Bytes::from(piece))? {
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
        let refused = ArrowIn::new(10).feed(Bytes::from(vec![0; 11])).err().unwrap();
        assert_eq!(refused.code, Code::LimitExceeded);
        assert_eq!(refused.limit.unwrap().value, 10);
    }
}
