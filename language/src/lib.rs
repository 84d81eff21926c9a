//! What editors ask of programs. Text in, plain values out: who talks to an editor, and how, is not known here.

/// Every name of a program, and what it names.
pub mod names;

/// The columns of relations, and the types of values.
pub mod columns;

/// A program, and all that is known of it.
pub mod document;

/// What is told of a name.
mod hover;

/// What may stand at a place.
pub mod complete;

/// The same for a place in a program that stands among others, or on a graph.
pub mod offers;

/// A program in the one layout that all programs have.
pub mod format;

/// The language in a page.
mod primer;

pub use document::{Colour, Document, Symbol};
pub use format::format;
pub use names::{Kind, Occurrence, Role};
pub use primer::primer;
