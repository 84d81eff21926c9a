//! `+facts`, and the bulk insert of values, which needs no program text.

use std::borrow::Cow;
use std::sync::Arc;

use super::column_names::arrange;
use super::parameters::vector_of_numbers;
use super::target::{Target, wrong_arity};
use super::{counted, place};
use crate::analysis::fit;
use crate::attached::read_only;
use crate::catalog::{Catalog, RelationDefinition, clause_names};
use crate::context::Context;
use crate::data::{self, DataType, Dictionary, EncodeError, Schema, SchemaColumn, Value, time};
use crate::diagnostic::{Code, Diagnose, Diagnostic, Span};
use crate::error::Error;
use crate::graph::{Change, ChangeSet};
use crate::limits::Limits;
use crate::syntax::ast::{self, Scope, Term, TermKind};

/// What an insert did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inserted {
    /// Facts that were new.
    pub inserted: u64,
    /// Facts that were there already, or came twice.
    pub duplicates: u64,
    /// The version of the graph at which they are there.
    pub version: u64,
    /// What is good to know: how columns were arranged, and which digits were left away.
    pub warnings: Vec<Diagnostic>,
}

pub(super) fn run(insert: &ast::Insert, context: &mut Context<'_>) -> Result<String, Error> {
    let tuples: Vec<&ast::Tuple> = insert.tuples.iter().filter(|tuple| !tuple.terms.is_empty()).collect();
    let name = &insert.relation.text;
    let Some(first) = tuples.first() else {
        return Ok(format!("inserted 0 facts into {name}{}", place(insert.scope)));
    };
    let arity = first.terms.len();
    let mut problems = Problems::default();
    for tuple in &tuples {
        if tuple.terms.len() != arity {
            problems
                .add(wrong_arity(name, arity, tuple.terms.len()).at(tuple.span).label(first.span, "as here"));
        }
    }
    problems.check()?;
    let cell = |row: usize, column: usize| constant(&tuples[row].terms[column]);
    let inserted =
        write_facts(name, insert.relation.span, insert.scope, context, |target, dictionary, limits| {
            let is_checked = |row: usize| tuples[row].is_constant;
            encode_cells(target, arity, tuples.len(), cell, is_checked, dictionary, limits)
        })?;
    Ok(format!("inserted {} into {name}{}", counted(inserted.inserted as usize, "fact"), place(insert.scope)))
}

/// Inserts rows of values, all or nothing. The names of their columns may be given.
pub(crate) fn insert_rows(
    relation: &str,
    scope: Scope,
    names: Option<&[String]>,
    rows: &[Vec<Value>],
    context: &mut Context<'_>,
) -> Result<Inserted, Error> {
    check_name(relation)?;
    let Some(arity) = names.map(<[String]>::len).or(rows.first().map(Vec::len)) else {
        return Ok(Inserted::default());
    };
    if let Some(row) = rows.iter().position(|row| row.len() != arity || row.is_empty()) {
        let expected = if names.is_some() { "there are names for" } else { "row 0 has" };
        let message = format!("row {row} has {}, {expected} {arity}", counted(rows[row].len(), "value"));
        return Err(Error::simple(Code::ArityMismatch, message));
    }
    let names: Vec<&str> = names.unwrap_or_default().iter().map(String::as_str).collect();
    write_facts(relation, None, scope, context, |target, dictionary, limits| {
        let arrangement = arrange(target, arity, &names, limits)?;
        let from = |column: usize| arrangement.places[column];
        let settled = numbers_in_brackets(rows, arity, |column| (from(column), target.declared(column)))?;
        let rows = settled.as_deref().unwrap_or(rows);
        let cell = |row: usize, column: usize| Ok((&rows[row][from(column)], None));
        let facts = encode_cells(target, arity, rows.len(), cell, |_| false, dictionary, limits)?;
        Ok(Facts {
            columns: arrangement.columns,
            warnings: arrangement.warning.into_iter().collect(),
            ..facts
        })
    })
}

