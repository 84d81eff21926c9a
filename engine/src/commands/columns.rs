//! `.rel add` and `.rel rename`: other columns for a relation that has facts.

use super::stored::known;
use crate::attached::read_only;
use crate::catalog::{Catalog, RelationDefinition};
use crate::context::{Context, Outcome};
use crate::data::{Code as ValueCode, DataType, Run, Schema, SchemaColumn, Value};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::error::Error;
use crate::graph::{Change, SessionState, Snapshot};
use crate::limits::Limits;
use crate::statements::declared_type;
use crate::syntax::ast::{Name, Statement, StatementKind, TermKind};
use crate::syntax::parse;

/// `.rel rename NAME COLUMN NEW`. Rules, facts and indexes know columns by their place, so nothing else changes.
pub(super) fn rename(
    words: &[Name],
    context: &mut Context<'_>,
    _: &mut SessionState,
) -> Result<Outcome, Error> {
    let [relation, from, to] = [&words[0], &words[1], &words[2]];
    check_name(to, &context.environment.limits)?;
    context.write(|snapshot, _| {
        let known = known(relation, snapshot.catalog())?;
        let mut definition = known.clone();
        let mut columns = columns(known);
        let Some(place) = columns.iter().position(|column| column.name == from.text) else {
            return Err(no_column(relation, from, &columns));
        };
        if from.text != to.text {
            check_free(relation, to, &columns)?;
        }
        columns[place].name.clone_from(&to.text);
        definition.schema = Some(Schema { columns });
        Ok((vec![Change::Define(definition)], ()))
    })?;
    Ok(Outcome::Message(format!("{}.{} is called {}", relation.text, from.text, to.text)))
}

/// `.rel add NAME COLUMN TYPE [VALUE]`. All rows there are have the value, or null, in the new column, which is the last.
pub(super) fn add(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let [relation, column, data_type] = [&words[0], &words[1], &words[2]];
    let column = Name { text: column.text.trim_end_matches(':').to_owned(), span: column.span };
    let limits = context.environment.limits.clone();
    check_name(&column, &limits)?;
    context.graph.check_room(0).map_err(Error::refused)?;
    let rows = context.write(|snapshot, _| {
        let catalog = snapshot.catalog();
        let known = known(relation, catalog)?;
        if known.attached.is_some() {
            return Err(Error::refused(read_only(&relation.text).at(relation.span)));
        }
        let mut columns = columns(known);
        check_free(relation, &column, &columns)?;
        if columns.len() == limits.columns {
            let message = format!("{} has {} columns already", relation.text, columns.len());
            let diagnostic = Diagnostic::error(Code::LimitExceeded, message).at(relation.span);
            return Err(Error::refused(diagnostic.limit("max_columns", limits.columns as u64)));
        }
        check_readers(relation, catalog)?;
        let data_type = type_of(data_type, catalog, &limits)?;
        let value = value_of(&words[3..], data_type, &limits)?;
        columns.push(SchemaColumn { name: column.text.clone(), data_type });
        widened(known, columns, &value, snapshot)
    });
    let (_, rows) = rows?;
    Ok(Outcome::Message(format!("{} has the column {}: {rows} rows", relation.text, column.text)))
}

/// The relation anew, with one value more in each row.
fn widened(
    known: &RelationDefinition,
    columns: Vec<SchemaColumn>,
    value: &Value,
    snapshot: &Snapshot,
) -> Result<(Vec<Change>, usize), Error> {
    let code: ValueCode = snapshot.dictionary().store(value.as_ref())?;
    let mut column_types = known.column_types.clone();
    column_types.extend(columns.last().map(|column| column.data_type.join(DataType::of(value))));
    let definition = RelationDefinition {
        arity: columns.len(),
        schema: Some(Schema { columns }),
        column_types,
        ..known.clone()
    };
    let mut changes = vec![Change::DropRelation(known.name.clone()), Change::Define(definition)];
    let mut count = 0;
    for rows in
        snapshot.relation(&known.name).into_iter().flat_map(|stored| stored.runs()).map(Run::live_rows)
    {
        let mut rows = rows;
        count += rows.len;
        rows.columns.push(vec![code; rows.len]);
        changes.push(Change::Insert { relation: known.name.clone(), rows });
    }
    // They went with the relation.
    let indexes = snapshot.catalog().indexes().filter(|index| index.definition.relation == known.name);
    changes.extend(indexes.map(|index| Change::AddIndex(index.definition.clone())));
    Ok((changes, count))
}

/// The columns as they are called, declared or not.
fn columns(known: &RelationDefinition) -> Vec<SchemaColumn> {
    match &known.schema {
        Some(schema) => schema.columns.clone(),
        None => known
            .column_names()
            .into_iter()
            .map(|name| SchemaColumn { name, data_type: DataType::Unknown })
            .collect(),
    }
}

