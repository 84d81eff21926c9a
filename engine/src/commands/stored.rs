//! The stored relation that a command names.

use crate::catalog::{Catalog, RelationDefinition};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::syntax::ast::Name;

/// What is known of it.
pub(super) fn known<'c>(name: &Name, catalog: &'c Catalog) -> Result<&'c RelationDefinition, Error> {
    let known = catalog.relation(&name.text).map(AsRef::as_ref);
    known.ok_or_else(|| unknown(name, catalog))
}

/// There is none of this name.
pub(super) fn unknown(name: &Name, catalog: &Catalog) -> Error {
    let relation = &name.text;
    if catalog.derived().any(|(derived, _)| derived == relation) {
        let message = format!("rules derive `{relation}`: no rows are stored under this name");
        let help = format!("`.rule {relation}` answers its rows, `.rule def {relation}` shows its clauses");
        return Error::refused(Diagnostic::error(Code::UnknownRelation, message).at(name.span).help(help));
    }
    Error::refused(crate::analysis::unknown_relation(&name.text, Some(name.span), catalog))
}
