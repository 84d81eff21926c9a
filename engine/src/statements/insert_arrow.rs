//! The bulk inserts of Arrow batches, which need no program text.

use arrow::array::{ArrayRef, RecordBatch};

use super::column_names::{Arrangement, arrange};
use super::fit_arrow::{Losses, Unfit, fit_array};
use super::insert::{Facts, Inserted, NO_LIST, check_name, write_facts};
use super::target::{Target, wrong_arity};
use crate::context::Context;
use crate::data::arrow_columns::{Pass, encode, encode_mixed, marked, type_of_codes};
use crate::data::arrow_lists::{Numbers, encode_lists_of_values, holds_numbers};
use crate::data::{Code as ValueCode, Codec, DataType, Dictionary, EMPTY, EncodeError, Threads, parallel};
use crate::diagnostic::{Code, Diagnose, Diagnostic};
use crate::error::Error;
use crate::limits::Limits;
use crate::storage::{has_marks, rows_of};
use crate::syntax::ast::Scope;

/// Batches whose values are looked up at once. What is freed behind them is room for the columns that grow.
const BATCHES: usize = 8;

/// Inserts Arrow batches, all or nothing.
pub(crate) fn insert_batches(
    relation: &str,
    scope: Scope,
    batches: Vec<RecordBatch>,
    context: &mut Context<'_>,
) -> Result<Inserted, Error> {
    check_name(relation)?;
    let Some(arity) = batches.first().map(RecordBatch::num_columns).filter(|arity| *arity > 0) else {
        return Ok(Inserted { version: context.version(), ..Inserted::default() });
    };
    let (threads, budget, graph) = (&context.environment.threads, context.budget, context.graph);
    write_facts(relation, None, scope, context, |target, dictionary, limits| {
        if let Some(wrong) = batches.iter().find(|batch| batch.num_columns() != arity) {
            return Err(Error::refused(wrong_arity(relation, arity, wrong.num_columns())));
        }
        let schema = batches[0].schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let Arrangement { places, mut columns, warning } = arrange(target, arity, &names, limits)?;
        let mut losses = Losses::default();
        for (column, field) in columns.iter_mut().flatten().zip(schema.fields()) {
            if let Some(marked) = marked(field) {
                column.data_type = marked;
            }
        }
        let codec = Codec::over(dictionary.clone());
        let mut facts = Facts { columns, ..Facts::empty(arity) };
        // Large columns are not copied as they grow.
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        // A column of nothing but Null takes a bit a row on its way here.
        let bytes = rows * arity * size_of::<ValueCode>();
        let _held = budget.hold(bytes).map_err(Error::Stopped)?;
        if scope == Scope::Persistent {
            graph.check_room(bytes).map_err(Error::refused)?;
        }
        facts.rows.columns.iter_mut().for_each(|column| column.reserve_exact(rows));
        let mut batches = batches.into_iter();
        loop {
            let some: Vec<RecordBatch> = batches.by_ref().take(BATCHES).collect();
            if some.is_empty() {
                facts.warnings.extend(warning);
                facts.warnings.extend(losses.warnings(target));
                return Ok(facts);
            }
            facts.rows.len += some.iter().map(RecordBatch::num_rows).sum::<usize>();
            for column in read(target, &places, some, &mut losses)?.looked_up(dictionary, limits, threads) {
                let position = column.position;
                let (codes, found) = column.encode(target, dictionary, limits, &codec)?;
                facts.rows.columns[position].extend(codes);
                facts.types[position] = facts.types[position].join(found);
            }
        }
    })
}

/// A column of a batch on its way into a relation.
struct Column {
    /// Of the relation.
    position: usize,
    array: ArrayRef,
    /// The type of a column whose values are JSON.
    marked: Option<DataType>,
    /// The codes of the values that are known, where they were looked up.
    known: Option<Result<(Vec<ValueCode>, DataType), EncodeError>>,
}

/// The columns of batches, one batch after the other.
struct Read {
    columns: Vec<Column>,
    rows: usize,
}

fn read(
    target: &Target<'_>,
    places: &[usize],
    batches: Vec<RecordBatch>,
    losses: &mut Losses,
) -> Result<Read, Error> {
    let mut columns = Vec::new();
    let mut rows = 0;
    for batch in batches {
        rows += batch.num_rows();
        for (position, from) in places.iter().enumerate() {
            let marked = marked(batch.schema_ref().field(*from));
            let array = batch.column(*from);
            let fitted = if marked.is_some() {
                array.clone()
            } else {
                let unfit = |unfit: Unfit| Error::refused(unfit.told(target, position, array.data_type()));
                let (array, loss) = fit_array(array, target.declared(position)).map_err(unfit)?;
                losses.note(position, loss);
                array
            };
            columns.push(Column { position, array: fitted, marked, known: None });
        }
    }
    Ok(Read { columns, rows })
}

