//! What analysis found, as one error.

use crate::analysis::AnalysisError;
use crate::diagnostic::Diagnose;
use crate::error::Error;

/// So many errors of one program are reported.
const MAX_ERRORS: usize = 100;

/// What analysis found, as one error.
pub(crate) fn refused(errors: &[AnalysisError]) -> Error {
    Error::Refused(errors.iter().take(MAX_ERRORS).map(Diagnose::diagnose).collect())
}
