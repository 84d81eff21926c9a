//! Answers: one table a program, whether it came in one message or in many.

use crate::errors::ClientError;
use crate::inserted::Inserted;
use std::time::Duration;
use stratalog_protocol::{Format, Metadata, ProofTree, Response, ResultStart, ResultTable, Value};

/// What a program yields: the rows of its last query, or else what its statements had to say.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The names of the columns, of which no two have the same; the one column `message` where there was no query.
    pub columns: Vec<String>,
    /// The rows, each in the order of the columns.
    pub rows: Vec<Vec<Value>>,
    /// How many rows there were before a limit.
    pub total_count: u64,
    /// Whether a limit left rows out.
    pub truncated: bool,
    /// How long the server worked, to the millisecond.
    pub execution_time: Duration,
    /// From sending the request to the last row.
    pub round_trip: Duration,
    /// The version of the graph that this is the answer at, or from which on what was written is there.
    pub version: Option<u64>,
    /// What ran, but deserves a second look.
    pub warnings: Vec<String>,
    /// The relations with facts of the session, which nobody else sees.
    pub session_relations: Vec<String>,
    /// The knowledge graph that the session is bound to from now on, when the program changed it.
    pub switched_graph: Option<String>,
    /// Why each row is one, in the order of the rows, if `.why` has asked for that.
    pub proofs: Vec<ProofTree>,
    /// Whether the rows are what statements had to say.
    pub(crate) is_message: bool,
}

/// The column of messages.
const MESSAGE: &str = "message";

impl Answer {
    /// An answer with these columns and rows, as a test or a stand-in for a server needs it.
    pub fn new(columns: &[&str], rows: Vec<Vec<Value>>) -> Answer {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Answer { columns, total_count: rows.len() as u64, rows, ..Answer::default() }.perhaps_message()
    }

    /// True when the rows are what statements had to say, not the rows of a query.
    pub fn is_message(&self) -> bool {
        self.is_message
    }

    /// The columns of messages are known by their name; a query may give the same to its own.
    fn perhaps_message(mut self) -> Answer {
        self.is_message = self.columns == [MESSAGE];
        self
    }

    /// The column `name`, from top to bottom.
    pub fn column(&self, name: &str) -> Option<impl Iterator<Item = &Value>> {
        let index = self.columns.iter().position(|column| column == name)?;
        Some(self.rows.iter().filter_map(move |row| row.get(index)))
    }

    fn with_metadata(mut self, metadata: Option<Metadata>) -> Answer {
        if let Some(metadata) = metadata {
            self.warnings = metadata.warnings;
            self.session_relations = metadata.ephemeral_sources;
        }
        self
    }
}

impl From<ResultTable> for Answer {
    fn from(table: ResultTable) -> Answer {
        let answer = Answer {
            columns: table.names.unwrap_or(table.columns),
            rows: table.rows,
            total_count: table.total_count,
            truncated: table.truncated,
            execution_time: Duration::from_millis(table.execution_time_ms),
            version: table.version,
            switched_graph: table.switched_kg,
            proofs: table.proof_trees,
            ..Answer::default()
        };
        answer.with_metadata(table.metadata).perhaps_message()
    }
}

impl TryFrom<&Answer> for Inserted {
    type Error = ClientError;

    fn try_from(answer: &Answer) -> Result<Inserted, ClientError> {
        let count = |name| match answer.column(name).and_then(|mut column| column.next()) {
            Some(Value::Int(count)) if *count >= 0 => Ok(count.unsigned_abs()),
            _ => Err(ClientError::protocol(format!("the reply to an insert has no count `{name}`"))),
        };
        let (inserted, duplicates) = (count("inserted")?, count("duplicates")?);
        Ok(Inserted { inserted, duplicates, version: answer.version, warnings: answer.warnings.clone() })
    }
}

/// Puts an answer together from the messages that carry it.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    started: Option<Answer>,
    chunks: u64,
}

impl Assembly {
    /// Takes the next message of the reply; gives the answer once it is complete.
    pub(crate) fn take(&mut self, response: Response) -> Result<Option<Answer>, ClientError> {
        match (response, &mut self.started) {
            (Response::Result(table), None) => Ok(Some(table.into())),
            (Response::ResultStart(start), None) => {
                self.started = Some(begin(start, Format::Json)?);
                Ok(None)
            }
            (Response::ResultChunk(chunk), Some(answer)) if chunk.chunk_index == self.chunks => {
                answer.rows.extend(chunk.rows);
                self.chunks += 1;
                Ok(None)
            }
            (Response::ResultEnd(end), Some(answer)) => {
                if (end.row_count, end.chunk_count) != (answer.rows.len() as u64, self.chunks) {
                    return Err(ClientError::protocol(format!(
                        "{} rows in {} chunks were announced, {} in {} came",
                        end.row_count,
                        end.chunk_count,
                        answer.rows.len(),
                        self.chunks
                    )));
                }
                Ok(self.started.take())
            }
            (Response::Error(failure), _) => Err(ClientError::Refused(Box::new(failure))),
            (Response::AuthError(error), _) => Err(ClientError::Authentication { message: error.message }),
            (unexpected, _) => {
                Err(ClientError::protocol(format!("`{}` came out of turn", type_name(&unexpected))))
            }
        }
    }
}