impl Read {
    /// All threads look values up; new ones are learnt later, in the order of rows, so that codes do not depend on
    /// threads.
    fn looked_up(self, dictionary: &Dictionary, limits: &Limits, threads: &Threads) -> Vec<Column> {
        if self.rows < parallel::FEW_ROWS {
            return self.columns;
        }
        let look_up = |column: Column| {
            let known = column
                .marked
                .is_none()
                .then(|| encode(&column.array, dictionary, Pass::Known, limits.string_bytes));
            Column { known, ..column }
        };
        threads.run(|| parallel::map(self.columns, look_up))
    }
}

impl Column {
    /// The codes and the type of what it holds.
    fn encode(
        self,
        target: &Target<'_>,
        dictionary: &Dictionary,
        limits: &Limits,
        codec: &Codec,
    ) -> Result<(Vec<ValueCode>, DataType), Error> {
        let refused = |error: EncodeError| Error::refused(error.diagnose());
        let numbers = match (target.declared(self.position), self.marked) {
            (DataType::List, _) | (DataType::Unknown | DataType::Any, Some(DataType::List)) => {
                Numbers::AsTheyAre
            }
            _ => Numbers::InVectors,
        };
        if numbers == Numbers::AsTheyAre && holds_numbers(self.array.data_type()) {
            return encode_lists_of_values(&self.array, numbers, dictionary, limits.string_bytes)
                .map_err(refused);
        }
        if self.marked.is_some() {
            let codes =
                encode_mixed(&self.array, numbers, dictionary, limits.string_bytes).map_err(refused)?;
            let found = type_of_codes(&codes, codec);
            check_declared(target, self.position, found)?;
            return Ok((codes, found));
        }
        let encoded = match self.known {
            Some(Ok((codes, _))) if codes.contains(&EMPTY) => {
                encode(&self.array, dictionary, Pass::Rest(&codes), limits.string_bytes)
            }
            Some(known) => known,
            None => encode(&self.array, dictionary, Pass::All, limits.string_bytes),
        };
        let (codes, found) = encoded.map_err(refused)?;
        check_length(target, self.position, found)?;
        Ok((codes, found))
    }
}

/// Inserts batches that an export wrote, all or nothing: their mixed columns tell the kind of each value.
pub(crate) fn insert_exported(
    relation: &str,
    batches: Vec<RecordBatch>,
    context: &mut Context<'_>,
) -> Result<Inserted, Error> {
    if !batches.first().is_some_and(has_marks) {
        return insert_batches(relation, Scope::Persistent, batches, context);
    }
    check_name(relation)?;
    write_facts(relation, None, Scope::Persistent, context, |target, dictionary, _| {
        let codec = Codec::over(dictionary.clone());
        let mut facts: Option<Facts> = None;
        for batch in batches {
            let rows = rows_of(&batch, dictionary)
                .map_err(|what| Error::simple(Code::TypeMismatch, format!("{relation}: {what}")))?;
            target.check_arity(rows.columns.len())?;
            let facts = facts.get_or_insert_with(|| Facts::empty(rows.columns.len()));
            facts.rows.len += rows.len;
            for (position, codes) in rows.columns.into_iter().enumerate() {
                let found = type_of_codes(&codes, &codec);
                check_declared(target, position, found)?;
                facts.types[position] = facts.types[position].join(found);
                facts.rows.columns[position].extend(codes);
            }
        }
        Ok(facts.unwrap_or_else(|| Facts::empty(0)))
    })
}

/// Values of several types, or of one that is not known beforehand, against the declaration of their column.
fn check_declared(target: &Target<'_>, column: usize, found: DataType) -> Result<(), Error> {
    let declared = target.declared(column);
    if matches!(declared, DataType::Unknown | DataType::Any) || declared.join(found) == declared {
        return Ok(());
    }
    let help = match declared {
        DataType::List => NO_LIST,
        _ => "convert the column before inserting it",
    };
    let message = format!("{} is declared {declared}, found {found}", target.column_name(column));
    Err(Error::refused(Diagnostic::error(Code::TypeMismatch, message).help(help)))
}

/// A declared vector column of fixed length takes no other.
fn check_length(target: &Target<'_>, column: usize, found: DataType) -> Result<(), Error> {
    match target.declared(column) {
        declared @ DataType::Vector(Some(_)) if found != declared && found != DataType::Unknown => {
            Err(Error::refused(Diagnostic::error(
                Code::TypeMismatch,
                format!("{} is declared {declared}, found {found}", target.column_name(column)),
            )))
        }
        _ => Ok(()),
    }
}

impl Diagnose for EncodeError {
    fn diagnose(&self) -> Diagnostic {
        match self {
            EncodeError::Unsupported { .. } | EncodeError::TooLarge { .. } | EncodeError::NotJson { .. } => {
                Diagnostic::error(Code::TypeMismatch, self.to_string())
                    .help("convert the column before inserting it")
            }
            EncodeError::StringTooLong { limit, .. } => {
                Diagnostic::error(Code::LimitExceeded, self.to_string())
                    .help("shorten it, or have the limit on strings raised")
                    .limit("max_string_bytes", *limit as u64)
            }
            EncodeError::Full(full) => full.diagnose(),
        }
    }
}
