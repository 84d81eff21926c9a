//! `Reply`: what the server sends. One variant of [`Response`] a type.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::envelope::{Envelope, InvalidMessage, RequestId};
use crate::failure::{Annotation, Failure};
use crate::notification::Notification;
use crate::proof::ProofTree;
use crate::request::Format;
use crate::value::Value;

/// One text frame from the server: a response, and the id of the request that it answers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Reply {
    /// What is answered.
    #[serde(flatten)]
    pub response: Response,
    /// The id of the request, if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<RequestId>,
}

/// What the server may answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Response {
    /// The credentials are valid; requests may follow.
    Authenticated(Authenticated),
    /// The credentials are not valid, or there were none.
    AuthError(AuthError),
    /// A whole table.
    Result(ResultTable),
    /// A table begins; chunks or binary frames follow.
    ResultStart(ResultStart),
    /// Some rows of a table.
    ResultChunk(ResultChunk),
    /// A table is complete.
    ResultEnd(ResultEnd),
    /// How far a request is whose answer is not there yet.
    Working(Working),
    /// The request failed.
    Error(Failure),
    /// What was asked for is done.
    Ack(Ack),
    /// What was found in a program.
    Checked(Checked),
    /// A program in the layout that all programs have.
    Formatted(Formatted),
    /// What may be written at a place.
    Completions(Completions),
    /// A subscription has begun; `delta` follows.
    Subscribed(Subscribed),
    /// The rows that have come and gone, or with `reset` all that there are.
    Delta(Delta),
    /// Everything up to and with a version is told.
    Progress(Progress),
    /// A subscription has ended: it was asked for, or there is no answer any more.
    Unsubscribed(Unsubscribed),
    /// The sign of life that was asked for.
    Pong,
    /// Something has changed; it answers nothing.
    #[serde(untagged)]
    Notification(Notification),
}

/// The types in the order of [`Response`].
const TYPES: &[&str] = &[
    "authenticated",
    "auth_error",
    "result",
    "result_start",
    "result_chunk",
    "result_end",
    "working",
    "error",
    "ack",
    "checked",
    "formatted",
    "completions",
    "subscribed",
    "delta",
    "progress",
    "unsubscribed",
    "pong",
    "persistent_update",
    "rule_change",
    "kg_change",
    "schema_change",
];

/// `authenticated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Authenticated {
    /// The new session.
    pub session_id: String,
    /// The graph that it is bound to.
    pub knowledge_graph: String,
    /// The server's version.
    pub version: String,
    /// The user's role: `admin`, `editor` or `viewer`.
    pub role: String,
    /// What the API key of the login opens of what its user may do, if not all of it: `write` or `read`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The number of the last notification before, if the address asks for `last_seq`: what to come back with, if none
    /// follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<u64>,
}

/// `auth_error`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuthError {
    /// What was wrong, without telling what is right.
    pub message: String,
}

/// `working`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Working {
    /// What it does.
    pub state: WorkState,
    /// Milliseconds since its turn came.
    pub elapsed_ms: u64,
    /// Rounds of recursions that are done. Nobody knows before how many there will be.
    pub rounds: u64,
    /// Rows that rules have found so far.
    pub rows: u64,
    /// Bytes that it holds now.
    pub memory_bytes: u64,
}

/// What a request does that is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkState {
    /// It waits for a place.
    Waiting,
    /// It runs, or is paused for others.
    Running,
    /// It was stopped, and ends as soon as it looks.
    Stopping,
    /// What a later version may say.
    #[serde(other)]
    Unknown,
}

impl WorkState {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            WorkState::Waiting => "waiting",
            WorkState::Running => "running",
            WorkState::Stopping => "stopping",
            WorkState::Unknown => "unknown",
        }
    }
}

/// `ack`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ack {
    /// What was done, in one sentence.
    pub message: String,
}

/// `checked`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checked {
    /// All errors and warnings, in the order of the statements; none where there is nothing to say.
    pub diagnostics: Vec<Annotation>,
}

/// `formatted`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Formatted {
    /// The program: the same statements and comments.
    pub program: String,
}

/// `completions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completions {
    /// What may be written, each once; none where that is not known.
    pub offers: Vec<Offer>,
}

