//! `Error`: what a request can fail with, one variant a stage. Code and diagnostic pass through.

use std::fmt;

use crate::budget::BudgetError;
use crate::diagnostic::{Code, Diagnose, Diagnostic, SourceMap, Span, render};

/// Why a request was refused or stopped. Nothing of it took effect, unless a later statement of a program failed.
#[derive(Debug, Clone)]
pub enum Error {
    /// The program was refused: one or more diagnostics, in the order of the text.
    Refused(Vec<Diagnostic>),
    /// The request was stopped.
    Stopped(BudgetError),
    /// A promise of ours was broken; the text is for the log, not for the user.
    Internal {
        /// The stage that noticed.
        stage: &'static str,
        /// What was found.
        detail: String,
    },
}

impl Error {
    /// A refusal with one diagnostic.
    pub fn refused(diagnostic: Diagnostic) -> Error {
        Error::Refused(vec![diagnostic])
    }

    /// Says where, for what does not say so itself.
    pub fn at(mut self, span: Span) -> Error {
        if let Error::Refused(diagnostics) = &mut self {
            diagnostics.iter_mut().for_each(|diagnostic| diagnostic.span = diagnostic.span.or(Some(span)));
        }
        self
    }

    /// A refusal without a place.
    pub fn simple(code: Code, message: impl Into<String>) -> Error {
        Error::refused(Diagnostic::error(code, message))
    }

    /// A broken promise of ours.
    pub fn internal(stage: &'static str, detail: impl fmt::Display) -> Error {
        Error::Internal { stage, detail: detail.to_string() }
    }

    /// The stable code: that of the first diagnostic.
    pub fn code(&self) -> Code {
        match self {
            Error::Refused(diagnostics) => diagnostics.first().map_or(Code::Internal, |d| d.code),
            Error::Stopped(stopped) => stopped.diagnose().code,
            Error::Internal { .. } => Code::Internal,
        }
    }

    /// Everything there is to report.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            Error::Refused(diagnostics) => diagnostics.clone(),
            Error::Stopped(stopped) => vec![stopped.diagnose()],
            Error::Internal { stage, .. } => {
                vec![Diagnostic::error(Code::Internal, format!("an internal error in stage `{stage}`"))]
            }
        }
    }

    /// Text with source lines and carets.
    pub fn render(&self, program: &str) -> String {
        let source = SourceMap::new(program);
        self.diagnostics().iter().map(|diagnostic| render(diagnostic, &source)).collect::<Vec<_>>().join("\n")
    }
}

impl<E: Diagnose> From<E> for Error {
    fn from(error: E) -> Error {
        Error::refused(error.diagnose())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(diagnostics) => {
                for (i, diagnostic) in diagnostics.iter().enumerate() {
                    if i > 0 {
                        f.write_str("; ")?;
                    }
                    f.write_str(&diagnostic.message)?;
                }
                Ok(())
            }
            Error::Stopped(stopped) => stopped.fmt(f),
            Error::Internal { stage, detail } => write!(f, "internal error in {stage}: {detail}"),
        }
    }
}

impl std::error::Error for Error {}
