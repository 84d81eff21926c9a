//! A table as messages: one `result` while it is small, else a stream that is made as fast as it is taken.
//!
//! Nothing is written twice: rows are rendered in chunks, and the chunks made before the table turned out to be
//! large are the first ones of the stream.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use stratalog_protocol::{Failure, Format, Metadata, ProofTree, RequestId, Response, ResultEnd, ResultStart};

use super::arrow_out::ArrowOut;
use super::broken;
use super::cells::{RowWriter, write_plain};
use super::handed::HandedRows;
use super::table::Table;
use crate::deposits::Answers;

/// The largest table that is sent as one message, and about the largest chunk, in bytes of JSON.
const LARGEST_MESSAGE: usize = 1 << 20;

/// About so many bytes of frames are made at once.
const HANDOVER: usize = 128 << 10;

/// The most rows of a chunk.
const CHUNK_ROWS: usize = 500;

/// What is sent in one frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A text frame.
    Text(String),
    /// A binary frame.
    Binary(Bytes),
}

impl Frame {
    fn len(&self) -> usize {
        match self {
            Frame::Text(text) => text.len(),
            Frame::Binary(bytes) => bytes.len(),
        }
    }
}

/// What is sent for one request.
pub(crate) enum Reply {
    /// One text frame.
    Whole(String),
    /// Frames, made when they are asked for.
    Stream(Box<TableStream>),
}

/// What is said about a table besides its rows.
pub(super) struct Heading {
    start: ResultStart,
    row_count: usize,
    id: Option<RequestId>,
}

/// The fields of a `result` after its rows.
#[derive(Serialize)]
struct Tail<'a> {
    row_count: usize,
    total_count: u64,
    truncated: bool,
    execution_time_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    row_provenance: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: &'a Option<Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    switched_kg: &'a Option<String>,
    #[serde(skip_serializing_if = "<[ProofTree]>::is_empty")]
    proof_trees: &'a [ProofTree],
    #[serde(skip_serializing_if = "Option::is_none")]
    id: &'a Option<RequestId>,
}

/// The fields of a `result_chunk` after its rows.
#[derive(Serialize)]
struct ChunkTail<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    row_provenance: Vec<&'static str>,
    chunk_index: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: &'a Option<RequestId>,
}

impl Heading {
    pub(super) fn new(
        table: &Table,
        took: Duration,
        metadata: Option<Metadata>,
        id: Option<RequestId>,
    ) -> Heading {
        let start = ResultStart {
            columns: table.columns(),
            names: table.unique_names(),
            total_count: table.total_count() as u64,
            truncated: table.truncated(),
            execution_time_ms: took.as_millis().try_into().unwrap_or(u64::MAX),
            version: None,
            format: None,
            metadata,
            switched_kg: None,
            proof_trees: Vec::new(),
        };
        Heading { start, row_count: table.row_count(), id }
    }

    /// Says at which version of its graph the table is right, and which graph the session is bound to from now on.
    pub(super) fn at(&mut self, version: u64, switched_kg: Option<String>) {
        (self.start.version, self.start.switched_kg) = (Some(version), switched_kg);
    }

    /// Says why the rows are the answer.
    pub(super) fn because(&mut self, proof_trees: Vec<ProofTree>) {
        self.start.proof_trees = proof_trees;
    }

