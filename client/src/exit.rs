//! How a run ended, as other programs learn it.

use crate::notices::Notices;
use std::io;
use std::process::ExitCode;
use stratalog_client::{ClientError, Code};

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done.
    Done,
    /// The server refused a statement, a file does not hold what it should, or rows could not be written.
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

impl Exit {
    /// The end of what only writes; a reader who has seen enough is no error.
    pub(crate) fn of_writing(written: io::Result<()>, notices: Notices) -> Exit {
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                notices.error(&format!("cannot write: {error}"));
                Exit::Refused
            }
            Ok(()) | Err(_) => Exit::Done,
        }
    }

    fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Refused => 1,
            Exit::Usage => 2,
            Exit::Connection => 3,
            Exit::Authentication => 4,
            Exit::Timeout => 124,
            Exit::Interrupted => 130,
        }
    }

    /// Leaves at once.
    pub(crate) fn now(self) -> ! {
        std::process::exit(self.code().into())
    }

    /// Whether nothing that comes after it can go better.
    pub(crate) fn is_final(self) -> bool {
        matches!(self, Exit::Interrupted | Exit::Connection | Exit::Authentication)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

impl From<&ClientError> for Exit {
    fn from(error: &ClientError) -> Exit {
        match error {
            ClientError::Refused(failure) if failure.code == Code::Timeout => Exit::Timeout,
            ClientError::Refused(_) | ClientError::File(_) => Exit::Refused,
            ClientError::NotDeclared { cause, .. } | ClientError::PartlyInserted { cause, .. } => {
                cause.as_ref().into()
            }
            ClientError::Address(_) | ClientError::Invalid { .. } => Exit::Usage,
            ClientError::Authentication { .. } => Exit::Authentication,
            ClientError::TimedOut(_) => Exit::Timeout,
            _ => Exit::Connection, // connecting, closed, protocol: there is nobody to talk to
        }
    }
}
