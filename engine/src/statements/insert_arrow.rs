//! The bulk inserts of Arrow batches, which need no program text.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Float64Type};

use super::column_names::{Arrangement, arrange};
use super::insert::{Facts, Inserted, Target, check_name, write_facts, wrong_arity};
use crate::context::Context;
use crate::data::arrow_columns::{EncodeError, Pass, encode, encode_mixed, is_mixed, type_of_codes};
use crate::data::{Code as ValueCode, Codec, DataType, Dictionary, EMPTY, Threads, parallel};
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
        return Ok(Inserted::default());
    };
    let (threads, budget, graph) = (&context.environment.threads, context.budget, context.graph);
    write_facts(relation, None, scope, context, |target, dictionary, limits| {
        if let Some(wrong) = batches.iter().find(|batch| batch.num_columns() != arity) {
            return Err(Error::refused(wrong_arity(relation, arity, wrong.num_columns())));
        }
        let schema = batches[0].schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let Arrangement { places, mut columns, warning } = arrange(target, arity, &names, limits)?;
        for (column, field) in columns.iter_mut().flatten().zip(schema.fields()) {
            if is_mixed(field) {
                column.data_type = DataType::Any;
            }
        }
        let codec = Codec::over(dictionary.clone());
        let mut facts = Facts { columns, warning, ..Facts::empty(arity) };
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
                return Ok(facts);
            }
            facts.rows.len += some.iter().map(RecordBatch::num_rows).sum::<usize>();
            for column in read(target, &places, some, dictionary, limits, threads)? {
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
    is_mixed: bool,
    /// The codes of the values that are known, where they were looked up.
    known: Option<Result<(Vec<ValueCode>, DataType), EncodeError>>,
}

/// The columns of batches, one batch after the other. All threads look their values up; new values are learnt later, in
/// the order of rows, so that codes do not depend on threads.
fn read(
    target: &Target<'_>,
    places: &[usize],
    batches: Vec<RecordBatch>,
    dictionary: &Dictionary,
    limits: &Limits,
    threads: &Threads,
) -> Result<Vec<Column>, Error> {
    let mut columns = Vec::new();
    let mut rows = 0;
    for batch in batches {
        rows += batch.num_rows();
        for (position, from) in places.iter().enumerate() {
            let is_mixed = is_mixed(batch.schema_ref().field(*from));
            let array = batch.column(*from);
            let declared = target.declared(position);
            let fitted = if is_mixed { Some(array.clone()) } else { fit_array(array, declared) };
            let array = fitted.ok_or_else(|| {
                Error::refused(wrong_type(&target.column_name(position), declared, array.data_type()))
            })?;
            columns.push(Column { position, array, is_mixed, known: None });
        }
    }
    if rows < parallel::FEW_ROWS {
        return Ok(columns);
    }
    let look_up = |column: Column| {
        let known =
            (!column.is_mixed).then(|| encode(&column.array, dictionary, Pass::Known, limits.string_bytes));
        Column { known, ..column }
    };
    Ok(threads.run(|| parallel::map(columns, look_up)))
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
        if self.is_mixed {
            let codes = encode_mixed(&self.array, dictionary, limits.string_bytes).map_err(refused)?;
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

/// A cast where the declared type asks for one: integers to floats and to timestamps, and floats to integers if all of
/// them are whole, as data frames have integers beside gaps.
fn fit_array(array: &ArrayRef, declared: DataType) -> Option<ArrayRef> {
    let found = array.data_type();
    let is_null = matches!(found, ArrowType::Null);
    let is_text = |t: &ArrowType| matches!(t, ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View);
    let is_list =
        matches!(found, ArrowType::List(_) | ArrowType::LargeList(_) | ArrowType::FixedSizeList(_, _));
    let fits = match declared {
        DataType::Unknown | DataType::Any => true,
        DataType::Int if found.is_floating() => return whole_numbers(array),
        DataType::Int => found.is_integer(),
        DataType::Float => {
            if found.is_integer() {
                return cast(array, &ArrowType::Float64).ok();
            }
            found.is_floating()
        }
        DataType::Bool => matches!(found, ArrowType::Boolean),
        DataType::Text => match found {
            ArrowType::Dictionary(_, values) => is_text(values),
            other => is_text(other),
        },
        DataType::Timestamp => {
            if found.is_integer() {
                let ints = cast(array, &ArrowType::Int64).ok()?;
                return cast(&ints, &DataType::Timestamp.arrow()).ok();
            }
            matches!(found, ArrowType::Date32 | ArrowType::Date64 | ArrowType::Timestamp(_, _))
        }
        DataType::Vector(_) | DataType::VectorInt8(_) => is_list,
    };
    (fits || is_null).then(|| array.clone())
}

/// Floats as integers, if each is one; what is no number is null, as it is among floats.
fn whole_numbers(array: &ArrayRef) -> Option<ArrayRef> {
    const TWO_53: f64 = 9_007_199_254_740_992.0;
    let floats = cast(array, &ArrowType::Float64).ok()?;
    let floats = floats.as_primitive::<Float64Type>();
    let numbers = || floats.iter().flatten().filter(|x| !x.is_nan());
    let are_whole = numbers().all(|x| x.fract() == 0.0 && x.abs() <= TWO_53);
    let integers = floats.iter().map(|x| x.filter(|x| !x.is_nan()).map(|x| x as i64));
    are_whole.then(|| Arc::new(Int64Array::from_iter(integers)) as ArrayRef)
}

/// Values of several types, or of one that is not known beforehand, against the declaration of their column.
fn check_declared(target: &Target<'_>, column: usize, found: DataType) -> Result<(), Error> {
    let declared = target.declared(column);
    if matches!(declared, DataType::Unknown | DataType::Any) || declared.join(found) == declared {
        return Ok(());
    }
    Err(Error::refused(wrong_type(&target.column_name(column), declared, &found.arrow())))
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

fn wrong_type(column: &str, declared: DataType, found: &ArrowType) -> Diagnostic {
    Diagnostic::error(
        Code::TypeMismatch,
        format!("{column} is declared {declared}, found Arrow type {found}"),
    )
    .help("convert the column before inserting it")
}

impl Diagnose for EncodeError {
    fn diagnose(&self) -> Diagnostic {
        match self {
            EncodeError::Unsupported { .. }
            | EncodeError::TooLarge { .. }
            | EncodeError::TooFine { .. }
            | EncodeError::NotJson { .. } => Diagnostic::error(Code::TypeMismatch, self.to_string())
                .help("convert the column before inserting it"),
            EncodeError::StringTooLong { limit, .. } => {
                Diagnostic::error(Code::LimitExceeded, self.to_string())
                    .help("shorten it, or have the limit on strings raised")
                    .limit("max_string_bytes", *limit as u64)
            }
            EncodeError::Full(full) => full.diagnose(),
        }
    }
}