/// Something that may be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// What stands there afterwards, from where what is typed of it begins; with the bracket that has to follow.
    pub text: String,
    /// How many bytes before the place are what is typed of it.
    pub typed: u64,
    /// What it names.
    pub kind: OfferKind,
    /// Its columns, or what it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// What something that may be written names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OfferKind {
    /// A relation.
    Relation,
    /// A function.
    Function,
    /// An aggregate.
    Aggregate,
    /// A variable.
    Variable,
    /// A word of a command, or a name that belongs there.
    Word,
}

/// `subscribed`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subscribed {
    /// Its number, which is in all that is told of it on this connection.
    pub subscription: u64,
    /// The names of the columns: what stands in them, where nothing is declared.
    pub columns: Vec<String>,
    /// Names that no two columns share; absent where those of `columns` are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// The graph that is asked, also when the session is bound to another one later.
    pub knowledge_graph: String,
    /// The version at which what is told first is the answer.
    pub version: u64,
    /// Whether the rows of before are still right: no `reset` follows, only what has changed.
    pub resumed: bool,
    /// What to go on with after the connection is lost, with the version of the last complete `delta`.
    pub token: String,
    /// What else there is to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// `delta`. The parts of one have the same version; the rows are right when the one with `last` is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Delta {
    /// The number of the subscription.
    pub subscription: u64,
    /// The version of the rows that this changes; absent with `reset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The version at which the rows are the answer afterwards.
    pub version: u64,
    /// Whether `added` are all rows, in the place of those that were there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
    /// How rows travel, if not as JSON: one binary frame follows, an Arrow stream of its own, in which the first column
    /// `_diff` is 1 for a row that was added, -1 for one that was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Rows that were not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Vec<Value>>,
    /// Rows that are not there any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Vec<Value>>,
    /// Whether no other part follows.
    pub last: bool,
}

/// `progress`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// The graph.
    pub knowledge_graph: String,
    /// All that this connection has subscribed to on it is told up to and with this version.
    pub version: u64,
}

/// `unsubscribed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unsubscribed {
    /// The number of the subscription.
    pub subscription: u64,
    /// The version since which there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<Failure>>,
}

/// `result`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultTable {
    /// The names of the columns; the one column `message` where the statements had something to say.
    pub columns: Vec<String>,
    /// Names that no two columns share; absent where those of `columns` are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// The rows, each in column order.
    pub rows: Vec<Vec<Value>>,
    /// How many rows these are.
    pub row_count: u64,
    /// How many there were before a limit.
    pub total_count: u64,
    /// Whether a limit left rows out.
    pub truncated: bool,
    /// How long the request took.
    pub execution_time_ms: u64,
    /// The version of the graph that this is the answer at, or from which on what was written is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Where each row comes from, if the session has facts or rules of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_provenance: Vec<Provenance>,
    /// What else there is to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The graph that the session is bound to from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switched_kg: Option<String>,
    /// Why each row is one, if that was asked: one tree a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proof_trees: Vec<ProofTree>,
}

/// Where a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// It is also in the answer without the session's facts and rules.
    Persistent,
    /// It needs something of the session.
    Ephemeral,
    /// Nobody can say.
    #[serde(other)]
    Unknown,
}

/// What else there is to know about a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Metadata {
    /// Whether the session has facts or rules of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_ephemeral: bool,
    /// The relations with facts of the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ephemeral_sources: Vec<String>,
    /// What ran, but deserves a second look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// `result_start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultStart {
    /// The names of the columns: what stands in them, where nothing is declared.
    pub columns: Vec<String>,
    /// Names that no two columns share; absent where those of `columns` are such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// How many rows there were before a limit.
    pub total_count: u64,
    /// Whether a limit left rows out.
    pub truncated: bool,
    /// How long the request took, without sending.
    pub execution_time_ms: u64,
    /// The version of the graph that this is the answer at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// `arrow` where binary frames follow; absent where chunks follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// What else there is to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The graph that the session is bound to from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switched_kg: Option<String>,
    /// Why each row is one, if that was asked: one tree a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proof_trees: Vec<ProofTree>,
}

/// `result_chunk`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultChunk {
    /// At most 500 rows.
    pub rows: Vec<Vec<Value>>,
    /// Where each of them comes from, if the session has facts or rules of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_provenance: Vec<Provenance>,
    /// The number of the chunk, from 0.
    pub chunk_index: u64,
}