/// An answer without its rows, which come in this format.
pub(crate) fn begin(start: ResultStart, format: Format) -> Result<Answer, ClientError> {
    if start.format.unwrap_or_default() != format {
        return Err(ClientError::protocol("rows come in another format than the one that was asked for"));
    }
    let answer = Answer {
        columns: start.names.unwrap_or(start.columns),
        total_count: start.total_count,
        truncated: start.truncated,
        execution_time: Duration::from_millis(start.execution_time_ms),
        version: start.version,
        switched_graph: start.switched_kg,
        proofs: start.proof_trees,
        ..Answer::default()
    };
    Ok(answer.with_metadata(start.metadata).perhaps_message())
}

/// The `type` of a message from the server.
pub(crate) fn type_name(response: &Response) -> &'static str {
    match response {
        Response::Authenticated(_) => "authenticated",
        Response::AuthError(_) => "auth_error",
        Response::Result(_) => "result",
        Response::ResultStart(_) => "result_start",
        Response::ResultChunk(_) => "result_chunk",
        Response::ResultEnd(_) => "result_end",
        Response::Working(_) => "working",
        Response::Error(_) => "error",
        Response::Ack(_) => "ack",
        Response::Checked(_) => "checked",
        Response::Formatted(_) => "formatted",
        Response::Completions(_) => "completions",
        Response::Subscribed(_) => "subscribed",
        Response::Delta(_) => "delta",
        Response::Progress(_) => "progress",
        Response::Unsubscribed(_) => "unsubscribed",
        Response::Pong => "pong",
        Response::Notification(_) => "notification",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stratalog_protocol::{Code, Failure, ResultChunk, ResultEnd};

    fn start() -> Response {
        Response::ResultStart(ResultStart {
            columns: vec!["X".into()],
            total_count: 3,
            execution_time_ms: 7,
            metadata: Some(Metadata { warnings: vec!["slow".into()], ..Metadata::default() }),
            ..ResultStart::default()
        })
    }

    fn chunk(chunk_index: u64, numbers: &[i64]) -> Response {
        let rows = numbers.iter().map(|&n| vec![Value::Int(n)]).collect();
        Response::ResultChunk(ResultChunk { rows, row_provenance: Vec::new(), chunk_index })
    }

    #[test]
    fn chunks_become_one_answer() {
        let mut assembly = Assembly::default();
        for part in [start(), chunk(0, &[1, 2]), chunk(1, &[3])] {
            assert_eq!(assembly.take(part).unwrap(), None);
        }
        let end = Response::ResultEnd(ResultEnd { row_count: 3, chunk_count: 2 });
        let answer = assembly.take(end).unwrap().unwrap();
        let numbers: Vec<&Value> = answer.column("X").unwrap().collect();
        assert_eq!(numbers, [&Value::Int(1), &Value::Int(2), &Value::Int(3)]);
        assert_eq!((answer.total_count, answer.execution_time.as_millis()), (3, 7));
        assert_eq!(answer.warnings, ["slow"]);
    }

    #[test]
    fn a_lost_chunk_is_noticed() {
        let mut assembly = Assembly::default();
        assembly.take(start()).unwrap();
        assert!(matches!(assembly.take(chunk(1, &[1])), Err(ClientError::Protocol { .. })));

        let mut assembly = Assembly::default();
        assembly.take(start()).unwrap();
        assembly.take(chunk(0, &[1])).unwrap();
        let end = Response::ResultEnd(ResultEnd { row_count: 2, chunk_count: 1 });
        assert!(matches!(assembly.take(end), Err(ClientError::Protocol { .. })));
    }

    #[test]
    fn an_error_ends_even_a_begun_answer() {
        let mut assembly = Assembly::default();
        assembly.take(start()).unwrap();
        let error = assembly.take(Response::Error(Failure::new(Code::Cancelled, "stopped"))).unwrap_err();
        assert_eq!(error.code(), Some(Code::Cancelled));
    }

    #[test]
    fn the_counts_of_an_insert_are_read_by_name() {
        let row = vec![Value::Text("edge".into()), Value::Int(2), Value::Int(1)];
        let answer = Answer::new(&["relation", "inserted", "duplicates"], vec![row]);
        assert_eq!(
            Inserted::try_from(&answer).unwrap(),
            Inserted { inserted: 2, duplicates: 1, ..Inserted::default() }
        );
        assert!(Inserted::try_from(&Answer::new(&["message"], vec![])).is_err());
    }
}
