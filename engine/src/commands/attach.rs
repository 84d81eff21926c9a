//! `.rel attach`: a relation whose rows stay in files.

use std::sync::Arc;

use super::columns::check_readers;
use crate::attached::{Attachment, Found, PlaceError, look};
use crate::catalog::{RelationDefinition, default_column_names};
use crate::context::{Context, Outcome};
use crate::data::{DataType, Schema, SchemaColumn};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::error::Error;
use crate::graph::{Change, SessionState};
use crate::limits::Limits;
use crate::statements::{callable, check_name, counted};
use crate::syntax::ast::Name;

/// `.rel attach NAME PLACE`. Of a relation that is attached already, the files are looked for anew.
pub(super) fn attach(
    words: &[Name],
    context: &mut Context<'_>,
    _: &mut SessionState,
) -> Result<Outcome, Error> {
    let (name, place) = (&words[0], place_of(&words[1..]));
    let at = words[1..].iter().map(|word| word.span).reduce(Span::to).unwrap_or(name.span);
    check_name(&name.text).map_err(|error| error.at(name.span))?;
    check_free(name, context)?;
    let environment = context.environment;
    let places = environment.places.as_ref().ok_or_else(|| PlaceError::Closed { place: place.clone() });
    let places = places.map_err(|error| Error::from(error).at(at))?;
    let found = look(&place, places, context.budget);
    let found = found.map_err(|error| Error::from(error).at(at))?;
    let definition = definition(name, found, &environment.limits)?;
    let told = told(&definition);
    context.write(|snapshot, _| {
        let catalog = snapshot.catalog();
        match catalog.relation(&name.text) {
            Some(known) if known.attached.is_none() => return Err(taken(name)),
            Some(known) if known.schema != definition.schema => check_readers(name, catalog)?,
            _ => {}
        }
        Ok((vec![Change::Define(definition)], ()))
    })?;
    Ok(Outcome::Message(told))
}

/// The command that attaches a relation as it is.
pub(crate) fn attach_text(relation: &str, attached: &Attachment) -> String {
    format!(".rel attach {relation} \"{}\"", attached.place)
}

/// A place may stand in quotes, and have single blanks in it.
fn place_of(words: &[Name]) -> String {
    let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let text = words.join(" ");
    let quoted = ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    quoted.unwrap_or(&text).to_owned()
}

/// Refuses a name that stands for something else.
fn check_free(name: &Name, context: &Context<'_>) -> Result<(), Error> {
    let view = context.view();
    match view.catalog().knows(&name.text) && view.catalog().attached(&name.text).is_none() {
        true => Err(taken(name)),
        false => Ok(()),
    }
}

fn taken(name: &Name) -> Error {
    let message = format!("there is something else called {}", name.text);
    let help = format!("take another name, or drop that first: .rel drop {}", name.text);
    Error::refused(Diagnostic::error(Code::AlreadyExists, message).at(name.span).help(help))
}

fn definition(name: &Name, found: Found, limits: &Limits) -> Result<RelationDefinition, Error> {
    let Found { attachment, types } = found;
    if types.is_empty() || types.len() > limits.columns {
        let message = format!(
            "the files have {}, and a relation 1 to {}",
            counted(types.len(), "column"),
            limits.columns
        );
        let diagnostic = Diagnostic::error(Code::LimitExceeded, message).at(name.span);
        return Err(Error::refused(diagnostic.limit("max_columns", limits.columns as u64)));
    }
    let spelled: Vec<&str> = attachment.columns.iter().map(String::as_str).collect();
    let names = callable(&spelled).unwrap_or_else(|| default_column_names(types.len()));
    let column = |(name, data_type): (String, &DataType)| SchemaColumn { name, data_type: *data_type };
    let columns = names.into_iter().zip(&types).map(column).collect();
    Ok(RelationDefinition {
        schema: Some(Schema { columns }),
        attached: Some(Arc::new(attachment)),
        ..RelationDefinition::undeclared(name.text.clone(), types)
    })
}

/// What was attached.
fn told(definition: &RelationDefinition) -> String {
    let columns = definition.described_columns();
    let (files, rows) =
        definition.attached.as_ref().map_or((0, 0), |attached| (attached.files.len(), attached.rows()));
    let (files, rows) = (counted(files, "file"), counted(usize::try_from(rows).unwrap_or(usize::MAX), "row"));
    format!("attached {}({}): {rows} in {files}", definition.name, columns.join(", "))
}