/// `result_end`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResultEnd {
    /// How many rows were sent.
    pub row_count: u64,
    /// In how many chunks or binary frames.
    pub chunk_count: u64,
}

impl From<Response> for Reply {
    fn from(response: Response) -> Reply {
        Reply { response, id: None }
    }
}

impl Reply {
    /// Reads a text frame. Fields that are not known are ignored.
    pub fn parse(text: &str) -> Result<Reply, InvalidMessage> {
        let envelope = Envelope::open(text)?;
        let response = match envelope.kind.as_str() {
            "authenticated" => Response::Authenticated(envelope.body()?),
            "auth_error" => Response::AuthError(envelope.body()?),
            "result" => Response::Result(envelope.body()?),
            "result_start" => Response::ResultStart(envelope.body()?),
            "result_chunk" => Response::ResultChunk(envelope.body()?),
            "result_end" => Response::ResultEnd(envelope.body()?),
            "working" => Response::Working(envelope.body()?),
            "error" => Response::Error(envelope.body()?),
            "ack" => Response::Ack(envelope.body()?),
            "subscribed" => Response::Subscribed(envelope.body()?),
            "delta" => Response::Delta(envelope.body()?),
            "progress" => Response::Progress(envelope.body()?),
            "checked" => Response::Checked(envelope.body()?),
            "formatted" => Response::Formatted(envelope.body()?),
            "completions" => Response::Completions(envelope.body()?),
            "unsubscribed" => Response::Unsubscribed(envelope.body()?),
            "pong" => Response::Pong,
            "persistent_update" | "rule_change" | "kg_change" | "schema_change" => {
                Response::Notification(envelope.body()?)
            }
            _ => return Err(envelope.unknown_type(TYPES)),
        };
        Ok(Reply { response, id: envelope.id })
    }

    /// The text of the frame.
    pub fn to_json(&self) -> String {
        // Strings, numbers and arrays: nothing that JSON could refuse.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{
        AuthError, Authenticated, Delta, Metadata, Progress, Provenance, Reply, Response, ResultChunk,
        ResultEnd, ResultStart, ResultTable, Subscribed, Unsubscribed, WorkState, Working,
    };
    use crate::envelope::RequestId;
    use crate::failure::{Code, Failure};
    use crate::request::Format;
    use crate::value::Value;

    fn check(text: &str, response: Response, id: Option<RequestId>) {
        let reply = Reply { response, id };
        assert_eq!(reply.to_json(), text);
        assert_eq!(Reply::parse(text).unwrap(), reply);
    }

