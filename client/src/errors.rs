//! What can go wrong between a program and its answer.

use crate::address::AddressError;
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
    /// The connection ended before the answer was complete. Writes that were on their way may have been made.
    #[error("the server closed the connection{}{}", code_note(*.code), reason_note(.reason))]
    Closed {
        /// The close code of the WebSocket, if the server sent one.
        code: Option<u16>,
        /// What the server said last.
        reason: String,
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
            _ => None,
        }
    }

    /// True when the connection is gone, so that only a new one can help.
    pub fn is_disconnect(&self) -> bool {
        matches!(self, ClientError::Connect { .. } | ClientError::Closed { .. })
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
        let closed = ClientError::Closed { code: Some(1001), reason: "shutting down".into() };
        assert_eq!(closed.to_string(), "the server closed the connection (code 1001): shutting down");
        let silent = ClientError::Closed { code: None, reason: String::new() };
        assert_eq!(silent.to_string(), "the server closed the connection");
    }
}
