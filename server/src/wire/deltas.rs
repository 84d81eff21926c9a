//! `DeltaFrames`: what a subscriber is told of rows, in parts that are made when there is room for them.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use arrow::array::{ArrayRef, Int8Array};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use parking_lot::Mutex;
use serde::Serialize;
use stratalog_engine::{Delta, Rows};
use stratalog_protocol::{Failure, Format};

use super::broken;
use super::cells::write_plain;
use super::messages::Chunks;
use super::table::Table;

/// The first column of Arrow parts: whether the row has come or is gone.
const DIFF: &str = "_diff";
/// The rows of an Arrow part, at most, and those of its first part.
const MOST_ROWS: usize = 65_536;
const FIRST_ROWS: usize = 1_024;
/// So many rows are written at once, on the thread that asks for it.
pub(crate) const FEW_ROWS: usize = 500;
/// The bytes that an Arrow part is meant to have.
const AIM: usize = 512 << 10;

/// A message, and the binary frame that belongs to it.
pub(crate) struct Part {
    /// The message.
    pub(crate) text: String,
    /// The frame, which follows at once.
    pub(crate) frame: Option<Bytes>,
}

/// The rest of a delta, or of the rows to begin with.
pub(crate) struct DeltaFrames {
    heading: Heading,
    rows: Left,
    /// The first part, if it was written already.
    written: Option<Body>,
    is_over: bool,
}

/// What a part says of rows.
#[derive(Debug, Clone)]
enum Body {
    /// Fields of its message.
    Json(Arc<[u8]>),
    /// The frame that belongs to it.
    Arrow(Bytes),
}

impl Body {
    fn len(&self) -> usize {
        match self {
            Body::Json(fields) => fields.len(),
            Body::Arrow(frame) => frame.len(),
        }
    }
}

/// What was written of the last deltas: many are told the same.
#[derive(Debug, Default)]
pub(crate) struct Rendered(Mutex<VecDeque<(Weak<Delta>, Format, Body)>>);

impl Rendered {
    /// So many are remembered,
    const KEPT: usize = 16;
    /// if they have so many bytes at most.
    const MOST_BYTES: usize = 256 << 10;

    fn find(&self, delta: &Arc<Delta>, format: Format) -> Option<Body> {
        let kept = self.0.lock();
        let is_it = |(of, its, _): &&(Weak<Delta>, Format, Body)| {
            std::ptr::eq(of.as_ptr(), Arc::as_ptr(delta)) && *its == format
        };
        kept.iter().find(is_it).map(|(_, _, body)| body.clone())
    }

    fn keep(&self, delta: &Arc<Delta>, format: Format, body: Body) {
        if body.len() > Rendered::MOST_BYTES {
            return;
        }
        let mut kept = self.0.lock();
        kept.retain(|(of, _, _)| of.strong_count() > 0);
        if kept.len() == Rendered::KEPT {
            kept.pop_front();
        }
        kept.push_back((Arc::downgrade(delta), format, body));
    }
}

/// What all parts say.
#[derive(Debug, Clone, Serialize)]
struct Heading {
    #[serde(rename = "type")]
    kind: &'static str,
    subscription: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<u64>,
    version: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reset: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format>,
}

/// The rows that are not told yet.
enum Left {
    Nothing,
    Json { added: Chunks, removed: Chunks },
    Arrow { added: Unsent, removed: Unsent, part_rows: usize },
}

struct Unsent {
    rows: Rows,
    next: usize,
}

impl DeltaFrames {
    /// All rows, in the place of those that the client has.
    pub(crate) fn reset(subscription: u64, version: u64, rows: &Rows, format: Format) -> DeltaFrames {
        let none = rows.none();
        DeltaFrames::new(subscription, None, version, (rows, &none), format)
    }

    /// What has changed since a version. What is written once is not written again.
    pub(crate) fn since(
        from: u64,
        subscription: u64,
        version: u64,
        delta: &Arc<Delta>,
        format: Format,
        rendered: &Rendered,
    ) -> Result<DeltaFrames, Failure> {
        let rows = (&delta.added, &delta.removed);
        let mut frames = DeltaFrames::new(subscription, Some(from), version, rows, format);
        if delta.row_count() > FEW_ROWS {
            return Ok(frames);
        }
        if let Some(body) = rendered.find(delta, format) {
            frames.rows = Left::Nothing;
            frames.written = Some(body);
            return Ok(frames);
        }
        let body = frames.rows.write()?;
        if frames.rows_left() == 0 {
            rendered.keep(delta, format, body.clone());
        }
        frames.written = Some(body);
        Ok(frames)
    }