fn check_name(name: &Name, limits: &Limits) -> Result<(), Error> {
    let is_word = name.text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let starts = name.text.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.text != "_";
    if is_word && starts && name.text.len() <= limits.name_bytes {
        return Ok(());
    }
    let message = format!("`{}` cannot be the name of a column", name.text.escape_debug());
    let help = format!("use letters, digits and `_`, at most {} bytes", limits.name_bytes);
    Err(Error::refused(Diagnostic::error(Code::ParseError, message).at(name.span).help(help)))
}

fn check_free(relation: &Name, name: &Name, columns: &[SchemaColumn]) -> Result<(), Error> {
    if columns.iter().all(|column| column.name != name.text) {
        return Ok(());
    }
    let message = format!("{} has a column `{}` already", relation.text, name.text);
    let help = "give it a name of its own";
    Err(Error::refused(Diagnostic::error(Code::AlreadyExists, message).at(name.span).help(help)))
}

fn no_column(relation: &Name, name: &Name, columns: &[SchemaColumn]) -> Error {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let message = format!("{} has no column `{}`", relation.text, name.text);
    let help = format!("there are {}", names.join(", "));
    Error::refused(Diagnostic::error(Code::NotFound, message).at(name.span).help(help))
}

/// Rules name columns by their place, so those that read or derive the relation would mean nothing any more.
pub(super) fn check_readers(relation: &Name, catalog: &Catalog) -> Result<(), Error> {
    let name = relation.text.as_str();
    let own = catalog.has_rule(name).then_some(name);
    // An index finds its column as before.
    let is_rule = |head: &&str| catalog.has_rule(head);
    let mut heads: Vec<&str> = catalog.uses().readers(name).filter(is_rule).chain(own).collect();
    heads.sort_unstable();
    heads.dedup();
    let Some(first) = heads.first() else { return Ok(()) };
    let others = match heads.len() {
        1 => String::new(),
        2 => format!(" and those of {}", heads[1]),
        more => format!(" and those of {} others", more - 1),
    };
    let message = format!("the rules of {first}{others} write {name} with the columns that it has now");
    let help = format!(
        "drop them and write them anew in one atomic program: `.rule drop {first}`, `.rel add {name} ..`, `+{first}(..) <- ..`"
    );
    Err(Error::refused(Diagnostic::error(Code::ArityMismatch, message).at(relation.span).help(help)))
}

/// The only statement of a text that was put together from words.
fn statement(text: &str, limits: &Limits) -> Option<Statement> {
    let (mut statements, errors) = parse(text, limits);
    (errors.is_empty() && statements.len() == 1).then(|| statements.remove(0))
}

fn type_of(word: &Name, catalog: &Catalog, limits: &Limits) -> Result<DataType, Error> {
    let declared = statement(&format!("+r(c: {})", word.text), limits).map(|statement| statement.kind);
    let Some(StatementKind::Declare(declare)) = declared else {
        let message = format!("`{}` is not a type", word.text.escape_debug());
        let help = "write int, float, string, bool, timestamp, vector(3) or any";
        return Err(Error::refused(Diagnostic::error(Code::ParseError, message).at(word.span).help(help)));
    };
    declared_type(&declare.columns[0].column_type, catalog).map_err(|error| match error {
        Error::Refused(mut diagnostics) => {
            diagnostics.iter_mut().for_each(|diagnostic| diagnostic.span = Some(word.span));
            Error::Refused(diagnostics)
        }
        other => other,
    })
}

/// What stands after the type, as a value of it; null if nothing does.
fn value_of(words: &[Name], data_type: DataType, limits: &Limits) -> Result<Value, Error> {
    let [first, .., last] = words else {
        return match words {
            [only] => literal(&only.text, only.span, data_type, limits),
            _ => Ok(Value::Null),
        };
    };
    let span = first.span.to(last.span);
    let is_apart = words.windows(2).any(|pair| pair[1].span.start != pair[0].span.end + 1);
    if is_apart {
        let message = "blanks between the words of a value are not kept";
        let help = "put one between two words, or update the rows afterwards";
        return Err(Error::refused(Diagnostic::error(Code::ParseError, message).at(span).help(help)));
    }
    let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    literal(&words.join(" "), span, data_type, limits)
}

fn literal(text: &str, span: Span, data_type: DataType, limits: &Limits) -> Result<Value, Error> {
    let wrong = |message: String| {
        let help = "write a value as in a fact: 1, 2.5, \"text\", true, [1.0, 2.0]";
        Error::refused(Diagnostic::error(Code::TypeMismatch, message).at(span).help(help))
    };
    let inserted = statement(&format!("+r({text})"), limits).map(|statement| statement.kind);
    let Some(StatementKind::Insert(insert)) = inserted else {
        return Err(wrong(format!("`{text}` is not a value")));
    };
    let terms = insert.tuples.first().map(|tuple| tuple.terms.as_slice()).unwrap_or_default();
    let [term] = terms else { return Err(wrong(format!("`{text}` is not one value"))) };
    let TermKind::Constant(value) = &term.kind else { return Err(wrong(format!("`{text}` is not a value"))) };
    crate::analysis::fit(value.clone(), data_type).ok_or_else(|| {
        wrong(format!("the column is of type {data_type}, and `{text}` is {}", DataType::of(value)))
    })
}
