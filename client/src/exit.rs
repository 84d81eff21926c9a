//! How a run ended, as other programs learn it.

use std::process::ExitCode;
use stratalog_client::{ClientError, Code};

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done.
    Done,
    /// The server refused a statement, or its rows could not be written.
    Refused,
    /// The command line, or a file it names, makes no sense.
    Usage,
    /// There was no connection, or it did not last.
    Connection,
    /// The server does not accept the credentials.
    Authentication,
    /// The time ran out.
    Timeout,
    /// A person stopped it.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Refused => 1,
            Exit::Usage => 2,
            Exit::Connection => 3,
            Exit::Authentication => 4,
            Exit::Timeout => 124,
            Exit::Interrupted => 130,
        })
    }
}

impl From<&ClientError> for Exit {
    fn from(error: &ClientError) -> Exit {
        match error {
            ClientError::Refused(failure) if failure.code == Code::Timeout => Exit::Timeout,
            ClientError::Refused(_) => Exit::Refused,
            ClientError::Address(_) => Exit::Usage,
            ClientError::Authentication { .. } => Exit::Authentication,
            ClientError::TimedOut(_) => Exit::Timeout,
            _ => Exit::Connection, // connecting, closed, protocol: there is nobody to talk to
        }
    }
}