    fn new(
        subscription: u64,
        from: Option<u64>,
        version: u64,
        (added, removed): (&Rows, &Rows),
        format: Format,
    ) -> DeltaFrames {
        let heading = Heading {
            kind: "delta",
            subscription,
            from,
            version,
            reset: from.is_none(),
            format: (format == Format::Arrow).then_some(format),
        };
        let chunks = |rows: &Rows| Chunks::of(Table::Rows(rows.clone()));
        let unsent = |rows: &Rows| Unsent { rows: rows.clone(), next: 0 };
        let rows = match format {
            Format::Json => Left::Json { added: chunks(added), removed: chunks(removed) },
            Format::Arrow => {
                Left::Arrow { added: unsent(added), removed: unsent(removed), part_rows: FIRST_ROWS }
            }
        };
        DeltaFrames { heading, rows, written: None, is_over: false }
    }

    /// How many rows are not told yet.
    pub(crate) fn rows_left(&self) -> usize {
        match &self.rows {
            Left::Nothing => 0,
            Left::Json { added, removed } => added.left() + removed.left(),
            Left::Arrow { added, removed, .. } => added.left() + removed.left(),
        }
    }

    /// The next part; none after the last. Takes processor time.
    pub(crate) fn next(&mut self) -> Result<Option<Part>, Failure> {
        if self.is_over {
            return Ok(None);
        }
        let body = match self.written.take() {
            Some(body) => body,
            None => self.rows.write()?,
        };
        self.is_over = self.rows_left() == 0;
        let mut json = Vec::new();
        write_plain(&self.heading, &mut json);
        // What is told of rows stands before the end of the object.
        json.pop();
        let frame = match body {
            Body::Json(rows) => {
                json.extend_from_slice(&rows);
                None
            }
            Body::Arrow(frame) => Some(frame),
        };
        json.extend_from_slice(format!(r#","last":{}}}"#, self.is_over).as_bytes());
        let text = String::from_utf8(json).map_err(|_| broken("text that is not UTF-8"))?;
        Ok(Some(Part { text, frame }))
    }
}

impl Left {
    /// Writes some of them.
    fn write(&mut self) -> Result<Body, Failure> {
        Ok(match self {
            Left::Nothing => Body::Json(Arc::default()),
            Left::Json { added, removed } => {
                let mut json = Vec::new();
                let gone = removed.next()?;
                let came = if removed.left() == 0 { added.next()? } else { None };
                for (name, rows) in [("added", came), ("removed", gone)] {
                    if let Some(rows) = rows {
                        json.extend_from_slice(format!(r#","{name}":["#).as_bytes());
                        json.extend_from_slice(&rows.json);
                        json.push(b']');
                    }
                }
                Body::Json(json.into())
            }
            Left::Arrow { added, removed, part_rows } => {
                let frame = arrow_part(added, removed, *part_rows);
                let (frame, rows) = frame.map_err(|error| broken(&error.to_string()))?;
                *part_rows = (rows * AIM / frame.len().max(1)).clamp(1, MOST_ROWS);
                Body::Arrow(frame)
            }
        })
    }
}

impl Unsent {
    fn left(&self) -> usize {
        self.rows.row_count() - self.next
    }

    /// The next rows with what has become of them.
    fn take(&mut self, most: usize, diff: i8, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
        let batch = self.rows.batch(self.next, most.min(self.left()));
        self.next += batch.num_rows();
        let diffs = Arc::new(Int8Array::from(vec![diff; batch.num_rows()])) as ArrayRef;
        let columns = [diffs].into_iter().chain(batch.columns().iter().cloned()).collect();
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}

/// An Arrow stream of some rows, those that are gone first, and how many they are.
fn arrow_part(added: &mut Unsent, removed: &mut Unsent, most: usize) -> Result<(Bytes, usize), ArrowError> {
    let diff = Arc::new(Field::new(DIFF, DataType::Int8, false));
    let columns = added.rows.schema();
    let fields = [diff].into_iter().chain(columns.fields().iter().cloned());
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
    let mut rows = 0;
    for (unsent, diff) in [(removed, -1), (added, 1)] {
        if unsent.left() > 0 && rows < most {
            let batch = unsent.take(most - rows, diff, &schema)?;
            rows += batch.num_rows();
            writer.write(&batch)?;
        }
    }
    writer.finish()?;
    Ok((writer.into_inner()?.into(), rows))
}

#[cfg(test)]
mod tests {
    use stratalog_engine::{Budget, Content, Engine, EngineOptions, Parameters, Rows, RunOptions};
    use stratalog_protocol::{Delta, Format, Reply, Response};

    use std::sync::Arc;

    use super::{DeltaFrames, Rendered};

    fn rows(count: usize) -> Rows {
        let options = EngineOptions { threads: Some(1), ..EngineOptions::default() };
        let mut session = Engine::in_memory(options).unwrap().open_session("default").unwrap();
        let facts: Vec<String> = (0..count).map(|n| format!("({n}, \"{n}\")")).collect();
        // The relation is known, also where it is to be empty.
        let facts = if facts.is_empty() { String::new() } else { format!("+p[{}]", facts.join(", ")) };
        let program = format!("+p(0, \"0\")\n-p(0, \"0\")\n{facts}\n?p(X, Y)");
        let prepared = session.prepare(&program, &Parameters::new()).unwrap();
        let answer = session.run(prepared, &RunOptions::default(), &Budget::unlimited()).unwrap();
        let Content::Rows(rows) = answer.content else { panic!("no rows") };
        rows
    }

    fn parts(frames: &mut DeltaFrames) -> Vec<(Delta, Option<usize>)> {
        let read = |text: &str| match Reply::parse(text).unwrap().response {
            Response::Delta(delta) => delta,
            other => panic!("{other:?}"),
        };
        std::iter::from_fn(|| frames.next().unwrap())
            .map(|part| (read(&part.text), part.frame.map(|frame| frame.len())))
            .collect()
    }

    #[test]
    fn rows_come_in_parts_of_which_one_is_the_last() {
        let parts = parts(&mut DeltaFrames::reset(3, 7, &rows(1_200), Format::Json));
        assert_eq!(parts.iter().map(|(part, _)| part.added.len()).collect::<Vec<_>>(), [500, 500, 200]);
        assert_eq!(parts.iter().map(|(part, _)| part.last).collect::<Vec<_>>(), [false, false, true]);
        assert!(parts.iter().all(|(part, _)| part.reset && part.version == 7 && part.subscription == 3));
    }

    #[test]
    fn what_many_are_told_is_written_once() {
        let rendered = Rendered::default();
        let delta = |count| Arc::new(stratalog_engine::Delta { added: rows(count), removed: rows(2) });
        let (small, large) = (delta(3), delta(1_200));
        for format in [Format::Json, Format::Arrow] {
            for delta in [&small, &large] {
                let told = |from, subscription| {
                    let frames = DeltaFrames::since(from, subscription, 7, delta, format, &rendered).unwrap();
                    parts(&mut { frames })
                };
                let (first, second) = (told(5, 1), told(6, 2));
                assert_eq!(first.len(), second.len());
                for ((one, frame), (other, same)) in first.iter().zip(&second) {
                    assert_eq!((one.from, one.subscription), (Some(5), 1));
                    assert_eq!((other.from, other.subscription), (Some(6), 2));
                    assert_eq!(
                        (&one.added, &one.removed, one.last),
                        (&other.added, &other.removed, other.last)
                    );
                    assert_eq!(frame, same);
                }
            }
        }
        assert_eq!(rendered.0.lock().len(), 2, "large ones are not kept");
    }

    #[test]
    fn no_rows_are_told_too() {
        for format in [Format::Json, Format::Arrow] {
            let parts = parts(&mut DeltaFrames::reset(1, 1, &rows(0), format));
            assert_eq!((parts.len(), parts[0].0.last, parts[0].0.added.len()), (1, true, 0));
            assert_eq!(parts[0].1.is_some(), format == Format::Arrow);
        }
    }

    #[test]
    fn an_arrow_part_has_its_frame() {
        let parts = parts(&mut DeltaFrames::reset(1, 1, &rows(100_000), Format::Arrow));
        assert!(parts.len() > 1 && parts.iter().all(|(_, frame)| frame.is_some_and(|bytes| bytes < 2 << 20)));
        assert_eq!(parts.iter().filter(|(part, _)| part.last).count(), 1);
    }
}
