//! What every message has: a `type`, and perhaps an `id`.
//!
//! Both are read before the rest, so that a refused message is still answered under its own id.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use serde_json::value::RawValue;

/// The longest text that may serve as an id, in characters.
const LONGEST_ID: usize = 128;

/// Chosen by the client and repeated in every reply to that message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RequestId {
    /// An integer.
    Number(i64),
    /// A string of at most 128 characters.
    Text(#[schemars(length(max = LONGEST_ID))] String),
}

#[derive(DeriveDeserialize)]
#[serde(untagged)]
enum AnyId {
    Number(i64),
    Text(String),
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RequestId, D::Error> {
        match AnyId::deserialize(deserializer) {
            Ok(AnyId::Number(n)) => Ok(RequestId::Number(n)),
            Ok(AnyId::Text(text)) if text.chars().count() <= LONGEST_ID => Ok(RequestId::Text(text)),
            Ok(AnyId::Text(_)) | Err(_) => Err(D::Error::custom(format_args!(
                "an id is a 64-bit integer, or a string of at most {LONGEST_ID} characters"
            ))),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestId::Number(n) => write!(f, "{n}"),
            RequestId::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// Why a frame is no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidMessage {
    /// The id, where it could be read.
    pub id: Option<RequestId>,
    /// What was expected and what was found.
    pub problem: String,
}

impl InvalidMessage {
    fn new(problem: impl Into<String>) -> InvalidMessage {
        InvalidMessage { id: None, problem: problem.into() }
    }
}

impl fmt::Display for InvalidMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for InvalidMessage {}

/// Type and id of a message, with its whole text for a second look.
pub(crate) struct Envelope<'a> {
    pub(crate) kind: String,
    pub(crate) id: Option<RequestId>,
    text: &'a str,
}

#[derive(DeriveDeserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads type and id, and checks that the whole text is one JSON object.
    pub(crate) fn open(text: &'a str) -> Result<Envelope<'a>, InvalidMessage> {
        let head: Head<'a> = match serde_json::from_str(text) {
            Ok(head) => head,
            Err(error) if error.is_data() => {
                return Err(InvalidMessage::new(format!("a message is one JSON object: {error}")));
            }
            Err(error) => return Err(InvalidMessage::new(format!("the message is not valid JSON: {error}"))),
        };
        let id = match head.id.map(|raw| serde_json::from_str(raw.get())) {
            None => None,
            Some(Ok(id)) => id,
            Some(Err(_)) => {
                return Err(InvalidMessage::new(format!(
                    "an id is a 64-bit integer, or a string of at most {LONGEST_ID} characters"
                )));
            }
        };
        let Some(kind) = head.kind else {
            return Err(InvalidMessage { id, problem: "the message has no field `type`".to_owned() });
        };
        let Ok(kind) = serde_json::from_str(kind.get()) else {
            return Err(InvalidMessage { id, problem: "the field `type` must be a string".to_owned() });
        };
        Ok(Envelope { kind, id, text })
    }

    /// Reads the fields of a message of this type.
    pub(crate) fn body<T: DeserializeOwned>(&self) -> Result<T, InvalidMessage> {
        serde_json::from_str(self.text).map_err(|error| self.refuse(error.to_string()))
    }

    /// Refuses the message for one of its fields.
    pub(crate) fn refuse(&self, problem: impl fmt::Display) -> InvalidMessage {
        InvalidMessage { id: self.id.clone(), problem: format!("message of type `{}`: {problem}", self.kind) }
    }

    /// Refuses the type.
    pub(crate) fn unknown_type(self, known: &[&str]) -> InvalidMessage {
        let shown: String = self.kind.chars().take(60).collect();
        let problem = format!("unknown message type {shown:?}; known types are {}", known.join(", "));
        InvalidMessage { id: self.id, problem }
    }
}
