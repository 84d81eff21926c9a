//! `Target`: the relation that facts go to, and what is known of its columns.

use super::counted;
use crate::catalog::{RelationDefinition, default_column_names};
use crate::data::DataType;
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::error::Error;

/// The relation that facts go to.
pub(super) struct Target<'c> {
    pub(super) name: &'c str,
    pub(super) span: Option<Span>,
    pub(super) known: Option<&'c RelationDefinition>,
    /// The number of columns, from the definition or else from the rules.
    pub(super) arity: Option<usize>,
    /// Whether data may name its columns: nothing has named them yet.
    pub(super) takes_names: bool,
}

impl Target<'_> {
    /// The names of its columns; none if it is not declared.
    pub(super) fn declared_names(&self) -> Option<Vec<&str>> {
        let schema = self.known.and_then(|known| known.schema.as_ref())?;
        Some(schema.columns.iter().map(|column| column.name.as_str()).collect())
    }

    pub(super) fn declared(&self, column: usize) -> DataType {
        let schema = self.known.and_then(|known| known.schema.as_ref());
        schema.and_then(|schema| schema.columns.get(column)).map_or(DataType::Unknown, |c| c.data_type)
    }

    pub(super) fn column_name(&self, column: usize) -> String {
        let names = self.known.map_or_else(|| default_column_names(column + 1), |k| k.column_names());
        format!("{}.{}", self.name, names.get(column).map_or("?", String::as_str))
    }

    pub(super) fn check_arity(&self, arity: usize) -> Result<(), Error> {
        match self.arity {
            Some(known) if known != arity => {
                let mut diagnostic = wrong_arity(self.name, known, arity);
                diagnostic.span = self.span;
                Err(Error::refused(diagnostic))
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn wrong_arity(name: &str, expected: usize, found: usize) -> Diagnostic {
    Diagnostic::error(
        Code::ArityMismatch,
        format!("{name} has {}, found {found}", counted(expected, "column")),
    )
    .help(format!("give {} for each fact", counted(expected, "value")))
}