/// Rows in which lists of numbers alone are vectors, as in JSON, but for columns that are declared to hold lists; `None` if
/// they are so already. `column` tells the place and the type of each column.
pub(super) fn numbers_in_brackets(
    rows: &[Vec<Value>],
    arity: usize,
    column: impl Fn(usize) -> (usize, DataType),
) -> Result<Option<Vec<Vec<Value>>>, Error> {
    let may_be: Vec<usize> = (0..arity)
        .map(&column)
        .filter(|(_, declared)| *declared != DataType::List)
        .map(|(from, _)| from)
        .collect();
    let is_list = |row: &Vec<Value>| may_be.iter().any(|from| matches!(row.get(*from), Some(Value::List(_))));
    if !rows.iter().any(is_list) {
        return Ok(None);
    }
    let mut settled = rows.to_vec();
    for (number, row) in settled.iter_mut().enumerate() {
        for from in &may_be {
            let Some(value) = row.get_mut(*from) else { continue };
            *value = vector_of_numbers(value).map_err(|x| {
                let message = format!("row {}: {x} is beyond the 32-bit floats of a vector", number + 1);
                Error::simple(Code::TypeMismatch, message)
            })?;
        }
    }
    Ok(Some(settled))
}

/// Encoded facts with the types that were found in their columns.
pub(super) struct Facts {
    pub(super) rows: data::Rows,
    pub(super) types: Vec<DataType>,
    /// What the columns of a relation without names are to be called, and their types where the data says more than its
    /// values do.
    pub(super) columns: Option<Vec<SchemaColumn>>,
    pub(super) warnings: Vec<Diagnostic>,
}

impl Facts {
    pub(super) fn empty(arity: usize) -> Facts {
        let types = vec![DataType::Unknown; arity];
        Facts { rows: data::Rows::empty(arity), types, columns: None, warnings: Vec::new() }
    }
}

pub(super) fn write_facts(
    name: &str,
    span: impl Into<Option<Span>>,
    scope: Scope,
    context: &mut Context<'_>,
    encode: impl FnOnce(&Target<'_>, &Arc<Dictionary>, &Limits) -> Result<Facts, Error>,
) -> Result<Inserted, Error> {
    let span = span.into();
    if scope == Scope::Persistent {
        context.graph.check_room(0).map_err(Error::refused)?;
    }
    let (limits, graph) = (&context.environment.limits, context.graph);
    let changes = |catalog: &Catalog, dictionary: &Arc<Dictionary>| -> Result<(ChangeSet, _), Error> {
        let known = catalog.relation(name).map(AsRef::as_ref);
        check_is_stored(name, span, catalog)?;
        if scope == Scope::Persistent {
            check_takes_facts(name, span, catalog)?;
        }
        let is_named = known.is_some_and(|known| known.schema.is_some()) || !catalog.rules(name).is_empty();
        let target = Target { name, span, known, arity: catalog.arity(name), takes_names: !is_named };
        let facts = encode(&target, dictionary, limits)?;
        if facts.types.len() > limits.columns {
            let message = format!(
                "{} columns are more than the {} that a relation may have",
                facts.types.len(),
                limits.columns
            );
            let diagnostic = Diagnostic::error(Code::LimitExceeded, message);
            return Err(Error::refused(diagnostic.limit("max_columns", limits.columns as u64)));
        }
        let total = facts.rows.len;
        let definition = extended(name, target.known, &facts);
        Ok((
            vec![Change::Define(definition), Change::Insert { relation: name.to_owned(), rows: facts.rows }],
            (total, facts.warnings),
        ))
    };
    let (counts, (total, warnings)) = match scope {
        Scope::Persistent => {
            context.write(|snapshot, _| changes(snapshot.catalog(), snapshot.dictionary()))?
        }
        Scope::Session => {
            // What is learnt is in use when the session has it.
            let _no_collection = graph.learn();
            let view = context.view();
            let (changes, outcome) = changes(view.catalog(), view.snapshot().dictionary())?;
            let (overlay, counts) = context.overlay.apply(&changes);
            context.lay(overlay)?;
            (counts, outcome)
        }
    };
    let inserted = counts.last().copied().unwrap_or(0);
    let (inserted, duplicates) = (inserted as u64, (total - inserted) as u64);
    Ok(Inserted { inserted, duplicates, version: context.version(), warnings })
}

/// The definition that also covers these facts, with the names that they bring.
fn extended(name: &str, known: Option<&RelationDefinition>, facts: &Facts) -> RelationDefinition {
    let types = &facts.types;
    let found: Vec<DataType> = match known {
        Some(known) if known.filled => {
            known.column_types.iter().zip(types).map(|(old, new)| old.join(*new)).collect()
        }
        Some(_) | None => types.clone(),
    };
    let schema = match (known.and_then(|known| known.schema.as_ref()), &facts.columns) {
        (Some(schema), _) => Some(schema.clone()),
        (None, Some(columns)) => {
            let column = |(column, found): (&SchemaColumn, &DataType)| SchemaColumn {
                name: column.name.clone(),
                data_type: match column.data_type.join(*found) {
                    DataType::Unknown => DataType::Any,
                    known => known,
                },
            };
            Some(Schema { columns: columns.iter().zip(&found).map(column).collect() })
        }
        (None, None) => None,
    };
    let column_types = match &schema {
        Some(schema) => schema
            .columns
            .iter()
            .zip(found)
            .map(|(column, found)| if column.data_type == DataType::Any { found } else { column.data_type })
            .collect(),
        None => found,
    };
    RelationDefinition { schema, ..RelationDefinition::undeclared(name, column_types) }
}

/// Encodes facts, of which some rows may be known to be constants of allowed lengths.
fn encode_cells<'v>(
    target: &Target<'_>,
    arity: usize,
    row_count: usize,
    cell: impl Fn(usize, usize) -> Result<(&'v Value, Option<Span>), Diagnostic>,
    is_checked: impl Fn(usize) -> bool,
    dictionary: &Dictionary,
    limits: &Limits,
) -> Result<Facts, Error> {
    target.check_arity(arity)?;
    let columns: Vec<Column<'_>> = (0..arity).map(|number| Column::of(target, number, limits)).collect();
    // Nothing is learnt of facts that are refused: all of them are looked at before the first one is.
    let mut problems = Problems::default();
    let takes_anything = columns.iter().all(|column| column.declared.is_none());
    for row in (0..row_count).filter(|row| !(takes_anything && is_checked(*row))) {
        for (number, column) in columns.iter().enumerate() {
            if let Err(problem) = cell(row, number).and_then(|(value, span)| column.check(value, span)) {
                problems.add(problem);
            }
        }
    }
    problems.check()?;
    let mut facts = Facts::empty(arity);
    facts.rows.len = row_count;
    facts.rows.columns.iter_mut().for_each(|codes| codes.reserve_exact(row_count));
    for row in 0..row_count {
        for (number, column) in columns.iter().enumerate() {
            let (value, span) = cell(row, number).map_err(Error::refused)?;
            let value = column.fitted(value, span).map_err(Error::refused)?;
            let data_type = match &*value {
                Value::Vector(elements) => DataType::Vector(u32::try_from(elements.len()).ok()),
                value => DataType::of(value),
            };
            facts.types[number] = facts.types[number].join(data_type);
            facts.rows.columns[number].push(dictionary.store((*value).as_ref())?);
        }
    }
    Ok(facts)
}

/// What the values of a column have to be.
struct Column<'t> {
    target: &'t Target<'t>,
    number: usize,
    /// None if values are taken as they are.
    declared: Option<DataType>,
    string_bytes: usize,
}

