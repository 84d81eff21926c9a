//! What can go wrong between a program and its answer.

use crate::address::AddressError;
use crate::files::FileError;
use crate::inserted::Inserted;
use std::time::Duration;
use stratalog_protocol::{Code, Failure};

/// Why there is no answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address of the server does not read as one.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// There is no server there, or it takes no more connections.
    #[error("cannot connect to {address}: {reason}")]
    Connect {
        /// The address that was tried.
        address: String,
        /// What the network or the server said.
        reason: String,
        /// There is a server, but nothing at this path.
        missing: bool,
    },
    /// The server does not accept the credentials.
    #[error("not authenticated: {message}")]
    Authentication {
        /// What the server said.
        message: String,
    },
    /// The server understood the request and refused it.
    #[error("{}: {}", code_name(.0.code), .0.message)]
    Refused(Box<Failure>),
    /// The connection ended before the answer was complete.
    #[error(
        "the connection ended{}{}{}", code_note(*.code), reason_note(.reason),
        if *.uncertain { "; what was sent may have taken effect or not: look before you send it again" } else { "" }
    )]
    Closed {
        /// The close code of the WebSocket, if the server sent one.
        code: Option<u16>,
        /// What the server said last.
        reason: String,
        /// Something that writes was on its way: it may have taken effect or not. Otherwise nothing was sent, or what
        /// was sent only reads.
        uncertain: bool,
    },
    /// The client is connected again, but to a new session: facts and rules of the old one are gone. Nothing was sent;
    /// the next request goes to the new session.
    #[error("connected again, but facts and rules of the session are gone; nothing was sent")]
    SessionLost,
    /// The client is connected again, and its session is on another graph than it was told of: the answer to a request
    /// that switched it was lost. Nothing was sent; the next request goes to that graph.
    #[error("connected again, and the session is on the knowledge graph `{graph}` now; nothing was sent")]
    GraphChanged {
        /// The graph.
        graph: String,
    },
    /// What was asked for cannot be sent: a name that is none, a number that is not finite. Nothing was.
    #[error("{problem}; {help}")]
    Invalid {
        /// What is wrong.
        problem: String,
        /// What to do instead.
        help: &'static str,
    },
    /// An import in parts ([`ReadOptions::commit_every`](crate::files::ReadOptions::commit_every)) failed after some of them were
    /// committed.
    #[error("the first {rows} rows are committed, the rest is not: {cause}")]
    PartlyInserted {
        /// How many rows of the file are in the relation for good: those from there on are missing.
        rows: u64,
        /// What became of these.
        committed: Inserted,
        /// What went wrong then.
        cause: Box<ClientError>,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The facts of a file are inserted, but the relation, which did not exist before, could not be declared with the
    /// columns of the file.
    #[error("the facts are inserted, but `{relation}` is not declared: {cause}")]
    NotDeclared {
        /// The relation.
        relation: String,
        /// Why not.
        cause: Box<ClientError>,
    },
    /// No answer came within the time that was asked for and some grace; the request was told to stop.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The server sent what the protocol does not allow here.
    #[error("the server's answer does not follow the protocol: {problem}")]
    Protocol {
        /// What was expected, and what came.
        problem: String,
    },
}

impl ClientError {
    /// The server's code, when it refused the request.
    pub fn code(&self) -> Option<Code> {
        match self {
            ClientError::Refused(failure) => Some(failure.code),
            ClientError::PartlyInserted { cause, .. } => cause.code(),
            _ => None,
        }
    }

    /// True when the connection is gone, so that only a new one can help.
    pub fn is_disconnect(&self) -> bool {
        match self {
            ClientError::PartlyInserted { cause, .. } => cause.is_disconnect(),
            other => matches!(other, ClientError::Connect { .. } | ClientError::Closed { .. }),
        }
    }

    /// True when a write was sent and nobody knows what became of it.
    pub fn is_uncertain(&self) -> bool {
        match self {
            ClientError::Closed { uncertain, .. } => *uncertain,
            ClientError::TimedOut(_) => true,
            ClientError::PartlyInserted { cause, .. } => cause.is_uncertain(),
            ClientError::Refused(failure) => failure.code == Code::OutcomeUnknown,
            _ => false,
        }
    }

    /// The same error, where the server refused what is in a file.
    pub(crate) fn about(self, file: &str) -> ClientError {
        match self {
            ClientError::Refused(mut failure) => {
                for message in failure.diagnostics.iter_mut().map(|found| &mut found.message) {
                    *message = format!("{file}: {message}");
                }
                failure.message = format!("{file}: {}", failure.message);
                ClientError::Refused(failure)
            }
            ClientError::PartlyInserted { rows, committed, cause } => {
                ClientError::PartlyInserted { rows, committed, cause: Box::new(cause.about(file)) }
            }
            other => other,
        }
    }

    /// The same error about a request that was on its way.
    pub(crate) fn of_sent(self, writes: bool) -> ClientError {
        match self {
            ClientError::Closed { code, reason, .. } => {
                ClientError::Closed { code, reason, uncertain: writes }
            }
            other => other,
        }
    }

    pub(crate) fn invalid(problem: impl Into<String>, help: &'static str) -> ClientError {
        ClientError::Invalid { problem: problem.into(), help }
    }

    pub(crate) fn protocol(problem: impl Into<String>) -> ClientError {
        ClientError::Protocol { problem: problem.into() }
    }
}

/// The code as it stands on the wire: `unknown_relation`.
pub fn code_name(code: Code) -> String {
    match serde_json::to_value(code) {
        Ok(serde_json::Value::String(name)) => name,
        _ => "unknown".to_owned(),
    }
}

fn code_note(code: Option<u16>) -> String {
    code.map(|code| format!(" (code {code})")).unwrap_or_default()
}

fn reason_note(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_sentences() {
        let refused =
            ClientError::Refused(Box::new(Failure::new(Code::UnknownRelation, "no relation `edg`")));
        assert_eq!(refused.to_string(), "unknown_relation: no relation `edg`");
        assert_eq!(refused.code(), Some(Code::UnknownRelation));
        let closed =
            ClientError::Closed { code: Some(1001), reason: "shutting down".into(), uncertain: false };
        assert_eq!(closed.to_string(), "the connection ended (code 1001): shutting down");
        let silent = ClientError::Closed { code: None, reason: String::new(), uncertain: false };
        assert_eq!(silent.to_string(), "the connection ended");
        assert!(silent.of_sent(true).to_string().contains("may have taken effect"));
    }
}
