//! `+relation(column: type, ..)` and `type Name: type`.

use super::insert::check_is_stored;
use super::{counted, place};
use crate::analysis::{AnalysisError, check_declaration};
use crate::catalog::{Catalog, RelationDefinition};
use crate::context::Context;
use crate::data::{DataType, Schema, SchemaColumn};
use crate::diagnostic::{Code, Diagnose, Diagnostic};
use crate::error::Error;
use crate::graph::Change;
use crate::syntax::ast::{Declare, DeclareType, Scope, TypeExpression, TypeKind};

pub(super) fn run(declare: &Declare, context: &mut Context<'_>) -> Result<String, Error> {
    match declare.scope {
        Scope::Persistent => {
            context.write(|snapshot, _| {
                let rows = snapshot.relation(&declare.relation.text).map_or(0, |relation| relation.len());
                Ok((vec![Change::Define(definition(declare, snapshot.catalog(), rows)?)], ()))
            })?;
        }
        Scope::Session => {
            let view = context.view();
            let rows = view.snapshot().relation(&declare.relation.text).map_or(0, |relation| relation.len());
            let change = Change::Define(definition(declare, view.catalog(), rows)?);
            context.lay(context.overlay.apply(&vec![change]).0)?;
        }
    }
    Ok(format!(
        "declared {} with {}{}",
        declare.relation.text,
        counted(declare.columns.len(), "column"),
        place(declare.scope)
    ))
}

fn definition(declare: &Declare, catalog: &Catalog, rows: usize) -> Result<RelationDefinition, Error> {
    let name = &declare.relation.text;
    for (i, column) in declare.columns.iter().enumerate() {
        if let Some(first) = declare.columns[..i].iter().find(|other| other.name.text == column.name.text) {
            let message = format!("two columns of {name} are called `{}`", column.name.text);
            return Err(Error::refused(
                Diagnostic::error(Code::AlreadyExists, message)
                    .at(column.name.span)
                    .label(first.name.span, "first here")
                    .help("give each column a name of its own"),
            ));
        }
    }
    let columns = declare
        .columns
        .iter()
        .map(|column| {
            let data_type = resolve(&column.column_type, catalog)?;
            Ok(SchemaColumn { name: column.name.text.clone(), data_type })
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let known = catalog.relation(name);
    check_is_stored(name, Some(declare.relation.span), catalog)?;
    if let Some(known) = known
        && known.arity != columns.len()
        && rows > 0
    {
        let message = format!(
            "{name} has {} and {}; a declaration cannot give it {}",
            counted(rows, "row"),
            counted(known.arity, "column"),
            columns.len()
        );
        return Err(Error::refused(
            Diagnostic::error(Code::ArityMismatch, message).at(declare.relation.span).help(format!(
                "declare {}, or drop the relation first: .rel drop {name}",
                counted(known.arity, "column")
            )),
        ));
    }
    // An index is of a column by its place.
    if let Some(known) = known
        && known.arity != columns.len()
        && let Some(index) = catalog.indexes().find(|index| index.definition.relation == *name)
    {
        let index = &index.definition.name;
        let message = format!(
            "{name} has {} and the index {index}; a declaration cannot give it {}",
            counted(known.arity, "column"),
            columns.len()
        );
        return Err(Error::refused(
            Diagnostic::error(Code::ArityMismatch, message)
                .at(declare.relation.span)
                .help(format!("drop the index first: .index drop {index}")),
        ));
    }
    if let Some(known) = known
        && rows > 0
    {
        for (column, stored) in columns.iter().zip(&known.column_types) {
            if !column.data_type.overlaps(*stored)
                || (*stored == DataType::Any && column.data_type != DataType::Any)
            {
                let message = format!(
                    "{name} holds values of type {stored} in the column `{}` that is now declared {}",
                    column.name, column.data_type
                );
                return Err(Error::refused(
                    Diagnostic::error(Code::TypeMismatch, message)
                        .at(declare.relation.span)
                        .help("declare the type of the stored values, or `any`"),
                ));
            }
        }
    }
    let column_types = columns
        .iter()
        .enumerate()
        .map(|(i, column)| match column.data_type {
            DataType::Any => {
                known.and_then(|known| known.column_types.get(i)).copied().unwrap_or(DataType::Unknown)
            }
            declared => declared,
        })
        .collect();
    let definition = RelationDefinition {
        name: name.clone(),
        arity: columns.len(),
        schema: Some(Schema { columns }),
        column_types,
        filled: known.is_some_and(|known| known.filled),
        attached: None,
    };
    check_declaration(&definition, catalog).map_err(|errors| {
        let at = |error: &AnalysisError| error.diagnose().at(declare.relation.span);
        Error::Refused(errors.iter().map(at).collect())
    })?;
    Ok(definition)
}

pub(super) fn run_type(declare: &DeclareType, context: &mut Context<'_>) -> Result<String, Error> {
    context.write(|snapshot, _| {
        let data_type = resolve(&declare.definition, snapshot.catalog())?;
        Ok((vec![Change::DefineType(declare.name.text.clone(), data_type)], ()))
    })?;
    Ok(format!("declared type {}", declare.name.text))
}

pub(crate) fn resolve(expression: &TypeExpression, catalog: &Catalog) -> Result<DataType, Error> {
    Ok(match &expression.kind {
        TypeKind::Int => DataType::Int,
        TypeKind::Float => DataType::Float,
        TypeKind::Text => DataType::Text,
        TypeKind::Bool => DataType::Bool,
        TypeKind::Timestamp => DataType::Timestamp,
        TypeKind::Vector(length) => DataType::Vector(*length),
        TypeKind::VectorInt8(length) => DataType::VectorInt8(*length),
        TypeKind::List => DataType::List,
        TypeKind::Any => DataType::Any,
        TypeKind::Named(name) => catalog.named_type(name).ok_or_else(|| {
            Error::refused(
                Diagnostic::error(Code::NotFound, format!("no type is called `{name}`"))
                    .at(expression.span)
                    .help(format!("declare it first: type {name}: int")),
            )
        })?,
    })
}