impl<'t> Column<'t> {
    fn of(target: &'t Target<'t>, number: usize, limits: &Limits) -> Column<'t> {
        let declared = match target.declared(number) {
            DataType::Unknown | DataType::Any => None,
            declared => Some(declared),
        };
        Column { target, number, declared, string_bytes: limits.string_bytes }
    }

    /// A value as the declaration of the column wants it.
    #[inline]
    fn fitted<'v>(&self, value: &'v Value, span: Option<Span>) -> Result<Cow<'v, Value>, Diagnostic> {
        let Some(declared) = self.declared else { return Ok(Cow::Borrowed(value)) };
        fit(value.clone(), declared).map(Cow::Owned).ok_or_else(|| {
            let problem = wrong_value(&self.target.column_name(self.number), declared, value);
            Diagnostic { span, ..problem }
        })
    }

    /// Whether it takes a value.
    #[inline]
    fn check(&self, value: &Value, span: Option<Span>) -> Result<(), Diagnostic> {
        let value = self.fitted(value, span)?;
        match &*value {
            Value::Text(text) if text.len() > self.string_bytes => Err(self.too_long(text, span)),
            _ => Ok(()),
        }
    }

    #[cold]
    fn too_long(&self, text: &str, span: Option<Span>) -> Diagnostic {
        let error = EncodeError::StringTooLong { length: text.len(), limit: self.string_bytes };
        Diagnostic { span, ..error.diagnose() }
    }
}