    #[test]
    fn authentication_replies_have_this_text() {
        check(
            r#"{"type":"authenticated","session_id":"s","knowledge_graph":"default","version":"0.1.0","role":"admin","scope":"read","last_seq":7}"#,
            Response::Authenticated(Authenticated {
                session_id: "s".to_owned(),
                knowledge_graph: "default".to_owned(),
                version: "0.1.0".to_owned(),
                role: "admin".to_owned(),
                scope: Some("read".to_owned()),
                last_seq: Some(7),
            }),
            None,
        );
        check(
            r#"{"type":"auth_error","message":"no"}"#,
            Response::AuthError(AuthError { message: "no".to_owned() }),
            None,
        );
        check(r#"{"type":"pong","id":1}"#, Response::Pong, Some(RequestId::Number(1)));
    }

    #[test]
    fn a_result_always_has_the_fields_that_clients_read_without_default() {
        check(
            r#"{"type":"result","columns":[],"rows":[],"row_count":0,"total_count":0,"truncated":false,"execution_time_ms":0}"#,
            Response::Result(ResultTable::default()),
            None,
        );
        check(
            concat!(
                r#"{"type":"result","columns":["x"],"rows":[[1],[2.0]],"row_count":2,"total_count":9,"truncated":true,"#,
                r#""execution_time_ms":3,"version":7,"row_provenance":["persistent","ephemeral"],"#,
                r#""metadata":{"warnings":["w"]},"switched_kg":"g","id":"a"}"#
            ),
            Response::Result(ResultTable {
                columns: vec!["x".to_owned()],
                names: None,
                rows: vec![vec![Value::Int(1)], vec![Value::Float(2.0)]],
                row_count: 2,
                total_count: 9,
                truncated: true,
                execution_time_ms: 3,
                version: Some(7),
                row_provenance: vec![Provenance::Persistent, Provenance::Ephemeral],
                metadata: Some(Metadata { warnings: vec!["w".to_owned()], ..Metadata::default() }),
                switched_kg: Some("g".to_owned()),
                proof_trees: Vec::new(),
            }),
            Some(RequestId::Text("a".to_owned())),
        );
    }

    #[test]
    fn a_stream_has_start_chunks_and_end() {
        check(
            r#"{"type":"result_start","columns":["x"],"total_count":1,"truncated":false,"execution_time_ms":0}"#,
            Response::ResultStart(ResultStart {
                columns: vec!["x".to_owned()],
                total_count: 1,
                ..ResultStart::default()
            }),
            None,
        );
        check(
            r#"{"type":"result_start","columns":[],"total_count":0,"truncated":false,"execution_time_ms":0,"format":"arrow"}"#,
            Response::ResultStart(ResultStart { format: Some(Format::Arrow), ..ResultStart::default() }),
            None,
        );
        check(
            r#"{"type":"result_chunk","rows":[["a"]],"chunk_index":4}"#,
            Response::ResultChunk(ResultChunk {
                rows: vec![vec![Value::Text("a".to_owned())]],
                row_provenance: Vec::new(),
                chunk_index: 4,
            }),
            None,
        );
        check(
            r#"{"type":"result_end","row_count":1,"chunk_count":5}"#,
            Response::ResultEnd(ResultEnd { row_count: 1, chunk_count: 5 }),
            None,
        );
    }

    #[test]
    fn what_a_subscription_is_told_has_this_text() {
        check(
            r#"{"type":"subscribed","subscription":1,"columns":["X"],"knowledge_graph":"default","version":4,"resumed":false,"token":"t","id":2}"#,
            Response::Subscribed(Subscribed {
                subscription: 1,
                columns: vec!["X".to_owned()],
                knowledge_graph: "default".to_owned(),
                version: 4,
                token: "t".to_owned(),
                ..Subscribed::default()
            }),
            Some(RequestId::Number(2)),
        );
        check(
            r#"{"type":"delta","subscription":1,"version":4,"reset":true,"added":[[1],[2]],"last":true}"#,
            Response::Delta(Delta {
                subscription: 1,
                version: 4,
                reset: true,
                added: vec![vec![Value::Int(1)], vec![Value::Int(2)]],
                last: true,
                ..Delta::default()
            }),
            None,
        );
        check(
            r#"{"type":"delta","subscription":1,"from":4,"version":6,"removed":[[2]],"last":false}"#,
            Response::Delta(Delta {
                subscription: 1,
                from: Some(4),
                version: 6,
                removed: vec![vec![Value::Int(2)]],
                ..Delta::default()
            }),
            None,
        );
        check(
            r#"{"type":"progress","knowledge_graph":"g","version":7}"#,
            Response::Progress(Progress { knowledge_graph: "g".to_owned(), version: 7 }),
            None,
        );
        check(
            r#"{"type":"unsubscribed","subscription":1,"version":8,"error":{"code":"not_found","message":"no"}}"#,
            Response::Unsubscribed(Unsubscribed {
                subscription: 1,
                version: Some(8),
                error: Some(Box::new(Failure::new(Code::NotFound, "no"))),
            }),
            None,
        );
    }

    #[test]
    fn how_far_a_request_is_has_this_text() {
        check(
            r#"{"type":"working","state":"running","elapsed_ms":1500,"rounds":3,"rows":40,"memory_bytes":512,"id":3}"#,
            Response::Working(Working {
                state: WorkState::Running,
                elapsed_ms: 1500,
                rounds: 3,
                rows: 40,
                memory_bytes: 512,
            }),
            Some(RequestId::Number(3)),
        );
    }

    #[test]
    fn an_error_is_a_failure_with_a_type() {
        check(
            r#"{"type":"error","code":"timeout","message":"too long","id":3}"#,
            Response::Error(Failure::new(Code::Timeout, "too long")),
            Some(RequestId::Number(3)),
        );
    }

    #[test]
    fn a_type_of_a_later_version_is_told_apart() {
        let refused = Reply::parse(r#"{"type":"rollback","sub":1}"#).unwrap_err();
        assert!(refused.problem.starts_with("unknown message type \"rollback\""));
    }
}
