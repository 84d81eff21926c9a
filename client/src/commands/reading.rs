//! What is asked again and again, or goes into a file, must be a query and change nothing.

use stratalog_client::{ClientError, Code, Failure, only_reads};
use stratalog_engine::syntax::parse;
use stratalog_engine::{Limits, check};
use stratalog_server::annotations;

/// Refuses other programs: for their faults, if they have some, or else in these words.
pub(crate) fn only_asks(program: &str, message: &str, help: &str) -> Result<(), ClientError> {
    if only_reads(program) {
        return Ok(());
    }
    let (_, faults) = parse(program, &Limits::default());
    if faults.is_empty() {
        return Err(ClientError::Refused(Box::new(Failure::new(Code::InvalidParameter, message).help(help))));
    }
    let mut failure = Failure::new(Code::ParseError, "this is no program");
    failure.diagnostics = annotations(&check(program), program);
    if let Some(first) = failure.diagnostics.first() {
        (failure.code, failure.message) = (first.code, first.message.clone());
        (failure.help, failure.span) = (first.help.clone(), first.span);
    }
    Err(ClientError::Refused(Box::new(failure)))
}