/// The constant that a term of a fact must be.
#[inline]
pub(super) fn constant(term: &Term) -> Result<(&Value, Option<Span>), Diagnostic> {
    match &term.kind {
        TermKind::Constant(value) => Ok((value, Some(term.span))),
        _ => Err(no_constant(term)),
    }
}

#[cold]
fn no_constant(term: &Term) -> Diagnostic {
    let (message, help) = match &term.kind {
        TermKind::Variable(name) => (
            format!("a fact consists of constants, but `{name}` is a variable"),
            "put text in double quotes, or write a rule: head <- body",
        ),
        TermKind::Placeholder => (
            "a fact consists of constants, but `_` stands for any value".to_owned(),
            "write `null` for an absent value; all rows that fit are deleted by `-p(\"a\", X) <- p(\"a\", X)`",
        ),
        TermKind::Constant(_)
        | TermKind::Parameter(_)
        | TermKind::Arithmetic { .. }
        | TermKind::Call { .. }
        | TermKind::Aggregate { .. } => (
            "a fact consists of constants, and this must be computed".to_owned(),
            "compute it in a rule or an update: +r(X) <- body, X = ...",
        ),
    };
    Diagnostic::error(Code::UnsafeRule, message).at(term.span).help(help)
}

/// A relation's name as the grammar has it: bulk inserts bring theirs without a parser having seen it.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if first && characters.all(|c| c.is_alphanumeric() || c == '_') && name != "_" && name.len() <= 256 {
        return Ok(());
    }
    Err(Error::refused(
        Diagnostic::error(
            Code::ParseError,
            format!("`{}` is not the name of a relation", name.escape_debug()),
        )
        .help("a name starts with a letter or `_`, followed by letters, digits and `_`"),
    ))
}

/// Why a vector is refused where a list belongs.
pub(super) const NO_LIST: &str =
    "numbers alone in brackets are a vector, of 32-bit floats: write `list(1.5, 2)` for a list of them";

fn wrong_value(column: &str, declared: DataType, value: &Value) -> Diagnostic {
    let found = match value {
        Value::Vector(elements) if matches!(declared, DataType::VectorInt8(_)) => {
            match elements.iter().enumerate().find(|(_, x)| f32::from(**x as i8) != **x) {
                Some((i, x)) => format!("element {} = {x}, which is no whole number from -128 to 127", i + 1),
                None => format!("a vector of {} elements", elements.len()),
            }
        }
        Value::Vector(elements) => format!("a vector of {} elements", elements.len()),
        value => format!("{} `{value}`", DataType::of(value)),
    };
    Diagnostic::error(Code::TypeMismatch, format!("{column} is declared {declared}, found {found}")).help(
        match (declared, value) {
            (DataType::Timestamp, Value::Text(_)) => time::HOW_TO_WRITE,
            (DataType::List, Value::Vector(_)) => NO_LIST,
            _ => "change the value, or declare the column with another type",
        },
    )
}

/// Refuses a relation whose rows are in files.
pub(super) fn check_is_stored(name: &str, span: Option<Span>, catalog: &Catalog) -> Result<(), Error> {
    match catalog.attached(name) {
        Some(_) => Err(Error::refused(Diagnostic { span, ..read_only(name) })),
        None => Ok(()),
    }
}

/// A relation that rules alone make takes no facts; one that is declared or has facts goes on taking them.
pub(super) fn check_takes_facts(name: &str, span: Option<Span>, catalog: &Catalog) -> Result<(), Error> {
    if catalog.rules(name).is_empty() || catalog.relation(name).is_some() {
        return Ok(());
    }
    let columns: Vec<String> = catalog
        .rules(name)
        .first()
        .map_or_else(Vec::new, |clause| clause_names(&clause.head.terms, clause.head.head_columns()))
        .iter()
        .map(|column| format!("{}: any", column.to_lowercase()))
        .collect();
    let mut diagnostic = Diagnostic::error(Code::DerivedRelation, format!("{name} is made by rules alone"))
        .help(format!("declare it, and it takes facts beside them: +{name}({})", columns.join(", ")));
    diagnostic.span = span;
    Err(Error::refused(diagnostic))
}

/// Problems of one statement: the first hundred are reported together.
#[derive(Default)]
pub(super) struct Problems(Vec<Diagnostic>);

impl Problems {
    pub(super) fn add(&mut self, problem: Diagnostic) {
        if self.0.len() < 100 {
            self.0.push(problem);
        }
    }

    pub(super) fn check(self) -> Result<(), Error> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Refused(self.0)) }
    }
}