    /// The text of a `result` with these rows.
    fn whole(&self, chunks: &VecDeque<Chunk>) -> Result<String, Failure> {
        let mut json =
            Vec::with_capacity(chunks.iter().map(|chunk| chunk.json.len() + 1).sum::<usize>() + 512);
        json.extend_from_slice(br#"{"type":"result","columns":"#);
        write_plain(&self.start.columns, &mut json);
        if let Some(names) = &self.start.names {
            json.extend_from_slice(br#","names":"#);
            write_plain(names, &mut json);
        }
        json.extend_from_slice(br#","rows":["#);
        for (number, chunk) in chunks.iter().enumerate() {
            if number > 0 {
                json.push(b',');
            }
            json.extend_from_slice(&chunk.json);
        }
        let start = &self.start;
        let tail = Tail {
            row_count: self.row_count,
            total_count: start.total_count,
            truncated: start.truncated,
            execution_time_ms: start.execution_time_ms,
            version: start.version,
            row_provenance: chunks.iter().flat_map(|chunk| chunk.provenance.iter().copied()).collect(),
            metadata: &start.metadata,
            switched_kg: &start.switched_kg,
            proof_trees: &start.proof_trees,
            id: &self.id,
        };
        finish_rows(&tail, json)
    }

    fn reply(&self, response: Response) -> Frame {
        Frame::Text(stratalog_protocol::Reply { response, id: self.id.clone() }.to_json())
    }
}

/// Closes the array of rows and appends the fields after it.
fn finish_rows(tail: &impl Serialize, mut json: Vec<u8>) -> Result<String, Failure> {
    json.push(b']');
    let brace = json.len();
    write_plain(tail, &mut json);
    json[brace] = b',';
    String::from_utf8(json).map_err(|_| broken("text that is not UTF-8"))
}

/// Some rows as JSON arrays, with commas in between.
pub(super) struct Chunk {
    pub(super) json: Vec<u8>,
    /// Where each row comes from; nothing in a session without facts and rules of its own.
    provenance: Vec<&'static str>,
}

/// Renders a table from its beginning, as `result` if it is small and JSON.
pub(super) fn render(table: Table, heading: Heading, format: Format) -> Result<Reply, Failure> {
    let mut chunks = Chunks::of(table);
    let body = match format {
        Format::Arrow => {
            Body::Arrow(Box::new(ArrowOut::new(chunks.table).map_err(|error| broken(&error.to_string()))?))
        }
        Format::Json => {
            let mut rendered = VecDeque::new();
            let mut bytes = 0;
            while bytes <= LARGEST_MESSAGE {
                let Some(chunk) = chunks.next()? else {
                    return heading.whole(&rendered).map(Reply::Whole);
                };
                bytes += chunk.json.len();
                rendered.push_back(chunk);
            }
            Body::Json { rendered, rest: chunks }
        }
    };
    Ok(Reply::Stream(Box::new(TableStream { heading, body, progress: Progress::Start, frames: 0 })))
}

/// Leaves the rows of a table where they are for whoever has asked.
pub(super) fn left_in(place: &Answers, table: Table, heading: Heading) -> Reply {
    let body = Body::Left(Some(place.leave(HandedRows::new(table)).into()));
    Reply::Stream(Box::new(TableStream { heading, body, progress: Progress::Start, frames: 0 }))
}

/// The rows of a table that are not rendered yet.
pub(super) struct Chunks {
    table: Table,
    next: usize,
}

impl Chunks {
    /// All of them.
    pub(super) fn of(table: Table) -> Chunks {
        Chunks { table, next: 0 }
    }

    /// How many there are.
    pub(super) fn left(&self) -> usize {
        self.table.row_count() - self.next
    }

    /// At most 500 rows and about 1 MiB, but at least one row.
    pub(super) fn next(&mut self) -> Result<Option<Chunk>, Failure> {
        if self.next >= self.table.row_count() {
            return Ok(None);
        }
        let batch = self.table.batch(self.next, CHUNK_ROWS);
        let rows =
            RowWriter::new(&batch).map_err(|unknown| broken(&format!("a column of type {}", unknown.0)))?;
        let mut json = Vec::new();
        let mut written = 0;
        while written < batch.num_rows() {
            let before = json.len();
            if written > 0 {
                json.push(b',');
            }
            rows.write(written, &mut json);
            if json.len() > LARGEST_MESSAGE && written > 0 {
                json.truncate(before);
                break;
            }
            written += 1;
        }
        if written == 0 {
            return Err(broken("fewer rows than were announced"));
        }
        let provenance = self.table.provenance(self.next, written).unwrap_or_default();
        let provenance = provenance.iter().map(|origin| origin.as_str()).collect();
        self.next += written;
        Ok(Some(Chunk { json, provenance }))
    }
}

/// The frames of a large table.
pub(crate) struct TableStream {
    heading: Heading,
    body: Body,
    progress: Progress,
    frames: u64,
}

enum Body {
    Json {
        rendered: VecDeque<Chunk>,
        rest: Chunks,
    },
    Arrow(Box<ArrowOut>),
    /// The frame that names them.
    Left(Option<Bytes>),
}

enum Progress {
    Start,
    Rows,
    Done,
}

impl TableStream {
    /// The request that this answers.
    pub(crate) fn id(&self) -> Option<RequestId> {
        self.heading.id.clone()
    }

    /// The next frames, as each handover has its price; none at the end. Takes processor time.
    pub(crate) fn next_frames(&mut self) -> Result<Vec<Frame>, Failure> {
        let mut frames = Vec::new();
        let mut bytes = 0;
        while bytes < HANDOVER
            && let Some(frame) = self.next_frame()?
        {
            bytes += frame.len();
            frames.push(frame);
        }
        Ok(frames)
    }

    /// The next frame.
    fn next_frame(&mut self) -> Result<Option<Frame>, Failure> {
        match self.progress {
            Progress::Start => {
                self.progress = Progress::Rows;
                let mut start = self.heading.start.clone();
                if let Body::Arrow(_) | Body::Left(_) = self.body {
                    start.format = Some(Format::Arrow);
                }
                Ok(Some(self.heading.reply(Response::ResultStart(start))))
            }
            Progress::Rows => {
                if let Some(frame) = self.next_rows()? {
                    self.frames += 1;
                    return Ok(Some(frame));
                }
                self.progress = Progress::Done;
                let end = ResultEnd { row_count: self.heading.row_count as u64, chunk_count: self.frames };
                Ok(Some(self.heading.reply(Response::ResultEnd(end))))
            }
            Progress::Done => Ok(None),
        }
    }

    fn next_rows(&mut self) -> Result<Option<Frame>, Failure> {
        match &mut self.body {
            Body::Arrow(stream) => stream
                .next()
                .map(|bytes| bytes.map(Frame::Binary))
                .map_err(|error| broken(&error.to_string())),
            Body::Left(frame) => Ok(frame.take().map(Frame::Binary)),
            Body::Json { rendered, rest } => {
                let Some(chunk) =
                    rendered.pop_front().map_or_else(|| rest.next(), |chunk| Ok(Some(chunk)))?
                else {
                    return Ok(None);
                };
                let mut json = br#"{"type":"result_chunk","rows":["#.to_vec();
                json.extend_from_slice(&chunk.json);
                let tail = ChunkTail {
                    row_provenance: chunk.provenance,
                    chunk_index: self.frames,
                    id: &self.heading.id,
                };
                finish_rows(&tail, json).map(|text| Some(Frame::Text(text)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use arrow::array::{Int64Array, StringArray};
    use stratalog_engine::Inserted;
    use stratalog_protocol::{Format, Metadata, Reply as Parsed, RequestId, Response, Value};

    use super::{Frame, Heading, Reply, render};
    use crate::wire::table::Table;

    fn rendered(table: Table, id: Option<RequestId>) -> Reply {
        let metadata = Metadata { warnings: vec!["w".to_owned()], ..Metadata::default() };
        let mut heading = Heading::new(&table, Duration::from_millis(3), Some(metadata), id);
        heading.at(12, Some("g".to_owned()));
        render(table, heading, Format::Json).unwrap()
    }

    fn texts(reply: Reply) -> Vec<String> {
        let Reply::Stream(mut stream) = reply else { panic!("not streamed") };
        std::iter::from_fn(|| stream.next_frame().unwrap())
            .map(|frame| match frame {
                Frame::Text(text) => text,
                Frame::Binary(_) => panic!("binary"),
            })
            .collect()
    }

    #[test]
    fn a_small_table_is_one_result_in_the_order_of_the_protocol() {
        let table = Table::of(vec![
            ("n", Arc::new(Int64Array::from(vec![1, 2]))),
            ("t\"", Arc::new(StringArray::from(vec![Some("a"), None]))),
        ])
        .unwrap();
        let Reply::Whole(text) = rendered(table, Some(RequestId::Number(7))) else { panic!("streamed") };
        assert_eq!(
            text,
            concat!(
                r#"{"type":"result","columns":["n","t\""],"rows":[[1,"a"],[2,null]],"row_count":2,"total_count":2,"#,
                r#""truncated":false,"execution_time_ms":3,"version":12,"metadata":{"warnings":["w"]},"switched_kg":"g","id":7}"#
            )
        );
        assert_eq!(Parsed::parse(&text).unwrap().to_json(), text);
    }

    #[test]
    fn an_insert_answers_with_counts() {
        let table =
            Table::inserted("edge", &Inserted { inserted: 2, duplicates: 1, ..Inserted::default() }).unwrap();
        let heading = Heading::new(&table, Duration::ZERO, None, None);
        let Reply::Whole(text) = render(table, heading, Format::Json).unwrap() else { panic!("streamed") };
        assert_eq!(
            text,
            concat!(
                r#"{"type":"result","columns":["relation","inserted","duplicates"],"rows":[["edge",2,1]],"row_count":1,"#,
                r#""total_count":1,"truncated":false,"execution_time_ms":0}"#
            )
        );
    }

    #[test]
    fn an_empty_table_keeps_its_columns() {
        let Reply::Whole(text) = rendered(Table::messages(&[]).unwrap(), None) else { panic!("streamed") };
        assert!(
            text.starts_with(r#"{"type":"result","columns":["message"],"rows":[],"row_count":0,"#),
            "{text}"
        );
    }

    #[test]
    fn a_large_table_is_a_stream_of_chunks_of_500_rows() {
        let messages: Vec<String> = (0..1200).map(|n| format!("{n:01000}")).collect();
        let texts = texts(rendered(Table::messages(&messages).unwrap(), Some(RequestId::Number(1))));
        assert_eq!(texts.len(), 5);
        assert_eq!(
            texts[0],
            concat!(
                r#"{"type":"result_start","columns":["message"],"total_count":1200,"truncated":false,"execution_time_ms":3,"#,
                r#""version":12,"metadata":{"warnings":["w"]},"switched_kg":"g","id":1}"#
            )
        );
        let mut rows = Vec::new();
        for (index, text) in texts[1..4].iter().enumerate() {
            let Response::ResultChunk(chunk) = Parsed::parse(text).unwrap().response else {
                panic!("{text}")
            };
            assert_eq!(chunk.chunk_index, index as u64);
            assert!(chunk.rows.len() <= 500);
            rows.extend(chunk.rows);
        }
        assert_eq!(rows.len(), 1200);
        assert_eq!(rows[1199], [Value::Text(messages[1199].clone())]);
        assert_eq!(texts[4], r#"{"type":"result_end","row_count":1200,"chunk_count":3,"id":1}"#);
    }

    #[test]
    fn a_chunk_is_cut_at_a_mebibyte_but_holds_at_least_a_row() {
        let messages = vec!["x".repeat(700_000), "y".repeat(700_000), "z".repeat(2_000_000)];
        let texts = texts(rendered(Table::messages(&messages).unwrap(), None));
        let sizes: Vec<usize> = texts[1..4].iter().map(|text| text.len() / 100_000).collect();
        assert_eq!(sizes, [7, 7, 20]);
        assert_eq!(texts[4], r#"{"type":"result_end","row_count":3,"chunk_count":3}"#);
    }
}
