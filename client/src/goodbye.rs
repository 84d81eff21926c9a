//! How a connection ends: with the server's goodbye, or without.

use crate::errors::ClientError;
use std::time::Duration;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

/// How long to wait for the server's goodbye.
pub(crate) const GOODBYE: Duration = Duration::from_secs(2);

/// The end of a connection whose other end has said goodbye, or nothing.
pub(crate) fn goodbye(frame: Option<CloseFrame>) -> ClientError {
    match frame {
        Some(frame) => {
            let (code, reason) = (Some(frame.code.into()), frame.reason.to_string());
            ClientError::Closed { code, reason, uncertain: false }
        }
        None => closed(""),
    }
}

/// The end of a connection whose other end has not said why.
pub(crate) fn closed(reason: impl Into<String>) -> ClientError {
    ClientError::Closed { code: None, reason: reason.into(), uncertain: false }
}
