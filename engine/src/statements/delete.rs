//! `-facts`, by value or by condition, and updates that delete and insert at once.

use std::sync::Arc;

use super::counted;
use super::evaluate::{Beside, Evaluated, evaluate};
use super::insert::{Problems, check_takes_facts, constant, numbers_in_brackets};
use super::refusal::refused;
use super::target::wrong_arity;
use crate::analysis::{self, Analysed, AnalysisError};
use crate::catalog::{Catalog, RelationDefinition};
use crate::context::Context;
use crate::data::{self, Codec, DataType, Dictionary, EMPTY, NULL, Run, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::{Change, ChangeSet, Overlay, SessionView, Snapshot};
use crate::syntax::ast::{Atom, Delete, DeleteWhere, Name, Update};

pub(super) fn run(delete: &Delete, context: &mut Context<'_>) -> Result<String, Error> {
    let name = &delete.relation.text;
    let (counts, is_derived) = context.write(|snapshot, _| {
        let dictionary = Codec::over(snapshot.dictionary().clone());
        let mut problems = Problems::default();
        let arity = snapshot.catalog().relation(name).map(|known| known.arity);
        let mut rows = data::Rows::empty(arity.unwrap_or(0));
        for tuple in &delete.tuples {
            if let Some(arity) = arity
                && arity != tuple.terms.len()
            {
                problems.add(wrong_arity(name, arity, tuple.terms.len()).at(tuple.span));
                continue;
            }
            rows.len += 1;
            for (column, term) in tuple.terms.iter().enumerate() {
                match constant(term) {
                    Err(problem) => problems.add(problem),
                    Ok((value, _)) => {
                        if let Some(codes) = rows.columns.get_mut(column) {
                            let declared = declared_type(snapshot.catalog(), name, column);
                            let value =
                                analysis::fit(value.clone(), declared).unwrap_or_else(|| value.clone());
                            codes.push(dictionary.encode(value.as_ref())?);
                        }
                    }
                }
            }
        }
        problems.check()?;
        let changes = match arity {
            Some(_) => vec![Change::Delete { relation: name.clone(), rows }],
            None => Vec::new(),
        };
        Ok((changes, !snapshot.catalog().rules(name).is_empty()))
    })?;
    Ok(deleted(counts.iter().sum(), name, is_derived))
}

/// What is said of a delete: rules may make again what was deleted.
fn deleted(facts: usize, relation: &str, is_derived: bool) -> String {
    let beside = if is_derived { "; what its rules derive stays" } else { "" };
    format!("deleted {} from {relation}{beside}", counted(facts, "fact"))
}

/// Takes facts of the session away, all or nothing; answers how many there were.
pub(crate) fn retract_rows(
    relation: &str,
    tuples: &[Vec<Value>],
    context: &mut Context<'_>,
) -> Result<usize, Error> {
    let own = context.overlay.own().catalog();
    let Some(arity) = own.relation(relation).map(|known| known.arity) else { return Ok(0) };
    let codec = Codec::over(context.snapshot().dictionary().clone());
    let mut rows = data::Rows::empty(arity);
    let settled =
        numbers_in_brackets(tuples, arity, |column| (column, declared_type(own, relation, column)))?;
    for tuple in settled.as_deref().unwrap_or(tuples) {
        if tuple.len() != arity {
            return Err(Error::refused(wrong_arity(relation, arity, tuple.len())));
        }
        rows.len += 1;
        for (column, value) in tuple.iter().enumerate() {
            let declared = declared_type(own, relation, column);
            let value = analysis::fit(value.clone(), declared).unwrap_or_else(|| value.clone());
            rows.columns[column].push(codec.encode(value.as_ref())?);
        }
    }
    let changes = vec![Change::Delete { relation: relation.to_owned(), rows }];
    let (overlay, counts) = context.overlay.apply(&changes);
    context.set_overlay(overlay);
    Ok(counts.iter().sum())
}

/// `-target <- body`: the target itself is part of the body. Variables that occur only in the target, and `_`, stand
/// for any value.
pub(super) fn run_where(delete: &DeleteWhere, context: &mut Context<'_>) -> Result<String, Error> {
    let name = delete.target.relation.text.clone();
    let mut is_derived = false;
    let counts = decide_and_write(context, |context, view| {
        is_derived = !view.catalog().rules(&name).is_empty();
        let analysed = analysis::analyse_target(&delete.target, &delete.body, view.catalog());
        let rows = solve(analysed, context, view)?;
        Ok(vec![Change::Delete { relation: name.clone(), rows }])
    })?;
    Ok(deleted(counts.iter().sum(), &name, is_derived))
}

/// Solutions of the body are found once, on the state before; then everything is deleted, then everything inserted.
pub(super) fn run_update(update: &Update, context: &mut Context<'_>) -> Result<String, Error> {
    // So many changes come first that delete: nothing is deleted from relations that do not exist.
    let mut deletes = 0;
    if !update.inserts.is_empty() {
        context.graph.check_room(0).map_err(Error::refused)?;
    }
    let counts = decide_and_write(context, |context, view| {
        let catalog = view.catalog();
        let mut problems = Problems::default();
        for atom in update.deletes.iter().chain(&update.inserts) {
            match catalog.relation(&atom.relation.text) {
                Some(known) if known.arity != atom.terms.len() => problems
                    .add(wrong_arity(&atom.relation.text, known.arity, atom.terms.len()).at(atom.span)),
                _ => {}
            }
        }
        problems.check()?;
        for Name { text, span } in update.inserts.iter().map(|atom| &atom.relation) {
            check_takes_facts(text, Some(*span), catalog)?;
        }
        let mut changes = ChangeSet::new();
        for atom in &update.deletes {
            if catalog.relation(&atom.relation.text).is_none() {
                analysis::analyse_body(&atom.terms, &update.body, catalog)
                    .map_err(|errors| refused(&errors))?;
                continue;
            }
            let rows = solve(analysis::analyse_deleted(atom, &update.body, catalog), context, view)?;
            changes.push(Change::Delete { relation: atom.relation.text.clone(), rows });
        }
        deletes = changes.len();
        let mut inserts = Vec::new();
        for atom in &update.inserts {
            let solutions = analysis::analyse_body(&atom.terms, &update.body, catalog);
            let rows = solve(solutions, context, view)?;
            let known = changes.iter().rev().find_map(|change| match change {
                Change::Define(definition) if definition.name == atom.relation.text => {
                    Some(definition.clone())
                }
                _ => None,
            });
            let known = known.or_else(|| {
                catalog.relation(&atom.relation.text).map(|known| RelationDefinition::clone(known))
            });
            let (definition, rows) = fit_rows(atom, known, rows, view.snapshot().dictionary())?;
            changes.push(Change::Define(definition));
            inserts.push(Change::Insert { relation: atom.relation.text.clone(), rows });
        }
        changes.extend(inserts);
        Ok(changes)
    })?;
    let deleted: usize = counts[..deletes].iter().sum();
    let inserted: usize = counts[counts.len().saturating_sub(update.inserts.len())..].iter().sum();
    Ok(format!("deleted {}, inserted {}", counted(deleted, "fact"), counted(inserted, "fact")))
}

/// Lets `decide` evaluate on the state that its changes will apply to: nobody else writes in between. The session's
/// own facts and rules take no part in changes of the graph.
fn decide_and_write(
    context: &mut Context<'_>,
    decide: impl FnOnce(&mut Context<'_>, &SessionView) -> Result<ChangeSet, Error>,
) -> Result<Vec<usize>, Error> {
    let mut evaluating = context.aside();
    let (counts, ()) = context.write(|snapshot: &Arc<Snapshot>, warnings| {
        let view = SessionView::new(Arc::clone(snapshot), Overlay::default());
        let changes = decide(&mut evaluating, &view)?;
        warnings.append(&mut evaluating.warnings);
        Ok((changes, ()))
    })?;
    Ok(counts)
}

/// The rows of an answer, as codes that the graph may store.
fn solve(
    analysed: Result<Analysed, Vec<AnalysisError>>,
    context: &mut Context<'_>,
    view: &SessionView,
) -> Result<data::Rows, Error> {
    let analysed = analysed.map_err(|errors| refused(&errors))?;
    let arity = analysed.columns.len();
    let codec = Codec::over(view.snapshot().dictionary().clone());
    let Evaluated { runs, .. } = evaluate(analysed.program, None, view, &codec, context, Beside::default())?;
    let mut all = data::Rows::empty(arity);
    for rows in runs.iter().map(Run::live_rows) {
        all.len += rows.len;
        for (column, codes) in all.columns.iter_mut().zip(rows.columns) {
            for code in codes {
                column.push(codec.store(code)?);
            }
        }
    }
    Ok(all)
}

/// Computed rows on their way into a relation: types as declared, integers to floats where asked.
fn fit_rows(
    atom: &Atom,
    known: Option<RelationDefinition>,
    mut rows: data::Rows,
    dictionary: &Arc<Dictionary>,
) -> Result<(RelationDefinition, data::Rows), Error> {
    let codec = Codec::over(dictionary.clone());
    let mut definition = known.unwrap_or_else(|| {
        let column_types = vec![DataType::Unknown; atom.terms.len()];
        RelationDefinition::undeclared(atom.relation.text.clone(), column_types)
    });
    definition.filled = true;
    for (column, codes) in rows.columns.iter_mut().enumerate() {
        let declared =
            definition.schema.as_ref().map_or(DataType::Unknown, |schema| schema.columns[column].data_type);
        if !matches!(declared, DataType::Unknown | DataType::Any) {
            let mut last = (EMPTY, NULL);
            for code in codes.iter_mut() {
                if last.0 != *code {
                    let value = codec.value(*code).to_value();
                    let fitted = analysis::fit(value.clone(), declared)
                        .ok_or_else(|| mismatch(atom, column, declared, &value))?;
                    last = (*code, dictionary.store(fitted.as_ref())?);
                }
                *code = last.1;
            }
        } else {
            let found = data::arrow_columns::type_of_codes(codes, &codec);
            definition.column_types[column] = definition.column_types[column].join(found);
        }
    }
    Ok((definition, rows))
}

fn mismatch(atom: &Atom, column: usize, declared: DataType, value: &Value) -> Error {
    let message = format!(
        "column {} of {} is declared {declared}, found {} `{value}`",
        column + 1,
        atom.relation.text,
        DataType::of(value)
    );
    Error::refused(
        Diagnostic::error(Code::TypeMismatch, message).at(atom.span).help("convert the value in the body"),
    )
}

fn declared_type(catalog: &Catalog, name: &str, column: usize) -> DataType {
    let schema = catalog.relation(name).and_then(|known| known.schema.as_ref());
    schema.and_then(|schema| schema.columns.get(column)).map_or(DataType::Any, |column| column.data_type)
}
