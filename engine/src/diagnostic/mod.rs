//! How anything is reported: places in the text, stable codes, carets.

mod diagnose;
mod render;
mod span;

pub use diagnose::{Code, Diagnose, Diagnostic, Fix, LimitReached, Severity};
pub use render::render;
pub use span::{Place, SourceMap, Span};
